"""The plan loop as the planner of the canonical loop: what is executed was verified twice."""

from typing import Unpack

from critic import CompiledContext, DecisionSpec, Plan, RunContext
from harness.loops.plan_loop import Options, PlanLoop
from harness.loops.plan_types import PlanRevision, RevisingPlanner


class NotApproved(Exception):
    """The plan loop ended without a plan that may be proposed. `revision` says how."""

    def __init__(self, revision: PlanRevision) -> None:
        super().__init__(f"no plan was approved ({revision.stop_reason}): {revision.detail}")
        self.revision = revision


class VerifyingPlanner:
    """A `Planner` that has its plans revised until they verify.

    Where none does, it proposes the best of those that were refused, for the canonical loop to
    refuse and to record. `revision` is how the last plan loop ended.
    """

    def __init__(self, planner: RevisingPlanner, **options: Unpack[Options]) -> None:
        self._planner = planner
        self._options = options
        self.revision: PlanRevision | None = None

    async def plan(self, ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> Plan:
        """The plan to propose.

        Raises:
            NotApproved: no plan was approved and none was refused by `verify`, so that there is
                none to propose: there was no plan at all, or the advisor held back what there was.
        """
        loop = PlanLoop(
            ctx=ctx, compiled=compiled, spec=spec, planner=self._planner, **self._options
        )
        try:
            revision = await loop.run()
        finally:
            self.revision = loop.revision
        if revision.plan is not None:
            return revision.plan
        if revision.best_refused is None:
            raise NotApproved(revision) from revision.error
        return revision.best_refused.draft
