"""Replay in stretches and in several processes: the answers are those of one go."""

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.log import LogDamaged, LogUnavailable, SqlDecisionLog
from harness.record import Begun, CriticError, DecisionRecord, Head, RawRecord
from harness.record.integrity import START, Link
from harness.replay import replay, stretches
from harness.replay import replay_pool as pooling
from harness.replay.engine import Replayer
from harness.replay.replay_pool import ReplayPool, WorkersDied
from harness.replay.result import ReplayResult
from harness.replay.session_facts import SessionHistory
from harness.replay.stretches import (
    NumberedLog,
    Stretch,
    answers_in,
    link_at,
    replay_batches,
    sessions_after,
)
from tests.harness.log.decisions import KINDS, NOON, decision, judged, meddle
from tests.harness.replay.forging import edited, forged
from tests.harness.runtime.test_beginning import approved
from tests.support.effort import sampled, sampled_rows

MANY = 14
DAMAGES: tuple[Callable[[Path, int], None], ...] = (
    lambda path, seq: meddle(path, ("DELETE FROM records WHERE seq = ?", (seq,))),
    lambda path, seq: meddle(path, ("UPDATE records SET seq = -seq WHERE seq = ?", (seq,))),
    lambda path, seq: meddle(path, ("UPDATE records SET seq = seq + 50 WHERE seq >= ?", (seq,))),
    lambda path, seq: meddle(path, ("UPDATE records SET body = X'7B' WHERE seq = ?", (seq,))),
    lambda path, seq: meddle(path, ("UPDATE records SET hash = 'x' WHERE seq = ?", (seq,))),
    lambda path, seq: edited(path, seq, lambda record: record.update(prev_hash="0" * 64)),
    lambda path, seq: edited(path, seq, lambda record: record.update(error="made up")),
    lambda path, seq: forged(path, seq, lambda record: record.update(evaluator_versions={})),
    lambda path, _seq: meddle(path, ("DELETE FROM claims", ())),
)


def mixed(path: Path) -> None:
    """Make a log in which few records are decisions, with times that go back and forth."""
    with SqlDecisionLog.open(path) as log:
        for number in range(1, MANY // 2):
            log.append_error(CriticError(asked={"n": number}, where="in a test", failed_at=NOON))
            log.append(decision(number, kind=KINDS[number % 4], minutes=-number % 5))
        begun = log.begin(Begun(proposal=approved({}), approvals=(), begun_at=NOON))
        log.append(judged(approved({}), begun=begun.hash))


SEEDS = [seed if seed < 4 else pytest.param(seed, marks=pytest.mark.slow) for seed in range(10)]


@pytest.fixture(params=SEEDS)
def damaged(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a log that was meddled with in up to three ways."""
    random, path = Random(request.param), tmp_path / "log"  # noqa: S311 - repeatable
    mixed(path)
    for damage in random.sample(DAMAGES, k=request.param % 4):
        with_record = random.randint(1, MANY)
        try:
            damage(path, with_record)
        except (IndexError, ValueError):  # another damage took or spoilt this record
            continue
    return path


def in_stretches(
    log: SqlDecisionLog, head: Head | None = None, *, judge: bool = True, after: int | None = None
) -> list[ReplayResult]:
    replayer = Replayer(log, head, judge=judge)
    before = START if after is None else link_at(log, replayer, after)
    batches, sessions = replay_batches(log, replayer, after), sessions_after(log, replayer, after)
    return list(answers_in(batches, before, head, lambda _link: None, sessions))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("size", "lead"), sampled_rows([(3, 2), (1, 1), (128, 8), (5, 8)], one_in=4)
)
@pytest.mark.parametrize("judge", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_stretches_of_any_size_give_the_answers_of_one_go(
    damaged: Path, size: int, lead: int, judge: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "_SIZE", size)
    monkeypatch.setattr(stretches, "_LEAD", lead)
    with SqlDecisionLog.open_for_reading(damaged) as log:
        for head in (None, Head(9, "1" * 64), Head(200, "1" * 64)):
            assert in_stretches(log, head, judge=judge) == [*replay(log, head=head, judge=judge)]


@pytest.mark.one_in(3)
def test_what_is_left_after_any_record_gives_the_rest_of_the_answers(damaged: Path) -> None:
    with SqlDecisionLog.open_for_reading(damaged) as log:
        answers = list(replay(log))
        for number in [one for one in log.numbers() if one > 0]:
            rest = in_stretches(log, after=number)
            assert rest == [one for one in answers if one.seq > number], number


@pytest.mark.parametrize("width", [1, 3, 128])
def test_a_link_has_the_time_of_the_last_decision_however_far_back(
    tmp_path: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "_SIZE", width)
    monkeypatch.setattr(stretches, "_LEAD", 2)
    error = CriticError(asked={}, where="in a test", failed_at=NOON)
    with SqlDecisionLog.open(tmp_path / "log") as log:
        for minutes in (5, 3):
            log.append(decision(1, minutes=minutes))
            log.append_all([error] * 6)
        replayer, last = Replayer(log, None, judge=True), None
        for record in log.entries():
            last = record.report.decided_at if isinstance(record, DecisionRecord) else last
            assert link_at(log, replayer, record.seq).decided_at == last, record.seq


@pytest.mark.parametrize("size", [1, 2, 3, 128])
def test_what_follows_the_end_of_a_log_is_noticed_wherever_a_stretch_begins(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "_SIZE", size)
    with SqlDecisionLog.open(tmp_path / "log") as log:
        log.append(decision(1))
        log.hand_over(NOON)
        log._shut = ""  # as if it did not know
        log.append(decision(2))
        log.append(decision(3))
        answers = [*replay(log)]
        assert [one.status for one in answers] == ["same", "same", "tampered", "same"]
        assert answers[2].reasons == ("record 2 handed the log over, and nothing may follow",)
        assert in_stretches(log) == answers
        for after in (1, 2, 3):
            assert in_stretches(log, after=after) == answers[after:]
            assert link_at(log, Replayer(log, None, judge=True), after).is_end == (after == 2)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_processes_give_the_answers_of_one(
    damaged: Path, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "_SIZE", 2)
    with SqlDecisionLog.open_for_reading(damaged) as log:
        assert in_processes(log, damaged, jobs) == [*replay(log)]


def in_processes(
    log: SqlDecisionLog, path: Path, jobs: int, open_log: Any = None, **options: Any
) -> list[ReplayResult]:
    pool = ReplayPool(open_log or partial(SqlDecisionLog.open_for_reading, path), jobs, **options)
    batches = pool.replay_stretches(stretches.stretches(log))
    return list(answers_in(batches, START, None, lambda _link: None, SessionHistory()))


class _Deadly(SqlDecisionLog):
    """A log that kills the process that reads it, as long as a file says so."""

    def raw(self, start: int | None = None) -> Iterator[RawRecord]:
        if start is not None and start > 3 and self.left.exists():
            lives = int(self.left.read_text())
            if lives == 1:
                self.left.unlink()
            else:
                self.left.write_text(str(lives - 1))
            os.kill(os.getpid(), signal.SIGKILL)
        yield from super().raw(start)

    left: Path


def _open_deadly(path: Path) -> _Deadly:
    log = _Deadly.open_for_reading(path)
    log.left = path.with_name("left")
    return log


@pytest.mark.slow
@pytest.mark.parametrize("deaths", sampled([1, 2], one_in=2))
def test_a_process_that_dies_is_reported_and_loses_nothing(
    deaths: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "_SIZE", 2)
    mixed(tmp_path / "log")
    (tmp_path / "left").write_text(str(deaths))
    told: list[str] = []
    with SqlDecisionLog.open_for_reading(tmp_path / "log") as log:
        deadly = partial(_open_deadly, tmp_path / "log")
        answers = in_processes(log, tmp_path / "log", 2, deadly, on_death=told.append)
        assert answers == [*replay(log)]
    assert len(told) == deaths
    assert all(one.startswith("a process ended with signal 9: another one") for one in told)


@pytest.mark.slow
def test_a_stretch_that_kills_every_process_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "_SIZE", 2)
    mixed(tmp_path / "log")
    (tmp_path / "left").write_text("99")
    with SqlDecisionLog.open_for_reading(tmp_path / "log") as log:
        deadly = partial(_open_deadly, tmp_path / "log")
        with pytest.raises(WorkersDied, match=r"3 processes ended at the same 2 records"):
            in_processes(log, tmp_path / "log", 1, deadly)


def _open_none(path: Path) -> SqlDecisionLog:
    raise LogUnavailable(f"{path.name}: the server has gone away")


@pytest.mark.slow
@pytest.mark.parametrize("jobs", sampled([3, 1], one_in=2))
def test_a_log_that_a_process_cannot_open_is_the_error_of_the_replay(
    tmp_path: Path, jobs: int, capfd: pytest.CaptureFixture[str]
) -> None:
    mixed(tmp_path / "log")
    with SqlDecisionLog.open_for_reading(tmp_path / "log") as log:
        gone = partial(_open_none, tmp_path / "log")
        with pytest.raises(LogUnavailable, match="log: the server has gone away"):
            in_processes(log, tmp_path / "log", jobs, gone, on_death=pytest.fail)
    assert capfd.readouterr() == ("", "")


class _Broken(SqlDecisionLog):
    """A log that cannot be read from its sixth record on."""

    def raw(self, start: int | None = None) -> Iterator[RawRecord]:
        for raw in super().raw(start):
            if raw.seq == 6:
                raise LogDamaged("record 6 is on a bad sector")
            yield raw


class _Miscounted(SqlDecisionLog):
    def numbers(self) -> Iterator[int]:
        yield from islice(super().numbers(), 5)
        raise LogDamaged("the numbers are out of order")


@pytest.mark.slow
@pytest.mark.parametrize("kind", sampled([_Broken, _Miscounted], one_in=2))
@pytest.mark.parametrize("jobs", sampled([2, 1], one_in=2))
def test_an_error_of_the_log_comes_after_the_answers_before_it(
    kind: type[SqlDecisionLog], jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "_SIZE", 5)
    monkeypatch.setattr(stretches, "_LEAD", 1)
    mixed(tmp_path / "log")
    seen: list[ReplayResult] = []
    with kind.open_for_reading(tmp_path / "log") as log:
        pool = ReplayPool(partial(kind.open_for_reading, tmp_path / "log"), jobs)
        batches = pool.replay_stretches(stretches.stretches(log))
        with pytest.raises(LogDamaged):
            seen.extend(answers_in(batches, START, None, lambda _link: None, SessionHistory()))
    assert [one.seq for one in seen] == [1, 2, 3, 4, 5]


@pytest.mark.slow
def test_no_more_than_a_few_stretches_are_ahead(tmp_path: Path) -> None:
    mixed(tmp_path / "log")
    taken = 0

    def counted() -> Iterator[Stretch]:
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield Stretch(None, 0, 1)

    with SqlDecisionLog.open_for_reading(tmp_path / "log"):
        opener = partial(SqlDecisionLog.open_for_reading, tmp_path / "log")
        batches = ReplayPool(opener, 2).replay_stretches(counted())
        for turn, _batch in enumerate(islice(batches, 20)):
            assert taken <= turn + 1 + 2 * pooling._AHEAD
        batches.close()  # type: ignore[attr-defined] # it is a generator


def test_state_is_kept_when_the_answers_before_it_were_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "_SIZE", 4)
    mixed(tmp_path / "log")
    kept: list[Link] = []
    with SqlDecisionLog.open_for_reading(tmp_path / "log") as log:
        batches = replay_batches(log, Replayer(log, None, judge=True), None)
        for answer in answers_in(batches, START, None, kept.append, SessionHistory()):
            assert all(link.seq < answer.seq for link in kept)
        assert [link.seq for link in kept] == [4, 8, 12, MANY]
        assert kept == [link_at(log, Replayer(log, None, judge=True), one.seq) for one in kept]


def test_records_that_are_appended_meanwhile_are_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "_SIZE", 4)
    mixed(tmp_path / "log")
    with SqlDecisionLog.open(tmp_path / "log") as log:
        batches = replay_batches(log, Replayer(log, None, judge=True), None)
        answers = answers_in(batches, START, None, lambda _link: None, SessionHistory())
        assert next(answers).seq == 1
        log.append(decision(99))
        assert [one.seq for one in answers] == list(range(2, MANY + 2))


def test_the_errors_of_the_pool_are_of_the_harness() -> None:
    assert issubclass(WorkersDied, HarnessError)
    assert "raw" in vars(NumberedLog)
