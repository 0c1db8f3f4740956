"""A proposal made ready for the checks: every step beside its tool.

What a step says stands here as a plain dict: reading a field of an envelope costs more than most
checks do with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

from critic.surface import NO_TOOL, Surface, ToolEntry
from evals.context import DecisionSpec, RunContext
from evals.plan import Plan

_CALL: Final = itemgetter("adapter_id", "capability_id")


@dataclass(slots=True, eq=False)
class PreparedPlan:
    """The inputs of `verify`. `steps` are triples: index, tool, and the step's fields by name.

    `traits` holds the bits (see `critic.surface`) of all the tools.
    """

    ctx: RunContext
    surface: Surface
    spec: DecisionSpec
    plan: Plan
    steps: Sequence[tuple[int, ToolEntry, Mapping[str, Any]]]
    traits: int


def prepare_plan(ctx: RunContext, surface: Surface, spec: DecisionSpec, plan: Plan) -> PreparedPlan:
    """Look up the tool of every step, once for all checks."""
    fields = [step.__dict__ for step in plan.steps]
    known = surface.tools
    try:
        tools = list(map(known.__getitem__, map(_CALL, fields)))
    except KeyError:  # a reason step calls nothing
        tools = [known[_CALL(said)] if said["kind"] == "tool" else NO_TOOL for said in fields]
    traits = 0
    for tool in tools:
        traits |= tool.traits
    steps = list(zip(range(len(tools)), tools, fields, strict=True))
    return PreparedPlan(ctx, surface, spec, plan, steps, traits)
