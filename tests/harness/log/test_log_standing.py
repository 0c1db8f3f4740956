"""A log goes on by itself after any failure, and only where it holds all that was acknowledged.

One that fails a rehearsal would fail an append, and a rehearsal leaves nothing.
"""

import os
import resource
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.log import LogBusy, LogDamaged, LogError, LogWriteFailed, SqlDecisionLog
from harness.log.log_places import is_url
from harness.record import DecisionRecord, Sealed
from harness.replay import check_log, replay
from tests.harness.log.decisions import LogPlace, decision, filled, meddle, query
from tests.harness.log.faults import disk_error, replace_commits
from tests.support.effort import examples
from tests.support.examples import is_safe

STEPS = st.lists(st.tuples(st.sampled_from(["done", "lost", "kept"]), st.integers(1, 3)))
"""What becomes of commits: done; failed and undone; failed, although the records are kept."""


def assert_whole(place: LogPlace, told: list[DecisionRecord | Sealed], unknown: int = 0) -> None:
    """Check that a log is sound, and holds what was acknowledged and at most so many more."""
    with SqlDecisionLog.open_for_reading(place) as log:
        stored = [(raw.seq, raw.hash) for raw in log.raw()]
        assert {(one.seq, one.hash) for one in told} <= set(stored)
        assert len(stored) == len(told) + unknown
        assert {answer.status for answer in replay(log)} <= {"same"}
        assert check_log(log).text() == ""


def append_after(
    log: SqlDecisionLog, place: LogPlace, end: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> list[DecisionRecord | Sealed]:
    """Append so many decisions with a commit that ends so; return what was acknowledged."""
    if end == "done":
        return list(log.append_all(decision(number) for number in range(count)))

    def failing(commit: Callable[[], None]) -> None:
        if end == "kept":
            commit()
        raise disk_error(place)

    log._store.close()  # so that the next connection is one whose commits fail
    with monkeypatch.context() as patch:
        replace_commits(patch, failing)
        with pytest.raises(LogWriteFailed, match="nothing was acknowledged"):
            log.append_all(decision(number) for number in range(count))
    return []


@settings(max_examples=examples(24), deadline=None)
@given(steps=STEPS)
def test_after_commits_that_fail_a_log_goes_on_with_what_is_stored(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    place = tmp_path_factory.mktemp("log") / "log"
    told = list[DecisionRecord | Sealed]()
    with SqlDecisionLog.open(place) as log, pytest.MonkeyPatch.context() as patch:
        for end, count in [*steps, ("done", 1)]:
            told += append_after(log, place, end, count, patch)
        assert log.rehearse() == log.head()
    assert_whole(place, told, sum(count for end, count in steps if end == "kept"))


@pytest.mark.parametrize("end", ["lost", "kept"])
def test_a_log_in_doubt_goes_on_in_both_kinds_of_database(
    place: LogPlace, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    with filled(place, 2) as log:
        told: list[DecisionRecord | Sealed] = list(log.records())
        for _ in range(2):
            told += append_after(log, place, end, 2, monkeypatch)
            told.append(log.append(decision(3)))
    assert_whole(place, told, 4 if end == "kept" else 0)


def _cut(place: LogPlace) -> None:
    meddle(
        place,
        ("DELETE FROM claims WHERE seq = 4", ()),
        ("DELETE FROM record_index WHERE seq = 4", ()),
        ("DELETE FROM records WHERE seq = 4", ()),
    )


def _put_another(place: LogPlace) -> None:
    """Put a record of another hash in the place of the last, and one more after it."""
    meddle(place, ("UPDATE records SET hash = ? WHERE seq = 4", ("0" * 64,)))


def _put_another_and_go_on(place: LogPlace) -> None:
    _put_another(place)
    with SqlDecisionLog.open(place) as other:
        other.append(decision(5))


@pytest.mark.parametrize("left", [1, 2, 3])
def test_a_log_that_lost_a_part_of_an_append_is_not_appended_to(place: LogPlace, left: int) -> None:
    log = filled(place, 1)
    log.append_all(decision(number) for number in (2, 3, 4))
    tables = ("claims", "record_index", "records")
    meddle(place, *((f"DELETE FROM {one} WHERE seq > ?", (left,)) for one in tables))  # noqa: S608
    with pytest.raises(LogDamaged, match="as it was acknowledged"):
        log.append(decision(5))
    assert log.head().seq == left


@pytest.mark.parametrize("change", [_cut, _put_another, _put_another_and_go_on])
@pytest.mark.parametrize("in_doubt", ["", "lost"])
def test_nothing_is_appended_to_a_log_that_lost_what_was_acknowledged(
    place: LogPlace,
    change: Callable[[LogPlace], None],
    in_doubt: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = filled(place, 3)
    log.append(decision(4))
    if in_doubt:
        append_after(log, place, in_doubt, 1, monkeypatch)
    change(place)
    before = query(place, "SELECT seq, hash FROM records ORDER BY seq")
    for call in (lambda: log.append(decision(5)), log.rehearse, log.rehearse):
        with pytest.raises(LogDamaged, match="does not hold record 4 as it was acknowledged") as at:
            call()
        assert is_safe(str(at.value))
    assert query(place, "SELECT seq, hash FROM records ORDER BY seq") == before


def test_what_was_kept_of_a_commit_that_failed_has_to_stay_once_it_was_seen(
    place: LogPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = filled(place, 3)
    append_after(log, place, "kept", 1, monkeypatch)
    assert log.rehearse().seq == 4
    _cut(place)
    with pytest.raises(LogDamaged, match="does not hold record 4"):
        log.append(decision(5))


def test_a_part_of_what_was_in_doubt_is_not_taken_for_all(
    place: LogPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = filled(place, 2)
    append_after(log, place, "kept", 3, monkeypatch)
    meddle(place, ("UPDATE records SET hash = ? WHERE seq = 4", ("0" * 64,)))
    for call in (lambda: log.append(decision(5)), log.rehearse):
        with pytest.raises(LogDamaged, match="holds a part of what was committed as a whole"):
            call()


def test_a_file_that_was_put_back_is_noticed_and_the_right_one_is_gone_on_with(
    tmp_path: Path,
) -> None:
    place, older, kept = tmp_path / "log", tmp_path / "older", tmp_path / "kept"
    told: list[DecisionRecord | Sealed] = list(filled(place, 2).records())
    shutil.copyfile(place, older)
    with SqlDecisionLog.open(place) as log:
        told.append(log.append(decision(3)))
        place.rename(kept)
        shutil.copyfile(older, place)
        with pytest.raises(LogDamaged, match="does not hold record 3"):
            log.append(decision(4))
        place.unlink()
        with pytest.raises(LogError):
            log.rehearse()
        assert not place.exists()
        kept.rename(place)
        told.append(log.append(decision(4)))
    assert_whole(place, told)


def test_what_other_writers_append_is_not_in_the_way(
    place: LogPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with filled(place, 2) as log, SqlDecisionLog.open(place) as other:
        told: list[DecisionRecord | Sealed] = list(log.records())
        for end in ("lost", "kept"):
            append_after(log, place, end, 1, monkeypatch)
            told += [other.append(decision(3)), other.append(decision(4)), log.append(decision(5))]
    assert_whole(place, told, unknown=1)


def test_a_log_in_doubt_is_checked_as_when_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "log"
    log = filled(place, 2)
    append_after(log, place, "lost", 1, monkeypatch)
    meddle(place, ("UPDATE log_format SET format = 99", ()))
    with pytest.raises(LogError, match="format 99"):
        log.append(decision(3))


def stored_in(place: LogPlace) -> Any:
    if not is_url(place):
        return Path(place).read_bytes()
    tables = ("log_format", "inputs", "records", "claims", "record_index")
    return [query(place, f"SELECT * FROM {table} ORDER BY 1") for table in tables]  # noqa: S608


def test_a_rehearsal_leaves_nothing(place: LogPlace) -> None:
    with SqlDecisionLog.open(place) as log:
        for number in range(3):
            before = stored_in(place)
            assert [log.rehearse() for _ in range(3)] == [log.head()] * 3
            assert stored_in(place) == before
            log.append(decision(number))
    assert is_url(place) or sorted(Path(place).parent.iterdir()) == [place]


def test_a_rehearsal_fails_as_an_append_would(place: LogPlace) -> None:
    closed = filled(place, 2)
    closed.close()
    for log in (SqlDecisionLog.open_for_reading(place), closed):
        with pytest.raises(LogError, match="cannot append: it was"):
            log.rehearse()
    changed = SqlDecisionLog.open(place)
    assert changed.rehearse().seq == 2
    change = "CREATE INDEX extra ON records (body)"
    query(place, change)
    with pytest.raises(LogDamaged, match="index extra is unexpected"):
        changed.rehearse()


def test_a_rehearsal_of_a_log_that_others_hold_is_busy(tmp_path: Path) -> None:
    filled(tmp_path / "log", 2).close()
    log = SqlDecisionLog.open(tmp_path / "log", timeout=0.05)
    with closing(sqlite3.connect(tmp_path / "log", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LogBusy):
            log.rehearse()
    assert log.rehearse().seq == 2


def test_a_file_that_may_not_grow_fails_the_rehearsal_until_it_may(tmp_path: Path) -> None:
    ours, theirs = get_context("fork").Pipe()
    process = get_context("fork").Process(target=_starve, args=(tmp_path / "log", theirs.fileno()))
    process.start()
    theirs.close()
    with os.fdopen(os.dup(ours.fileno())) as stream:
        said = stream.read().split()
    process.join()
    assert said == ["ready", "full", "full", "same", "ready", "3"]


def _starve(place: Path, out: int) -> None:
    """Rehearse with and without room in the file, and say what came of it."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    log, said = filled(place, 2), list[str]()

    def rehearse() -> None:
        try:
            log.rehearse()
            said.append("ready")
        except LogWriteFailed:
            said.append("full")

    rehearse()
    before, (_, most) = place.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, most))
    rehearse()
    try:
        log.append_all(decision(number) for number in range(30))
    except LogWriteFailed:
        said.append("full")
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    said.append("same" if place.read_bytes() == before else "other")
    rehearse()
    said.append(str(log.append(decision(3)).seq))
    with suppress(OSError):
        os.write(out, " ".join(said).encode())
    os._exit(0)
