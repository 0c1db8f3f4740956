"""What may be opened as a log, and that looking at one changes nothing."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from harness.log.log_errors import LogDamaged, LogUnavailable, NotALog
from harness.log.sql import SqlDecisionLog
from harness.record import GENESIS
from tests.harness.console import Critic
from tests.harness.log.decisions import LogPlace, decision, filled, meddle, query
from tests.harness.log.maker import SIZES
from tests.support.paths import ROOT

OPENERS = (
    pytest.param(SqlDecisionLog.open_for_reading, id="for_reading"),
    pytest.param(lambda path: SqlDecisionLog.open(path, create=False), id="existing"),
    pytest.param(SqlDecisionLog.open, id="create"),
)
READERS = OPENERS[:2]


def bytes_of(place: LogPlace) -> str:
    """Return the name of the type of bytes."""
    return "BLOB" if isinstance(place, Path) else "bytea"


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _link(path: Path) -> None:
    filled(path.with_name("real"), 1)
    path.symlink_to("real")


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (_folder, "a folder"),
        (_pipe, "a named pipe"),
        (_link, "a symbolic link"),
        (_dangling, "a symbolic link"),
        (_socket, "a socket"),
    ],
)
def test_only_a_regular_file_is_opened(tmp_path: Path, make, kind: str, opener) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "log"
    make(path)
    with pytest.raises(NotALog, match=f"log: {kind}, not a decision log: choose a regular file"):
        opener(path)


def test_a_device_is_refused() -> None:
    with pytest.raises(NotALog, match="a special file"):
        SqlDecisionLog.open("/dev/full")


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize(
    "content",
    [b"\n", b"just some text\n" * 50, bytes(range(256)) * 64, b"\0" * 8192, b'{"seq":1}\n' * 9],
    ids=["newline", "text", "binary", "zeros", "json"],
)
def test_another_file_is_refused_and_left_alone(tmp_path: Path, content: bytes, opener) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(NotALog, match="not a decision log: choose another file"):
        opener(path)
    assert path.read_bytes() == content
    assert [found.name for found in tmp_path.iterdir()] == ["log"]


@pytest.mark.parametrize("opener", OPENERS)
def test_the_database_of_another_program_is_refused_and_left_alone(place: LogPlace, opener) -> None:  # type: ignore[no-untyped-def]
    query(place, "CREATE TABLE records (name TEXT)")
    content = place.read_bytes() if isinstance(place, Path) else b""
    with pytest.raises(NotALog, match="lacks the tables of a decision log"):
        opener(place)
    assert content == (place.read_bytes() if isinstance(place, Path) else b"")
    assert query(place, "SELECT * FROM records") == []


@pytest.mark.parametrize("opener", READERS)
def test_a_missing_file_is_not_made(tmp_path: Path, opener) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(LogUnavailable, match="no such file: check the path"):
        opener(tmp_path / "log")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("opener", READERS)
def test_an_empty_file_is_not_a_log_to_read(tmp_path: Path, opener) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "log"
    path.touch()
    with pytest.raises(NotALog, match="0 bytes are not a decision log"):
        opener(path)
    assert path.stat().st_size == 0


def test_an_empty_file_becomes_a_log_where_one_is_to_be_made(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()
    assert SqlDecisionLog.open(path).append(decision()).seq == 1


def test_the_log_of_a_maker_killed_at_any_size_opens(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.harness.log.maker", str(tmp_path)]
    done = subprocess.run(program, cwd=ROOT, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    ends = [line.split()[1:] for line in done.stdout.splitlines()]
    assert len(ends) == len(SIZES)
    assert all(head == "0" for _, head in ends)
    # Sizes that cut nothing off would show nothing.
    assert sum(ended == "killed" for ended, _ in ends) > 10


@pytest.mark.parametrize("below", ["no/log", "file/log"])
def test_a_folder_that_is_not_there_is_named(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LogUnavailable, match=r"no such folder|not a directory"):
        SqlDecisionLog.open(tmp_path / below)


def test_opening_again_keeps_what_is_there(place: LogPlace) -> None:
    head = filled(place, 3).head()
    assert SqlDecisionLog.open(place).head() == head
    assert SqlDecisionLog.open(str(place)).head() == head


@pytest.mark.parametrize("name", ["a log?mode=memory#x%20y.db", "l\u00f6g", "file:log", "<b>"])
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    filled(path, 2)
    assert [found.name for found in tmp_path.iterdir()] == [name]
    assert SqlDecisionLog.open_for_reading(path).head().seq == 2


def test_a_relative_path_stays_what_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = SqlDecisionLog.open("log")
    monkeypatch.chdir("/")
    assert log.append(decision()).seq == 1


def test_reading_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    filled(path, 5)
    os.utime(path, (1, 1))
    content, looked = path.read_bytes(), path.stat()
    with SqlDecisionLog.open_for_reading(path) as log:
        assert len(list(log.records())) == 5
        with pytest.raises(LogUnavailable, match="opened for reading: open it for appending"):
            log.append(decision())
    assert path.read_bytes() == content
    assert path.stat().st_mtime == looked.st_mtime
    assert [found.name for found in tmp_path.iterdir()] == ["log"]


def test_a_reader_sees_what_is_appended_meanwhile(place: LogPlace) -> None:
    log = SqlDecisionLog.open(place)
    reader = SqlDecisionLog.open_for_reading(place)
    assert reader.head() == (0, GENESIS)
    record = log.append(decision())
    assert list(reader.records()) == [record]


def test_another_format_is_named(place: LogPlace) -> None:
    filled(place, 1).close()
    for number in (1, 3, 5, 99):
        meddle(place, ("UPDATE log_format SET format = ?", (number,)))
        named = f"a decision log of format {number}, and this version reads format 4 alone: use "
        for opened in (SqlDecisionLog.open, SqlDecisionLog.open_for_reading):
            with pytest.raises(NotALog, match=named):
                opened(place)


def test_a_log_that_names_no_format_or_two_is_not_read(place: LogPlace) -> None:
    filled(place, 1).close()
    meddle(place, ("INSERT INTO log_format VALUES (5)", ()))
    with pytest.raises(NotALog, match="a decision log of no format that can be read"):
        SqlDecisionLog.open(place)
    meddle(place, ("DELETE FROM log_format", ()))
    with pytest.raises(NotALog, match="a decision log of no format that can be read"):
        SqlDecisionLog.open(place)


@pytest.mark.parametrize("number", [3, 5])
def test_commands_refuse_another_format_in_one_line(
    critic: Critic, place: LogPlace, number: int
) -> None:
    filled(place, 1).close()
    meddle(place, ("UPDATE log_format SET format = ?", (number,)))
    for command in (("log", "list"), ("log", "verify"), ("replay",)):
        said = critic(*command, place)
        assert (said.status, said.out) == (2, "")
        assert said.err.count("\n") == 1
        assert "use the version of plan-critic that wrote it, or begin a new log" in said.err


def test_tables_made_anew_without_a_key_are_noticed(place: LogPlace) -> None:
    filled(place, 3)
    query(place, "ALTER TABLE records RENAME TO old")
    query(place, f"CREATE TABLE records (seq INTEGER, hash TEXT, body {bytes_of(place)})")
    query(place, "INSERT INTO records SELECT * FROM old")
    with pytest.raises(LogDamaged, match="table records was recreated without its key"):
        SqlDecisionLog.open_for_reading(place)


def test_a_record_without_a_number_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "log"
    filled(path, 3)
    meddle(
        path,
        ("ALTER TABLE records RENAME TO old", ()),
        ("CREATE TABLE records (seq INT PRIMARY KEY, hash TEXT, body BLOB)", ()),
        ("INSERT INTO records SELECT * FROM old", ()),
        ("INSERT INTO records VALUES ('four', '', NULL)", ()),
    )
    with pytest.raises(LogDamaged, match="a record has no number"):
        list(SqlDecisionLog.open_for_reading(path).raw())


def test_a_log_that_was_taken_away_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = filled(path, 1)
    path.unlink()
    with pytest.raises(LogUnavailable, match=r"SQLITE_CANTOPEN.*check that the file"):
        log.append(decision(2))
    assert not path.exists()


def test_a_path_is_safe_to_print(tmp_path: Path) -> None:
    with pytest.raises(LogUnavailable) as caught:
        SqlDecisionLog.open_for_reading(tmp_path / "a\x1b[31m\n<b>")
    message = str(caught.value)
    assert message.isprintable()
    assert message.isascii()
    assert "<" not in message
