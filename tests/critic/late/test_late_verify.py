"""Late plans before they run: what passes with conditions, and bad input by its exact answer."""

from typing import Any

import pytest

from critic import Proposal, Refused, Verified, digest, verify_proposal
from critic.late.argument_places import free_place, put_at_path
from critic.verify import verify_plain
from harness.wire import InvalidInput, build
from tests.support.model.facts import Json

LOOK: Json = {"kind": "tool", "adapter_id": "shop", "capability_id": "look", "id": "look"}


def take(arg: str = "/amount", step: str = "look", at: str = "/amount") -> Json:
    return {"arg": arg, "step": step, "at": at}


def proposal(*steps: Json, spec: Json | None = None, ctx: Json | None = None, **tool: Any) -> Json:
    """Return a plan that looks something up, and then takes the steps that are given."""
    named = {"adapter_id": "shop"}
    tools = [
        {**named, "capability_id": "look", "approval_mode": "read_only"},
        {**named, "capability_id": "pay", "approval_mode": "destructive", **tool},
    ]
    return {
        "ctx": {"trace_id": "t", "safety_mode": "destructive", **(ctx or {})},
        "compiled": {"manifests": {"tool_manifest": tools, "evidence_manifest": []}},
        "spec": {"id": "s", "required_outputs": [], "late": "sources", **(spec or {})},
        "plan": {"steps": [{**LOOK, "args": {}}, *steps], "declared_outputs": []},
    }


def pay(*takes: Json, args: Json | None = None, **fields: Any) -> Json:
    step = {**LOOK, "capability_id": "pay", "id": "pay", "args": args or {}, **fields}
    return {**step, "takes": list(takes)} if takes else step


def verdict(wire: Json) -> Verified | Refused:
    return verify_proposal(build(Proposal, wire))


def refusal(wire: Json) -> list[tuple[str, str | None]]:
    found = verdict(wire)
    assert isinstance(found, Refused)
    return [(one.kind, one.path) for one in found.violations]


def test_a_take_waits_for_its_value() -> None:
    found = verdict(proposal(pay(take())))
    assert isinstance(found, Verified)
    assert [(one.kind, one.step, one.path) for one in found.conditions or ()] == [
        ("value", 1, "/takes/0")
    ]
    assert found.caveats[-1] == "late values, judged when their steps are opened: step 1"


@pytest.mark.parametrize(
    ("at", "counts"), [("/0/amount", True), ("/*/amount", False), ("/a/10", True), ("/a/01", False)]
)
def test_a_place_that_counts_elements_is_named(at: str, counts: bool) -> None:
    found = verdict(proposal(pay(take(at=at))))
    assert isinstance(found, Verified)
    (condition,) = found.conditions or ()
    assert ("whoever adds one before it chooses the value" in condition.reason) is counts


@pytest.mark.parametrize(
    ("step", "answer"),
    [
        (pay(take(step="pay")), ("loop_guard", "/steps/1/takes/0/step")),
        (pay(take(step="later")), ("loop_guard", "/steps/1/takes/0/step")),
        (pay(evidence_steps=["later"]), ("loop_guard", "/steps/1/evidence_steps/0")),
        (pay(take("/to/1"), args={"to": []}), ("violates_decision_spec", "/steps/1/takes/0/arg")),
        (pay(take("/to/-"), args={"to": []}), ("violates_decision_spec", "/steps/1/takes/0/arg")),
        (pay(take("/to/0"), args={"to": [1]}), ("violates_decision_spec", "/steps/1/takes/0/arg")),
        (pay(take("/a/b")), ("violates_decision_spec", "/steps/1/takes/0/arg")),
        (pay(take("/a"), take("/a/b")), ("violates_decision_spec", "/steps/1/takes/1/arg")),
        (pay(take(), take()), ("violates_decision_spec", "/steps/1/takes/1/arg")),
    ],
)
def test_a_faulty_take_is_one_violation_at_its_place(step: Json, answer: tuple[str, str]) -> None:
    assert refusal(proposal(step)) == [answer]


def test_a_reason_step_returns_nothing() -> None:
    reason = {"kind": "reason", "id": "think"}
    step = pay(take(step="think"))
    assert refusal(proposal(reason, step)) == [("loop_guard", "/steps/2/takes/0/step")]


def test_late_plans_are_off_unless_the_spec_says_so() -> None:
    wire = proposal(pay(take(), take("/b")))
    del wire["spec"]["late"]
    assert refusal(wire) == [("violates_decision_spec", "/steps/1/takes")]


def test_a_value_for_the_only_place_of_an_empty_list() -> None:
    assert verdict(proposal(pay(take("/to/0"), args={"to": []}))).ok


@pytest.mark.parametrize("empty", ["takes", "evidence_steps"])
@pytest.mark.parametrize("value", [[], None])
def test_an_empty_array_and_null_are_invalid(empty: str, value: Any) -> None:
    with pytest.raises(InvalidInput):
        build(Proposal, proposal({**pay(), empty: value}))


@pytest.mark.parametrize("arg", ["", "amount", "/a~2"])
def test_an_argument_is_a_pointer_to_a_part(arg: str) -> None:
    with pytest.raises(InvalidInput):
        build(Proposal, proposal(pay(take(arg))))


def approval(wire: Json, **fields: Any) -> Json:
    plan = build(Proposal, wire).plan
    return {"approval_id": "a", "plan_digest": digest(plan), "approver": "emma", **fields}


@pytest.mark.parametrize(("fields", "passes"), [({"late": True}, True), ({}, False)])
def test_an_approval_covers_takes_only_where_their_sources_were_shown(
    fields: Json, passes: bool
) -> None:
    wire = proposal(pay(take()), spec={"approval_required_from": "destructive"})
    wire["ctx"]["approvals"] = [approval(wire, **fields)]
    found = verdict(wire)
    assert found.ok is passes
    assert found.ok or (found.approvable and found.kind == "approval_mode_mismatch")


def test_an_early_argument_waits_for_a_promise_and_not_for_what_is_pinned() -> None:
    item = {"id": "o1", "classification": "order", "content": {"id": "p2"}}
    step = pay(take(), args={"id": "p1"}, evidence_refs=["o1"])
    bound = {"id": {"from": ["order"]}, "amount": {"from": ["order"]}}
    wire = proposal(step, bound_args=bound)
    wire["compiled"]["manifests"]["evidence_manifest"] = [item]
    assert refusal(wire) == [("missing_evidence", "/steps/1/args/id")]
    wire["compiled"]["manifests"]["tool_manifest"][0]["yields"] = "order"
    wire["plan"]["steps"][1]["evidence_steps"] = ["look"]
    assert verdict(wire).ok


@pytest.mark.parametrize("yields", [{}, {"yields": "order"}])
def test_a_demand_about_a_late_argument_waits_whatever_is_met_now(yields: Json) -> None:
    item = {"id": "o1", "classification": "order", "content": {"id": "p1", "amount": 5}}
    pins = {"evidence_refs": ["o1"], **({"evidence_steps": ["look"]} if yields else {})}
    for about in ({"id": "/id"}, {"amount": "/amount"}, {"id": "/id", "amount": "/amount"}):
        demand = {"class": "order", "about": about}
        wire = proposal(pay(take(), args={"id": "p1"}, **pins), requires_evidence=[demand])
        wire["compiled"]["manifests"]["evidence_manifest"] = [item]
        wire["compiled"]["manifests"]["tool_manifest"][0] |= yields
        found = verdict(wire)
        assert isinstance(found, Verified)
        waits = "evidence" in [one.kind for one in found.conditions or ()]
        assert waits is ("amount" in about)


NEAR = ("Look", "LOOK", "loo", "ook", "look_", "look.0", "look/", "l-ook", "look:look")


@pytest.mark.parametrize("name", NEAR)
def test_a_name_that_is_nearly_that_of_a_step_or_class_is_another(name: str) -> None:
    assert refusal(proposal(pay(take(step=name)))) == [("loop_guard", "/steps/1/takes/0/step")]
    pins = proposal(pay(evidence_steps=[name]))
    assert refusal(pins) == [("loop_guard", "/steps/1/evidence_steps/0")]
    wire = proposal(pay(evidence_steps=["look"]), requires_evidence=["look"])
    wire["compiled"]["manifests"]["tool_manifest"][0]["yields"] = name
    assert refusal(wire) == [("missing_evidence", "/steps/1")]
    both = proposal(pay(take(f"/{name}".replace("look/", "Look")), args={"look": 1}))
    assert verdict(both).ok


def test_one_object_in_two_arguments_is_two_arguments() -> None:
    """In Python, one list can stand in two places. What is taken into one is not in the other."""
    shared: list[Any] = []
    wire = proposal(pay(take("/a/0"), take("/b/0"), args={"a": shared, "b": shared}))
    assert verdict(wire).ok


def test_a_late_plan_is_for_its_envelope_to_judge() -> None:
    wire = proposal(pay(take()))
    case = build(Proposal, wire)
    assert verify_plain(case.ctx, case.compiled, case.spec, wire["plan"]) is None


def test_a_plain_plan_has_no_conditions_whatever_the_spec_allows() -> None:
    wire = proposal(pay(args={"amount": 5}))
    plain = {**wire, "spec": {"id": "s", "required_outputs": []}}
    assert verdict(wire).wire() == verdict(plain).wire()
    assert "conditions" not in verdict(wire).wire()


def test_what_is_put_at_a_free_place_is_there() -> None:
    args: Json = {"a": {}, "b": [1]}
    for arg in ("/a/~1x", "/b/1", "/*"):
        path = free_place(args, arg)
        assert path is not None
        put_at_path(args, path, arg)
        assert free_place(args, arg) is None
    assert args == {"a": {"/x": "/a/~1x"}, "b": [1, "/b/1"], "*": "/*"}


def test_a_plan_with_very_many_takes_is_judged_in_the_time_of_its_size() -> None:
    takes = [take(f"/a{number}") for number in range(3000)]
    assert verdict(proposal(pay(*takes), spec={"provenance": "closed"})).ok is False
