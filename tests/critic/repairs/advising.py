"""The refund proposal with changes that break it, and the advice on its refusal."""

from collections.abc import Callable
from typing import Any

from critic import Proposal, ToolStep, advise, apply_repairs
from critic.repairs.repair_kinds import Advice, AskApproval, CorrectArgs, ProduceOutput
from tests.support.examples import proposal_of
from tests.support.judging import with_changes, with_manifest, with_step
from tests.support.model.facts import Json

Change = Callable[[Json], Json]


def advice_on(proposal: Proposal) -> Advice:
    """Return the advice on a proposal that is refused."""
    advice = advise(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)
    assert advice is not None
    return advice


def said(proposal: Proposal) -> tuple[str, list[Json]]:
    """Return the same as plain values, without the fields that are always there."""
    advice = advice_on(proposal)
    wires = [repair.wire() for repair in advice.repairs]
    for wire, repair in zip(wires, advice.repairs, strict=True):
        assert wire.pop("by") == repair.by
    return advice.disposition, wires


def repaired(proposal: Proposal, advice: Advice) -> Proposal:
    return proposal.model_copy(update={"plan": apply_repairs(proposal.plan, advice.repairs)})


def completed(proposal: Proposal, advice: Advice) -> Proposal:
    """Return the repaired proposal, without the outputs of the calls that reason steps stand for.

    Only the planner can write the args of those calls, so no plan can be made here that has them.
    """
    better = repaired(proposal, advice)
    tools, outputs = proposal.compiled.manifests.tools, set[str]()
    assert {*proposal.spec.required_outputs} <= {*better.plan.declared_outputs}
    for repair in advice.repairs:
        if isinstance(repair, ProduceOutput) and repair.candidates:
            outputs.add(repair.output)
        elif isinstance(repair, CorrectArgs):
            step = proposal.plan.steps[repair.step]
            assert isinstance(step, ToolStep)
            outputs.update(tools[step.adapter_id, step.capability_id].produces or ())
    left = [name for name in proposal.spec.required_outputs if name not in outputs]
    spec = proposal.spec.model_copy(update={"required_outputs": left})
    return better.model_copy(update={"spec": spec})


def approvals_in(advice: Advice) -> list[AskApproval]:
    return [repair for repair in advice.repairs if isinstance(repair, AskApproval)]


WINDOW = "kg:refund_window:rw_881#snapshot_kg_2026_05_09_T0930"
ORDER = "kg:order:ord_881#snapshot_kg_2026_05_09_T0930"
PAYS = "issue_refund"


def plan_with(**changes: Any) -> Change:
    return lambda wire: with_changes(wire, "plan", **changes)


def ctx_with(**changes: Any) -> Change:
    return lambda wire: with_changes(wire, "ctx", **changes)


def spec_with(**changes: Any) -> Change:
    return lambda wire: with_changes(wire, "spec", **changes)


def step_with(index: int, **changes: Any) -> Change:
    return lambda wire: with_step(wire, index, **changes)


def evidence_with(*names: str) -> Change:
    """Return only the evidence of these classes."""

    def change(wire: Json) -> Json:
        items = wire["compiled"]["manifests"]["evidence_manifest"]
        kept = [item for item in items if item["classification"] in names]
        return with_manifest(wire, "evidence_manifest", kept)

    return change


def lookup_with(**changes: Any) -> Change:
    """Return the first tool of the manifest, changed."""

    def change(wire: Json) -> Json:
        first, *rest = wire["compiled"]["manifests"]["tool_manifest"]
        return with_manifest(wire, "tool_manifest", [{**first, **changes}, *rest])

    return change


def more_steps(*steps: Json) -> Change:
    return lambda wire: with_changes(wire, "plan", steps=[*wire["plan"]["steps"], *steps])


PRODUCERS = [{"adapter_id": "adp_payments", "capability_id": PAYS}]
REASON = {"kind": "reason"}
PRODUCE_BOTH = [
    {"kind": "produce_output", "output": name, "candidates": PRODUCERS}
    for name in ("refund_amount_inr", "refund_reason_class")
]


def small(*, ctx: Json | None = None, **parts: Any) -> Proposal:
    """Return a small proposal: `tools` (their ids are their order), `items`, `steps`, the spec."""
    tools = [
        {"adapter_id": "a", "capability_id": f"c{at}", "approval_mode": "network", **tool}
        for at, tool in enumerate(parts.pop("tools", []))
    ]
    manifests = {"tool_manifest": tools, "evidence_manifest": parts.pop("items", [])}
    plan = {"steps": parts.pop("steps", []), "declared_outputs": parts.pop("declares", [])}
    return proposal_of(
        {
            "ctx": {"trace_id": "t", "safety_mode": "destructive", **(ctx or {})},
            "compiled": {"manifests": manifests},
            "spec": {"id": "d", "required_outputs": [], **parts},
            "plan": plan,
        }
    )


def item(name: str, classification: str = "k", **said: Any) -> Json:
    """Return a piece of evidence."""
    return {"id": name, "classification": classification, **said}


def call(tool: int = 0, **said: Any) -> Json:
    """Return a step that calls a tool by its place in the manifest."""
    return {"kind": "tool", "adapter_id": "a", "capability_id": f"c{tool}", **said}
