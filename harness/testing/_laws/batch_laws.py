"""The laws of a plan as a batch of calls: each is judged by what was there before all of them.

They are about the checks surface, approval and evidence, for a plan without approvals, since an
approval is of one exact plan. Check 5 is about the steps together.
"""

from collections import Counter
from typing import Final

from hypothesis import strategies as st

from critic import Refused
from harness.testing._draw.primitives import ABSENT, Json
from harness.testing._laws.law_context import LawContext, with_part

_OF_STEPS: Final = ("surface", "approval", "evidence")
_Said = tuple[str, str, int, str, bool | None]


def the_order_of_calls_does_not_matter(context: LawContext) -> None:
    """Another order of the steps changes nothing that is said of one, but for repeats and order."""
    wire = with_part(context.wire, "ctx", approvals=ABSENT)
    steps = wire["plan"]["steps"]
    if len(steps) < 2:
        return
    order = context.draw(st.permutations(range(len(steps))))
    altered = with_part(wire, "plan", steps=[steps[place] for place in order])
    moved = _count_said(context, altered, order)
    context.require(_count_said(context, wire) == moved, "in another order, it is other", altered)


def calls_never_back_each_other(context: LawContext) -> None:
    """What is said of a step is said of it alone: no other call of the batch backs it."""
    wire = with_part(context.wire, "ctx", approvals=ABSENT)
    steps = wire["plan"]["steps"]
    if len(steps) < 2:
        return
    said = _count_said(context, wire)
    index = context.pick(range(len(steps)))
    altered = with_part(wire, "plan", steps=[steps[index]])
    together = Counter({one: count for one, count in said.items() if one[2] == index})
    alone = _count_said(context, altered, [index])
    context.require(together == alone, f"alone, step {index} is judged otherwise", altered)


def _count_said(context: LawContext, wire: Json, order: list[int] | None = None) -> Counter[_Said]:
    """Count what is said of each step, by its place in the original plan."""
    verdict = context.judge(wire)
    said: Counter[_Said] = Counter()
    for one in verdict.violations if isinstance(verdict, Refused) else ():
        step = one.offending_step
        if step is not None and one.check in _OF_STEPS:
            inner = str(one.path).removeprefix(f"/steps/{step}")
            place = step if order is None else order[step]
            said[one.check, one.kind, place, inner, one.approvable] += 1
    return said
