"""A proposal prepared for the checks: every step beside its tool.

Steps are plain dicts: attribute access on a pydantic model costs more than most checks.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from critic.doubts import Doubts
from critic.surface import NO_TOOL, Surface, ToolEntry, kept_surface
from evals.approval import Approvals
from evals.confinement import Confined
from evals.context import RunContext
from evals.manifest import CompiledContext
from evals.plain_plan import PlainPlan
from evals.plan import Plan
from evals.spec import DecisionSpec

if TYPE_CHECKING:
    from critic.late.late_steps import LatePlan
    from critic.late.opened_steps import EarlierSteps

_CALL: Final = itemgetter("adapter_id", "capability_id")

CallKey: TypeAlias = tuple[str, str, str]
"""Adapter, capability and the SHA-256 of the canonical args. Pairs of names are never joined."""


@dataclass(slots=True, eq=False)
class PreparedPlan:
    """The inputs of `verify`. `steps` are triples: index, tool, and the step's fields by name.

    `traits` holds the bits (see `critic.surface`) of all the tools. `doubts` is what
    `critic.provenance` found, once it was asked. `made` are the destructive calls that earlier
    plans made, and `confined` what must not leave: indexes of what the inputs say, once asked for.
    `late` are the late steps, if there are any. `earlier` are steps before these that were judged
    already, and count together with them.
    """

    ctx: RunContext
    surface: Surface
    spec: DecisionSpec
    plan: Plan | PlainPlan
    steps: Sequence[tuple[int, ToolEntry, Mapping[str, Any]]]
    traits: int
    approvals: Approvals | None = None
    doubts: Doubts | None = None
    made: Container[CallKey] | None = None
    confined: Confined | None = None
    late: "LatePlan | None" = None
    earlier: "EarlierSteps | None" = None

    @property
    def called_steps(self) -> int:
        """How many steps are called: those of sessions but for what their commands do."""
        if self.earlier is not None:
            return self.earlier.count + len(self.steps)
        return sum(map(self.is_called, self.steps)) if self.ctx.session else len(self.steps)

    def is_called(self, step: tuple[int, ToolEntry, Mapping[str, Any]]) -> bool:
        """Return whether a step is called: in a session, what its command does is not."""
        return self.ctx.session is None or step[2].get("of") is None

    def is_approved(self, index: int) -> bool:
        """Return whether a valid approval covers the step. Ask of steps that need one only.

        A step that takes values is covered where the approver was shown where they come from.
        """
        if self.approvals is None:
            return False
        if self.late is not None and self.late.has_takes(index):
            return self.approvals.cover_late(index)
        return self.approvals.cover(index)

    def waits_for_values(self, index: int) -> bool:
        """Return whether a person approves the mode of a step only once its values are there."""
        is_late = self.late is not None and self.late.has_takes(index)
        return is_late and self.spec.late == "values"


def prepare_plan(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: Plan
) -> PreparedPlan:
    """Prepare an envelope."""
    case = _prepare_steps(ctx, compiled, spec, plan, [step.__dict__ for step in plan.steps])
    if ctx.approvals:
        case.approvals = Approvals(ctx, compiled, spec, plan)
    return case


def prepare_plain(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: PlainPlan
) -> PreparedPlan:
    """Prepare a plan that is not an envelope, for a context in which nothing is approved."""
    return _prepare_steps(ctx, compiled, spec, plan, plan.steps)


def _prepare_steps(
    ctx: RunContext,
    compiled: CompiledContext,
    spec: DecisionSpec,
    plan: Plan | PlainPlan,
    steps: Sequence[Mapping[str, Any]],
) -> PreparedPlan:
    """Look up the tool of every step, once for all checks."""
    surface = kept_surface(compiled)
    entries = surface.tools
    try:
        tools = list(map(entries.__getitem__, map(_CALL, steps)))
    except KeyError:  # a reason step has no adapter and no capability
        tools = [
            entries[_CALL(fields)] if fields["kind"] == "tool" else NO_TOOL for fields in steps
        ]
    traits = 0
    for tool in tools:
        traits |= tool.traits
    triples = list(zip(range(len(tools)), tools, steps, strict=False))  # all as long as the plan
    case = PreparedPlan(ctx, surface, spec, plan, triples, traits)
    if has_late_steps(steps):
        from critic.late.late_steps import LatePlan  # noqa: PLC0415 - for late plans only

        case.late = LatePlan(triples, surface.manifests)
    return case


def has_late_steps(steps: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a step takes values, or pins results, of earlier steps."""
    for fields in steps:  # noqa: SIM110 - a generator costs several times as much
        if fields.get("takes") or fields.get("evidence_steps"):
            return True
    return False
