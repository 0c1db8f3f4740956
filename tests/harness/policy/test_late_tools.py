"""What a policy says of late plans reaches the plans that may be late, and nothing else."""

from typing import Any

import pytest

from critic import Proposal, verify_proposal
from harness.guard import CallsEvent, Guard, OpenEvent, RequestedCall
from harness.policy import Policy
from harness.policy.analysis.policy_effects import effects_on_plans
from harness.policy.partial_documents import completed_proposal
from harness.wire import InvalidInput, build
from tests.support.model.facts import Json

LOOK: Json = {
    "adapter_id": "shop",
    "capability_id": "look",
    "approval_mode": "read_only",
    "yields": "order",
    "expires_after_s": 600,
    "output_schema": {"properties": {"amount": {"type": "string"}}},
    "result": {"author": "system", "derived": True},
}
PAY: Json = {
    "adapter_id": "shop",
    "capability_id": "pay",
    "approval_mode": "destructive",
    "args_schema": {"properties": {"amount": {"type": "integer"}}},
}


def policy(look: Json | None = None, **spec: Any) -> Policy:
    wire = {
        "guard": {"safety_mode": "destructive"},
        "spec": {"id": "s", "required_outputs": [], **spec},
        "class": [{"name": "order", "fresh_s": 60}],
        "tool": [{**LOOK, **(look or {})}, PAY],
    }
    return build(Policy, wire)


def late_plan() -> Json:
    step = {"kind": "tool", "adapter_id": "shop"}
    taken = {"arg": "/amount", "step": "look", "at": "/amount"}
    steps = [
        {**step, "capability_id": "look", "id": "look"},
        {**step, "capability_id": "pay", "takes": [taken]},
    ]
    ctx = {"trace_id": "t", "safety_mode": "destructive"}
    return {"ctx": ctx, "plan": {"steps": steps, "declared_outputs": []}}


def test_without_late_the_manifest_is_as_it_was() -> None:
    (look, _) = policy().compiled().manifests.tool_manifest
    assert look.wire() == {
        "adapter_id": "shop",
        "capability_id": "look",
        "approval_mode": "read_only",
        "result": {"author": "system"},
    }


def test_with_late_the_manifest_says_what_tools_return() -> None:
    (look, _) = policy(late="sources").compiled().manifests.tool_manifest
    assert look.wire() == {**LOOK, "expires_after_s": 60}


@pytest.mark.parametrize(
    ("spec", "paths"),
    [({}, ["/steps/1/takes"]), ({"late": "sources"}, ["/steps/1/takes/0/at"])],
)
def test_a_late_plan_is_judged_by_the_policy(spec: Json, paths: list[str]) -> None:
    proposal = build_proposal(policy(**spec))
    verdict = verify_proposal(proposal)
    assert not verdict.ok
    assert [one.path for one in verdict.violations] == paths


def build_proposal(of: Policy) -> Proposal:
    return build(Proposal, completed_proposal(of, late_plan()))


def test_the_batches_of_a_session_are_plain_whatever_the_spec_says() -> None:
    """Their bytes are those of a policy that says nothing of late plans, but for its own digest."""
    rulings = []
    specs: list[Json] = [{}, {"late": "sources"}]
    for spec in specs:
        guard = Guard(policy(**spec))
        guard.handle(OpenEvent(session="s", request="Look."))
        call = RequestedCall(id="c1", tool="look", args={})
        rulings.append(guard.handle(CallsEvent(session="s", calls=[call])))
    assert rulings[0] == rulings[1]


def test_a_call_of_a_session_takes_nothing_of_another() -> None:
    taken = [{"arg": "/amount", "call": "c1", "at": "/amount"}]
    event = {
        "event": "calls",
        "session": "s",
        "calls": [{"id": "c2", "tool": "pay", "args": {}, "takes": taken}],
    }
    with pytest.raises(InvalidInput):
        build(CallsEvent, event)


def test_the_diff_knows_what_late_plans_are_judged_by() -> None:
    def found(old: Policy, new: Policy) -> dict[str, tuple[bool, bool]]:
        effects = effects_on_plans(old, new)
        return {one.what: (one.looser, one.tighter) for one in effects}

    off, on = policy(), policy(late="sources")
    assert found(off, on)["spec.late"] == (True, False)
    assert found(on, off)["spec.late"] == (False, True)
    other = policy({"output_schema": True}, late="sources")
    assert found(on, other) == {"results of tools in late plans": (True, True)}
    assert found(off, policy({"output_schema": True})) == {}
