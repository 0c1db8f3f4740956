"""Old logs: read and replayed as they are, and copied into the present form, byte for byte."""

import gzip
from pathlib import Path

import pytest

from harness.audit.copies.upgrade import upgrade_log
from harness.errors import UsageError
from harness.log import LogDamaged, LogFull, LogUnavailable, SqlDecisionLog
from harness.record.integrity import read_text_of
from harness.replay import check_log, replay
from tests.harness.console import Critic
from tests.harness.log.decisions import LogPlace, decision, filled, meddle, query
from tests.support.paths import FIXTURES


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return a log of format 1, of five records."""
    path = tmp_path / "old"
    path.write_bytes(gzip.decompress((FIXTURES / "logs" / "ruleset-1.gz").read_bytes()))
    return path


def test_an_old_log_is_read_and_not_appended_to(old: Path) -> None:
    before = old.read_bytes()
    with SqlDecisionLog.open(old) as log:
        assert not log.is_current
        assert log.problems == ()
        assert [record.seq for record in log.records()] == [1, 2, 3, 4, 5]
        assert log.claims(["x"]) == {}
        assert list(log.all_claims()) == []
        with pytest.raises(LogUnavailable, match="is of format 1: copy it with `critic log upgr"):
            log.append(decision())
    assert old.read_bytes() == before


def test_a_copy_has_the_same_records_inputs_and_answers(old: Path, tmp_path: Path) -> None:
    before = old.read_bytes()
    head = upgrade_log(old, tmp_path / "new")
    assert old.read_bytes() == before
    with (
        SqlDecisionLog.open_for_reading(old) as source,
        SqlDecisionLog.open(tmp_path / "new", create=False) as copy,
    ):
        assert copy.is_current
        assert source.head() == copy.head() == head
        assert list(source.records()) == list(copy.records())
        for digest in source.digests():
            assert copy.input(digest) == source.input(digest)
        assert list(replay(source)) == list(replay(copy))
        assert check_log(copy).text() == ""
        assert copy.append(decision()).seq == head.seq + 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "old"]


def test_an_altered_log_is_not_copied(old: Path, tmp_path: Path) -> None:
    with SqlDecisionLog.open_for_reading(old) as log:
        plan = read_text_of(next(log.raw(3))).digests["plan"]
    meddle(old, ("UPDATE inputs SET body = body || x'20' WHERE digest = ?", (plan,)))
    with pytest.raises(LogDamaged, match="record 3 is tampered, so it is not copied: replay it"):
        upgrade_log(old, tmp_path / "new")
    meddle(old, ("DELETE FROM records WHERE seq = 2", ()))
    with pytest.raises(LogDamaged, match="record 2 is incomplete"):
        upgrade_log(old, tmp_path / "new")
    query(old, "CREATE TABLE extra (a)")
    with pytest.raises(LogDamaged, match="table extra is unexpected"):
        upgrade_log(old, tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("name", ["new", "new.partial"])
def test_nothing_is_overwritten(old: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(UsageError, match=f"{name} exists: choose another name"):
        upgrade_log(old, tmp_path / "new")
    assert (tmp_path / name).read_text() == "mine"


def test_a_log_of_the_present_format_is_not_copied(tmp_path: Path) -> None:
    filled(tmp_path / "log", 1).close()
    with pytest.raises(UsageError, match="is of the present format already"):
        upgrade_log(tmp_path / "log", tmp_path / "new")


def test_a_copy_that_differs_is_not_named(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.audit.copies.upgrade._equal", lambda *_: False)
    with pytest.raises(LogDamaged, match="the copy differs"):
        upgrade_log(old, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_command_copies_and_prints_the_head(critic: Critic, old: Path, tmp_path: Path) -> None:
    head = critic("log", "verify", old).lines[-1]
    said = critic("log", "upgrade", old, tmp_path / "new")
    assert (said.status, said.err) == (0, "")
    assert said.lines == ["5 records copied and compared", head]
    assert critic("log", "verify", tmp_path / "new").lines[-1] == head
    assert critic("log", "upgrade", old, tmp_path / "new").status == 2


def test_a_newer_log_is_refused_in_one_line(critic: Critic, place: LogPlace) -> None:
    filled(place, 1).close()
    meddle(place, ("UPDATE log_format SET format = 4", ()))
    for command in (("log", "list"), ("log", "verify"), ("replay",)):
        said = critic(*command, place)
        assert said.status == 2
        assert said.err.count("\n") == 1
        assert "a format that this version cannot read" in said.err


def test_a_log_in_postgresql_is_not_copied_from_file_to_file(critic: Critic, old: Path) -> None:
    url = "postgresql://h/db"
    for paths in ((url, old.with_name("new")), (old, url)):
        said = critic("log", "upgrade", *paths)
        assert (said.status, said.out) == (2, "")
        assert "a log in PostgreSQL has the present format" in said.err


def test_a_copy_that_the_disk_has_no_room_for_can_be_made_again(
    critic: Critic, old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise LogFull("no space is left")

    with monkeypatch.context() as patch:
        patch.setattr(SqlDecisionLog, "copy", full)
        said = critic("log", "upgrade", old, tmp_path / "new")
    told = f"critic: {tmp_path / 'new'}: the disk is full and nothing was copied: free some space "
    assert (said.status, said.out, said.err) == (2, "", f"{told}and run the command again\n")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert critic("log", "upgrade", old, tmp_path / "new").status == 0
