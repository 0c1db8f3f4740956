"""Check 3: is every mode within what the run, the spec and a person allow?"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from critic.checks.doubt_check import with_doubts
from critic.checks.grounds import ApprovalMissing, ModeAbove
from critic.checks.violation import Found, Wording
from critic.prepared import PreparedPlan
from evals.kinds import MODE_RANK, ApprovalMode

_DESTRUCTIVE: Final = MODE_RANK["destructive"]


@with_doubts("approval")
def check_approval(case: PreparedPlan) -> Iterator[Found]:
    """Check 3: no step has an approval mode above what the run, the spec or a person allows.

    The mode of the capability is at most `ctx.safety_mode` and at most `spec.approval_mode` where
    that is set. From `spec.approval_required_from` on, a valid approval of exactly this plan must
    cover the step; one whose values are approved once they are there waits for that. Modes are
    compared by rank.

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
            words = partial(_too_high, index, tool.mode, "safety_mode", case.ctx.safety_mode)
            yield Found("approval", "approval_mode_mismatch", index, words)
        if tool.rank > ceiling_rank:
            words = partial(_too_high, index, tool.mode, "spec approval_mode", ceiling)
            yield Found("approval", "approval_mode_mismatch", index, words)
        if tool.rank >= tier_rank and not (case.waits_for_values(index) or case.is_approved(index)):
            words = partial(_word_approval, index, tool.mode)
            yield Found("approval", "approval_mode_mismatch", index, words, approvable=True)


def _too_high(index: int, mode: str, limit: str, highest: str | None) -> Wording:
    reason = f"step {index} mode {mode} > {limit} {highest}"
    return Wording(reason, f"/steps/{index}", ModeAbove())


def _word_approval(index: int, mode: ApprovalMode) -> Wording:
    reason = f"step {index} mode {mode} needs approval: no valid approval of this plan covers it"
    return Wording(reason, f"/steps/{index}", ApprovalMissing(mode))
