"""What follows from a repair: voided approvals, lost outputs, room for what replaces them."""

from typing import Any

import pytest

from critic import Proposal, Repair, advise, apply_repairs, digest
from critic.repairs.repair_kinds import (
    AskApproval,
    GrantBudget,
    ObtainEvidence,
    SaveTokens,
    Shorten,
)
from tests.critic.repairs.advising import (
    ORDER,
    REASON,
    WINDOW,
    advice_on,
    completed,
    ctx_with,
    evidence_with,
    lookup_with,
    more_steps,
    plan_with,
    said,
    spec_with,
    step_with,
)
from tests.support.examples import good_proposal, proposal_of, refused_proposal
from tests.support.judging import judge_proposal, with_manifest
from tests.support.model.facts import Json


def approved(wire: Json) -> Json:
    """Return the proposal with a person's approval of its plan."""
    yes = {"approval_id": "a", "approver": "b", "plan_digest": digest(proposal_of(wire).plan)}
    return ctx_with(approvals=[yes])(spec_with(approval_required_from="destructive")(wire))


def test_a_change_to_the_plan_voids_its_approval() -> None:
    before = approved(good_proposal())
    assert judge_proposal(proposal_of(before))
    after = approved(plan_with(declared_outputs=["refund_amount_inr"])(good_proposal()))
    assert said(proposal_of(after)) == (
        "reject",
        [
            {"kind": "declare_output", "output": "refund_reason_class"},
            {"kind": "ask_approval", "tier": "destructive", "steps": [1]},
        ],
    )


def test_an_approval_that_leaves_a_step_out_is_asked_for_that_step_only() -> None:
    wire = spec_with(approval_required_from="read_only")(good_proposal())
    plan_digest = digest(proposal_of(wire).plan)
    yes = {"approval_id": "a", "approver": "b", "plan_digest": plan_digest, "steps": [1]}
    assert said(proposal_of(ctx_with(approvals=[yes])(wire))) == (
        "reject",
        [{"kind": "ask_approval", "tier": "read_only", "steps": [0]}],
    )


def test_a_step_that_is_dropped_asks_for_nothing_else() -> None:
    wire = step_with(1, evidence_refs=["forged"], args={"id": 1})(good_proposal())
    wire = spec_with(approval_required_from="destructive")(ctx_with(safety_mode="network")(wire))
    disposition, repairs = said(proposal_of(wire))
    assert disposition == "reject"
    assert [one["kind"] for one in repairs] == ["drop_step", "allow_tool", "allow_tool"]


def test_what_depends_on_a_dropped_step_no_longer_does() -> None:
    wire = step_with(0, capability_id="gone")(good_proposal())
    proposal = proposal_of(wire)
    plan = apply_repairs(proposal.plan, advice_on(proposal).repairs)
    assert [step.depends_on for step in plan.steps] == [None]
    assert judge_proposal(proposal.model_copy(update={"plan": plan}))


def test_a_dependency_stays_where_another_step_has_the_id() -> None:
    unsurfaced = {"kind": "tool", "adapter_id": "x", "capability_id": "y", "id": "lookup"}
    wire = good_proposal()
    steps = [unsurfaced, *wire["plan"]["steps"]]
    proposal = proposal_of(plan_with(steps=steps)(wire))
    plan = apply_repairs(proposal.plan, advice_on(proposal).repairs)
    # The id was the dropped step's first, so the step that is left has given it up.
    assert [step.id for step in plan.steps] == [None, "refund"]
    kept = apply_repairs(proposal.plan, [advice_on(proposal).repairs[0]])
    assert [step.depends_on for step in kept.steps] == [None, ("lookup",)]


def test_room_is_made_for_the_step_that_produces_what_was_lost() -> None:
    wire = ctx_with(run_budget={"max_steps": 1})(good_proposal())
    disposition, repairs = said(proposal_of(wire))
    assert (disposition, repairs[-1]) == ("replan", {"kind": "shorten", "steps": 2})
    assert judge_proposal(completed(proposal_of(wire), advice_on(proposal_of(wire))))


def test_a_step_with_args_to_correct_keeps_its_place_and_what_it_gives() -> None:
    made_up = step_with(1, args={"id": "pay_8861", "amount_inr": 24501})
    proposal = proposal_of(made_up(good_proposal()))
    plan = apply_repairs(proposal.plan, advice_on(proposal).repairs)
    assert [step.kind for step in plan.steps] == ["tool", "reason"]
    assert plan.steps[1].id == "refund"


def test_an_argument_without_evidence_may_be_left_out_where_the_tool_can_spare_it() -> None:
    wire = evidence_with("refund_window_evidence")(good_proposal())
    tools = wire["compiled"]["manifests"]["tool_manifest"]
    tools[1]["args_schema"] = {"type": "object"}
    for binding in tools[1]["bound_args"].values():
        binding["optional"] = True
    wire["plan"]["steps"][1]["evidence_refs"] = [WINDOW]
    expected = [
        {"kind": "correct_args", "step": 1, "path": f"/steps/1/args/{name}"}
        for name in ("amount_inr", "id")
    ]
    assert said(proposal_of(wire)) == ("replan", expected)
    del tools[1]["args_schema"]
    assert said(proposal_of(wire)) == ("replan", expected)


def test_no_evidence_is_asked_for_where_none_is_allowed() -> None:
    wire = lookup_with(bound_args={"id": []})(good_proposal())
    expected = [{"kind": "correct_args", "step": 0, "path": "/steps/0/args/id"}]
    assert said(proposal_of(wire)) == ("replan", expected)


def test_names_of_arguments_survive_their_pointer() -> None:
    wire = lookup_with(bound_args={"a/~1": ["order_record"]}, args_schema=True)(good_proposal())
    wire = step_with(0, args={"a/~1": "ord_881"})(wire)
    expected = {"kind": "back_argument", "step": 0, "argument": "a/~1", "candidates": [ORDER]}
    assert said(proposal_of(wire)) == ("replan", [expected])


def test_values_that_stand_in_different_evidence_are_each_pinned() -> None:
    wire = lookup_with(bound_args={"x": ["k"]}, args_schema=True)(good_proposal())
    items = [{"id": f"e{n}", "classification": "k", "content": [n]} for n in range(3)]
    wire = with_manifest(
        wire, "evidence_manifest", [*wire["compiled"]["manifests"]["evidence_manifest"], *items]
    )
    wire = step_with(0, args={"x": [0, 1, True]})(wire)
    assert said(proposal_of(wire))[1] == [
        {"kind": "correct_args", "step": 0, "path": "/steps/0/args/x"}
    ]
    disposition, repairs = said(proposal_of(step_with(0, args={"x": [0, 1, 0]})(wire)))
    assert disposition == "replan"
    assert sorted(one["candidates"] for one in repairs) == [["e0"], ["e1"]]


PROFILE: Json = {
    "adapter_id": "adp_crm",
    "capability_id": "profile",
    "approval_mode": "read_only",
    "produces": ["profile"],
    "requires_evidence": ["consent"],
}


def with_profile(calls: Json, **changes: Any) -> Proposal:
    """Return the refund with a lookup of the profile, which lacks evidence."""
    wire = good_proposal()
    known = wire["compiled"]["manifests"]["tool_manifest"]
    wire = with_manifest(wire, "tool_manifest", [*known, {**PROFILE, **changes}])
    names = {name: PROFILE[name] for name in ("adapter_id", "capability_id")}
    first, *rest = wire["plan"]["steps"]
    steps = [first, {"kind": "tool", **names, "id": "profile", **calls}, *rest]
    return proposal_of(plan_with(steps=steps)(wire))


UNASKED = {"requires_evidence": [], "bound_args": {"who": ["consent"]}, "args_schema": {}}
NEEDED = {**UNASKED, "args_schema": {"required": ["who"]}}


@pytest.mark.parametrize(("calls", "changes"), [({}, {}), ({"args": {"who": "Ada"}}, NEEDED)])
def test_a_look_that_nothing_needs_and_no_evidence_allows_is_left_out(
    calls: Json, changes: Json
) -> None:
    proposal = with_profile(calls, **changes)
    assert said(proposal) == ("replan", [{"kind": "drop_step", "step": 1}])
    assert judge_proposal(completed(proposal, advice_on(proposal)))


@pytest.mark.parametrize(
    "changes",
    [
        {"approval_mode": "network"},
        {"produces": ["profile", "refund_amount_inr"]},
        {"produces": None},
    ],
)
def test_evidence_is_asked_for_where_something_would_be_lost(changes: Json) -> None:
    expected = {"kind": "obtain_evidence", "step": 1, "classifications": ["consent"]}
    present = {name: value for name, value in changes.items() if value is not None}
    proposal = with_profile({}, **present)
    if changes != present:
        tools = [{**PROFILE}, *good_proposal()["compiled"]["manifests"]["tool_manifest"]]
        del tools[0]["produces"]
        proposal = proposal_of(with_manifest(proposal.wire(), "tool_manifest", tools))
    assert said(proposal) == ("reject", [expected])


def test_evidence_is_asked_for_what_a_later_step_builds_on() -> None:
    wire = with_profile({}).wire()
    proposal = proposal_of(step_with(2, depends_on=["lookup", "profile"])(wire))
    assert [one["kind"] for one in said(proposal)[1]] == ["obtain_evidence"]


@pytest.mark.parametrize("required", [[], ["summary"]])
def test_evidence_is_asked_for_where_no_tool_is_known_to_give_what_is_required(
    required: list[str],
) -> None:
    wire = spec_with(required_outputs=required)(with_profile({}).wire())
    wire = more_steps(REASON)(plan_with(declared_outputs=required)(wire))
    assert [one["kind"] for one in said(proposal_of(wire))[1]] == ["obtain_evidence"]


def test_to_shorten_a_plan_what_is_missed_least_goes_first() -> None:
    first, refund = good_proposal()["plan"]["steps"]
    again = {name: value for name, value in first.items() if name != "id"}
    other = {**again, "args": {"id": "ord_882"}}
    steps = [first, REASON, again, other, {**REASON, "summary": "s"}, refund]
    plan = proposal_of(plan_with(steps=steps)(good_proposal())).plan
    left = [[*range(6)], [0, 1, 3, 4, 5], [0, 1, 3, 5], [0, 3, 5], [0, 3], [0], []]
    for count, kept in enumerate(left):
        shorter = apply_repairs(plan, [Shorten(steps=count)] if count else [])
        assert shorter.steps == tuple(plan.steps[at] for at in kept)


def test_a_plan_that_repeats_itself_is_repaired_without_the_loss_of_its_purpose() -> None:
    first, refund = good_proposal()["plan"]["steps"]
    again = {name: value for name, value in first.items() if name != "id"}
    proposal = proposal_of(plan_with(steps=[first, *[again] * 12, refund])(good_proposal()))
    assert said(proposal) == ("replan", [{"kind": "shorten", "steps": 2}])


def test_repairs_of_others_and_of_no_step_change_nothing() -> None:
    plan = proposal_of(good_proposal()).plan
    repairs: list[Repair] = [
        AskApproval(tier="destructive", steps=(1,)),
        ObtainEvidence(step=0, classifications=("k",)),
        GrantBudget(of="steps", by_how_much=1),
        SaveTokens(tokens=1, steps=(7,)),
    ]
    assert apply_repairs(plan, repairs) == plan


def test_a_plan_that_passes_gets_no_advice() -> None:
    good = proposal_of(good_proposal())
    assert advise(good.ctx, good.compiled, good.spec, good.plan) is None


def test_advice_takes_exactly_the_envelopes() -> None:
    bad = proposal_of(refused_proposal())
    no_plan: Any = bad.plan.wire()
    with pytest.raises(TypeError, match="verify needs a Plan, not dict"):
        advise(bad.ctx, bad.compiled, bad.spec, no_plan)
