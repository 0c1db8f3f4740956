"""Near misses of what a plan rests on: evidence, order and budget, a function for each way.

Each returns None where the manifest, spec and context at hand make it impossible.
"""

from collections.abc import Iterator
from typing import Any, Final

from critic import ToolCapability
from evals.evidence import unbacked_arguments
from evals.schemas import compile_schema
from harness.testing._draw.near_miss import (
    NearMissPlan,
    any_plan,
    one_of,
    opened,
    opening,
    other,
    usable,
    with_pin,
    with_step,
)
from harness.testing._draw.near_miss_scope import STRANGE
from harness.testing._draw.plans import Drafter, reason_step
from harness.testing._draw.primitives import Json, pick

_MANY: Final = 64  # steps: a larger limit on steps is not exceeded, to keep plans readable

# Evidence.


def unpinned_class(drafter: Drafter) -> NearMissPlan | None:
    wanted = set(drafter.bounds.spec.required_evidence or ())
    tools = [t for t in usable(drafter) if set(t.requires_evidence or ()) - wanted]
    begun = opened(drafter, tools)
    if begun is None:
        return None
    plan, tool = begun
    known, step = drafter.bounds.compiled.manifests.evidence, plan["steps"][0]
    for name in tool.requires_evidence or ():
        kept = [ref for ref in step["evidence_refs"] if known[ref].classification != name]
        fresh = [known[ref] for ref in kept]
        if name not in wanted and not unbacked_arguments(
            tool.bound_args or {}, step.get("args", {}), fresh
        ):
            return with_step(plan, 0, evidence_refs=kept)
    drafter.retry_may_help = True
    return None


def unmet_claim(drafter: Drafter) -> NearMissPlan | None:
    found = any_plan(drafter)
    if found is None:
        return None
    plan, at = found
    known = drafter.bounds.compiled.manifests.evidence
    claimed = [*plan["steps"][at].get("requires_evidence", ())]
    held = {known[ref].classification for ref in plan["steps"][at].get("evidence_refs", ())}
    classes = [*drafter.bounds.fresh, "zz"]
    unmet = [name for name in classes if name not in held] or [other(classes[0])]
    return with_step(plan, at, requires_evidence=[*claimed, pick(drafter.draw, unmet)])


def forged_ref(drafter: Drafter) -> NearMissPlan | None:
    found = any_plan(drafter)
    if found is None:
        return None
    plan, at = found
    named = [f"kg:{name}:1" for name in drafter.bounds.fresh]
    known = drafter.bounds.compiled.manifests.evidence
    # A ref may be all but right, and may spell the very class that is wanted.
    refs = [*(ref[:120] + "0" for ref in list(known)[:2]), *named, "zz", "zz0"]
    forged = pick(drafter.draw, [ref for ref in refs if ref not in known])
    return with_pin(plan, at, forged)


def expired_ref(drafter: Drafter) -> NearMissPlan | None:
    stale = drafter.bounds.stale
    found = any_plan(drafter) if stale else None
    return with_pin(*found, pick(drafter.draw, stale).id) if found else None


def unbacked_argument(drafter: Drafter) -> NearMissPlan | None:
    begun = opened(drafter, [tool for tool in usable(drafter) if tool.bound_args])
    if begun is None:
        return None
    plan, tool = begun
    known, step = drafter.bounds.compiled.manifests.evidence, plan["steps"][0]
    fresh = [known[ref] for ref in step.get("evidence_refs", ())]
    options = []
    for args in _unbacked(step.get("args", {}), tool):
        faults = unbacked_arguments(tool.bound_args or {}, args, fresh)
        if len(faults) == 1 and _satisfies(tool, args):
            options.append(args)
    return one_of(drafter, plan, options)


def _satisfies(tool: ToolCapability, args: Json) -> bool:
    return tool.args_schema is None or compile_schema(tool.args_schema).is_valid(args)


def _unbacked(args: Json, tool: ToolCapability) -> Iterator[Json]:
    """The args with something under a bound name that no evidence is likely to hold."""
    for name in tool.bound_args or ():
        old = args.get(name)
        near: list[Any] = [f"{old}0", f"0{old}"] if isinstance(old, str) else []
        near += [old + 1, old - 1] if type(old) is int else []
        yield from ({**args, name: value} for value in (*near, *STRANGE, ["zz"], [999999937]))


def unpinned_spec_class(drafter: Drafter) -> NearMissPlan | None:
    bounds = drafter.bounds
    wanted = list(dict.fromkeys(bounds.spec.required_evidence or ()))
    if not wanted or bounds.steps_left < 1:
        return None
    left_out = pick(drafter.draw, wanted)
    refs = [bounds.fresh[name][0].id for name in wanted if name != left_out]
    plan = drafter.plan([{**reason_step(), **({"evidence_refs": refs} if refs else {})}])
    return NearMissPlan(plan)


# Loop and budget.


def unknown_dependency(drafter: Drafter) -> NearMissPlan | None:
    found = any_plan(drafter)
    if found is None:
        return None
    plan, at = found
    later = [step["id"] for step in plan["steps"][at:] if "id" in step]
    needed = [*plan["steps"][at].get("depends_on", ())]
    return with_step(plan, at, depends_on=[*needed, pick(drafter.draw, ["zz", *later])])


def repeated_id(drafter: Drafter) -> NearMissPlan | None:
    if drafter.bounds.steps_left < 2:
        return None
    steps = drafter.steps()
    steps = [*steps, reason_step()] if len(steps) < 2 else steps
    first, second = ({**step, "id": "s"} for step in steps[:2])
    return NearMissPlan({**drafter.plan(steps[:0]), "steps": [first, second, *steps[2:]]})


def too_many_steps(drafter: Drafter) -> NearMissPlan | None:
    left = drafter.bounds.steps_left
    if not 0 <= left <= _MANY:
        return None
    plan = drafter.plan(drafter.steps())
    more = [reason_step() for _ in range(left + 1 - len(plan["steps"]))]
    return NearMissPlan({**plan, "steps": [*plan["steps"], *more]})


def repeated_call(drafter: Drafter) -> NearMissPlan | None:
    tools = [tool for tool in usable(drafter) if tool.approval_mode == "destructive"]
    begun = opening(drafter, tools)
    if begun is None:
        return None
    steps, bounds = begun[0], drafter.bounds
    twice = [*steps[: bounds.steps_left - 1], dict(steps[0])]
    fits = bounds.steps_left > 1 and drafter.tokens(twice) <= bounds.tokens_left
    drafter.retry_may_help |= not fits
    return NearMissPlan(drafter.plan(twice)) if fits and drafter.covers(twice) else None


def too_many_tokens(drafter: Drafter) -> NearMissPlan | None:
    found = any_plan(drafter)
    if found is None:
        return None
    plan, at = found
    others = plan["steps"][:at] + plan["steps"][at + 1 :]
    needed = drafter.bounds.tokens_left + 1 - drafter.tokens(others)
    return with_step(plan, at, estimated_tokens=pick(drafter.draw, (needed, 2**53 - 1)))
