"""Advice on late plans, and on plans that could take a value which they have wrong."""

from collections import Counter
from typing import Any

import pytest

from critic import Proposal, advise, apply_repairs
from critic.repairs import value_sources
from critic.repairs.repair_kinds import Advice
from harness.wire import build
from tests.critic.repairs.advising import completed, said
from tests.support.effort import examples
from tests.support.judging import judge_proposal
from tests.support.late_plans import late_proposal
from tests.support.model.facts import Json

PAID: Json = {"properties": {"payment": {"properties": {"amount": {}}}}}
"""What `look` returns."""


def step(tool: str, id: str | None = None, **fields: Any) -> Json:
    args = {"order": "ord-881", **fields.pop("args", {})}
    named: Json = {"kind": "tool", "adapter_id": "shop", "capability_id": tool, "args": args}
    return named | ({} if id is None else {"id": id}) | fields


LOOK, GUESS = step("look", "look"), step("refund", args={"amount": 4155})
TAKEN = {"kind": "take_value", "step": 1, "path": "/steps/1/args/amount"}
OTHER = {"kind": "correct_args", "step": 1, "path": "/steps/1/args/amount"}


def refund(
    *steps: Json, late: str | None = "sources", output: Any = PAID, **refund_tool: Any
) -> Proposal:
    """Return a plan for the tools `look` and `refund`, by default with an amount nobody named."""
    look: Json = {"adapter_id": "shop", "capability_id": "look", "approval_mode": "read_only"}
    look |= {"arg_roles": {"order": "locator"}, "result": {"author": "system"}}
    pay: Json = {"adapter_id": "shop", "capability_id": "refund", "approval_mode": "delegated"}
    pay |= {"arg_roles": {"order": "object", "amount": "object"}, **refund_tool}
    asked: Json = {"id": "user/1", "classification": "request", "content": "refund order ord-881"}
    asked |= {"source": {"author": "user", "standing": "named"}}
    tools = [{**look, "output_schema": output}, pay]
    spec: Json = {"id": "s", "required_outputs": [], "provenance": "closed"}
    wire = {
        "ctx": {"trace_id": "t", "safety_mode": "delegated"},
        "compiled": {"manifests": {"tool_manifest": tools, "evidence_manifest": [asked]}},
        "spec": {**spec, **({} if late is None else {"late": late})},
        "plan": {"steps": [*steps], "declared_outputs": []},
    }
    return build(Proposal, wire)


def mended(case: Proposal) -> Proposal:
    advice = advise(case.ctx, case.compiled, case.spec, case.plan)
    assert advice is not None
    return case.model_copy(update={"plan": apply_repairs(case.plan, advice.repairs)})


def test_a_value_that_nobody_named_is_taken_from_the_step_that_returns_it() -> None:
    case = refund(LOOK, GUESS)
    found = [{"step": 0, "at": "/payment/amount"}]
    assert said(case) == ("replan", [{**TAKEN, "candidates": found}])
    better = mended(case)
    assert judge_proposal(better)
    take = {"arg": "/amount", "step": "look", "at": "/payment/amount"}
    assert better.plan.wire()["steps"] == [LOOK, step("refund", takes=[take])]


def test_a_step_that_is_taken_from_gets_an_id() -> None:
    better = mended(refund(step("look"), GUESS, {"kind": "reason", "id": "step_0"}))
    first, second, _ = better.plan.wire()["steps"]
    assert first["id"] == second["takes"][0]["step"] == "step_0_"
    assert judge_proposal(better)


@pytest.mark.parametrize(
    "more",
    [
        {"late": None},
        {"output": {"properties": {"total": {}}}},
        {"output": {"properties": {"amount_due": {}, "least_amount": {}, "Amount": {}}}},
        {"output": {"properties": {"items": {"items": PAID}}}},
        {"output": True},
    ],
    ids=["no late plans", "another name", "nearly its name", "in a list", "no schema"],
)
def test_else_the_planner_is_asked_for_another_value(more: Json) -> None:
    assert said(refund(LOOK, GUESS, **more)) == ("replan", [OTHER])


def test_a_later_step_is_no_source() -> None:
    first = {**OTHER, "step": 0, "path": "/steps/0/args/amount"}
    assert said(refund(GUESS, LOOK)) == ("replan", [first])


def test_a_member_that_never_fits_is_no_source() -> None:
    text = {"properties": {"amount": {"type": "string"}}}
    schema = {"properties": {"order": {}, "amount": {"type": "integer"}}}
    assert said(refund(LOOK, GUESS, output=text, args_schema=schema)) == ("replan", [OTHER])


def test_the_nearest_sources_come_first_and_few_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = [
        step("look", f"look{number}", args={"order": order})
        for number, order in enumerate(["ord-881", "ord-881 ", "ORD-881", "order ord-881"])
    ]
    case = refund(*looks, GUESS)
    (repair,) = said(case)[1]
    assert [one["step"] for one in repair["candidates"]] == [3, 2, 1, 0]
    monkeypatch.setattr(value_sources, "_MOST_TRIALS", 2)
    (repair,) = said(case)[1]
    assert [one["step"] for one in repair["candidates"]] == [3, 2]
    monkeypatch.setattr(value_sources, "_MOST_LOOKS", 0)
    assert [one["kind"] for one in said(case)[1]] == ["correct_args"]


def test_a_value_deep_in_the_args_is_taken_at_its_place() -> None:
    deep = step("refund", args={"how": {"amount": 4155, "by": "ord-881"}})
    roles = {"order": "object", "/how/amount": "object"}
    (sent,) = mended(refund(LOOK, deep, arg_roles=roles)).plan.wire()["steps"][1:]
    assert sent["args"] == {"order": "ord-881", "how": {"by": "ord-881"}}
    assert [one["arg"] for one in sent["takes"]] == ["/how/amount"]


def test_what_a_late_step_takes_is_for_its_planner_to_correct() -> None:
    late = step("refund", takes=[{"arg": "/amount", "step": "gone", "at": "/amount"}])
    wrong = {"kind": "correct_args", "step": 1, "path": "/steps/1/takes/0/step"}
    assert said(refund(LOOK, late)) == ("replan", [wrong])


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_advice_on_late_plans_keeps_its_promises(first: int) -> None:
    met: Counter[str] = Counter()
    for seed in range(first, first + examples(100)):
        case = build(Proposal, late_proposal(seed))
        advice = advise(case.ctx, case.compiled, case.spec, case.plan)
        if advice is not None:
            require_promise(case, advice)
            met[advice.disposition if advice.repairs else "none"] += 1
    assert min(met["replan"], met["reject"]) >= examples(100) // 8
    assert met["none"] <= examples(100) // 50


def require_promise(case: Proposal, advice: Advice) -> None:
    others = [repair for repair in advice.repairs if repair.by != "planner"]
    if advice.disposition == "replan":
        assert not others
        assert judge_proposal(completed(case, advice))
    else:
        assert others or not advice.repairs
