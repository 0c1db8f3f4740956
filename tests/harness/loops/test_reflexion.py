"""Reflexion: a planner is told what was refused before, and nothing else changes."""

import asyncio
from typing import Any

import pytest

from critic import Plan
from harness.loops.agents.journal import MemoryStore, ReplayDivergence
from harness.loops.agents.usage import NO_USAGE, Budget, Usage
from harness.loops.feedback import FeedbackEntry
from harness.loops.plan_types import PlannerReply
from harness.loops.reflexion import Reflexion
from tests.harness.loops.agents.journals import journal_of
from tests.harness.loops.plans import GOOD, AsyncPlanner, ScriptedPlanner, a_loop, plan_with
from tests.harness.loops.test_feedback import BAD, entry_of, feedback
from tests.harness.runtime.world import KeptLog, Scripted, do_all, turn


def plans_of(planner: Any, entries: Any = (), **options: Any) -> Any:
    reflexion = Reflexion(planner, lambda: entries, **options)
    return asyncio.run(reflexion.loop(GOOD.ctx, GOOD.compiled, GOOD.spec).run())


def test_without_feedback_it_is_the_plan_loop() -> None:
    planner, plain = (
        ScriptedPlanner(plan_with(1), GOOD.plan),
        ScriptedPlanner(plan_with(1), GOOD.plan),
    )
    assert plans_of(planner) == asyncio.run(a_loop(plain).run())
    assert planner.requests == plain.requests
    assert planner.requests[0] is None


def test_each_request_has_the_top_of_the_feedback() -> None:
    entries = [entry_of(seq, "policy", f"t{seq}") for seq in range(9)]
    planner = AsyncPlanner(plan_with(1), GOOD.plan)
    assert plans_of(planner, entries, most=2).stop_reason == "approved"
    first, second = planner.requests
    assert first is not None
    assert second is not None
    assert first.feedback == second.feedback == (entries[8], entries[7])
    assert (first.round, first.plan, first.violations) == (0, None, ())
    assert len(second.violations) == 1


def test_it_streams_and_numbers_like_the_others() -> None:
    async def main() -> None:
        planner = ScriptedPlanner(plan_with(1), GOOD.plan)
        loop = Reflexion(planner, tuple).loop(GOOD.ctx, GOOD.compiled, GOOD.spec)
        events = [event async for event in loop.stream()]
        kinds = ["started", "drafted", "judged", "drafted", "judged", "stopped"]
        assert [event.kind for event in events] == kinds
        assert [event.sequence for event in events] == [*range(6)]

    asyncio.run(main())


def test_decisions_of_one_log_teach_the_next() -> None:
    log, planner = KeptLog(), ScriptedPlanner(BAD.plan, GOOD.plan, GOOD.plan)
    reflexion = Reflexion(planner, lambda: feedback(log))
    for _ in range(2):
        asyncio.run(turn(Scripted(do_all), planner=reflexion, log=log, proposal=BAD))
    assert planner.requests[0] is None
    last = planner.requests[-1]
    assert last is not None
    (entry,) = last.feedback
    assert (entry.kind, entry.repair) == ("missing_evidence", "taken")
    assert [record.report.status for record in log.records] == ["completed", "completed"]
    assert log.records[0].attempts is not None
    assert log.records[1].attempts is None


def test_no_verdict_depends_on_feedback() -> None:
    planner = ScriptedPlanner(plan_with(1), plan_with(2), plan_with(3))
    revision = plans_of(planner, [entry_of(1, "safety")])
    assert (revision.stop_reason, revision.plan) == ("max_rounds", None)


def test_a_planner_that_fails_ends_the_loop_and_a_log_that_fails_gives_no_plan() -> None:
    assert plans_of(ScriptedPlanner(RuntimeError("no model"))).stop_reason == "planner_error"

    def unreadable() -> list[FeedbackEntry]:
        raise OSError("no such log")

    planner, log = ScriptedPlanner(GOOD.plan), KeptLog()
    with pytest.raises(OSError, match="no such log"):
        asyncio.run(turn(Scripted(do_all), planner=Reflexion(planner, unreadable), log=log))
    assert (planner.requests, log.records) == ([], [])


def test_a_budget_holds() -> None:
    spent = Usage(tokens_in=9, tokens_out=1)
    planner = ScriptedPlanner(PlannerReply(plan_with(1), spent), PlannerReply(GOOD.plan, NO_USAGE))
    revision = plans_of(planner, [entry_of(1, "policy")], budget=Budget(max_tokens=10))
    assert (revision.stop_reason, len(planner.requests)) == ("budget", 1)


def test_a_journaled_plan_is_of_its_feedback() -> None:
    store = MemoryStore()

    def plan(*entries: FeedbackEntry) -> Plan | None:
        journal = journal_of(store)
        return plans_of(ScriptedPlanner(GOOD.plan), entries, journal=journal).plan  # type: ignore[no-any-return] # a plan

    assert plan(entry_of(1, "policy")) == plan(entry_of(1, "policy")) == GOOD.plan
    assert len(store.lines()) == 1
    with pytest.raises(ReplayDivergence):
        plan(entry_of(2, "policy"))


def test_the_feedback_that_a_planner_changes_is_a_copy() -> None:
    class Changing(ScriptedPlanner):
        def plan(self, *given: Any) -> Any:
            request = given[3]
            if request is not None and request.feedback:
                object.__setattr__(request.feedback[0], "kind", "changed")
            return super().plan(*given)

    entry = entry_of(1, "policy")
    plans_of(Changing(plan_with(1), GOOD.plan), [entry])
    assert entry.kind == "policy"


def test_bad_options_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="most must be"):
        Reflexion(ScriptedPlanner(), tuple, most=-1)
    with pytest.raises(TypeError, match="feedback is what recall gives"):
        Reflexion(ScriptedPlanner(), tuple, feedback=())
