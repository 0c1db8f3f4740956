"""Near misses of what tools need: what evidence says, what was done before, who approved what.

Each returns None if the manifest, spec and context make this near miss impossible.
"""

from collections.abc import Callable, Iterator

from critic import ToolCapability
from evals.binding import scalars
from evals.evidence import (
    EvidenceFault,
    MissingArgument,
    UnbackedArgument,
    UnbackedGroup,
    UnmetDemand,
)
from evals.json_schemas import compile_schema
from evals.needs import needs_of
from harness.testing._draw.bounds import held_values
from harness.testing._draw.drawn_confinement import leaks
from harness.testing._draw.drawn_evidence import faults_of
from harness.testing._draw.drawn_plans import Drafter
from harness.testing._draw.near_miss import NearMissPlan, opened_plan, usable_tools, with_one_of
from harness.testing._draw.primitives import Json

_MOST = 24  # variants to try

# What demands ask of content.


def demand_unmet(drafter: Drafter) -> NearMissPlan | None:
    """Pin an item of the right class whose content does not satisfy the schema of a demand."""
    return _swap_value(drafter, about=False)


def demand_about_another(drafter: Drafter) -> NearMissPlan | None:
    """Pin an item of the right class that is about another value than the argument's."""
    return _swap_value(drafter, about=True)


def _swap_value(drafter: Drafter, *, about: bool) -> NearMissPlan | None:
    def is_wanted(tool: ToolCapability) -> bool:
        return any(
            bool(need.about) is about and not need.is_plain for need in needs_of(tool).demands
        )

    def variants(tool: ToolCapability, step: Json) -> Iterator[Json]:
        args = step.get("args", {})
        for name in [name for need in needs_of(tool).demands for name, _ in need.about]:
            yield from ({"args": {**args, name: value}} for value in ("zz", "w", "v", 999999937))
        evidence = drafter.bounds.compiled.manifests.evidence
        refs = step.get("evidence_refs", [])
        for place, ref in enumerate(refs):
            for item in drafter.bounds.fresh[evidence[ref].classification]:
                if item.id not in refs:
                    yield {"evidence_refs": [*refs[:place], item.id, *refs[place + 1 :]]}

    def is_shown(fault: EvidenceFault) -> bool:
        return isinstance(fault, UnmetDemand) and bool(fault.need.about) is about

    return _vary_step(drafter, is_wanted, variants, is_shown)


# Where and how arguments are bound.


def wrong_place(drafter: Drafter) -> NearMissPlan | None:
    """Give an argument a value that a pinned item holds, but not where the binding looks."""

    def variants(tool: ToolCapability, step: Json) -> Iterator[Json]:
        evidence = drafter.bounds.compiled.manifests.evidence
        contents = [evidence[ref].content for ref in step.get("evidence_refs", ())]
        held = [
            one
            for content in contents
            if isinstance(content, dict | list)
            for one in scalars(content)
        ]
        for name, bound in needs_of(tool).bound.items():
            if bound.at is not None:
                yield from ({"args": {**step.get("args", {}), name: value}} for value in held)

    def is_wanted(tool: ToolCapability) -> bool:
        return any(bound.at is not None for bound in needs_of(tool).bound.values())

    return _vary_step(drafter, is_wanted, variants, lambda one: isinstance(one, UnbackedArgument))


def missing_argument(drafter: Drafter) -> NearMissPlan | None:
    """Leave out an argument that is bound and not optional."""

    def variants(tool: ToolCapability, step: Json) -> Iterator[Json]:
        args = step.get("args", {})
        for name in needs_of(tool).required:
            yield {"args": {key: value for key, value in args.items() if key != name}}

    return _vary_step(
        drafter,
        lambda tool: bool(needs_of(tool).required),
        variants,
        lambda one: isinstance(one, MissingArgument),
    )


def divided_group(drafter: Drafter) -> NearMissPlan | None:
    """Back arguments that are bound together from two items."""

    def variants(tool: ToolCapability, step: Json) -> Iterator[Json]:
        args, refs = step.get("args", {}), step.get("evidence_refs", [])
        needs = needs_of(tool)
        for name in dict.fromkeys(name for group in needs.groups for name in group):
            bound = needs.bound[name]
            items = [item for kind in bound.classes for item in drafter.bounds.fresh.get(kind, ())]
            for value, ref in held_values(items, bound)[:_MOST]:
                pinned = refs if ref in refs else [*refs, ref]
                yield {"args": {**args, name: value}, "evidence_refs": pinned}

    return _vary_step(
        drafter,
        lambda tool: bool(needs_of(tool).groups),
        variants,
        lambda one: isinstance(one, UnbackedGroup),
    )


def _vary_step(
    drafter: Drafter,
    wanted: Callable[[ToolCapability], bool],
    variants: Callable[[ToolCapability, Json], Iterator[Json]],
    shown: Callable[[EvidenceFault], bool],
) -> NearMissPlan | None:
    """Return a passing plan with a variant of its first step that has just this fault."""
    tools = [tool for tool in usable_tools(drafter) if wanted(tool)]
    opening = opened_plan(drafter, tools)
    if opening is None:
        return None
    plan, tool = opening
    step = plan["steps"][0]
    schema = compile_schema(True if tool.args_schema is None else tool.args_schema)
    options = []
    for changes in variants(tool, step):
        args = changes.get("args", step.get("args", {}))
        faults = faults_of(drafter.bounds, tool, step, **changes)
        alone = len(faults) == 1 and shown(faults[0])
        if alone and schema.is_valid(args) and not leaks(drafter.bounds, tool, args):
            options.append(changes)
    return with_one_of(drafter, plan, tools, options)


# What was done and approved before.


def repeated_over_turns(drafter: Drafter) -> NearMissPlan | None:
    """Make a destructive call that an earlier plan made, without an approval."""
    over = drafter.bounds.over_limits
    tools = [
        t for t in usable_tools(drafter) if t.approval_mode == "destructive" and not over(t)[2]
    ]
    opening = opened_plan(drafter, tools)
    if opening is None:
        return None
    plan = opening[0]
    if drafter.bounds.made_before(plan["steps"][0]):
        return None
    return NearMissPlan(plan, unapproved=0, made_before=True, repaired=plan)


def approved_elsewhere(drafter: Drafter) -> NearMissPlan | None:
    """Call a tool that needs an approval, with one that was given in another context."""
    over = drafter.bounds.over_limits
    tools = [tool for tool in drafter.bounds.tools if over(tool) == (False, False, True)]
    opening = opened_plan(drafter, tools)
    if opening is None:
        return None
    return NearMissPlan(opening[0], unapproved=0, elsewhere=True, repaired=opening[0])
