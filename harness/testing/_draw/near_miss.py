"""Build near misses: draw a passing plan, choose one of its steps, and change it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from critic import ToolCapability
from harness.testing._draw.drawn_plans import Drafter
from harness.testing._draw.primitives import Json


class NearMissPlan(NamedTuple):
    """A plan in wire form with one violation.

    `unapproved` is a step without approval: an earlier plan made its call (`made_before`), or it
    has an approval of another context (`elsewhere`). `repaired` passes, where that is known.
    """

    plan: Json
    unapproved: int | None = None
    made_before: bool = False
    elsewhere: bool = False
    repaired: Json | None = None


def plan_with_step(plan: Json, index: int, **changes: Any) -> NearMissPlan:
    """Return a passing plan with some fields of one step changed."""
    steps = list(plan["steps"])
    steps[index] = {**steps[index], **changes}
    return NearMissPlan({**plan, "steps": steps}, repaired=plan)


def any_plan(drafter: Drafter) -> tuple[Json, int] | None:
    """Return a passing plan and the index of one of its steps; None if no step is allowed."""
    plan = drafter.plan(drafter.steps())
    if not plan["steps"]:
        return None
    return plan, drafter.pick(range(len(plan["steps"])))


def opened_plan(
    drafter: Drafter, tools: Sequence[ToolCapability]
) -> tuple[Json, ToolCapability] | None:
    """Return a passing plan whose first step calls one of the tools, and that tool; or None."""
    opening = opening_steps(drafter, tools)
    return (drafter.plan(opening[0]), opening[1]) if opening is not None else None


def opening_steps(
    drafter: Drafter, tools: Sequence[ToolCapability]
) -> tuple[list[Json], ToolCapability] | None:
    """Return the bare steps of such a plan, and the tool of the first step; or None."""
    first = drafter.pick(range(len(tools))) if tools else 0
    for tool in [*tools[first:], *tools[:first]]:
        step = drafter.step(tool)
        steps = drafter.steps([step]) if step is not None else []
        if steps and drafter.covers(steps) and drafter.tokens(steps) <= drafter.bounds.tokens_left:
            return steps, tool
    drafter.retry_may_help |= bool(tools)
    return None


def with_one_of(
    drafter: Drafter, plan: Json, tools: Sequence[ToolCapability], changes: Sequence[Json]
) -> NearMissPlan | None:
    """Return the plan with one of these changes of its first step, or None if there are none.

    Args:
        tools: those that the first step might have called.
    """
    if not changes:
        drafter.retry_may_help |= len(tools) > 1 or drafter.may_vary(tools[0], plan["steps"][0])
        return None
    return plan_with_step(plan, 0, **drafter.pick(changes))


def usable_tools(drafter: Drafter) -> list[ToolCapability]:
    """Return the tools that a passing plan may call."""
    return drafter.bounds.allowed_tools(approving=drafter.approving)


def with_pin(plan: Json, index: int, ref: str) -> NearMissPlan:
    """Return the plan with one more evidence ref in one step."""
    refs = plan["steps"][index].get("evidence_refs", ())
    return plan_with_step(plan, index, evidence_refs=[*refs, ref])


def similar_name(name: str) -> str:
    """Return a different name that looks similar."""
    return f"{name[:120]}0"
