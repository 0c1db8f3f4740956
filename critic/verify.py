"""verify: refuse a bad plan before any side effect."""

from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from critic.caveats import caveats_of
from critic.checks import CHECKS
from critic.checks.grounds import Unlisted
from critic.checks.violation import Found, Wording
from critic.prepared import PreparedPlan, prepare_plain, prepare_plan
from evals.context import RunContext
from evals.envelope import Envelope
from evals.manifest import CompiledContext
from evals.plain_plan import plain_plan
from evals.plan import Plan, Proposal
from evals.plan_verdicts import MOST_LISTED, Refused, Verified, Violation
from evals.spec import DecisionSpec
from evals.unread import read_unread

if TYPE_CHECKING:
    from critic.late.late_steps import LatePlan


def verify(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: Plan
) -> Verified | Refused:
    """Judge a plan by the five checks: a refusal lists every violation, up to `MOST_LISTED`.

    Pure and total: the same envelopes give the same verdict, and valid envelopes never raise. The
    verdict is an object of its own. The index of `compiled` is built at its first use and kept.

    Raises:
        TypeError: an argument is not exactly the envelope it should be. A subclass is refused
            too, since it could answer differently from the fields that were validated.
    """
    _check_exact(ctx, compiled, spec)
    if type(plan) is not Plan:
        raise _not_exact(plan, Plan)
    return verdict_on(prepare_plan(ctx, compiled, spec, plan))


def verify_plain(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, value: Any
) -> Verified | Refused | None:
    """Return what `verify` says of the plan in a JSON value, without making its envelope.

    None where only the envelope can tell: the value may not be a plan, or the verdict asks for the
    digest of the plan, or for the provenance of its values.

    Args:
        value: what a reader of JSON returned. Nothing else may hold it.

    Raises:
        TypeError: as `verify` does.
    """
    approved = type(ctx) is RunContext and ctx.approvals
    traced = type(spec) is DecisionSpec and spec.provenance is not None
    plan = None if approved or traced else plain_plan(value)
    if plan is None:
        return None
    _check_exact(ctx, compiled, spec)
    case = prepare_plain(ctx, compiled, spec, plan)
    return verdict_on(case) if case.late is None else None


def verdict_on(case: PreparedPlan) -> Verified | Refused:
    """Judge a plan that is prepared for the checks."""
    found = found_in(case)
    first = next(found, None)
    if first is not None:
        return _refusal(first, found)
    steps = _count_noun(len(case.steps), "step")
    outputs = _count_noun(len(set(case.spec.required_outputs)), "required output")
    # Never shared: a caller that changes its verdict must not change those of others. Validated
    # as the constructor does, without its step for None: it would be half of the cost.
    fields: dict[str, Any] = {"reasons": (f"{steps}, {outputs} covered",)}
    fields["caveats"] = caveats_of(case)
    if case.late is not None:
        fields |= _conditions(case, case.late)
    verified: Verified = Verified.__pydantic_validator__.validate_python(fields)
    return verified


def _conditions(case: PreparedPlan, late: "LatePlan") -> dict[str, Any]:
    from critic.late.late_conditions import conditions_of  # noqa: PLC0415 - for late plans only

    conditions = conditions_of(case, late)
    return {"conditions": tuple(conditions)} if conditions else {}


def found_in(case: PreparedPlan) -> Iterator[Found]:
    """Yield everything that the five checks find, in their order."""
    return chain.from_iterable(check(case) for check in CHECKS)


def _refusal(first: Found, further: Iterator[Found]) -> Refused:
    """Return the refusal. What is not listed is counted and never built."""
    listed = [each.violation() for each in chain((first,), islice(further, MOST_LISTED - 1))]
    left_out = next(further, None)
    if left_out is not None:
        listed.append(_left_out(left_out, further))
    return Refused.because(tuple(listed))


def _left_out(first: Found, further: Iterator[Found]) -> Violation:
    """Return the last entry of a capped refusal, which speaks for all that are left out."""
    count, approvable = 1, first.approvable
    for each in further:
        count += 1
        approvable = approvable and each.approvable
    words = partial(_and_more, count)
    return Found(first.check, first.kind, None, words, approvable).violation()


def _and_more(count: int) -> Wording:
    reason = f"and {count:,} more {'violation' if count == 1 else 'violations'}"
    return Wording(reason, "", Unlisted(count))


def _count_noun(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def verify_proposal(proposal: Proposal) -> Verified | Refused:
    """Judge the four inputs of `verify` given as one value.

    Raises:
        TypeError: `proposal` is not exactly a Proposal, or one of its parts is not exactly the
            envelope it should be.
    """
    if type(proposal) is not Proposal and not read_unread(proposal, Proposal):
        raise _not_exact(proposal, Proposal)
    return verify(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)


def _check_exact(ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> None:
    if type(ctx) is not RunContext:
        raise _not_exact(ctx, RunContext)
    if type(compiled) is not CompiledContext and not read_unread(compiled, CompiledContext):
        raise _not_exact(compiled, CompiledContext)
    if type(spec) is not DecisionSpec:
        raise _not_exact(spec, DecisionSpec)


def _not_exact(value: object, model: type[Envelope]) -> TypeError:
    return TypeError(f"verify needs a {model.__name__}, not {type(value).__name__}")
