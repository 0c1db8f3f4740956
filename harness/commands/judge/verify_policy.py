"""`critic verify --policy`: judge documents whose missing parts a policy supplies."""

import argparse
from contextlib import suppress
from typing import Any

from evals.context import RunContext
from evals.plan import Proposal
from harness.commands.documents import read_whole
from harness.commands.formats.judgement import Judged
from harness.commands.judge.plan_judging import (
    Judge,
    PlanContext,
    judged_proposal,
    judged_value,
    plan_judge,
)
from harness.commands.policy.policy_command import load_policy
from harness.errors import UsageError
from harness.policy import Policy
from harness.policy.partial_documents import completed_context, completed_proposal
from harness.policy.policy_rules import catalogue_of
from harness.wire import InvalidInput, build, parse_json

_LEFT = frozenset({"ctx", "plan"})
"""What a Proposal has that leaves out all that the policy says."""


def policy_judge(args: argparse.Namespace, limit: int) -> Judge:
    """Return the judge of Plans in a context, or of Proposals without the parts of the policy.

    Raises:
        UsageError: the policy or the context is invalid.
    """
    policy = load_policy(args.policy, limit).policy
    if args.context is None:
        return _ProposalJudge(policy, limit, advice=args.advise)
    ctx = _read_context(policy, args.context, limit)
    context = PlanContext(ctx=ctx, compiled=policy.compiled(), spec=policy.spec)
    return plan_judge(context, limit, advice=args.advise, catalogue=catalogue_of(policy))


def _read_context(policy: Policy, name: str, limit: int) -> RunContext:
    document = read_whole(name, limit)
    try:
        value = document.parse_with(lambda data: parse_json(data, limit))
        return build(RunContext, completed_context(policy, value))
    except InvalidInput as error:
        raise UsageError(f"{document.source}: not a RunContext: {error}") from None


class _ProposalJudge:
    """Judges Proposals. The tools of the policy are indexed once for all without evidence."""

    def __init__(self, policy: Policy, limit: int, *, advice: bool) -> None:
        self._policy, self._limit, self._advice = policy, limit, advice
        self._compiled = policy.compiled()
        self._catalogue = catalogue_of(policy)

    def __call__(self, data: bytes) -> Judged:
        value = parse_json(data, self._limit)
        ctx = self._context_of(value)
        if ctx is not None:
            with suppress(InvalidInput):  # explained below, where the Proposal is read as a whole
                inputs = ctx, self._compiled, self._policy.spec, value["plan"]
                return judged_value(*inputs, advice=self._advice, catalogue=self._catalogue)
        completed = build(Proposal, completed_proposal(self._policy, value))
        return judged_proposal(completed, advice=self._advice, catalogue=self._catalogue)

    def _context_of(self, value: Any) -> RunContext | None:
        """Return the context of a Proposal without its own evidence; None if it is invalid."""
        if not isinstance(value, dict) or value.keys() != _LEFT:
            return None
        if not isinstance(value["ctx"], dict):
            return None
        with suppress(InvalidInput):
            return build(RunContext, completed_context(self._policy, value["ctx"]))
        return None
