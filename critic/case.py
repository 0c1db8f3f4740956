"""A proposal made ready for the checks: every step beside its tool, every field read once.

Reading a field of an envelope costs more than most checks do with it.
"""

from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from critic.surface import NO_TOOL, UNKNOWN_TOOL, Surface, Tool
from evals.context import DecisionSpec, RunContext
from evals.plan import Plan

Names = tuple[str, ...] | None

_FIELDS: Final = attrgetter("__dict__")
_PAIR: Final = itemgetter("adapter_id", "capability_id")
_COLUMNS: Final = itemgetter(
    "id", "depends_on", "requires_evidence", "evidence_refs", "estimated_tokens"
)


class Case(NamedTuple):
    """The inputs of `verify`, and the steps as columns that run parallel to them.

    `tools` holds the tool of each step, `traits` the bits (see `critic.surface`) of all of them.
    """

    ctx: RunContext
    surface: Surface
    spec: DecisionSpec
    plan: Plan
    tools: list[Tool]
    traits: int
    ids: tuple[str | None, ...]
    depends_on: tuple[Names, ...]
    requires_evidence: tuple[Names, ...]
    evidence_refs: tuple[Names, ...]
    estimated_tokens: tuple[int | None, ...]


def prepare(ctx: RunContext, surface: Surface, spec: DecisionSpec, plan: Plan) -> Case:
    """Look up the tool of every step, once for all checks."""
    fields = list(map(_FIELDS, plan.steps))
    tools = [
        surface.tools.get(_PAIR(said), UNKNOWN_TOOL) if said["kind"] == "tool" else NO_TOOL
        for said in fields
    ]
    traits = 0
    for tool in tools:
        traits |= tool.traits
    columns = zip(*map(_COLUMNS, fields), strict=True) if fields else [()] * 5
    return Case(ctx, surface, spec, plan, tools, traits, *columns)
