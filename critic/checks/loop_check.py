"""Check 5: does the plan end, repeat nothing destructive, and stay within its budget?"""

from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from heapq import merge
from operator import attrgetter
from typing import Any, Final

from critic.checks.grounds import (
    LateDependency,
    RepeatedCall,
    RepeatedId,
    StepsSpent,
    TokensSpent,
)
from critic.checks.violation import Found, Wording
from critic.prepared import CallKey, PreparedPlan
from evals.canonical_json import canonical_json
from evals.context import DEFAULT_BUCKET_TOKENS, DEFAULT_MAX_STEPS
from evals.kinds import MODE_RANK

_DESTRUCTIVE: Final = MODE_RANK["destructive"]


def check_loop(case: PreparedPlan) -> Iterator[Found]:
    """Check 5: the plan ends, repeats nothing destructive, and stays within steps and tokens.

    Steps count together with `ctx.spent`, against `max_steps`. Ids are unique, `depends_on` names
    earlier steps only, and no destructive call is made twice with the same args: not within the
    plan, and not after an earlier plan of the trace (`ctx.spent.calls`) made it, unless a valid
    approval of this plan covers the step. Each step takes its own estimate of tokens or the least
    of its capability, whichever is more; their sum and what was spent stay within `bucket_tokens`.
    What a shell command does is no call: it neither counts nor repeats.

    A step takes values from, and pins results of, earlier tool steps only. Of two calls with equal
    args that take equal values the second repeats the first.

    Yields `loop_guard` without a step, at `/steps`, for too many steps, or with the step, at
    `/steps/N/id`, `/steps/N/depends_on/M`, `/steps/N/takes/M/step`, `/steps/N/evidence_steps/M` or
    `/steps/N`; and `budget_exceeded` without a step, at
    `/steps`, for too many tokens. Approvable is a call that only an earlier plan made.
    """
    budget, spent = case.ctx.run_budget, case.ctx.spent
    steps_before = (spent.steps if spent else None) or 0
    steps = case.called_steps
    if steps_before + steps > (budget.max_steps if budget else DEFAULT_MAX_STEPS):
        words = partial(_too_many_steps, steps, steps_before)
        yield Found("loop", "loop_guard", None, words)
    order, repeats = _order_violations(case), [*_repeats(case)]
    # Both come in ascending order of the steps.
    yield from merge(order, repeats, key=attrgetter("step")) if repeats else order
    left = budget.bucket_tokens if budget else DEFAULT_BUCKET_TOKENS
    left -= (spent.tokens if spent else None) or 0
    if planned_tokens(case) > left:
        yield Found("loop", "budget_exceeded", None, _too_many_tokens)


def _source_faults(case: PreparedPlan, index: int) -> Iterator[Found]:
    """Yield the references of a late step to what is no earlier tool step."""
    if case.late is not None:
        from critic.late.late_faults import source_faults  # noqa: PLC0415 - for late plans only

        yield from source_faults(case.late, index)


def planned_tokens(case: PreparedPlan) -> int:
    """Return the tokens of all steps: the estimate, or the least of its capability if more."""
    total = 0 if case.earlier is None else case.earlier.tokens
    for _, tool, fields in case.steps:
        estimated, least = fields["estimated_tokens"], tool.least_tokens
        total += least if estimated is None or estimated < least else estimated
    return total


def _order_violations(case: PreparedPlan) -> Iterator[Found]:
    earlier: set[str] = set() if case.earlier is None else case.earlier.ids_and_more()
    for index, _, fields in case.steps:
        own, depends_on = fields["id"], fields["depends_on"]
        if own in earlier:
            yield Found("loop", "loop_guard", index, partial(_repeated_id, index, own))
        if depends_on and not earlier.issuperset(depends_on):
            yield from _late_dependencies(index, depends_on, earlier)
        if case.late is not None:
            yield from _source_faults(case, index)
        if own is not None:
            earlier.add(own)


def _late_dependencies(
    index: int, depends_on: tuple[str, ...], earlier: set[str]
) -> Iterator[Found]:
    named: set[str] = set()
    for position, needed in enumerate(depends_on):
        if needed not in earlier and needed not in named:
            words = partial(_late_dependency, index, position, needed)
            yield Found("loop", "loop_guard", index, words)
        named.add(needed)


def _repeats(case: PreparedPlan) -> Iterator[Found]:
    if not case.traits & 1 << _DESTRUCTIVE:
        return
    calls = [one for one in case.steps if one[1].rank == _DESTRUCTIVE and case.is_called(one)]
    spent = case.ctx.spent.calls if case.ctx.spent else None
    if len(calls) == 1 and not spent and case.earlier is None:
        return
    made: set[tuple[Any, ...]] = set() if case.earlier is None else case.earlier.calls_and_more()
    if case.made is None:
        case.made = {
            (call.adapter_id, call.capability_id, call.args_digest.removeprefix("sha256:"))
            for call in spent or ()
        }
    for index, tool, fields in calls:
        call = (fields["adapter_id"], fields["capability_id"], canonical_json(fields["args"]))
        takes = fields.get("takes")
        key = (*call, frozenset((one.arg, one.step, one.at) for one in takes)) if takes else call
        if key in made:
            words = partial(_repeated_call, index, tool.name, "step with the same args")
            yield Found("loop", "loop_guard", index, words)
        elif takes:
            pass  # what it sends is not known yet
        elif spent and _key_of(*call) in case.made and not case.is_approved(index):
            needs = "plan with the same args: needs approval"
            words = partial(_repeated_call, index, tool.name, needs, by_earlier_plan=True)
            yield Found("loop", "loop_guard", index, words, approvable=True)
        made.add(key)


def _key_of(adapter_id: str, capability_id: str, args: bytes) -> CallKey:
    return adapter_id, capability_id, sha256(args).hexdigest()


def _too_many_steps(steps: int, before: int) -> Wording:
    spent = f" after {before} already spent" if before else ""
    noun = "step" if steps == 1 else "steps"
    reason = f"plan has {steps} {noun}{spent}, exceeds max_steps"
    return Wording(reason, "/steps", StepsSpent())


def _too_many_tokens() -> Wording:
    return Wording("plan exceeds bucket_tokens", "/steps", TokensSpent())


def _repeated_id(index: int, name: str) -> Wording:
    reason = f"step {index} repeats the id {name} of an earlier step"
    return Wording(reason, f"/steps/{index}/id", RepeatedId(name))


def _late_dependency(index: int, position: int, name: str) -> Wording:
    reason = f"step {index} depends on {name}, which is not the id of an earlier step"
    return Wording(reason, f"/steps/{index}/depends_on/{position}", LateDependency(name))


def _repeated_call(
    index: int, tool: str, of_what: str, *, by_earlier_plan: bool = False
) -> Wording:
    reason = f"step {index} repeats the destructive call {tool} of an earlier {of_what}"
    return Wording(reason, f"/steps/{index}", RepeatedCall(by_earlier_plan))
