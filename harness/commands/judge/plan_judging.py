"""Judge plans in a context that is read once."""

from collections.abc import Callable
from typing import Any

import critic
from critic.verify import verify
from evals.context import RunContext
from evals.envelope import Envelope
from evals.manifest import CompiledContext
from evals.plan import Plan, Proposal
from evals.spec import DecisionSpec
from harness.commands.formats.judgement import Judged
from harness.wire import build, parse, parse_json, verify_value

Judge = Callable[[bytes], Judged]


class PlanContext(Envelope):
    """The context that a plan is judged against: a Proposal without its plan."""

    ctx: RunContext
    compiled: CompiledContext
    spec: DecisionSpec


def plan_judge(context: PlanContext, limit: int, *, advice: bool) -> Judge:
    """Return what judges Plans in this context."""

    inputs = context.ctx, context.compiled, context.spec

    def judge(data: bytes) -> Judged:
        if advice:
            return _judge_plan(*inputs, parse(Plan, data, limit), advice=True)
        return Judged(verify_value(*inputs, parse_json(data, limit)), context.ctx.trace_id)

    return judge


def judged_value(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, value: Any, *, advice: bool
) -> Judged:
    """Judge a plan given as what `parse_json` returned.

    Raises:
        InvalidInput: the value is not a Plan.
    """
    if advice:
        return _judge_plan(ctx, compiled, spec, build(Plan, value), advice=True)
    return Judged(verify_value(ctx, compiled, spec, value), ctx.trace_id)


def judged_proposal(proposal: Proposal, *, advice: bool) -> Judged:
    """Judge a Proposal."""
    inputs = proposal.ctx, proposal.compiled, proposal.spec, proposal.plan
    return _judge_plan(*inputs, advice=advice)


def _judge_plan(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: Plan, *, advice: bool
) -> Judged:
    """Judge a plan in a context, and say how to fix it if `advice` is requested."""
    inputs = ctx, compiled, spec, plan
    return Judged(verify(*inputs), ctx.trace_id, critic.advise(*inputs) if advice else None)
