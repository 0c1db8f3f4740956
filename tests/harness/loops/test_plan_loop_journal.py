"""The plan loop with a journal: it resumes, replays the same, and believes no recorded verdict."""

import asyncio
import json
from typing import Any

import pytest

from harness.loops.agents.journal import Journal, JournalMode, MemoryStore, ReplayDivergence
from harness.loops.agents.usage import Usage
from harness.loops.plan_types import PlannerReply, PlanRevision
from tests.harness.loops.agents.journals import resealed
from tests.harness.loops.plans import (
    GOOD,
    AsyncPlanner,
    ScriptedAdvisor,
    ScriptedPlanner,
    a_loop,
    plan_with,
    revised,
)
from tests.harness.runtime.world import Ticking

COST = Usage(tokens_in=1, tokens_out=2, cost_micros=3)


def journal(store: MemoryStore, mode: JournalMode = "resume") -> Journal:
    return Journal(store, Ticking(), mode)


def recorded(**options: Any) -> tuple[MemoryStore, PlanRevision]:
    """Return a journaled loop of three rounds with one malformed reply."""
    store = MemoryStore()
    planner = AsyncPlanner(PlannerReply(plan_with(2), COST), "sorry", plan_with(1), GOOD.plan)
    return store, revised(planner, journal=journal(store), session="S", **options)


def test_each_reply_has_a_session_of_its_own() -> None:
    store, _ = recorded(advisor=ScriptedAdvisor([], None, [], []))
    entries = [json.loads(line) for line in store.lines()]
    assert [(one["session"], one["step"]) for one in entries] == [
        ("S__planner_0", "plan"),
        ("S__advisor_0", "review"),
        ("S__planner_1", "plan"),
        ("S__planner_1__again", "plan"),
        ("S__advisor_1", "review"),
        ("S__advisor_1__again", "review"),
        ("S__planner_2", "plan"),
        ("S__advisor_2", "review"),
    ]


def test_a_replay_needs_no_planner_and_ends_the_same() -> None:
    store, first = recorded()
    again = revised(ScriptedPlanner(), journal=journal(store, "replay"), session="S")
    assert again == first
    assert again.stop_reason == "approved"


def test_a_resumed_loop_goes_on_where_it_was_cut_short() -> None:
    store = MemoryStore()
    planner = ScriptedPlanner(plan_with(1), RuntimeError("the model is down"))
    assert revised(planner, journal=journal(store)).stop_reason == "planner_error"
    planner = ScriptedPlanner(GOOD.plan)
    assert revised(planner, journal=journal(store)).plan == GOOD.plan
    (request,) = planner.requests
    assert request is not None
    assert request.round == 1


def test_a_failure_is_replayed_as_a_failure() -> None:
    store = MemoryStore()
    first = revised(ScriptedPlanner(RuntimeError("down")), journal=journal(store))
    again = revised(ScriptedPlanner(), journal=journal(store, "replay"))
    assert (again.stop_reason, again.detail) == (first.stop_reason, first.detail)


def test_other_inputs_are_a_divergence_and_not_an_error_of_the_planner() -> None:
    store, _ = recorded()
    spec = GOOD.spec.model_copy(update={"required_outputs": ("other",)})
    loop = a_loop(ScriptedPlanner(), journal=journal(store), session="S", spec=spec)
    with pytest.raises(ReplayDivergence):
        asyncio.run(loop.run())
    assert (loop.revision.stop_reason, loop.revision.detail) == ("cancelled", "ReplayDivergence")


def test_an_advisor_asked_about_another_plan_is_a_divergence() -> None:
    store = MemoryStore()
    kept = journal(store)
    revised(ScriptedPlanner(GOOD.plan), journal=kept, advisor=ScriptedAdvisor([]), session="S")
    reviews = MemoryStore(resealed(line for line in store.lines() if b"S__advisor_0" in line))
    other = ScriptedPlanner(GOOD.plan.model_copy(update={"plan_id": "other"}))
    loop = a_loop(other, journal=journal(reviews), advisor=ScriptedAdvisor([]), session="S")
    with pytest.raises(ReplayDivergence):
        asyncio.run(loop.run())


def test_verdicts_are_not_in_the_journal() -> None:
    store, _ = recorded()
    # Refused plans are in the requests only, by their digest; replies hold plans and costs.
    for line in store.lines():
        assert {*json.loads(line)["reply"]} <= {"plan", "malformed", "usage"}


def test_the_trace_names_the_session_if_nothing_else_does() -> None:
    store = MemoryStore()
    revised(ScriptedPlanner(GOOD.plan), journal=journal(store))
    assert json.loads(store.lines()[0])["session"] == f"{GOOD.ctx.trace_id}__planner_0"
