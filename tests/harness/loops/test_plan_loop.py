"""The plan loop: the verdict decides, nothing is lost, and the planner is told what would help."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from critic import (
    Plan,
    ReasonStep,
    Refused,
    apply_repairs,
    digest,
)
from evals.canonical_json import canonical_bytes
from evals.plan import is_late_plan
from harness.loops.agents.usage import Usage
from harness.loops.plan_loop import revise_plan
from harness.loops.plan_replies import plan_of
from harness.loops.plan_types import PlannerReply, RevisionRequest
from harness.wire import MAX_DOCUMENT_BYTES, detached_copy, parse
from tests.critic.repairs.test_late_repairs import GUESS, LOOK, refund
from tests.harness.loops.plans import (
    GOOD,
    AsyncPlanner,
    ScriptedPlanner,
    a_loop,
    plan_with,
    revised,
    rulings,
)
from tests.support.examples import good_proposal, proposal_of, refused_proposal
from tests.support.judging import with_changes

SORRY = "I'm sorry, I can't help with that."


# --- the cases of the loops that this one grew from, by their names ---------------------------


def test_loop_approve_1_a_good_plan_is_approved_at_once() -> None:
    planner = ScriptedPlanner(GOOD.plan)
    revision = revised(planner)
    assert (revision.stop_reason, revision.plan, revision.detail) == ("approved", GOOD.plan, "")
    assert (planner.requests, rulings(revision)) == ([None], ["approved"])


def test_loop_refine_1_a_refused_plan_is_revised_and_approved() -> None:
    planner = AsyncPlanner(plan_with(1), GOOD.plan)
    revision = revised(planner)
    assert (revision.stop_reason, revision.plan) == ("approved", GOOD.plan)
    assert rulings(revision) == ["refused", "approved"]


def test_loop_max_rounds_nothing_is_approved_and_the_best_is_kept_as_refused() -> None:
    planner = ScriptedPlanner(plan_with(2), plan_with(1), GOOD.plan)
    revision = revised(planner, max_rounds=2)
    assert (revision.stop_reason, revision.plan) == ("max_rounds", None)
    assert len(planner.requests) == len(revision.attempts) == 2
    assert revision.best_attempt == revision.attempts[1]
    assert revision.best_attempt.judgement is not None
    verdict = revision.best_attempt.judgement.critique.verdict
    assert isinstance(verdict, Refused)
    assert revision.detail == verdict.reasons[0]


def test_loop_max_rounds_1_is_one_plan_one_verdict_no_revision() -> None:
    planner = ScriptedPlanner(plan_with(1), GOOD.plan)
    revision = revised(planner, max_rounds=1)
    assert (revision.stop_reason, planner.requests) == ("max_rounds", [None])
    assert rulings(revision) == ["refused"]


def test_loop_degrade_the_attempt_with_the_fewest_violations_survives_worse_ones() -> None:
    revision = revised(ScriptedPlanner(plan_with(1), plan_with(2), plan_with(3)))
    assert revision.stop_reason == "max_rounds"
    assert revision.best_attempt == revision.attempts[0]
    assert [one.round for one in revision.attempts] == [0, 1, 2]


def test_loop_stuck_the_same_plan_again_is_not_progress() -> None:
    same = with_changes(good_proposal(), "plan", steps=plan_with(2).wire()["steps"], plan_id="p")
    planner = ScriptedPlanner(plan_with(2), *[proposal_of(same).plan] * 7)
    revision = revised(planner, max_rounds=8)
    assert (revision.stop_reason, len(planner.requests)) == ("no_progress", 2)
    assert revision.plan is None
    assert revision.best_attempt == revision.attempts[0]


def test_a_plan_seen_two_rounds_ago_is_not_progress_either() -> None:
    revision = revised(ScriptedPlanner(*map(plan_with, (2, 1, 2))), max_rounds=8)
    assert (revision.stop_reason, revision.best_attempt) == ("no_progress", revision.attempts[1])


@pytest.mark.parametrize("empty", ["", b"", None])
def test_loop_empty_revision_is_malformed_and_the_attempt_before_is_kept(empty: Any) -> None:
    revision = revised(ScriptedPlanner(plan_with(1), empty, empty))
    assert revision.stop_reason == "planner_error"
    assert revision.best_attempt == revision.attempts[0]
    assert len(revision.attempts) == 1


def test_loop_planner_raises_round_0_is_kept() -> None:
    error = RuntimeError("no model <b>")
    revision = revised(ScriptedPlanner(plan_with(1), error))
    assert (revision.stop_reason, revision.error) == ("planner_error", error)
    assert revision.detail.startswith("RuntimeError: no model")
    assert "<" not in revision.detail
    assert rulings(revision) == ["refused"]
    assert revision.plan is None


def test_a_planner_that_raises_at_once_leaves_nothing_but_the_reason() -> None:
    revision = revised(ScriptedPlanner(RuntimeError()))
    assert (revision.stop_reason, revision.attempts) == ("planner_error", ())
    assert (revision.best_attempt, revision.best_refused, revision.outstanding) == (None, None, ())


@pytest.mark.parametrize("limit", [0, -1, True, False, 2.5, "3", None])
def test_ctor_max_rounds_is_a_whole_number_of_at_least_one(limit: Any) -> None:
    with pytest.raises(ValueError, match="max_rounds"):
        a_loop(ScriptedPlanner(), max_rounds=limit)


@pytest.mark.parametrize("name", ["advisr", "max_round", "planer"])
def test_an_option_that_is_misspelt_is_an_error(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        a_loop(ScriptedPlanner(), **{name: None})


def test_plan_truncate_too_many_steps_are_refused_and_never_cut() -> None:
    wire = with_changes(good_proposal(), "ctx", run_budget={"max_steps": 8})
    steps = [*wire["plan"]["steps"], *[{"kind": "reason"}] * 10]
    proposal = proposal_of(with_changes(wire, "plan", steps=steps))
    revision = revised(ScriptedPlanner(proposal.plan), ctx=proposal.ctx, max_rounds=1)
    assert revision.best_attempt is not None
    assert revision.best_attempt.judgement is not None
    verdict = revision.best_attempt.judgement.critique.verdict
    assert isinstance(verdict, Refused)
    assert verdict.kind == "loop_guard"
    assert len(revision.best_attempt.draft.steps) == 12


@pytest.mark.parametrize(
    "reply",
    [
        SORRY,
        SORRY.encode(),
        "\ud800",
        b"\xff",
        '{"steps": [], "steps": [], "declared_outputs": []}',
        {"steps": [], "declared_outputs": []},
        [plan_with(1)],
        7,
        GOOD,
        PlannerReply(SORRY, Usage()),
    ],
)
def test_a_reply_that_is_not_a_plan_is_asked_for_again_once(reply: Any) -> None:
    planner = ScriptedPlanner(reply, GOOD.plan)
    revision = revised(planner)
    assert revision.plan == GOOD.plan
    _, again = planner.requests
    assert again is not None
    assert again.complaint
    assert (again.round, again.plan, again.violations) == (0, None, ())
    assert revised(ScriptedPlanner(reply, reply, GOOD.plan)).stop_reason == "planner_error"


# --- what the planner is told -----------------------------------------------------------------


def test_the_request_holds_the_plan_every_violation_and_repairs_that_work() -> None:
    planner = ScriptedPlanner(plan_with(2), GOOD.plan)
    revised(planner)
    _, request = planner.requests
    assert request is not None
    assert (request.round, request.plan) == (1, plan_with(2))
    assert request.plan_digest == digest(plan_with(2))
    assert [one.kind for one in request.violations] == ["missing_evidence"] * 2
    assert request.advice is not None
    assert request.plan is not None
    repaired = apply_repairs(request.plan, request.advice.repairs)
    assert revised(ScriptedPlanner(repaired)).stop_reason == "approved"
    assert parse(RevisionRequest, canonical_bytes(request)) == request


def test_a_planner_that_does_as_it_is_told_needs_one_revision() -> None:
    class Obedient:
        def plan(self, _ctx: Any, _compiled: Any, _spec: Any, request: Any = None, /) -> Plan:
            if request is None:
                return proposal_of(refused_proposal()).plan
            return apply_repairs(request.plan, request.advice.repairs)

    assert rulings(revised(Obedient())) == ["refused", "approved"]


def test_a_complaint_comes_with_what_was_wrong_before() -> None:
    planner = ScriptedPlanner(plan_with(1), SORRY, GOOD.plan)
    revised(planner)
    _, first, again = planner.requests
    assert first is not None
    assert again is not None
    assert again.complaint
    assert again.model_copy(update={"complaint": "x"}) == first.model_copy(
        update={"complaint": "x"}
    )


@pytest.mark.parametrize("spell", [canonical_bytes, lambda plan: canonical_bytes(plan).decode()])
def test_a_plan_may_come_as_json(spell: Callable[[Plan], Any]) -> None:
    assert revised(ScriptedPlanner(spell(GOOD.plan))).plan == GOOD.plan


def test_what_is_reported_and_what_was_replied_may_be_longer_than_a_document() -> None:
    text = "a" * MAX_DOCUMENT_BYTES
    plan = Plan(steps=(ReasonStep(summary=text),), declared_outputs=())
    assert detached_copy(plan) == plan
    assert plan_of({"plan": plan.wire()}) == plan


def test_the_function_is_the_loop_run_once() -> None:
    revision = asyncio.run(
        revise_plan(
            ctx=GOOD.ctx,
            compiled=GOOD.compiled,
            spec=GOOD.spec,
            planner=ScriptedPlanner(plan_with(1)),
            max_rounds=1,
        )
    )
    assert revision.stop_reason == "max_rounds"


def test_a_planner_that_guessed_what_a_step_returns_is_told_where_to_take_it_from() -> None:
    case = refund(LOOK, GUESS)

    class Taking(ScriptedPlanner):
        def plan(self, *given: Any) -> Any:
            request = given[3] if len(given) > 3 else None
            if request is None:
                return case.plan
            assert [one.kind for one in request.advice.repairs] == ["take_value"]
            return apply_repairs(request.plan, request.advice.repairs)

    inputs: Any = {"ctx": case.ctx, "compiled": case.compiled, "spec": case.spec}
    revision = asyncio.run(revise_plan(**inputs, planner=Taking()))
    assert (revision.stop_reason, len(revision.attempts)) == ("approved", 2)
    assert revision.plan is not None
    assert is_late_plan(revision.plan)
