"""Worlds to plan in: what the user gave, and the rest drawn to go with it."""

from typing import NamedTuple

from hypothesis import strategies as st

from critic import CompiledContext, DecisionSpec, Plan, Proposal, RunContext
from harness.testing._draw.bounds import Bounds, bounds_of
from harness.testing._draw.plans import approved
from harness.testing._draw.primitives import Json
from harness.testing._draw.worlds import FURNISHED, a_context, a_manifest, a_spec, furnish, moments
from harness.wire import build


class Given(NamedTuple):
    """The fixed parts of a world; None where a part is to be drawn."""

    compiled: CompiledContext | None
    spec: DecisionSpec | None
    ctx: RunContext | None

    def bounds(self, draw: st.DrawFn, miss: str | None = None) -> Bounds:
        """A world to plan in, with an occasion for the near miss of that name."""
        if self.compiled is not None and self.spec is not None and self.ctx is not None:
            return bounds_of(self.compiled, self.spec, self.ctx)
        drawn = self._drawn(draw, least=0 if miss in FURNISHED else 1)
        if miss is not None:
            furnish(drawn, self._compiled(drawn), miss)
        bounds = self._built(drawn)
        if bounds.obstacle() is not None:
            self._mend(drawn)
            bounds = self._built(drawn)
        return bounds

    def _drawn(self, draw: st.DrawFn, least: int) -> Json:
        """The parts that are not given, in wire form."""
        drawn: Json = {} if self.compiled is not None else {"compiled": a_manifest(draw, least)}
        compiled = self._compiled(drawn)
        if self.spec is None:
            drawn["spec"] = a_spec(draw, compiled)
        if self.ctx is None:
            drawn["ctx"] = a_context(draw, compiled)
        return drawn

    def _compiled(self, drawn: Json) -> Json:
        wire = drawn["compiled"] if self.compiled is None else self.compiled.wire()
        assert isinstance(wire, dict)  # noqa: S101 - for the type checker
        return wire

    def _mend(self, drawn: Json) -> None:
        """Take back what lets no plan pass."""
        drawn.get("spec", {}).pop("required_evidence", None)
        fresh_at = moments(self._compiled(drawn))[0]
        if "ctx" in drawn and isinstance(fresh_at, str):
            drawn["ctx"]["as_of"] = fresh_at

    def _built(self, drawn: Json) -> Bounds:
        compiled, spec, ctx = self
        if compiled is None:
            compiled = build(CompiledContext, drawn["compiled"])
        if spec is None:
            spec = build(DecisionSpec, drawn["spec"])
        return bounds_of(compiled, spec, build(RunContext, drawn["ctx"]) if ctx is None else ctx)


def proposal_of(bounds: Bounds, plan: Json, unapproved: int | None = None) -> Proposal:
    """The plan in its world, approved where it needs to be but for one step."""
    return Proposal(
        ctx=build(RunContext, approved(bounds, plan, unapproved)),
        compiled=bounds.compiled,
        spec=bounds.spec,
        plan=build(Plan, plan),
    )
