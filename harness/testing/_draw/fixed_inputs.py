"""Complete the inputs of `verify` other than the plan: keep the fixed ones, draw the rest."""

from typing import NamedTuple

from critic import CompiledContext, DecisionSpec, Plan, Proposal, RunContext, digest
from harness.testing._draw.bounds import Bounds, bounds_of
from harness.testing._draw.digests import spent_call
from harness.testing._draw.drawn_plans import approved_context
from harness.testing._draw.near_miss import NearMissPlan
from harness.testing._draw.primitives import Json, Pick, chance
from harness.testing._draw.worlds import (
    BRINGS_A_TOOL,
    a_context,
    a_manifest,
    a_spec,
    ensure_applicable,
    moments,
)
from harness.wire import build


class FixedInputs(NamedTuple):
    """The fixed inputs; None marks one to draw."""

    compiled: CompiledContext | None
    spec: DecisionSpec | None
    ctx: RunContext | None

    def bounds(self, pick: Pick, way: str | None = None) -> Bounds:
        """Draw the other inputs so that, where possible, the near miss named `way` exists."""
        if self.compiled is not None and self.spec is not None and self.ctx is not None:
            return bounds_of(self.compiled, self.spec, self.ctx)
        drawn = self._draw_inputs(pick, least=0 if way in BRINGS_A_TOOL else 1)
        if way is not None:
            ensure_applicable(drawn, self._compiled_wire(drawn), way)
        bounds = self._build_bounds(drawn)
        if bounds.obstacle() is not None:
            self._unblock(drawn, bounds)
            bounds = self._build_bounds(drawn)
        return bounds

    def _draw_inputs(self, pick: Pick, least: int) -> Json:
        """Draw the inputs that are not fixed, in wire form."""
        drawn: Json = {} if self.compiled is not None else {"compiled": a_manifest(pick, least)}
        compiled = self._compiled_wire(drawn)
        if self.spec is None:
            drawn["spec"] = a_spec(pick, compiled)
        if self.ctx is None:
            drawn["ctx"] = a_context(pick, compiled)
        return drawn

    def _compiled_wire(self, drawn: Json) -> Json:
        wire = drawn["compiled"] if self.compiled is None else self.compiled.wire()
        assert isinstance(wire, dict)  # noqa: S101 - for the type checker
        return wire

    def _unblock(self, drawn: Json, bounds: Bounds) -> None:
        """Remove from the drawn inputs what keeps every plan from passing."""
        if "spec" in drawn:
            kept = [name for name in bounds.required if name not in bounds.unreachable]
            drawn["spec"]["required_outputs"] = kept
        drawn.get("spec", {}).pop("required_evidence", None)
        fresh_at = moments(self._compiled_wire(drawn))[0]
        if "ctx" in drawn and isinstance(fresh_at, str):
            drawn["ctx"]["as_of"] = fresh_at

    def _build_bounds(self, drawn: Json) -> Bounds:
        compiled, spec, ctx = self
        if compiled is None:
            compiled = build(CompiledContext, drawn["compiled"])
        if spec is None:
            spec = build(DecisionSpec, drawn["spec"])
        return bounds_of(compiled, spec, build(RunContext, drawn["ctx"]) if ctx is None else ctx)


def near_miss_proposal(bounds: Bounds, miss: NearMissPlan) -> Proposal:
    """Return a near miss with its inputs and the approvals that it needs, but for what it lacks."""
    proposal = proposal_of(bounds, miss.plan, miss.unapproved)
    ctx = proposal.ctx.wire()
    if miss.made_before:
        spent = ctx.get("spent", {})
        call = spent_call(miss.plan["steps"][0])
        ctx["spent"] = {**spent, "calls": [*spent.get("calls", ()), call]}
    if miss.elsewhere:
        foreign = {
            "approval_id": "elsewhere",
            "plan_digest": digest(proposal.plan),
            "approver": "someone",
            "context_digest": "0" * 64,
        }
        ctx["approvals"] = [*ctx.get("approvals", ()), foreign]
    return Proposal(
        ctx=build(RunContext, ctx),
        compiled=proposal.compiled,
        spec=proposal.spec,
        plan=proposal.plan,
    )


def hostile_proposal(pick: Pick, bounds: Bounds, plan: Json) -> Proposal:
    """Return the plan with its inputs; what it needs of approvals, in half of the draws."""
    if not chance(pick):
        return proposal_of(bounds, plan)
    built = build(Plan, plan)
    ctx = bounds.ctx.wire()
    calls = [step for step in plan["steps"] if step["kind"] == "tool"]
    if calls:
        ctx["spent"] = {**ctx.get("spent", {}), "calls": [spent_call(pick(calls))]}
    return Proposal(
        ctx=build(RunContext, ctx), compiled=bounds.compiled, spec=bounds.spec, plan=built
    )


def proposal_of(bounds: Bounds, plan: Json, unapproved: int | None = None) -> Proposal:
    """Return the plan with its inputs and the approvals it needs, except for step `unapproved`."""
    return Proposal(
        ctx=build(RunContext, approved_context(bounds, plan, unapproved)),
        compiled=bounds.compiled,
        spec=bounds.spec,
        plan=build(Plan, plan),
    )
