"""The loop and ports that do not do their part: planners, clocks and logs."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from critic import Plan, digest, verify, verify_proposal
from harness.runtime.canonical_loop import ExecutionFailed, NotRecorded, Outcome
from harness.runtime.planners import FixedPlanner
from harness.runtime.ports import Execution, Recorder
from tests.harness.runtime.world import (
    NOON,
    OUTPUTS,
    AsyncLog,
    FailingLog,
    KeptLog,
    Scripted,
    Ticking,
    call_of,
    do_all,
    turn,
)
from tests.support.examples import HOSTILE, good_proposal, is_safe, proposal_of, refused_proposal


def decided(executor: Any, **ports: Any) -> Outcome:
    return asyncio.run(turn(executor, **ports))


class BadPlanner:
    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def plan(self, *_given: Any) -> Any:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (RuntimeError("no idea"), RuntimeError),
        (None, ValidationError),
        ("plan", ValidationError),
        ({}, ValidationError),
        ({**good_proposal()["plan"], "more": 1}, ValidationError),
    ],
)
def test_a_planner_that_gives_no_plan(answer: Any, error: type[Exception]) -> None:
    executor, log = Scripted(do_all), KeptLog()
    with pytest.raises(error):
        asyncio.run(turn(executor, planner=BadPlanner(answer), log=log))
    assert (executor.asked, log.records) == (0, [])


def test_a_clock_without_a_zone_executes_nothing() -> None:
    class Naive:
        def now(self) -> datetime:
            return datetime(2026, 5, 9, 12)

    executor, log = Scripted(do_all), KeptLog()
    with pytest.raises(TypeError, match="without a zone; nothing was executed"):
        asyncio.run(turn(executor, clock=Naive(), log=log))
    assert (executor.asked, log.records) == (0, [])


@pytest.mark.parametrize("answer", [OSError("stopped"), datetime(2026, 5, 9, 12), None])
def test_a_clock_that_fails_after_an_effect_loses_no_record(answer: Any) -> None:
    class Stopping(Ticking):
        def now(self) -> datetime:
            if self.asked:
                if isinstance(answer, Exception):
                    raise answer
                return answer  # type: ignore[no-any-return]
            return super().now()

    log, kept = KeptLog(), 0
    try:
        asyncio.run(turn(Scripted(do_all), clock=Stopping(), log=log))
    except NotRecorded as failure:
        kept = len(failure.decision.facts.calls) if failure.decision.facts else 0
    except ExecutionFailed:
        pass
    kept += sum(len(record.run.calls) for record in log.records if record.run)
    assert kept == 2


@pytest.mark.parametrize(("step", "wall_ms"), [(1.5, 1500), (0, 0), (-60, 0), (0.0004, 0)])
def test_wall_time_is_that_of_the_clock_and_never_negative(step: float, wall_ms: int) -> None:
    outcome = decided(Scripted(do_all), clock=Ticking(timedelta(seconds=step)))
    assert outcome.run is not None
    assert outcome.run.wall_ms == wall_ms
    assert outcome.report.decided_at == NOON + 2 * timedelta(seconds=step)


def test_what_the_executor_measured_goes_before_the_clock() -> None:
    def act(plan: Plan, record: Recorder) -> Execution:
        do_all(plan, record)
        return Execution(outputs=dict(OUTPUTS), wall_ms=7, tokens=0, cost_micros=9)

    outcome = decided(Scripted(act))
    assert outcome.run is not None
    assert (outcome.run.wall_ms, outcome.run.tokens, outcome.run.cost_micros) == (7, 0, 9)


def test_without_a_run_id_the_trace_names_the_run() -> None:
    wire = good_proposal()
    del wire["ctx"]["run_id"], wire["compiled"]["pack_version"]
    outcome = decided(Scripted(do_all), proposal=proposal_of(wire))
    assert outcome.run is not None
    assert outcome.run.run_id == "trace_refund_881"
    assert "pack_version" not in outcome.run.wire()
    assert "intent" not in outcome.run.wire()


@pytest.mark.parametrize("executor", [None, Scripted(do_all)], ids=["dry run", "executed"])
def test_a_plan_that_its_planner_changes_later_stays_on_record_as_it_was(
    executor: Scripted | None,
) -> None:
    proposal, log = proposal_of(good_proposal()), AsyncLog()
    verified = digest(proposal.plan)

    async def scenario() -> None:
        task = asyncio.create_task(turn(executor, log=log, proposal=proposal))
        await asyncio.sleep(0)
        args: Any = proposal.plan.steps[0].args  # type: ignore[union-attr] # it is a tool step
        args["id"] = "ord_882"
        await task

    asyncio.run(scenario())
    assert log.only.inputs.plan == verified
    assert log.only.report.status == ("completed" if executor else "partial")


def failing(plan: Plan, record: Recorder) -> Execution:
    record(call_of(plan, 0))
    raise RuntimeError(HOSTILE)


@pytest.mark.parametrize(
    ("executor", "calls"), [(None, None), (Scripted(do_all), 2), (Scripted(failing), 1)]
)
def test_a_decision_that_the_log_does_not_take_is_in_the_error(
    executor: Scripted | None, calls: int | None
) -> None:
    with pytest.raises(NotRecorded) as caught:
        asyncio.run(turn(executor, log=FailingLog()))
    assert isinstance(caught.value.__cause__, OSError)
    decision = caught.value.decision
    assert digest(decision.proposal) == digest(proposal_of(good_proposal()))
    assert (None if decision.facts is None else len(decision.facts.calls)) == calls
    assert is_safe(str(caught.value))
    # It can still be recorded elsewhere.
    assert KeptLog().append(decision).report == decision.report


class Trying(FixedPlanner):
    """A planner that had other plans refused, and says nothing true of their verdicts."""

    def __init__(self, plan: Plan, attempts: list[tuple[Plan, Any]]) -> None:
        super().__init__(plan)
        self._attempts = attempts

    def refused_attempts(self) -> list[tuple[Plan, Any]]:
        return self._attempts


def test_what_a_planner_tried_before_is_recorded_with_verdicts_of_our_own() -> None:
    bad, good = proposal_of(refused_proposal()).plan, proposal_of(good_proposal())
    passed = verify_proposal(good)
    for attempts, recorded in (
        ([(bad, passed)], 1),
        ([(bad, None), (bad, None)], 2),
        ([(bad, None), (good.plan, passed)], 1),  # the proposed one is recorded as such
        ([], 0),
    ):
        log = KeptLog()
        outcome = decided(Scripted(do_all), planner=Trying(good.plan, attempts), log=log)
        assert outcome.report.status == "completed"
        wire = log.only.wire()
        assert [entry["plan"] for entry in wire.get("attempts", [])] == [bad.wire()] * recorded
        expected = verify(good.ctx, good.compiled, good.spec, bad).wire()
        assert all(entry["verdict"] == expected for entry in wire.get("attempts", []))


def test_a_planner_that_cannot_say_what_it_tried_executes_nothing() -> None:
    class Broken(FixedPlanner):
        def refused_attempts(self) -> Any:
            raise RuntimeError("lost")

    executor, log = Scripted(do_all), KeptLog()
    plan = proposal_of(good_proposal()).plan
    with pytest.raises(RuntimeError, match="lost"):
        asyncio.run(turn(executor, planner=Broken(plan), log=log))
    assert (executor.asked, log.records) == (0, [])
