"""What of a recorded proposal gives way to a policy, and what stays as it was."""

from itertools import product
from typing import Any

import pytest

from critic import ApprovalMode, Proposal, RunBudget, context_digest, digest
from harness.policy import SESSION_BUDGET
from harness.what_if.changed_turns import Unjudgeable
from harness.what_if.recorded_change import Alteration, changed_inputs
from harness.wire import build
from tests.harness.log.decisions import proposal
from tests.harness.what_if.test_what_if import policy_wire
from tests.support.guarding import Json, policy_of

OTHER = "f" * 64


def changed(recorded: Proposal, change: Any = None) -> Proposal:
    made = changed_inputs(change or Alteration(policy_of(policy_wire())))
    found = made.proposal(recorded, digest(recorded.compiled))
    assert isinstance(found, Proposal)
    return found


def with_ctx(**members: Any) -> Proposal:
    wire = proposal().wire()
    wire["ctx"] |= members
    return build(Proposal, wire)


def approval(name: str, plan: str, **more: Any) -> Json:
    return {"approval_id": name, "approver": "ada", "plan_digest": plan, **more}


def test_a_yes_is_carried_to_what_replaces_its_plan_and_context_and_no_other() -> None:
    bare = proposal()
    own, context = digest(bare.plan), context_digest(bare.ctx, bare.compiled, bare.spec)
    given = {
        "own": (own, {}),
        "own.prefixed": (f"sha256:{own}", {}),
        "own.bound": (own, {"context_digest": context}),
        "own.elsewhere": (own, {"context_digest": OTHER}),
        "other": (OTHER, {}),
        "other.bound": (OTHER, {"context_digest": context}),
    }
    approvals = [approval(one, plan, **more) for one, (plan, more) in given.items()]
    recorded = with_ctx(approvals=approvals)
    stricter = policy_wire(guard={"safety_mode": "destructive", "budget": {"max_steps": 7}})
    found = changed(recorded, Alteration(policy_of(stricter)))
    plan, now = digest(found.plan), context_digest(found.ctx, found.compiled, found.spec)
    assert now != context
    told = {
        one.approval_id: (one.plan_digest, one.context_digest) for one in found.ctx.approvals or ()
    }
    assert told == {
        "own": (plan, None),
        "own.prefixed": (plan, None),
        "own.bound": (plan, now),
        "own.elsewhere": (plan, OTHER),
        "other": (OTHER, None),
        "other.bound": (OTHER, context),
    }


REFUND: Json = {"adapter_id": "payments", "capability_id": "refund"}


@pytest.mark.parametrize("scope", [None, [], [REFUND]])
@pytest.mark.parametrize("listed", [None, "all", ["read"]])
def test_a_recorded_scope_stays_and_an_absent_one_is_that_of_the_policy(
    scope: Any, listed: Any
) -> None:
    recorded = proposal() if scope is None else with_ctx(scope=scope)
    guard = {"safety_mode": "destructive", **({} if listed is None else {"scope": listed})}
    policy = policy_of(policy_wire(guard=guard))
    found = changed(recorded, Alteration(policy)).ctx.scope
    assert found == (policy.scope_names if scope is None else recorded.ctx.scope)


@pytest.mark.parametrize("kept", ["both", "recorded", "policy"])
def test_each_record_is_judged_with_its_own_evidence(kept: Any) -> None:
    """Contexts are kept for records that share one, whatever came between."""
    records = []
    for number in (1, 2):
        wire = proposal().wire()
        (item,) = wire["compiled"]["manifests"]["evidence_manifest"]
        more = {**item, "id": f"own_{number}"}
        wire["compiled"]["manifests"]["evidence_manifest"] = [item, more]
        records.append(build(Proposal, wire))
    policy = policy_wire()
    policy["evidence"] = [{**policy["evidence"][0], "content": {"order": "o-18"}}]
    made = changed_inputs(Alteration(policy_of(policy), evidence=kept))
    for at in (0, 1, 0, 1):
        found = made.proposal(records[at], digest(records[at].compiled))
        assert isinstance(found, Proposal)
        items = {one.id: one.content for one in found.compiled.manifests.evidence_manifest}
        own = {} if kept == "policy" else {f"own_{at + 1}": {"order": "o-17"}}
        shared = {"order": "o-17"} if kept == "recorded" else {"order": "o-18"}
        assert items == {"ev_1": shared, **own}


def test_a_plan_of_a_spec_without_a_policy_is_not_judged() -> None:
    change = Alteration(policy_of(policy_wire()))
    for specs in ({}, {"other": change}, {"Refund": change, "refund ": change}):
        found = changed_inputs(specs).proposal(proposal(), digest(proposal().compiled))
        assert found == Unjudgeable("no policy was given for spec refund")
    assert changed(proposal(), {"refund": change}) == changed(proposal())


@pytest.mark.parametrize("own", [None, {"max_steps": 3, "bucket_tokens": 9}])
@pytest.mark.parametrize("is_session", [True, False])
def test_a_turn_of_a_session_has_a_budget_whatever_its_policy_says(
    own: Any, is_session: bool
) -> None:
    wire = proposal().wire()
    if is_session:
        wire["ctx"] |= {"session": {"id": "trace_1", "turn": 1}}
        wire["plan"]["plan_id"], wire["compiled"]["pack_version"] = "a" * 64, "b" * 64
    guard = {"safety_mode": "destructive", **({} if own is None else {"budget": own})}
    policy = policy_of(policy_wire(guard=guard))
    found = changed(build(Proposal, wire), Alteration(policy)).ctx.run_budget
    default = SESSION_BUDGET if is_session else None
    assert found == (policy.guard.budget or default)


RECORDED, OF_POLICY, TRIED = (
    {"max_steps": 5, "bucket_tokens": 7},
    {"max_steps": 3, "bucket_tokens": 9},
    {"max_steps": 8},
)


@pytest.mark.parametrize("recorded", [None, RECORDED])
@pytest.mark.parametrize("is_session", [True, False])
def test_what_is_tried_goes_before_the_policy_and_that_before_the_record(
    recorded: Any, is_session: bool
) -> None:
    wire = proposal().wire()
    wire["ctx"] |= {} if recorded is None else {"run_budget": recorded}
    wire["ctx"]["safety_mode"] = "network"
    if is_session:
        wire["ctx"] |= {"session": {"id": "trace_1", "turn": 1}}
        wire["plan"]["plan_id"], wire["compiled"]["pack_version"] = "a" * 64, "b" * 64
    was = build(Proposal, wire)
    modes: tuple[ApprovalMode | None, ...] = (None, "read_only")
    for policy_mode, policy_budget, mode, budget in product(
        (None, "delegated"), (None, OF_POLICY), modes, (None, TRIED)
    ):
        own = {} if policy_budget is None else {"budget": policy_budget}
        guard = {"safety_mode": policy_mode, **own}
        policy = policy_of(policy_wire(guard=guard)) if policy_mode else None
        found = changed(was, Alteration(policy, mode, budget or {}))
        assert found.ctx.safety_mode == (mode or policy_mode or "network")
        of_session = SESSION_BUDGET.wire() if is_session else None
        of_policy = (policy_budget or of_session) if policy else None
        base = of_policy or recorded or ({} if budget else None)
        wanted = None if base is None else build(RunBudget, {**base, **(budget or {})})
        assert (found.ctx.run_budget and found.ctx.run_budget.wire()) == (wanted and wanted.wire())


@pytest.mark.parametrize("member", ["classes", "record_fields", "tool_manifest"])
def test_what_a_policy_says_of_tools_and_records_replaces_what_was_recorded(member: str) -> None:
    policy = policy_wire(record_fields=["owner"])
    policy["class"] = [{"name": "mail", "fields": {"from": "system"}}]
    made = changed(proposal(), Alteration(policy_of(policy))).compiled
    expected = policy_of(policy).compiled()
    assert getattr(made.manifests, member)
    assert getattr(made.manifests, member) == getattr(expected.manifests, member)
    assert made.pack_version == expected.pack_version
