"""Near misses of the checks evidence and loop: one function for each way to break a plan.

Each returns None if the manifest, spec and context make this near miss impossible.
"""

from collections.abc import Iterator
from typing import Any, Final

from critic import ToolCapability
from evals.evidence import MissingClass, UnbackedArgument
from evals.json_schemas import compile_schema
from harness.testing._draw.bounds import required_classes
from harness.testing._draw.drawn_confinement import leaks
from harness.testing._draw.drawn_evidence import faults_of
from harness.testing._draw.drawn_plans import Drafter, reason_step
from harness.testing._draw.near_miss import (
    NearMissPlan,
    any_plan,
    opened_plan,
    opening_steps,
    plan_with_step,
    similar_name,
    usable_tools,
    with_one_of,
    with_pin,
)
from harness.testing._draw.near_miss_scope import STRANGE
from harness.testing._draw.primitives import Json

_MANY: Final = 64  # a larger limit on steps is not exceeded, to keep plans readable

# Evidence.


def unpinned_class(drafter: Drafter) -> NearMissPlan | None:
    """Remove the refs of one class that the tool of a step requires."""
    wanted = set(drafter.bounds.spec.required_evidence or ())
    tools = [t for t in usable_tools(drafter) if set(required_classes(t)) - wanted]
    opening = opened_plan(drafter, tools)
    if opening is None:
        return None
    plan, tool = opening
    evidence, step = drafter.bounds.compiled.manifests.evidence, plan["steps"][0]
    for name in required_classes(tool):
        refs = [ref for ref in step["evidence_refs"] if evidence[ref].classification != name]
        lacks = faults_of(drafter.bounds, tool, step, evidence_refs=refs)
        if name not in wanted and lacks == [MissingClass(name)]:
            return plan_with_step(plan, 0, evidence_refs=refs)
    drafter.retry_may_help = True
    return None


def unmet_claim(drafter: Drafter) -> NearMissPlan | None:
    """Let a step require a class of evidence that it does not pin."""
    drawn = any_plan(drafter)
    if drawn is None:
        return None
    plan, index = drawn
    evidence, step = drafter.bounds.compiled.manifests.evidence, plan["steps"][index]
    claimed = [*step.get("requires_evidence", ())]
    pinned = {evidence[ref].classification for ref in step.get("evidence_refs", ())}
    classes = [*drafter.bounds.fresh, "zz"]
    unmet = [name for name in classes if name not in pinned] or [similar_name(classes[0])]
    return plan_with_step(plan, index, requires_evidence=[*claimed, drafter.pick(unmet)])


def forged_ref(drafter: Drafter) -> NearMissPlan | None:
    """Pin a ref that the manifest does not hold."""
    drawn = any_plan(drafter)
    if drawn is None:
        return None
    plan, index = drawn
    named = [f"kg:{name}:1" for name in drafter.bounds.fresh]
    evidence = drafter.bounds.compiled.manifests.evidence
    # Some are nearly a real ref, and some contain the name of a class that is required.
    refs = [*(ref[:120] + "0" for ref in list(evidence)[:2]), *named, "zz", "zz0"]
    forged = drafter.pick([ref for ref in refs if ref not in evidence])
    return with_pin(plan, index, forged)


def expired_ref(drafter: Drafter) -> NearMissPlan | None:
    """Pin evidence that has expired."""
    stale = drafter.bounds.stale
    drawn = any_plan(drafter) if stale else None
    return with_pin(*drawn, drafter.pick(stale).id) if drawn else None


def unbacked_argument(drafter: Drafter) -> NearMissPlan | None:
    """Give a bound arg a value that no pinned evidence holds."""
    tools = [tool for tool in usable_tools(drafter) if tool.bound_args]
    opening = opened_plan(drafter, tools)
    if opening is None:
        return None
    plan, tool = opening
    step, options = plan["steps"][0], []
    for args in _unbacked_args(step.get("args", {}), tool):
        faults = faults_of(drafter.bounds, tool, step, args=args)
        alone = len(faults) == 1 and isinstance(faults[0], UnbackedArgument)
        if alone and _satisfies(tool, args) and not leaks(drafter.bounds, tool, args):
            options.append({"args": args})
    return with_one_of(drafter, plan, tools, options)


def _satisfies(tool: ToolCapability, args: Json) -> bool:
    return tool.args_schema is None or compile_schema(tool.args_schema).is_valid(args)


def _unbacked_args(args: Json, tool: ToolCapability) -> Iterator[Json]:
    """Yield the args with a value under a bound name that evidence is unlikely to hold."""
    for name in tool.bound_args or ():
        old = args.get(name)
        near: list[Any] = [f"{old}0", f"0{old}"] if isinstance(old, str) else []
        near += [old + 1, old - 1] if type(old) is int else []
        yield from ({**args, name: value} for value in (*near, *STRANGE, ["zz"], [999999937]))


def unpinned_spec_class(drafter: Drafter) -> NearMissPlan | None:
    """Leave out one class of evidence that the spec requires."""
    bounds = drafter.bounds
    wanted = list(dict.fromkeys(bounds.spec.required_evidence or ()))
    if not wanted or bounds.steps_left < 1:
        return None
    left_out = drafter.pick(wanted)
    refs = [bounds.fresh[name][0].id for name in wanted if name != left_out]
    steps, evidence = drafter.steps(pins=refs), bounds.compiled.manifests.evidence
    pinned = {
        evidence[ref].classification for step in steps for ref in step.get("evidence_refs", ())
    }
    drafter.retry_may_help |= left_out in pinned
    return None if left_out in pinned else NearMissPlan(drafter.plan(steps))


# Loop and budget.


def unknown_dependency(drafter: Drafter) -> NearMissPlan | None:
    """Let a step depend on an id that no earlier step has."""
    drawn = any_plan(drafter)
    if drawn is None:
        return None
    plan, index = drawn
    later = [step["id"] for step in plan["steps"][index:] if "id" in step]
    needed = [*plan["steps"][index].get("depends_on", ())]
    return plan_with_step(plan, index, depends_on=[*needed, drafter.pick(["zz", *later])])


def repeated_id(drafter: Drafter) -> NearMissPlan | None:
    """Give two steps the same id."""
    if drafter.bounds.steps_left < 2:
        return None
    steps = drafter.steps()
    steps = [*steps, reason_step()] if len(steps) < 2 else steps
    first, second = ({**step, "id": "s"} for step in steps[:2])
    plan = {**drafter.plan(steps[:0]), "steps": [first, *steps[1:]]}
    return NearMissPlan({**plan, "steps": [first, second, *steps[2:]]}, repaired=plan)


def too_many_steps(drafter: Drafter) -> NearMissPlan | None:
    """Add reason steps until there is one more than the budget allows."""
    left = drafter.bounds.steps_left
    if not 0 <= left <= _MANY:
        return None
    plan = drafter.plan(drafter.steps())
    more = [reason_step() for _ in range(left + 1 - len(plan["steps"]))]
    return NearMissPlan({**plan, "steps": [*plan["steps"], *more]}, repaired=plan)


def repeated_call(drafter: Drafter) -> NearMissPlan | None:
    """Make the same destructive call twice."""
    tools = [tool for tool in usable_tools(drafter) if tool.approval_mode == "destructive"]
    opening = opening_steps(drafter, tools)
    if opening is None:
        return None
    steps, bounds = opening[0], drafter.bounds
    twice = [*steps[: bounds.steps_left - 1], dict(steps[0])]
    fits = bounds.steps_left > 1 and drafter.tokens(twice) <= bounds.tokens_left
    drafter.retry_may_help |= not fits
    return NearMissPlan(drafter.plan(twice)) if fits and drafter.covers(twice) else None


def too_many_tokens(drafter: Drafter) -> NearMissPlan | None:
    """Let one step estimate more tokens than the budget has left."""
    drawn = any_plan(drafter)
    if drawn is None:
        return None
    plan, index = drawn
    others = plan["steps"][:index] + plan["steps"][index + 1 :]
    needed = drafter.bounds.tokens_left + 1 - drafter.tokens(others)
    return plan_with_step(plan, index, estimated_tokens=drafter.pick((needed, 2**53 - 1)))
