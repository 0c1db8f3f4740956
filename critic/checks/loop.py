"""Check 5: does the plan end, repeat nothing destructive, and stay within its budget?"""

from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from critic.checks.violation import violation_of
from critic.prepared import PreparedPlan
from critic.verdicts import Violation
from evals.canonical import canonical_json
from evals.context import DEFAULT_BUCKET_TOKENS, DEFAULT_MAX_STEPS
from evals.envelope import MODE_RANK

_DESTRUCTIVE: Final = MODE_RANK["destructive"]


def check_loop(case: PreparedPlan) -> Iterator[Violation]:
    """Check 5: the plan ends, repeats nothing destructive, and stays within steps and tokens.

    Steps count together with `ctx.spent`, against `max_steps`. Ids are unique, `depends_on` names
    earlier steps only, and no destructive call is made twice with the same args. Each step takes
    its own estimate of tokens or its capability's `min_tokens`, whichever is more; their sum and
    what was spent stay within `bucket_tokens`.

    Yields `loop_guard` without a step, at `/steps`, for too many steps, or with the step, at
    `/steps/N/id`, `/steps/N/depends_on/M` or `/steps/N`; and `budget_exceeded` without a step, at
    `/steps`, for too many tokens.
    """
    budget, spent = case.ctx.run_budget, case.ctx.spent
    steps_before = (spent.steps if spent else None) or 0
    if steps_before + len(case.steps) > (budget.max_steps if budget else DEFAULT_MAX_STEPS):
        before = f" after {steps_before} already spent" if steps_before else ""
        reason = f"plan has {len(case.steps)} steps{before}, exceeds max_steps"
        yield violation_of("loop", "loop_guard", reason, None, "/steps")
    if violations := [*_order_violations(case), *_repeats(case)]:
        yield from sorted(violations, key=attrgetter("offending_step"))
    left = budget.bucket_tokens if budget else DEFAULT_BUCKET_TOKENS
    left -= (spent.tokens if spent else None) or 0
    if planned_tokens(case) > left:
        reason = "plan exceeds bucket_tokens"
        yield violation_of("loop", "budget_exceeded", reason, None, "/steps")


def planned_tokens(case: PreparedPlan) -> int:
    """Return the tokens of all steps: the estimate, or the capability's `min_tokens` if more."""
    total = 0
    for _, tool, fields in case.steps:
        estimated, least = fields["estimated_tokens"], tool.min_tokens
        total += least if estimated is None or estimated < least else estimated
    return total


def _order_violations(case: PreparedPlan) -> Iterator[Violation]:
    earlier: set[str] = set()
    for index, _, fields in case.steps:
        own, depends_on = fields["id"], fields["depends_on"]
        if own in earlier:
            reason = f"has the id {own} of an earlier step"
            yield _loop_violation(index, reason, f"/steps/{index}/id")
        if depends_on and not earlier.issuperset(depends_on):
            yield from _late_dependencies(index, depends_on, earlier)
        if own is not None:
            earlier.add(own)


def _late_dependencies(
    index: int, depends_on: tuple[str, ...], earlier: set[str]
) -> Iterator[Violation]:
    named: set[str] = set()
    for position, needed in enumerate(depends_on):
        if needed not in earlier and needed not in named:
            path = f"/steps/{index}/depends_on/{position}"
            yield _loop_violation(index, f"depends on {needed}, which is no earlier step", path)
        named.add(needed)


def _repeats(case: PreparedPlan) -> Iterator[Violation]:
    calls = [step for step in case.steps if step[1].rank == _DESTRUCTIVE]
    if len(calls) < 2:
        return
    called: set[tuple[str, str, bytes]] = set()
    for index, tool, fields in calls:
        call = (fields["adapter_id"], fields["capability_id"], canonical_json(fields["args"]))
        if call in called:
            reason = f"repeats the destructive call {tool.name} with the same args"
            yield _loop_violation(index, reason, f"/steps/{index}")
        called.add(call)


def _loop_violation(index: int, reason: str, path: str) -> Violation:
    return violation_of("loop", "loop_guard", f"step {index} {reason}", index, path)
