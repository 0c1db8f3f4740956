"""The events of a turn: what happened, in order, and without any say in it."""

import asyncio
import threading
from contextlib import suppress
from typing import Any

import pytest

from critic import Plan
from evals.canonical_json import canonical_bytes
from harness.runtime import (
    CallableExecutor,
    CallEnded,
    CallStarted,
    DecisionRecorded,
    Execution,
    ExecutionFailed,
    LoopEvent,
    PermitIssued,
    Planned,
    PlanRefused,
    PlanVerified,
    Recorder,
    RunScored,
)
from tests.harness.runtime.world import NOON, KeptLog, Scripted, Ticking, call_of, do_all, turn
from tests.support.examples import good_proposal, proposal_of, refused_proposal

LOOKUP, REFUND = ("adp_orders", "lookup"), ("adp_payments", "issue_refund")


def heard(executor: Any, **ports: Any) -> list[LoopEvent]:
    events: list[LoopEvent] = []
    with suppress(ExecutionFailed):
        asyncio.run(turn(executor, listener=events.append, **ports))
    return events


def kinds(events: list[LoopEvent]) -> list[type]:
    return [type(event.detail) for event in events]


def test_a_turn_is_reported_from_plan_to_record() -> None:
    tools: dict[Any, Any] = {LOOKUP: lambda id: {"order_id": id}, REFUND: lambda **_: None}
    log = KeptLog()
    events = heard(CallableExecutor(tools), log=log)
    call = [CallStarted, CallEnded]
    assert kinds(events) == [
        *(Planned, PlanVerified, PermitIssued, *call, *call),
        *(RunScored, DecisionRecorded),
    ]
    assert [event.seq for event in events] == [*range(1, 10)]
    details: Any = [event.detail for event in events]
    assert details[0].plan == proposal_of(good_proposal()).plan
    assert details[1].verdict == log.only.report.verify
    assert [details[3].step, details[5].step] == [0, 1]
    assert log.only.run is not None
    assert (details[4].call, details[6].call) == log.only.run.calls
    assert details[7].verdict == log.only.report.score
    assert details[8].record == log.only


def test_a_refused_plan_is_reported_with_its_refusal() -> None:
    events = heard(Scripted(do_all), proposal=proposal_of(refused_proposal()))
    assert kinds(events) == [Planned, PlanRefused, DecisionRecorded]


def test_a_failed_execution_is_reported_to_the_end() -> None:
    def act(plan: Plan, record: Recorder) -> Execution:
        record(call_of(plan, 0))
        raise OSError("offline")

    events = heard(Scripted(act))
    assert kinds(events)[-3:] == [CallEnded, RunScored, DecisionRecorded]


def test_each_event_has_the_time_of_the_clock() -> None:
    clock = Ticking()
    events = heard(None, clock=clock)
    times = [event.at for event in events]
    assert times == sorted(times, key=str)
    assert times[0] == NOON + clock.step


def test_a_clock_that_fails_leaves_the_time_out() -> None:
    class Stopping(Ticking):
        def now(self) -> Any:
            if self.asked:
                raise OSError("stopped")
            return super().now()

    events = heard(Scripted(do_all), clock=Stopping())
    assert {event.at for event in events} == {None}
    assert len(events) == 7


@pytest.mark.parametrize(
    "error", [RuntimeError(), SystemExit(), KeyboardInterrupt(), asyncio.CancelledError()]
)
@pytest.mark.parametrize("wire", [good_proposal(), refused_proposal()], ids=["good", "refused"])
def test_a_listener_that_raises_changes_nothing(error: BaseException, wire: Any) -> None:
    def still() -> Ticking:
        return Ticking(0 * Ticking().step)

    def listen(_event: LoopEvent) -> None:
        raise error

    one, other = KeptLog(), KeptLog()
    asyncio.run(turn(Scripted(do_all), proposal=proposal_of(wire), log=one, clock=still()))
    asyncio.run(
        turn(
            Scripted(do_all), proposal=proposal_of(wire), log=other, clock=still(), listener=listen
        )
    )
    assert canonical_bytes(one.only) == canonical_bytes(other.only)


def test_calls_of_many_threads_are_numbered_without_gaps() -> None:
    def act(plan: Plan, record: Recorder) -> Execution:
        def work() -> None:
            for _ in range(10):
                record(call_of(plan, 0))

        workers = [threading.Thread(target=work) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return Execution()

    events = heard(Scripted(act))
    assert [event.seq for event in events] == [*range(1, len(events) + 1)]
    assert kinds(events).count(CallEnded) == 80
