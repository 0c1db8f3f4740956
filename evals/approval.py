"""Find the steps that a person has approved. An approval is bound to the digest of one plan."""

from collections.abc import Container

from evals.canonical import digest
from evals.context import RunContext
from evals.plan import Plan
from evals.timestamps import unexpired


def approved_steps(ctx: RunContext, plan: Plan) -> Container[int]:
    """Return the positions of the steps that an unexpired approval of exactly this plan covers."""
    if not ctx.approvals:
        return ()
    plan_digest = digest(plan)
    names = (plan_digest, f"sha256:{plan_digest}")
    covering = [
        approval
        for approval in ctx.approvals
        if approval.plan_digest in names and unexpired(approval.expires_at, ctx.as_of)
    ]
    if any(approval.steps is None for approval in covering):
        return range(len(plan.steps))
    return {step for approval in covering for step in approval.steps or ()}
