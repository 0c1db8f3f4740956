"""The plan loop as the planner of the canonical loop: what is executed was verified twice."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Unpack

from critic import CompiledContext, DecisionSpec, Plan, Refused, RunContext
from harness.errors import HarnessError
from harness.loops.plan_loop import PlanLoop
from harness.loops.plan_types import PlanLoopOptions, PlanRevision, RevisingPlanner


class NotApproved(HarnessError):
    """The plan loop ended without a plan that may be proposed; see `revision`."""

    def __init__(self, revision: PlanRevision) -> None:
        super().__init__(f"no plan was approved ({revision.stop_reason}): {revision.detail}")
        self.revision = revision


class VerifyingPlanner:
    """A `Planner` that has its plans revised until they verify.

    Where none does, it proposes the best of the refused plans, for the canonical loop to refuse and
    to record. One instance plans for one decision at a time.

    Attributes:
        revision: the outcome of the last plan loop, a copy; None before the first.
    """

    def __init__(self, planner: RevisingPlanner, **options: Unpack[PlanLoopOptions]) -> None:
        """Wrap a planner; `options` are those of the plan loop."""
        self._planner = planner
        self._options = options
        self.revision: PlanRevision | None = None
        self._refused: tuple[tuple[Plan, Refused], ...] = ()

    def loop(self, ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> PlanLoop:
        """Return a plan loop for these inputs, to be run or streamed."""
        return PlanLoop(
            ctx=ctx, compiled=compiled, spec=spec, planner=self._planner, **self._options
        )

    async def plan(self, ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> Plan:
        """Return the plan to propose.

        Raises:
            NotApproved: no plan was approved and none was refused by `verify`, so there is none to
                propose: the planner gave no plan, or the advisor held back every plan.
        """
        self._refused = ()
        loop = self.loop(ctx, compiled, spec)
        try:
            revision = await loop.run()
        finally:
            self.revision = loop.revision
            self._refused = loop.revision.refused
        if revision.plan is not None:
            return revision.plan
        if revision.best_refused is None:
            raise NotApproved(revision) from revision.error
        return revision.best_refused.draft

    def refused_attempts(self) -> Sequence[tuple[Plan, Refused]]:
        """Return every plan of the last plan loop that `verify` refused, in order, as copies.

        The proposed plan is among them where none was approved.
        """
        return deepcopy(self._refused)
