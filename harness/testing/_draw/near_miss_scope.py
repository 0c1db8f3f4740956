"""Near misses of the checks coverage, surface and approval: one function for each way.

Each returns None if the manifest, spec and context make this near miss impossible.
"""

from collections.abc import Iterator
from typing import Any, Final

from critic import ToolCapability
from evals.json_schemas import compile_schema, schema_faults
from evals.kinds import MODE_RANK
from harness.testing._draw.drawn_confinement import leaks, texts_to_keep_in
from harness.testing._draw.drawn_evidence import faults_of
from harness.testing._draw.drawn_plans import Drafter
from harness.testing._draw.near_miss import (
    NearMissPlan,
    any_plan,
    opened_plan,
    similar_name,
    usable_tools,
    with_one_of,
)
from harness.testing._draw.primitives import Json

STRANGE: Final[tuple[Any, ...]] = ("zz", 999999937, -1, None, [], {}, True, "", 0.5)
"""Values that few schemas accept and little evidence holds."""

# Coverage.


def undeclared_output(drafter: Drafter) -> NearMissPlan | None:
    """Leave one required output undeclared."""
    required = drafter.bounds.required
    if not required:
        return None
    plan = drafter.plan(drafter.steps())
    left_out = drafter.pick(required)
    declared = [name for name in plan["declared_outputs"] if name != left_out]
    return NearMissPlan({**plan, "declared_outputs": declared}, repaired=plan)


def unproducible_output(drafter: Drafter) -> NearMissPlan | None:
    """Build a plan of tools that list their outputs and leave one required output out."""
    bounds = drafter.bounds
    listing = [tool for tool in usable_tools(drafter) if tool.produces is not None]
    for output in [name for name in bounds.required if name not in bounds.listed]:
        others = [tool for tool in listing if output not in (tool.produces or ())]
        needed = [name for name in bounds.required if name != output]
        chosen: list[ToolCapability] = []
        for name in needed:
            chosen += [tool for tool in others if name in (tool.produces or ())][:1]
        if not others or len(chosen) < len(needed):
            continue
        chosen = list({id(tool): tool for tool in chosen}.values())
        steps = [drafter.step(tool) for tool in chosen or [drafter.pick(others)]]
        made = [step for step in steps if step is not None]
        fits = len(made) <= bounds.steps_left and drafter.tokens(made) <= bounds.tokens_left
        if len(made) == len(steps) and fits:
            made[0]["evidence_refs"] = [*made[0].get("evidence_refs", ()), *bounds.pins]
            return NearMissPlan(drafter.plan(made))
    return None


def toolless_output(drafter: Drafter) -> NearMissPlan | None:
    """Leave a required output that a tool lists to a reason step or to another tool."""
    bounds, tools = drafter.bounds, [set(tool.produces or ()) for tool in usable_tools(drafter)]
    listed = [name for name in bounds.required if name in bounds.listed]
    alone = [
        name
        for name in listed
        if {*listed} - {name} <= {rest for made in tools if name not in made for rest in made}
    ]
    if not alone or bounds.steps_left < 1:
        return None
    return NearMissPlan(drafter.plan(drafter.steps(without=drafter.pick(alone))))


def foreign_trace(drafter: Drafter) -> NearMissPlan | None:
    """Give the plan a trace id that is not the one of the context."""
    plan = drafter.plan(drafter.steps())
    foreign = {**plan, "trace_id": similar_name(drafter.bounds.ctx.trace_id)}
    return NearMissPlan(foreign, repaired=plan)


# Surface.


def unsurfaced_tool(drafter: Drafter) -> NearMissPlan | None:
    """Call a tool that the manifest does not hold."""
    drawn = any_plan(drafter)
    if drawn is None:
        return None
    plan, index = drawn
    others = [step for place, step in enumerate(plan["steps"]) if place != index]
    if not drafter.covers([*others, {"kind": "reason"}]):
        drafter.retry_may_help = True  # only this step produces an output
        return None
    step = plan["steps"][index]
    names = (step.get("adapter_id", "a"), step.get("capability_id", "b"))
    near = [
        (names[0], similar_name(names[1])),
        (similar_name(names[0]), names[1]),
        *_shift_dot(*names),
    ]
    tools = drafter.bounds.compiled.manifests.tools
    pair = drafter.pick([name for name in near if name not in tools] or [("zz", "zz")])
    rest = {name: value for name, value in step.items() if name not in ("summary", "kind")}
    steps = list(plan["steps"])
    steps[index] = {**rest, "kind": "tool", "adapter_id": pair[0], "capability_id": pair[1]}
    return NearMissPlan({**plan, "steps": steps}, repaired=plan)


def _shift_dot(adapter: str, capability: str) -> Iterator[tuple[str, str]]:
    """Yield other pairs whose joined name, with a dot, is the same."""
    head, dot, tail = capability.partition(".")
    if dot and tail:
        yield f"{adapter}.{head}", tail
    head, dot, tail = adapter.rpartition(".")
    if dot and head:
        yield head, f"{tail}.{capability}"


def broken_args(drafter: Drafter) -> NearMissPlan | None:
    """Give a step args that break the schema of its tool in one place."""
    tools = [tool for tool in usable_tools(drafter) if tool.args_schema is not None]
    opening = opened_plan(drafter, tools)
    if opening is None:
        return None
    plan, tool = opening
    step = plan["steps"][0]
    validator = compile_schema(tool.args_schema)
    options = [
        {"args": args}
        for args in _disturb_args(step.get("args", {}), tool)
        # Without an argument, what evidence must say about it is not said either.
        if len(schema_faults(validator, args)) == 1
        and not faults_of(drafter.bounds, tool, step, args=args)
        and not leaks(drafter.bounds, tool, args)
    ]
    return with_one_of(drafter, plan, tools, options)


def _disturb_args(args: Json, tool: ToolCapability) -> Iterator[Json]:
    """Yield the args with one missing, one of another type, or one too many."""
    for name in args:
        yield {key: value for key, value in args.items() if key != name}
    bound = tool.bound_args or {}
    schema = tool.args_schema if isinstance(tool.args_schema, dict) else {}
    for name in sorted({*args, *schema.get("properties", ())}):
        if name not in bound:
            yield from ({**args, name: value} for value in STRANGE)
    yield {**args, "zz": 0}


def confined_content(drafter: Drafter) -> NearMissPlan | None:
    """Send content of a class that the spec confines."""
    bounds, texts = drafter.bounds, texts_to_keep_in(drafter.bounds)
    tools = [t for t in usable_tools(drafter) if MODE_RANK[t.approval_mode] >= MODE_RANK["network"]]
    opening = opened_plan(drafter, tools) if texts else None
    if opening is None:
        return None
    plan, tool = opening
    args = plan["steps"][0].get("args", {})
    step = plan["steps"][0]
    valid = compile_schema(True if tool.args_schema is None else tool.args_schema).is_valid
    options = [{**args, name: f"see {text}"} for name in ("zz", "x", "y") for text in texts[:8]]
    sent = [one for one in options if valid(one) and not faults_of(bounds, tool, step, args=one)]
    return with_one_of(drafter, plan, tools, [{"args": one} for one in sent])


# Approval.


def _plan_over(drafter: Drafter, which: tuple[bool, bool]) -> tuple[Json, ToolCapability] | None:
    """Return a plan that calls a tool above the safety mode or the ceiling, and the tool."""
    bounds = drafter.bounds
    return opened_plan(
        drafter, [tool for tool in bounds.tools if bounds.over_limits(tool)[:2] == which]
    )


def over_safety_mode(drafter: Drafter) -> NearMissPlan | None:
    """Call a tool above the safety mode of the context."""
    opening = _plan_over(drafter, (True, False))
    return NearMissPlan(opening[0]) if opening else None


def over_ceiling(drafter: Drafter) -> NearMissPlan | None:
    """Call a tool above the ceiling of the spec."""
    opening = _plan_over(drafter, (False, True))
    return NearMissPlan(opening[0]) if opening else None


def unapproved_call(drafter: Drafter) -> NearMissPlan | None:
    """Call a tool that needs an approval, without one."""
    over = drafter.bounds.over_limits
    tools = [tool for tool in drafter.bounds.tools if over(tool) == (False, False, True)]
    opening = opened_plan(drafter, tools)
    return NearMissPlan(opening[0], unapproved=0, repaired=opening[0]) if opening else None
