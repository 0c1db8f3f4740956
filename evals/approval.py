"""Which steps of a plan a person has approved. An approval is bound to the plan's digest."""

from collections.abc import Container
from datetime import datetime

from evals.canonical import digest
from evals.context import Approval, RunContext
from evals.plan import Plan


def approved_steps(ctx: RunContext, plan: Plan) -> Container[int]:
    """The positions that an unexpired approval of exactly this plan covers."""
    if not ctx.approvals:
        return ()
    plan_digest = digest(plan)
    names = (plan_digest, f"sha256:{plan_digest}")
    covering = [
        approval
        for approval in ctx.approvals
        if approval.plan_digest in names and _unexpired(approval, ctx.as_of)
    ]
    if any(approval.steps is None for approval in covering):
        return range(len(plan.steps))
    return {step for approval in covering for step in approval.steps or ()}


def _unexpired(approval: Approval, as_of: datetime | None) -> bool:
    expiry = approval.expires_at
    return expiry is None or (as_of is not None and as_of < expiry)
