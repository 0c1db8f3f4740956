"""`critic verify`: judge Proposals, or Plans against a context that is given apart."""

import argparse
from collections.abc import Callable

from critic import (
    CompiledContext,
    DecisionSpec,
    Plan,
    Proposal,
    Refused,
    RunContext,
    Verified,
    Violation,
    advise,
    verify_proposal,
)
from harness.commands.documents import read_whole, size_limit
from harness.commands.formats.judgement import AnyVerdict, Judged
from harness.commands.judging import judge_all
from harness.commands.policy import load_policy
from harness.errors import UsageError
from harness.policy import Policy
from harness.policy.parts import completed_context, completed_proposal
from harness.wire import EnvelopeT, InvalidInput, build, parse, parse_json

_PARTS = ("context", "compiled", "spec")


def run(args: argparse.Namespace) -> int:
    """Judge every document in the files. Exit status as documented by `critic --help`."""
    return judge_all(args, _judge_of(args), _describe_verdict)


Judge = Callable[[bytes], Judged]


def _judge_of(args: argparse.Namespace) -> Judge:
    """Return what judges one document: a Proposal, or a Plan where the other parts are given.

    Raises:
        UsageError: some of the parts are given, and others are not, or a part is invalid.
    """
    limit = size_limit(args)
    if args.policy is not None:
        return _judge_by_policy(args, limit)
    given = [name for name in _PARTS if getattr(args, name) is not None]
    if not given:
        return lambda data: _judged(parse(Proposal, data, limit), advice=args.advise)
    if missing := [f"--{name}" for name in _PARTS if name not in given]:
        raise UsageError(f"plans apart need all three parts: add {' and '.join(missing)}")
    ctx = _part(RunContext, args.context, limit)
    compiled = _part(CompiledContext, args.compiled, limit)
    spec = _part(DecisionSpec, args.spec, limit)
    return _judge_plans(args, ctx, compiled, spec)


def _judge_by_policy(args: argparse.Namespace, limit: int) -> Judge:
    """Return what judges Plans in a context, or Proposals that leave out what the policy says."""
    if doubled := [f"--{name}" for name in ("compiled", "spec") if getattr(args, name) is not None]:
        raise UsageError(f"the policy says it already: leave out {' and '.join(doubled)}")
    policy = load_policy(args.policy, limit).policy
    if args.context is not None:
        ctx = _context(policy, args.context, limit)
        return _judge_plans(args, ctx, policy.compiled(), policy.spec)

    def judge(data: bytes) -> Judged:
        value = completed_proposal(policy, parse_json(data, limit))
        return _judged(build(Proposal, value), advice=args.advise)

    return judge


def _context(policy: Policy, name: str, limit: int) -> RunContext:
    document = read_whole(name, limit)
    try:
        value = document.parse_with(lambda data: parse_json(data, limit))
        return build(RunContext, completed_context(policy, value))
    except InvalidInput as error:
        raise UsageError(f"{document.source}: not a RunContext: {error}") from None


def _judge_plans(
    args: argparse.Namespace, ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec
) -> Judge:
    limit = size_limit(args)

    def judge(data: bytes) -> Judged:
        plan = parse(Plan, data, limit)
        proposal = Proposal(ctx=ctx, compiled=compiled, spec=spec, plan=plan)
        return _judged(proposal, advice=args.advise)

    return judge


def _part(model: type[EnvelopeT], name: str, limit: int) -> EnvelopeT:
    document = read_whole(name, limit)
    try:
        return document.parse_with(lambda data: parse(model, data, limit))
    except InvalidInput as error:
        raise UsageError(f"{document.source}: not a {model.__name__}: {error}") from None


def _judged(proposal: Proposal, *, advice: bool) -> Judged:
    verdict = verify_proposal(proposal)
    inputs = proposal.ctx, proposal.compiled, proposal.spec, proposal.plan
    return Judged(verdict, proposal.ctx.trace_id, advise(*inputs) if advice else None)


def _describe_verdict(verdict: AnyVerdict) -> str:
    """Describe a verdict for a person: the first line decides, the lines below it explain."""
    match verdict:
        case Verified():
            notes = [f"\n  caveat: {caveat}" for caveat in verdict.caveats]
            return f"ok: {'; '.join(verdict.reasons)}" + "".join(notes)
        case Refused():
            refused = "refused, needs approval" if verdict.approvable else "refused"
            head = f"{refused}: {verdict.kind}: {'; '.join(verdict.reasons)}"
            return head + "".join(map(_further, verdict.violations[1:]))
        case _:
            raise TypeError(f"not a verdict of verify: {type(verdict).__name__}")


def _further(violation: Violation) -> str:
    return f"\n  also {violation.kind}: {violation.reason}"
