"""Judge plans in a context that is read once."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import critic
from critic.verify import verify
from evals.context import RunContext
from evals.envelope import Envelope
from evals.manifest import CompiledContext
from evals.plan import Plan, Proposal
from evals.plan_verdicts import Verified
from evals.spec import DecisionSpec
from harness.commands.formats.judgement import Judged
from harness.wire import build, parse, parse_json, verify_value

if TYPE_CHECKING:
    from critic.replies.catalogue import Catalogue

Judge = Callable[[bytes], Judged]


class PlanContext(Envelope):
    """The context that a plan is judged against: a Proposal without its plan."""

    ctx: RunContext
    compiled: CompiledContext
    spec: DecisionSpec


def plan_judge(
    context: PlanContext, limit: int, *, advice: bool, catalogue: "Catalogue | None" = None
) -> Judge:
    """Return the judge of Plans in this context."""
    inputs = context.ctx, context.compiled, context.spec

    def judge(data: bytes) -> Judged:
        if advice:
            plan = parse(Plan, data, limit)
            return judged_proposal(_proposal(*inputs, plan), advice=True, catalogue=catalogue)
        return judged_value(*inputs, parse_json(data, limit), advice=False, catalogue=catalogue)

    return judge


def judged_value(
    ctx: RunContext,
    compiled: CompiledContext,
    spec: DecisionSpec,
    value: Any,
    *,
    advice: bool,
    catalogue: "Catalogue | None" = None,
) -> Judged:
    """Judge a plan that `parse_json` has returned.

    Raises:
        InvalidInput: the value is not a Plan.
    """
    verdict = None if advice else verify_value(ctx, compiled, spec, value)
    if isinstance(verdict, Verified):
        return Judged(verdict, ctx.trace_id)
    proposal = _proposal(ctx, compiled, spec, build(Plan, value))
    return judged_proposal(proposal, advice=advice, catalogue=catalogue)


def judged_proposal(
    proposal: Proposal, *, advice: bool, catalogue: "Catalogue | None" = None
) -> Judged:
    """Judge a Proposal, with the reply to a model, and with fixes if `advice` is requested.

    Args:
        catalogue: the tools for texts; by default, those of the proposal.
    """
    inputs = proposal.ctx, proposal.compiled, proposal.spec, proposal.plan
    verdict, advised = verify(*inputs), critic.advise(*inputs) if advice else None
    if isinstance(verdict, Verified):
        return Judged(verdict, proposal.ctx.trace_id, advised)
    from critic.replies.wording import word_refusal  # noqa: PLC0415 - for refusals only

    return Judged(word_refusal(proposal, verdict, catalogue), proposal.ctx.trace_id, advised)


def _proposal(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: Plan
) -> Proposal:
    return Proposal(ctx=ctx, compiled=compiled, spec=spec, plan=plan)
