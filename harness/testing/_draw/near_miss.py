"""A near miss in the making: a passing plan with one of its steps at hand, and one change to it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from critic import ToolCapability
from harness.testing._draw.plans import Drafter
from harness.testing._draw.primitives import Json, pick


class NearMissPlan(NamedTuple):
    """A plan in wire form with one violation; `unapproved` is the step that no approval covers."""

    plan: Json
    unapproved: int | None = None


def with_step(plan: Json, at: int, **changes: Any) -> NearMissPlan:
    """The plan with some fields of one step changed."""
    steps = list(plan["steps"])
    steps[at] = {**steps[at], **changes}
    return NearMissPlan({**plan, "steps": steps})


def any_plan(drafter: Drafter) -> tuple[Json, int] | None:
    """A passing plan and one of its steps; None if no step is allowed."""
    plan = drafter.plan(drafter.steps())
    if not plan["steps"]:
        return None
    return plan, pick(drafter.draw, range(len(plan["steps"])))


def opened(drafter: Drafter, tools: Sequence[ToolCapability]) -> tuple[Json, ToolCapability] | None:
    """A passing plan whose first step calls one of the tools, and that tool."""
    found = opening(drafter, tools)
    return (drafter.plan(found[0]), found[1]) if found is not None else None


def opening(
    drafter: Drafter, tools: Sequence[ToolCapability]
) -> tuple[list[Json], ToolCapability] | None:
    """The bare steps of such a plan, and the tool of the first."""
    first = pick(drafter.draw, range(len(tools))) if tools else 0
    for tool in [*tools[first:], *tools[:first]]:
        step = drafter.step(tool)
        steps = drafter.steps([step]) if step is not None else []
        if steps and drafter.covers(steps) and drafter.tokens(steps) <= drafter.bounds.tokens_left:
            return steps, tool
    drafter.retry_may_help |= bool(tools)
    return None


def one_of(drafter: Drafter, plan: Json, args: Sequence[Json]) -> NearMissPlan | None:
    """The plan with one of these args for its first step."""
    drafter.retry_may_help |= not args
    return with_step(plan, 0, args=pick(drafter.draw, args)) if args else None


def usable(drafter: Drafter) -> list[ToolCapability]:
    """The tools that a passing plan may call."""
    return drafter.bounds.allowed(approving=drafter.approving)


def with_pin(plan: Json, at: int, ref: str) -> NearMissPlan:
    """The plan with one more ref pinned by one step."""
    return with_step(plan, at, evidence_refs=[*plan["steps"][at].get("evidence_refs", ()), ref])


def other(name: str) -> str:
    """A name that looks like another and is none the less a different one."""
    return f"{name[:120]}0"
