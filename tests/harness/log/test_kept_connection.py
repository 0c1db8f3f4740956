"""The connection of an append is kept, and a log behaves as if it were opened for each append."""

import gc
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.log import LogError, SqlDecisionLog
from harness.log.idle_connections import IdleConnections
from harness.log.sqlite.sqlite_store import SqliteStore
from harness.log.statements import head
from tests.harness.log.decisions import decision, filled

Meddle = Callable[[Path], object]


def _raw(path: Path, old: bytes, new: bytes) -> None:
    """Change bytes of the file without SQLite, so that no counter of it tells."""
    data = path.read_bytes()
    assert data.count(old) >= 1
    assert len(old) == len(new)
    with path.open("r+b") as file:
        file.write(data.replace(old, new))


def _query(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def _other(path: Path) -> Path:
    """Return another log of as many records, of as many transactions."""
    other = path.with_name("other")
    with SqlDecisionLog.open(other) as log:
        log.append(decision(5))
        log.append(decision(6))
    return other


def _zero_page(number: int, path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096 * number)
        file.write(bytes(4096))


def _behind_a_link(path: Path) -> None:
    other = _other(path)
    path.unlink()
    path.symlink_to(other)


def _there_and_back(path: Path) -> None:
    path.rename(path.with_name("away"))
    path.with_name("away").rename(path)


def _die_while_writing(path: Path) -> None:
    """Let another process die with pages written and a hot journal beside the file."""
    program = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "c.execute('PRAGMA cache_size = 1'); c.execute('BEGIN IMMEDIATE'); "
        "insert = 'INSERT INTO inputs VALUES (?, ?)'; "
        "[c.execute(insert, (str(n), bytes(9000))) for n in range(99)]; os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", program, path], check=True)
    assert path.with_name(f"{path.name}-journal").stat().st_size > 512


_RECORD = "INSERT INTO records VALUES (3, 'ffff', x'7b7d')"
_TRIGGER = "CREATE TRIGGER extra AFTER INSERT ON records BEGIN DELETE FROM inputs; END"
MEDDLING: dict[str, Meddle] = {
    "nothing": lambda _path: None,
    "another log in its place": lambda path: _other(path).replace(path),
    "another log written over it": lambda path: path.write_bytes(_other(path).read_bytes()),
    "another log behind a link": _behind_a_link,
    "deleted": lambda path: path.unlink(),
    "moved away": lambda path: path.rename(path.with_name("away")),
    "moved away and back": _there_and_back,
    "read-only": lambda path: path.chmod(0o400),
    "emptied": lambda path: os.truncate(path, 0),
    "cut short": lambda path: os.truncate(path, 4096 * 3),
    **{f"page {number} set to zero": partial(_zero_page, number) for number in range(12)},
    "a trigger changed in place": lambda path: _raw(path, b"append-only", b"append-0nly"),
    "a record changed in place": lambda path: _raw(path, b'"seq":2', b'"seq":7'),
    "the head changed in place": lambda path: _raw(path, b'"prev_hash"', b'"PREV_hash"'),
    "a record by another program": lambda path: _query(path, _RECORD),
    "a trigger by another program": lambda path: _query(path, _TRIGGER),
    "a table by another program": lambda path: _query(path, "CREATE TABLE extra (x)"),
    "another mark": lambda path: _query(path, "PRAGMA application_id = 7"),
    "all rewritten": lambda path: _query(path, "VACUUM"),
    "another kind of journal": lambda path: _query(path, "PRAGMA journal_mode = WAL"),
    "an unfinished write": _die_while_writing,
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("meddle", MEDDLING)
def test_whatever_happens_to_the_file_is_met_as_by_a_log_that_was_just_opened(
    meddle: str, tmp_path: Path
) -> None:
    kept, anew = (_told(tmp_path / name, MEDDLING[meddle]) for name in ("kept", "anew"))
    assert kept == anew


def _told(folder: Path, meddle: Meddle) -> tuple[str, dict[str, bytes]]:
    """Return what an append says after the meddling, and the files that are there then."""
    folder.mkdir()
    path = folder / "log"
    with SqlDecisionLog.open(path, timeout=0.2) as log:
        for number in (1, 2):
            log.append(decision(number))
        meddle(path)
        if folder.name == "anew":
            log._store.close()
        try:
            said = str(log.append(decision(3)).seq)
        except LogError as error:
            said = f"{type(error).__name__}: {error}".replace(str(path), "the log")
    return said, {one.name: one.read_bytes() for one in folder.iterdir()}


@contextmanager
def _counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Yield the connections that are made."""
    made: list[Any] = []
    real: Any = sqlite3.connect

    def connect(*given: Any, **options: Any) -> sqlite3.Connection:
        made.append(given)
        connection: sqlite3.Connection = real(*given, **options)
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", connect)
        yield made


def test_appends_share_a_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = SqlDecisionLog.open(tmp_path / "log")
    with _counting(monkeypatch) as made:
        for number in range(1, 6):
            log.append(decision(number))
    assert len(made) == 1


def test_a_file_with_other_rights_is_opened_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = filled(tmp_path / "log", 1)
    log.append(decision(2))
    (tmp_path / "log").chmod(0o600)
    with _counting(monkeypatch) as made:
        log.append(decision(3))
    assert len(made) == 1


def test_a_file_that_is_replaced_while_it_is_opened_is_not_taken_for_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, away = tmp_path / "log", tmp_path / "away"
    filled(path, 1)
    other, store, connect = _other(path), SqliteStore(path, 1), SqliteStore._connect

    def replacing(store: SqliteStore, mode: Any) -> sqlite3.Connection:
        path.rename(away)
        other.rename(path)
        return connect(store, mode)

    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "_connect", replacing)
        with store.transaction("rw", writes=True) as connection:
            assert head(connection).seq == 2
    path.rename(other)
    away.rename(path)
    with store.transaction("rw", writes=True) as connection:
        assert head(connection).seq == 1


def test_a_forked_process_has_a_connection_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = filled(tmp_path / "log", 1)
    log.append(decision(2))
    with _counting(monkeypatch) as made:
        child = os.fork()
        if not child:
            seqs = [log.append(decision(number)).seq for number in (3, 4)]
            os._exit(0 if (seqs, len(made)) == ([3, 4], 1) else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert log.append(decision(5)).seq == 5
    assert made == []


@pytest.mark.parametrize("how", ["closed", "forgotten"])
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="Linux tells the open files")
def test_a_log_that_is_closed_or_forgotten_leaves_no_file_open(tmp_path: Path, how: str) -> None:
    log = filled(tmp_path / "log", 1)
    log.append(decision(2))
    assert _open_files(tmp_path) == 1
    if how == "closed":
        log.close()
    else:
        del log
        gc.collect()
    assert _open_files(tmp_path) == 0


def _open_files(folder: Path) -> int:
    """Return how many descriptors of this process lead into a folder."""
    count = 0
    for one in Path("/proc/self/fd").iterdir():
        try:
            count += one.readlink().is_relative_to(folder)
        except OSError:  # the descriptor of the listing itself
            continue
    return count


class _Connection:
    closed = False

    def close(self) -> None:
        self.closed = True


def test_at_most_so_many_connections_wait() -> None:
    idle, made = IdleConnections[_Connection](2), [_Connection() for _ in range(3)]
    for one in made:
        idle.put(one)
    assert [one.closed for one in made] == [False, False, True]
    assert [idle.take(), idle.take(), idle.take()] == [made[1], made[0], None]


def test_closing_them_leaves_those_of_another_process_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    idle, mine, theirs = IdleConnections[_Connection](2), _Connection(), _Connection()
    idle.put(theirs)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert idle.take() is None
    idle.put(mine)
    idle.close()
    assert (mine.closed, theirs.closed) == (True, False)
