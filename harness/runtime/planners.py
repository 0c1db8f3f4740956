"""A planner that already has its plan: for files, transcripts, approved plans and tests."""

from critic import CompiledContext, DecisionSpec, Plan, RunContext


class FixedPlanner:
    """Proposes the plan it was given, and no other.

    Use it to go on with a plan that waited for an approval: the approval names the digest of one
    exact plan, which a planner that is asked again may not propose again.

        outcome = await run_canonical_loop(ctx=ctx, planner=planner, ...)   # needs an approval
        approved = ctx.model_copy(update={"approvals": (approval,)})
        await run_canonical_loop(ctx=approved, planner=FixedPlanner(outcome.proposal.plan), ...)
    """

    def __init__(self, plan: Plan) -> None:
        """Keep the plan to propose."""
        self._plan = plan

    def plan(self, ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> Plan:
        """Return the plan, for any arguments."""
        del ctx, compiled, spec
        return self._plan
