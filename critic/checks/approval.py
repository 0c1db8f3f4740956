"""Check 3: is every mode within what the run, the spec and a person allow?"""

from collections.abc import Iterator
from typing import Final

from critic.checks.violation import violation_of
from critic.prepared import PreparedPlan
from critic.verdicts import Violation
from evals.approval import approved_steps
from evals.envelope import MODE_RANK

_DESTRUCTIVE: Final = MODE_RANK["destructive"]


def check_approval(case: PreparedPlan) -> Iterator[Violation]:
    """Check 3: no step has an approval mode above what the run, the spec or a person allows.

    The mode of the capability is at most `ctx.safety_mode` and at most `spec.approval_mode` where
    that is set. From `spec.approval_required_from` on, an unexpired approval of exactly this plan
    must cover the step. Modes are compared by rank.

    Yields `approval_mode_mismatch` with the step, at `/steps/N`; up to three for one step.
    """
    limit = MODE_RANK[case.ctx.safety_mode]
    ceiling, tier = case.spec.approval_mode, case.spec.approval_required_from
    ceiling_rank = _DESTRUCTIVE if ceiling is None else MODE_RANK[ceiling]
    tier_rank = _DESTRUCTIVE + 1 if tier is None else MODE_RANK[tier]
    allowed = min(limit, ceiling_rank, tier_rank - 1)
    modes = case.traits & (1 << (_DESTRUCTIVE + 1)) - 1
    if not modes >> (allowed + 1):
        return
    approved = approved_steps(case.ctx, case.plan) if tier is not None else ()
    for index, tool, _ in case.steps:
        if tool.rank > limit:
            yield _approval_violation(
                index, f"mode {tool.mode} > safety_mode {case.ctx.safety_mode}"
            )
        if tool.rank > ceiling_rank:
            yield _approval_violation(index, f"mode {tool.mode} > spec approval_mode {ceiling}")
        if tool.rank >= tier_rank and index not in approved:
            reason = f"mode {tool.mode} needs an unexpired approval of this plan, none given"
            yield _approval_violation(index, reason)


def _approval_violation(index: int, reason: str) -> Violation:
    reason, path = f"step {index} {reason}", f"/steps/{index}"
    return violation_of("approval", "approval_mode_mismatch", reason, index, path)
