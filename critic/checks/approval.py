"""Check 3: is every mode within what the run, the spec and a person allow?"""

from collections.abc import Iterator
from typing import Final

from critic.checks.doubted import with_doubts
from critic.checks.violation import Found, violation_of
from critic.prepared import PreparedPlan
from evals.envelope import MODE_RANK

_DESTRUCTIVE: Final = MODE_RANK["destructive"]


@with_doubts("approval")
def check_approval(case: PreparedPlan) -> Iterator[Found]:
    """Check 3: no step has an approval mode above what the run, the spec or a person allows.

    The mode of the capability is at most `ctx.safety_mode` and at most `spec.approval_mode` where
    that is set. From `spec.approval_required_from` on, a valid approval of exactly this plan must
    cover the step. Modes are compared by rank.

    Yields `approval_mode_mismatch` with the step, at `/steps/N`; up to three for one step. A
    missing approval is approvable, a mode that is too high never is.
    """
    limit = MODE_RANK[case.ctx.safety_mode]
    ceiling, tier = case.spec.approval_mode, case.spec.approval_required_from
    ceiling_rank = _DESTRUCTIVE if ceiling is None else MODE_RANK[ceiling]
    tier_rank = _DESTRUCTIVE + 1 if tier is None else MODE_RANK[tier]
    allowed = min(limit, ceiling_rank, tier_rank - 1)
    modes = case.traits & (1 << (_DESTRUCTIVE + 1)) - 1
    if not modes >> (allowed + 1):
        return
    for index, tool, _ in case.steps:
        if tool.rank > limit:
            reason = f"mode {tool.mode} > safety_mode {case.ctx.safety_mode}"
            yield _approval_violation(index, reason)
        if tool.rank > ceiling_rank:
            yield _approval_violation(index, f"mode {tool.mode} > spec approval_mode {ceiling}")
        if tool.rank >= tier_rank and not case.approved(index):
            reason = f"mode {tool.mode} needs approval: no valid approval of this plan covers it"
            yield _approval_violation(index, reason, approvable=True)


def _approval_violation(index: int, reason: str, *, approvable: bool = False) -> Found:
    return violation_of(
        "approval",
        "approval_mode_mismatch",
        f"step {index} {reason}",
        index,
        f"/steps/{index}",
        approvable=approvable,
    )
