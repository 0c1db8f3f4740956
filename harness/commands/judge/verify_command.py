"""`critic verify`: judge Proposals, or Plans against a separate context.

A separate context is read and indexed once, so each document costs only its plan.
"""

import argparse

from evals.context import RunContext
from evals.manifest import CompiledContext
from evals.plan import Proposal
from evals.plan_verdicts import Condition, Refused, Verified, Violation
from evals.spec import DecisionSpec
from harness.commands.documents import read_whole, size_limit
from harness.commands.formats.judgement import AnyVerdict
from harness.commands.judge.judging import judge_all
from harness.commands.judge.plan_judging import Judge, PlanContext, judged_proposal, plan_judge
from harness.errors import UsageError
from harness.wire import EnvelopeT, InvalidInput, parse

_PARTS = ("context", "compiled", "spec")


def run(args: argparse.Namespace) -> int:
    """Judge every document in the files. Exit status as documented by `critic --help`."""
    return judge_all(args, _judge_of(args), _describe_verdict)


def _judge_of(args: argparse.Namespace) -> Judge:
    """Return the judge of one document: a Proposal, or a Plan if the other parts are given.

    Raises:
        UsageError: only some of the parts are given, or a part is invalid.
    """
    limit = size_limit(args)
    given = [name for name in _PARTS if getattr(args, name) is not None]
    if args.against is not None and (beside := [*given, *(["policy"] if args.policy else [])]):
        listed = " and ".join(f"--{name}" for name in beside)
        raise UsageError(f"--against says it already: leave out {listed}")
    if args.policy is not None:
        return _judge_by_policy(args, limit)
    if args.against is not None:
        return plan_judge(_part(PlanContext, args.against, limit), limit, advice=args.advise)
    if not given:
        return lambda data: judged_proposal(parse(Proposal, data, limit), advice=args.advise)
    if missing := [f"--{name}" for name in _PARTS if name not in given]:
        raise UsageError(f"plans apart need all three parts: add {' and '.join(missing)}")
    ctx = _part(RunContext, args.context, limit)
    compiled = _part(CompiledContext, args.compiled, limit)
    spec = _part(DecisionSpec, args.spec, limit)
    context = PlanContext(ctx=ctx, compiled=compiled, spec=spec)
    return plan_judge(context, limit, advice=args.advise)


def _judge_by_policy(args: argparse.Namespace, limit: int) -> Judge:
    if doubled := [f"--{name}" for name in ("compiled", "spec") if getattr(args, name) is not None]:
        raise UsageError(f"the policy says it already: leave out {' and '.join(doubled)}")
    from harness.commands.judge.verify_policy import policy_judge  # noqa: PLC0415 - slow to load

    return policy_judge(args, limit)


def _part(model: type[EnvelopeT], name: str, limit: int) -> EnvelopeT:
    document = read_whole(name, limit)
    try:
        return document.parse_with(lambda data: parse(model, data, limit))
    except InvalidInput as error:
        raise UsageError(f"{document.source}: not a {model.__name__}: {error}") from None


def _describe_verdict(verdict: AnyVerdict) -> str:
    """Describe a verdict for a person: the first line decides, the lines below it explain."""
    match verdict:
        case Verified():
            notes = [f"\n  caveat: {caveat}" for caveat in verdict.caveats]
            notes += [f"\n  {_word_condition(one)}" for one in verdict.conditions or ()]
            return f"ok: {'; '.join(verdict.reasons)}" + "".join(notes)
        case Refused():
            refused = "refused, needs approval" if verdict.approvable else "refused"
            head = f"{refused}: {verdict.kind}: {verdict.violations[0].reason}"
            return head + "".join(map(_further, verdict.violations[1:]))
        case _:
            raise TypeError(f"not a verdict of verify: {type(verdict).__name__}")


def _further(violation: Violation) -> str:
    return f"\n  also {violation.kind}: {violation.reason}"


def _word_condition(condition: Condition) -> str:
    place = f" at {condition.path}" if condition.path else ""
    return f"condition {condition.kind}{place}: {condition.reason}"
