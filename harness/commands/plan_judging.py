"""Judge plans in a context that is read once."""

from collections.abc import Callable

import critic
from critic.verify import verify
from evals.context import RunContext
from evals.envelope import Envelope
from evals.manifest import CompiledContext
from evals.plan import Plan, Proposal
from evals.spec import DecisionSpec
from harness.commands.formats.judgement import Judged
from harness.wire import parse

Judge = Callable[[bytes], Judged]


class PlanContext(Envelope):
    """What a plan is judged against: a Proposal without its plan."""

    ctx: RunContext
    compiled: CompiledContext
    spec: DecisionSpec


def plan_judge(context: PlanContext, limit: int, *, advice: bool) -> Judge:
    """Return what judges Plans in this context."""

    inputs = context.ctx, context.compiled, context.spec

    def judge(data: bytes) -> Judged:
        return judged(*inputs, parse(Plan, data, limit), advice=advice)

    return judge


def judged_proposal(proposal: Proposal, *, advice: bool) -> Judged:
    """Judge a Proposal."""
    inputs = proposal.ctx, proposal.compiled, proposal.spec, proposal.plan
    return judged(*inputs, advice=advice)


def judged(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: Plan, *, advice: bool
) -> Judged:
    """Judge a plan in a context, and say how to fix it if `advice` is requested."""
    inputs = ctx, compiled, spec, plan
    return Judged(verify(*inputs), ctx.trace_id, critic.advise(*inputs) if advice else None)
