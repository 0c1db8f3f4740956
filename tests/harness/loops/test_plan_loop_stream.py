"""The events of a plan loop, its time, its retries, and how it goes on under an approval."""

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from critic import Approval, Finding, digest
from harness.clock import FixedClock
from harness.loops.agents.journal import MemoryStore, ReplayDivergence
from harness.loops.agents.retry import CallPolicy
from harness.loops.agents.usage import Budget, Usage
from harness.loops.plan_types import PlanEvent, PlannerReply
from harness.wire import build
from tests.harness.loops.agents.journals import CLOCK, Ticking, journal_of
from tests.harness.loops.agents.test_retry import Waits
from tests.harness.loops.plans import (
    GOOD,
    AsyncPlanner,
    ScriptedAdvisor,
    ScriptedPlanner,
    a_loop,
    plan_with,
    revised,
    rulings,
)

COST = Usage(tokens_in=6, tokens_out=4, cost_micros=1)
DOWN = ConnectionError("connection reset")


def events_of(loop: Any) -> list[PlanEvent]:
    async def main() -> list[PlanEvent]:
        return [event async for event in loop.stream()]

    return asyncio.run(main())


def brief(events: list[PlanEvent]) -> list[tuple[str, int]]:
    return [(event.kind, event.round) for event in events]


# --- events -----------------------------------------------------------------------------------


def test_the_events_tell_the_whole_run() -> None:
    planner = ScriptedPlanner(plan_with(2), "sorry", GOOD.plan)
    advisor = ScriptedAdvisor([], None, [])
    loop = a_loop(planner, advisor=advisor, clock=Ticking(), session="S")
    events = events_of(loop)
    assert brief(events) == [
        ("started", 0),
        ("drafted", 0),
        ("judged", 0),
        ("malformed", 1),
        ("drafted", 1),
        ("malformed", 1),
        ("judged", 1),
        ("stopped", 1),
    ]
    assert [event.sequence for event in events] == [*range(8)]
    times = [event.at for event in events]
    assert times == sorted({*times})
    assert {event.session for event in events} == {"S"}
    assert events[1].plan_digest == events[2].plan_digest == digest(plan_with(2))
    assert [(e.ruling, e.violations, e.findings) for e in events if e.kind == "judged"] == [
        ("refused", 2, 0),
        ("approved", 0, 0),
    ]
    assert [(e.role, bool(e.why)) for e in events if e.kind == "malformed"] == [
        ("planner", True),
        ("advisor", True),
    ]
    assert (events[-1].stop_reason, events[-1].why) == ("approved", None)
    assert all(build(PlanEvent, event.wire()) == event for event in events)


def test_the_end_says_why() -> None:
    last = events_of(a_loop(ScriptedPlanner(RuntimeError("no <b>"))))[-1]
    assert (last.kind, last.stop_reason) == ("stopped", "planner_error")
    assert last.why == "RuntimeError: no \\u003cb>"


def test_a_consumer_that_leaves_cancels_the_loop() -> None:
    loop = a_loop(ScriptedPlanner(plan_with(2), GOOD.plan))

    async def main() -> None:
        async with aclosing(loop.stream()) as events:
            async for event in events:
                if event.kind == "judged":
                    break

    asyncio.run(main())
    assert (loop.revision.stop_reason, loop.revision.detail) == ("cancelled", "cancelled")
    assert rulings(loop.revision) == ["refused"]
    assert events_of(loop) == []


# --- transient failures and time --------------------------------------------------------------


def test_one_dropped_connection_does_not_end_a_plan_loop() -> None:
    waits = Waits()
    how = CallPolicy(sleep=waits)
    planner = ScriptedPlanner(DOWN, plan_with(1), TimeoutError(), GOOD.plan)
    advisor = ScriptedAdvisor(DOWN, [], [])
    loop = a_loop(planner, advisor=advisor, calls=how)
    events = events_of(loop)
    assert loop.revision.plan == GOOD.plan
    retries = [(e.role, e.wait_s, e.why) for e in events if e.kind == "retrying"]
    assert retries[:2] == [
        ("planner", 0.5, "ConnectionError: connection reset"),
        ("advisor", 0.5, "ConnectionError: connection reset"),
    ]
    assert len(retries) == 3
    assert waits.seconds == [0.5] * 3
    assert revised(ScriptedPlanner(DOWN), calls=CallPolicy(tries=1)).error is DOWN


def test_the_same_request_is_made_again() -> None:
    planner = ScriptedPlanner(plan_with(1), DOWN, GOOD.plan)
    revised(planner, calls=CallPolicy(sleep=Waits()))
    assert planner.requests[1] == planner.requests[2]


class Hanging(AsyncPlanner):
    async def plan(self, *given: Any) -> Any:
        if self.script[0] == "hang":
            self.script.pop(0)
            await asyncio.Event().wait()
        return await super().plan(*given)


def test_a_call_that_takes_too_long_is_cancelled_and_its_cost_is_not_known() -> None:
    how = CallPolicy(time_limit=0.01, sleep=Waits())
    revision = revised(Hanging("hang", PlannerReply(GOOD.plan, COST)), calls=how)
    assert (revision.plan, revision.usage) == (GOOD.plan, Usage())
    revision = revised(Hanging(*["hang"] * 3), calls=how)
    assert (revision.stop_reason, revision.usage) == ("planner_error", Usage())
    assert "time limit" in revision.detail


def test_the_budget_of_time_ends_a_call_that_hangs() -> None:
    revision = revised(Hanging("hang"), budget=Budget(max_seconds=0.02))
    assert (revision.stop_reason, revision.detail) == ("budget", "budget:max_seconds")


class SlowAdvisor(ScriptedAdvisor):
    async def review(self, *given: Any) -> Any:
        await asyncio.Event().wait()
        return super().review(*given)


@pytest.mark.parametrize(("plan", "ruling"), [(GOOD.plan, None), (plan_with(1), "refused")])
def test_an_advisor_that_hangs_approves_nothing_and_loses_no_refusal(
    plan: Any, ruling: Any
) -> None:
    budget = Budget(max_seconds=0.05)
    revision = revised(ScriptedPlanner(plan), advisor=SlowAdvisor(), budget=budget)
    assert (revision.stop_reason, revision.plan) == ("budget", None)
    assert rulings(revision) == [ruling]
    assert len(revision.refused) == (ruling is not None)


def test_no_call_is_made_after_the_time_of_the_budget() -> None:
    planner = ScriptedPlanner(*map(plan_with, (3, 2, 1)))
    revision = revised(planner, clock=Ticking(), budget=Budget(max_seconds=4), max_rounds=9)
    assert (revision.stop_reason, revision.detail) == ("budget", "budget:max_seconds")
    assert len(revision.attempts) < 3
    still = FixedClock(datetime(2026, 5, 9, tzinfo=UTC))
    planner = ScriptedPlanner(plan_with(1), GOOD.plan)
    assert revised(planner, clock=still, budget=Budget(max_seconds=4)).plan == GOOD.plan


def test_retries_are_recorded_as_one_call_with_what_they_came_to() -> None:
    store = MemoryStore()
    planner = ScriptedPlanner(DOWN, PlannerReply(GOOD.plan, COST))
    how = CallPolicy(sleep=Waits())
    first = revised(planner, journal=journal_of(store), calls=how)
    assert len(store.lines()) == 1
    again = revised(ScriptedPlanner(), journal=journal_of(store, "replay"))
    assert again == first
    assert again.usage == COST


@pytest.mark.parametrize("then", [{"model": "b"}, {}, None])
def test_the_settings_are_inputs_of_the_journal(then: Any) -> None:
    store, settings = MemoryStore(), {"model": "a"}
    first = revised(ScriptedPlanner(GOOD.plan), journal=journal_of(store), settings=settings)
    again = revised(ScriptedPlanner(), journal=journal_of(store, "replay"), settings=settings)
    assert again == first
    with pytest.raises(ReplayDivergence):
        revised(ScriptedPlanner(GOOD.plan), journal=journal_of(store), settings=then)


# --- going on under an approval ---------------------------------------------------------------

SPEC = GOOD.spec.model_copy(update={"approval_required_from": "destructive"})
ERROR = Finding(severity="error", message="this pays the wrong person")


def waiting(*script: Any, **options: Any) -> tuple[Any, ScriptedPlanner]:
    planner = ScriptedPlanner(*script)
    loop = a_loop(planner, spec=SPEC, clock=CLOCK, **options)
    asyncio.run(loop.run())
    return loop, planner


def approval(plan: Any = GOOD.plan, **facts: Any) -> Approval:
    return Approval(approval_id="a1", plan_digest=digest(plan), approver="ada", **facts)


def test_an_approved_plan_goes_on_without_asking_the_planner() -> None:
    loop, planner = waiting(plan_with(1), GOOD.plan)
    assert loop.revision.awaits_approval
    revision = asyncio.run(loop.continue_with([approval()]))
    assert (revision.stop_reason, revision.plan) == ("approved", GOOD.plan)
    assert rulings(revision) == ["refused", "approved"]
    assert [attempt.round for attempt in revision.attempts] == [0, 1]
    assert len(planner.requests) == 2
    assert loop.revision.plan is None, "the loop that waited stays as it was"


@pytest.mark.parametrize(
    ("wrong", "as_of"),
    [
        (approval(plan_with(1)), None),
        (approval(steps=(0,)), None),
        (approval(expires_at=GOOD.ctx.as_of), GOOD.ctx.as_of),
    ],
)
def test_another_approval_leaves_the_plan_refused(wrong: Approval, as_of: Any) -> None:
    loop, planner = waiting(GOOD.plan)
    revision = asyncio.run(loop.continue_with([wrong], as_of=as_of))
    assert (revision.plan, len(planner.requests)) == (None, 1)
    assert revision.stop_reason in ("unrecoverable", "max_rounds")
    assert asyncio.run(loop.continue_with([approval()])).plan == GOOD.plan


def test_the_time_of_the_approval_can_be_given() -> None:
    assert GOOD.ctx.as_of is not None
    loop, _ = waiting(GOOD.plan)
    late = approval(expires_at=GOOD.ctx.as_of + timedelta(minutes=1))
    assert asyncio.run(loop.continue_with([late])).plan == GOOD.plan
    after = GOOD.ctx.as_of + timedelta(minutes=2)
    assert asyncio.run(loop.continue_with([late], as_of=after)).plan is None


def test_the_advisor_is_asked_about_the_approved_plan() -> None:
    for findings, plan in (([ERROR], None), ([], GOOD.plan)):
        advisor = ScriptedAdvisor(PlannerReply(findings, COST))
        loop, _ = waiting(PlannerReply(GOOD.plan, COST), advisor=advisor)
        assert advisor.asked == []
        revision = asyncio.run(loop.continue_with([approval()]))
        assert (revision.plan, len(advisor.asked)) == (plan, 1)
        assert revision.usage.tokens == 20


def test_only_a_plan_that_lacks_nothing_else_can_go_on() -> None:
    for script in ([plan_with(1)] * 2, [RuntimeError("no")]):
        loop, _ = waiting(*script)
        assert not loop.revision.awaits_approval
        with pytest.raises(ValueError, match="does not wait for approvals"):
            asyncio.run(loop.continue_with([approval()]))
    with pytest.raises(ValueError, match="does not wait for approvals"):
        asyncio.run(a_loop(ScriptedPlanner()).continue_with([]))


def test_going_on_twice_under_one_journal_is_not_a_divergence() -> None:
    loop, _ = waiting(GOOD.plan, journal=journal_of(MemoryStore()), advisor=ScriptedAdvisor([], []))
    for name in ("ada", "bob"):
        given = approval().model_copy(update={"approver": name})
        assert asyncio.run(loop.continue_with([given])).plan == GOOD.plan
