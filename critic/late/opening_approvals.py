"""The approvals that count at an opening: of the settled plan, and of the late one."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from critic.checks.grounds import ApprovalMissing
from critic.checks.violation import Found
from critic.doubts import Doubt
from evals.approval import Approvals
from evals.context import Approval
from evals.plan import Proposal


class OpeningApprovals(Approvals):
    """The approvals of an opening, asked by the number of its step in the late plan."""

    def __init__(self, *given: Any, position: int, late: Approvals | None, **digests: Any) -> None:
        """Judge the approvals of a settled plan.

        Args:
            given: the context, the manifests, the spec, and the end of the plan.
            position: that of the step in the settled plan.
            late: the approvals of the late plan, where they count in full.
        """
        super().__init__(*given, **digests)
        self._position, self._late = position, late

    @property
    def _count(self) -> int:
        return self._position + 1

    def cover(self, step: int) -> bool:
        """Return whether a valid approval covers the step: of the settled plan, or of the late."""
        of_settled = super().cover(self._position)
        return of_settled or (self._late is not None and self._late.cover(step))


def late_approvals(
    proposal: Proposal,
    as_of: datetime | None,
    approvals: tuple[Approval, ...],
    *,
    context: Callable[[], str],
    plan_digest: Callable[[], str],
) -> Approvals:
    """Return the approvals of a late plan that hold at a time, with those given for an opening."""
    ctx = proposal.ctx
    given = (*(ctx.approvals or ()), *approvals)
    now = ctx.model_copy(update={"as_of": as_of, "approvals": given})
    known = (now, proposal.compiled, proposal.spec, proposal.plan)
    return Approvals(*known, context=context, plan_digest=plan_digest)


def is_cleared_before(found: Found) -> bool:
    """Return whether it is a tier or a doubt of a tool, which are seen before the value is."""
    ground = found.words().ground
    of_tool = isinstance(ground, Doubt) and ground.path == f"/steps/{found.step}"
    return found.approvable and (isinstance(ground, ApprovalMissing) or of_tool)
