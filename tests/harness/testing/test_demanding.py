"""The shipped strategies under a manifest that demands much of evidence: what they draw passes."""

from typing import Any

import pytest
from hypothesis import given, settings

from critic import CompiledContext, DecisionSpec, Plan, RunContext, verify
from harness.testing import strategies
from harness.testing._laws.renaming_laws import named_back, rename_all
from harness.testing.strategies import NearMiss
from harness.wire import build
from tests.support.judging import judge, judge_proposal
from tests.support.model.facts import Json
from tests.support.patience import PATIENT

LAW = settings(PATIENT, max_examples=25)
DEMAND: Json = {
    "class": "window",
    "content_schema": {"properties": {"open": {"const": True}}, "required": ["open"]},
    "about": {"order": "/order"},
}
TOOL: Json = {
    "adapter_id": "shop",
    "capability_id": "refund",
    "approval_mode": "local_write",
    "requires_evidence": [DEMAND, "consent"],
    "bound_args": {
        "order": {"from": ["order"], "at": ["/id", "/items/*/id"]},
        "amount": {"from": ["order"], "at": ["/amount"], "optional": True},
        "note": ["order"],
    },
    "bound_together": [["order", "amount"]],
}
ITEMS: list[Json] = [
    {"id": "w1", "classification": "window", "content": {"open": True, "order": "o1"}},
    {"id": "w2", "classification": "window", "content": {"open": False, "order": "o2"}},
    {"id": "w3", "classification": "window", "content": {"open": True, "order": "o3"}},
    {"id": "c1", "classification": "consent"},
    {"id": "o1", "classification": "order", "content": {"id": "o1", "amount": 50}},
    {"id": "o2", "classification": "order", "content": {"id": "o2", "amount": 60}},
    {"id": "o3", "classification": "order", "content": {"items": [{"id": "o3"}], "amount": 70}},
]
WIRE: Json = {
    "ctx": {"trace_id": "t", "safety_mode": "local_write"},
    "compiled": {"manifests": {"tool_manifest": [TOOL], "evidence_manifest": ITEMS}},
    "spec": {"id": "d", "required_outputs": []},
}
WORLD: tuple[Any, Any, Any] = (
    build(CompiledContext, WIRE["compiled"]),
    build(DecisionSpec, WIRE["spec"]),
    build(RunContext, WIRE["ctx"]),
)


@LAW
@given(strategies.plans(*WORLD))
def test_a_drawn_plan_meets_every_demand(plan: Plan) -> None:
    compiled, spec, ctx = WORLD
    assert verify(ctx, compiled, spec, plan)


@pytest.mark.parametrize("way", ["unpinned_class", "unbacked_argument"])
def test_a_near_miss_of_it_has_one_violation(way: str) -> None:
    @LAW
    @given(strategies.labelled_near_misses(*WORLD, way=way))
    def refused(miss: NearMiss) -> None:
        assert len(getattr(judge_proposal(miss.proposal), "violations", ())) == 1

    refused()


@LAW
@given(strategies.plans(*WORLD))
def test_renaming_reaches_the_classes_in_demands_and_bindings(plan: Plan) -> None:
    wire = {**WIRE, "plan": plan.wire()}
    altered, names = rename_all(wire)
    assert judge(altered).ok
    assert named_back(altered, names) == wire
    tool = altered["compiled"]["manifests"]["tool_manifest"][0]
    assert {tool["requires_evidence"][0]["class"], *tool["bound_args"]["note"]} <= {*names}
