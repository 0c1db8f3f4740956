"""Appends at once: they share commits, and each is acknowledged after its own."""

import asyncio
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from harness.log import LogUnavailable, LogWriteFailed, SqlDecisionLog, Unrecordable
from harness.record import (
    AlreadyClaimed,
    Begun,
    BegunRecord,
    CriticError,
    Decision,
    DecisionRecord,
)
from harness.replay import replay
from tests.harness.log.decisions import NOON, LogPlace, decision, proposal
from tests.harness.log.faults import disk_error, replace_commits
from tests.harness.log.test_claims import claiming


class Slow:
    """A disk on which a commit takes 20 ms, and until every writer waits on a busy machine."""

    commits = 0
    writers = 0
    waiting = 0

    def __call__(self, commit: Callable[[], None]) -> None:
        time.sleep(0.02)
        until = time.monotonic() + 10
        while self.waiting < self.writers and time.monotonic() < until:
            time.sleep(0.001)
        self.commits += 1
        commit()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    disk = Slow()
    replace_commits(monkeypatch, disk)
    return disk


@pytest.mark.slow
def test_sixteen_threads_share_commits(place: LogPlace, slow: Slow) -> None:
    log = SqlDecisionLog.open(place)
    before, lock = slow.commits, threading.Lock()

    def change(*, waiting: int, writers: int = 0) -> None:
        with lock:
            slow.waiting += waiting
            slow.writers += writers

    def writer(number: int) -> list[int]:
        told = list[int]()
        for at in range(10):
            change(waiting=1)
            told.append(log.append(decision(10 * number + at)).seq)
            change(waiting=-1, writers=-1 if at == 9 else 0)
        return told

    slow.writers = 16
    with ThreadPoolExecutor(16) as pool:
        told = [seq for own in pool.map(writer, range(16)) for seq in own]
    assert sorted(told) == list(range(1, 161))
    assert slow.commits - before <= 160 // 3
    assert {answer.status for answer in replay(log)} == {"same"}


def test_sixteen_tasks_share_commits(place: LogPlace, slow: Slow) -> None:
    log = SqlDecisionLog.open(place)

    async def writer(number: int) -> list[int]:
        told = list[int]()
        for _ in range(5):
            slow.waiting += 1
            told.append((await log.append_async(decision(number))).seq)
            slow.waiting -= 1
        slow.writers -= 1
        return told

    threads = set(threading.enumerate())

    async def all_of_them() -> list[list[int]]:
        told = await asyncio.gather(*map(writer, range(16)))
        assert len(set(threading.enumerate()) - threads) <= 1
        return told

    before, slow.writers = slow.commits, 16
    told = [seq for own in asyncio.run(all_of_them()) for seq in own]
    assert sorted(told) == list(range(1, 81))
    assert slow.commits - before <= 80 // 3


def test_an_append_is_told_after_its_commit(
    place: LogPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = SqlDecisionLog.open(place)
    gate, told = threading.Event(), list[int]()

    def waiting(commit: Callable[[], None]) -> None:
        gate.wait(10)
        commit()

    replace_commits(monkeypatch, waiting)
    writers = [
        threading.Thread(target=lambda n=n: told.append(log.append(decision(n)).seq))
        for n in range(4)
    ]
    for writer in writers:
        writer.start()
    time.sleep(0.05)
    assert told == []
    gate.set()
    for writer in writers:
        writer.join()
    assert sorted(told) == [1, 2, 3, 4]


def test_the_event_loop_runs_while_a_commit_takes_long(place: LogPlace, slow: Slow) -> None:
    log = SqlDecisionLog.open(place)

    async def ticks() -> int:
        appending = asyncio.ensure_future(log.append_async(decision()))
        count = 0
        while not appending.done():
            await asyncio.sleep(0.001)
            count += 1
        assert (await appending).seq == 1
        return count

    assert asyncio.run(ticks()) >= 5


def test_one_that_is_refused_leaves_the_others_alone(place: LogPlace, slow: Slow) -> None:
    log = SqlDecisionLog.open(place)

    async def outcomes() -> list[Any]:
        appends = [log.append_async(claiming("x", number=number)) for number in range(4)]
        appends += [log.append_async(decision(number)) for number in range(4)]
        return await asyncio.gather(*appends, return_exceptions=True)

    found = asyncio.run(outcomes())
    assert [type(one) for one in found].count(AlreadyClaimed) == 3
    assert log.head().seq == 5


def test_a_commit_that_fails_fails_for_all(
    place: LogPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = SqlDecisionLog.open(place)

    def failing(_commit: Callable[[], None]) -> None:
        time.sleep(0.02)
        raise disk_error(place)

    replace_commits(monkeypatch, failing)

    async def outcomes() -> list[Any]:
        appends = [log.append_async(decision(number)) for number in range(6)]
        return await asyncio.gather(*appends, return_exceptions=True)

    found = asyncio.run(outcomes())
    monkeypatch.undo()
    assert all(isinstance(one, LogWriteFailed | LogUnavailable) for one in found)
    assert len({id(one) for one in found}) == 6
    assert SqlDecisionLog.open(place).head().seq == 0
    assert log.append(decision()).seq == 1


def test_an_append_whose_task_is_cancelled_goes_on(place: LogPlace, slow: Slow) -> None:
    log = SqlDecisionLog.open(place)

    async def leaving() -> None:
        appending = asyncio.ensure_future(log.append_async(decision()))
        await asyncio.sleep(0.005)
        appending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await appending
        assert (await log.append_async(decision(2))).seq == 2

    asyncio.run(leaving())
    assert log.head().seq == 2


def test_a_subclass_that_appends_otherwise_is_asked(place: LogPlace) -> None:
    class Counting(SqlDecisionLog):
        def append(self, decision: Decision) -> DecisionRecord:
            asked.append("append")
            return super().append(decision)

        def begin(self, begun: Begun) -> BegunRecord:
            asked.append("begin")
            return super().begin(begun)

    asked: list[str] = []
    log = Counting.open(place)
    asyncio.run(log.append_async(decision()))
    asyncio.run(log.begin_async(Begun(proposal=proposal(), begun_at=NOON)))
    assert asked == ["append", "begin"]


def test_every_kind_has_an_asynchronous_twin(place: LogPlace) -> None:
    log = SqlDecisionLog.open(place)

    async def all_kinds() -> list[int]:
        begun = await log.begin_async(Begun(proposal=proposal(), begun_at=NOON))
        error = await log.append_error_async(CriticError(asked=1, where="here", failed_at=NOON))
        return [begun.seq, error.seq]

    assert asyncio.run(all_kinds()) == [1, 2]


def test_an_append_that_cannot_be_recorded_is_refused_before_it_waits(place: LogPlace) -> None:
    log = SqlDecisionLog.open(place)
    given = decision()
    step = given.proposal.plan.steps[0]
    assert step.kind == "tool"
    step.args["number"] = float("nan")
    with pytest.raises(Unrecordable):
        asyncio.run(log.append_async(given.model_copy(update={"error": "built anew"})))


def test_a_forked_process_appends_too(place: LogPlace) -> None:
    log = SqlDecisionLog.open(place)
    log.append(decision(1))
    child = os.fork()
    if not child:
        os._exit(0 if log.append(decision(2)).seq == 2 else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert log.append(decision(3)).seq == 3
