"""Repairs are seen in what the next plan holds, and how often, not in where it holds it."""

from typing import Any

import pytest

from critic import Plan
from critic.repairs.repair_kinds import (
    AskApproval,
    BackArgument,
    Capability,
    CorrectArgs,
    DeclareOutput,
    DropClaim,
    DropDependency,
    DropId,
    DropStep,
    PinEvidence,
    ProduceOutput,
    Repair,
    SaveTokens,
    SetTrace,
    Shorten,
    TakeValue,
    UnpinEvidence,
    ValueSource,
)
from harness.loops.taken_repairs import repairs_taken


def step(tool: str, **more: Any) -> dict[str, Any]:
    return {"kind": "tool", "adapter_id": "a", "capability_id": tool, **more}


def plan(*steps: dict[str, Any], outputs: tuple[str, ...] = (), **more: Any) -> Plan:
    return Plan.model_validate({"steps": steps, "declared_outputs": outputs, **more})


PAY = step("pay", args={"to": {"ids": [1, 2]}, "n": 5}, id="p", estimated_tokens=9)
READ = step("read", id="r")
NEEDY = step("pay", requires_evidence=["c"], evidence_refs=["old"], depends_on=["x"])
PINNED = step("pay", evidence_refs=["new"])
BEFORE = plan(PAY, READ, READ, trace_id="wrong")
DROPS = [DropStep(step=1), DropStep(step=2)]
AT = CorrectArgs(step=0, path="/steps/0/args/to/ids/1")
TAKE = TakeValue(
    step=0,
    path="/steps/0/args/n",
    candidates=(ValueSource(step=1, at="/m"), ValueSource(step=1, at="/n")),
)
TAKES = CorrectArgs(step=0, path="/steps/0/takes/0/step")
WHOLE = CorrectArgs(step=0, path="/steps/0")
PIN = PinEvidence(step=0, classification="c", candidates=("other", "new"))
BACK = BackArgument(step=0, argument="n", candidates=("new",))
CALL = ProduceOutput(output="o", candidates=(Capability(adapter_id="a", capability_id="make"),))


def taking(source: str, at: str) -> dict[str, Any]:
    return step("pay", takes=[{"arg": "/n", "step": source, "at": at}])


def changed(**args: Any) -> Plan:
    return plan({**PAY, "args": {**PAY["args"], **args}}, READ, READ)


@pytest.mark.parametrize(
    ("before", "after", "repairs", "taken"),
    [
        (BEFORE, plan(PAY, READ), DROPS, [True, False]),
        (BEFORE, plan(PAY), DROPS, [True, True]),
        (BEFORE, plan(READ, READ, PAY), [DropStep(step=0)], [False]),
        (BEFORE, changed(n=6), [AT], [False]),
        (BEFORE, changed(to={"ids": [1, 3]}), [AT], [True]),
        (BEFORE, changed(to={"ids": [1]}), [AT], [True]),
        (
            BEFORE,
            changed(to={}, n=6),
            [AT, CorrectArgs(step=0, path="/steps/0/args/n")],
            [True] * 2,
        ),
        (BEFORE, plan(READ, READ), [AT], [True]),
        (BEFORE, plan(taking("r", "/n"), READ), [TAKE], [True]),
        (BEFORE, plan(taking("r", "/o"), READ), [TAKE], [False]),
        (BEFORE, changed(n=6), [TAKE], [False]),
        (plan(taking("r", "/n"), READ), plan(taking("s", "/n"), READ), [TAKES], [True]),
        (plan(taking("r", "/n"), READ), plan(taking("r", "/m"), READ), [TAKES], [False]),
        (plan(taking("r", "/n"), READ), plan(taking("r", "/m"), READ), [WHOLE], [True]),
        (BEFORE, plan(READ, PAY, READ), [WHOLE], [False]),
        (BEFORE, plan(READ, PAY, READ), [AT], [False]),
        (plan(NEEDY), plan(PINNED), [PIN, BACK], [True, True]),
        (plan(NEEDY, READ), plan(step("read", evidence_refs=["new"]), NEEDY), [PIN], [False]),
        (plan(NEEDY), plan(PINNED), [UnpinEvidence(step=0, ref="old")], [True]),
        (plan(NEEDY), plan(NEEDY), [UnpinEvidence(step=0, ref="old")], [False]),
        (plan(NEEDY), plan(PINNED), [DropClaim(step=0, classification="c")], [True]),
        (plan(NEEDY), plan(PINNED), [DropDependency(step=0, dependency="x")], [True]),
        (plan(NEEDY), plan(READ), [DropDependency(step=0, dependency="y")], [False]),
        (BEFORE, plan(PAY, READ, step("read")), [DropId(step=2)], [True]),
        (BEFORE, plan(PAY, READ, READ), [DropId(step=2)], [False]),
        (BEFORE, plan(outputs=("o",)), [DeclareOutput(output="o")], [True]),
        (plan(outputs=("o",)), plan(outputs=("o",)), [DeclareOutput(output="o")], [False]),
        (BEFORE, plan(PAY, step("make")), [CALL], [True]),
        (BEFORE, plan(PAY, {"kind": "reason"}), [CALL], [False]),
        (BEFORE, plan({"kind": "reason"}), [ProduceOutput(output="o")], [True]),
        (BEFORE, plan(PAY), [SetTrace(trace_id="t")], [True]),
        (BEFORE, BEFORE, [SetTrace(trace_id="t")], [False]),
        (BEFORE, plan(PAY), [Shorten(steps=2)], [True]),
        (BEFORE, plan(PAY, READ), [Shorten(steps=2)], [False]),
        (BEFORE, plan(PAY), [DROPS[0], Shorten(steps=1)], [True, True]),
        (BEFORE, plan(PAY, READ), [DROPS[0], Shorten(steps=1)], [True, False]),
        (BEFORE, plan(READ, READ), [SaveTokens(tokens=9, steps=())], [True]),
        (BEFORE, plan({**PAY, "estimated_tokens": 1}), [SaveTokens(tokens=9, steps=())], [False]),
        (BEFORE, plan(PAY), [SaveTokens(tokens=99, steps=(1, 2))], [True]),
        (plan(READ), plan(PINNED), [PIN.model_copy(update={"step": None})], [True]),
        (plan(PINNED), plan(PINNED), [PIN.model_copy(update={"step": None})], [False]),
        (plan(NEEDY), plan(), [PIN, DropStep(step=0)], [True, True]),
        (plan(NEEDY), plan(PINNED), [PIN, SaveTokens(tokens=9, steps=(0,))], [True, False]),
        (plan(NEEDY), plan(NEEDY), [PIN, DropStep(step=0)], [False, False]),
        (BEFORE, plan(), [AskApproval(tier="network", steps=(0,))], []),
        (BEFORE, plan(), [DropStep(step=7)], [False]),
    ],
)
def test_a_repair_is_taken_if_the_next_plan_shows_it(
    before: Plan, after: Plan, repairs: list[Repair], taken: list[bool]
) -> None:
    assert repairs_taken(before, after, repairs) == taken
