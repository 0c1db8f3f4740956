"""Cancelled at any moment: what was done is on record, and the cancellation goes on its way."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from harness.record import Decision, DecisionRecord
from harness.runtime.canonical_loop import NotRecorded
from harness.runtime.executors import CallableExecutor, Tool
from harness.runtime.ports import Execution, Recorder
from tests.harness.runtime.world import AsyncLog, FailingLog, KeptLog, call_of, do_all, turn

LOOKUP, REFUND = ("adp_orders", "lookup"), ("adp_payments", "issue_refund")


class Waiting:
    """An executor that makes its first call, says so, and then waits for ever."""

    def __init__(self) -> None:
        self.began = asyncio.Event()

    async def execute(self, permit: Any, proposal: Any, record: Recorder) -> Execution:
        record(call_of(permit.redeem(proposal), 0))
        self.began.set()
        await asyncio.Event().wait()
        return Execution()


class Slow(KeptLog):
    """A log that says when it is asked, and keeps the record once it may."""

    def __init__(self, failure: Exception | None = None) -> None:
        super().__init__()
        self.asked, self.may = asyncio.Event(), asyncio.Event()
        self.failure = failure

    async def append(self, decision: Decision) -> DecisionRecord:  # type: ignore[override] # a port may be either
        self.asked.set()
        await self.may.wait()
        if self.failure is not None:
            raise self.failure
        return super().append(decision)


class AtOnce:
    async def execute(self, permit: Any, proposal: Any, record: Recorder) -> Execution:
        return do_all(permit.redeem(proposal), record)


def cancelled(scenario: Callable[[], Awaitable[object]]) -> None:
    """Run the scenario, which has to end in a cancellation."""

    async def main() -> None:
        with pytest.raises(asyncio.CancelledError):
            await scenario()

    asyncio.run(main())


@pytest.mark.parametrize("kind", [KeptLog, AsyncLog])
def test_a_cancelled_execution_is_recorded(kind: type[KeptLog]) -> None:
    log = kind()

    async def scenario() -> None:
        executor = Waiting()
        task = asyncio.create_task(turn(executor, log=log))
        await executor.began.wait()
        task.cancel()
        await task

    cancelled(scenario)
    assert log.only.error == "cancelled"
    assert log.only.run is not None
    assert [call.step for call in log.only.run.calls] == [0]
    assert log.only.report.score is not None


def test_a_tool_that_is_cancelled_is_of_unknown_effect() -> None:
    log = KeptLog()

    async def scenario() -> None:
        called = asyncio.Event()

        async def refund(**args: object) -> None:
            called.set()
            await asyncio.Event().wait()

        tools: dict[tuple[str, str], Tool] = {LOOKUP: lambda id: {"order_id": id}, REFUND: refund}
        task = asyncio.create_task(turn(CallableExecutor(tools), log=log))
        await called.wait()
        task.cancel()
        await task

    cancelled(scenario)
    assert log.only.run is not None
    calls = log.only.run.calls
    assert [(call.step, call.status, call.error) for call in calls] == [
        (0, "completed", None),
        (1, "unknown", "cancelled"),
    ]
    assert log.only.error == "cancelled"


def test_a_timeout_around_the_loop_records_too() -> None:
    log = KeptLog()

    async def scenario() -> None:
        executor = Waiting()
        async with asyncio.timeout(None) as limit:
            task = asyncio.ensure_future(executor.began.wait())
            task.add_done_callback(lambda _: limit.reschedule(0))
            await turn(executor, log=log)

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await scenario()

    asyncio.run(main())
    assert log.only.error == "cancelled"


@pytest.mark.parametrize("times", [1, 2, 5])
def test_cancelled_while_the_log_appends(times: int) -> None:
    kept: list[KeptLog] = []

    async def scenario() -> None:
        log = Slow()
        kept.append(log)
        task = asyncio.create_task(turn(AtOnce(), log=log))
        await log.asked.wait()
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
            assert not task.done()
        log.may.set()
        await task

    cancelled(scenario)
    (log,) = kept
    assert log.only.error is None
    assert log.only.report.status == "completed"


def test_cancelled_while_executing_and_again_while_the_log_appends() -> None:
    kept: list[KeptLog] = []

    async def scenario() -> None:
        log, executor = Slow(), Waiting()
        kept.append(log)
        task = asyncio.create_task(turn(executor, log=log))
        await executor.began.wait()
        task.cancel()
        await log.asked.wait()
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        log.may.set()
        await task

    cancelled(scenario)
    assert kept[0].only.error == "cancelled"


def test_cancelled_and_the_log_fails() -> None:
    async def main() -> None:
        executor = Waiting()
        task = asyncio.create_task(turn(executor, log=FailingLog()))
        await executor.began.wait()
        task.cancel()
        with pytest.raises(NotRecorded) as caught:
            await task
        assert caught.value.decision.error == "cancelled"
        assert caught.value.decision.facts is not None
        assert len(caught.value.decision.facts.calls) == 1

    asyncio.run(main())


def test_an_append_that_fails_while_being_cancelled_is_reported() -> None:
    async def main() -> None:
        log = Slow(OSError("no space"))
        task = asyncio.create_task(turn(AtOnce(), log=log))
        await log.asked.wait()
        task.cancel()
        await asyncio.sleep(0)
        log.may.set()
        with pytest.raises(NotRecorded) as caught:
            await task
        assert caught.value.decision.facts is not None

    asyncio.run(main())


def test_cancelled_before_the_verdict_nothing_is_done_or_recorded() -> None:
    log = KeptLog()

    class Thinking:
        async def plan(self, *_given: object) -> None:
            await asyncio.Event().wait()

    async def scenario() -> None:
        task = asyncio.create_task(turn(AtOnce(), log=log, planner=Thinking()))
        await asyncio.sleep(0)
        task.cancel()
        await task

    cancelled(scenario)
    assert log.records == []


def test_a_log_that_is_cancelled_itself_loses_no_decision() -> None:
    class Interrupted(KeptLog):
        async def append(self, _decision: Decision, /) -> Any:  # type: ignore[override] # a port may be either
            raise asyncio.CancelledError

    async def main() -> None:
        with pytest.raises(NotRecorded) as caught:
            await turn(AtOnce(), log=Interrupted())
        assert caught.value.decision.facts is not None

    asyncio.run(main())
