"""The judgement of a plan: the ruling on it, its rank, and why a loop ended with it."""

from typing import Any

from critic import Finding, Plan, Refused
from critic.repairs.repair_kinds import Advice
from evals.escaping import escape_name
from harness.loops.plan_types import PlanCritique
from harness.loops.revise import Judgement, JudgementKind, Revision


def judgement_of(critique: PlanCritique) -> Judgement[PlanCritique]:
    """Approve only a plan that verifies and that no finding holds back."""
    errors = _errors(critique)
    ruling: JudgementKind = "refused" if errors else "approved"
    violations = 0
    if isinstance(critique.verdict, Refused):
        revisable = critique.advice is not None and is_revisable(critique.advice)
        ruling = "refused" if revisable else "rejected"
        violations = len(critique.verdict.violations)
    return Judgement(ruling, (-violations, -len(errors)), critique)


def facts_of(judgement: Judgement[PlanCritique]) -> dict[str, Any]:
    """Return what an event tells of a judgement."""
    verdict = judgement.critique.verdict
    return {
        "ruling": judgement.ruling,
        "violations": len(verdict.violations) if isinstance(verdict, Refused) else 0,
        "findings": len(judgement.critique.findings),
    }


def is_revisable(advice: Advice) -> bool:
    """Return whether the planner is to revise the plan.

    An approval is for one exact plan, so a plan that needs other repairs as well is revised first,
    and a person approves the plan that lacks nothing else.
    """
    needed = {repair.by for repair in advice.repairs}
    return advice.disposition == "replan" or needed == {"planner", "approver"}


def judgement_unadvised(critique: PlanCritique, why: str) -> Judgement[PlanCritique]:
    """Judge without the advisor: a refused plan stays refused, and no plan is approved."""
    finding = Finding(severity="error", message=f"no advice: {why}")
    judgement = judgement_of(PlanCritique(critique.verdict, critique.advice, (finding,)))
    if isinstance(critique.verdict, Refused):
        return judgement
    return Judgement("rejected", judgement.rank, judgement.critique)  # no revision helps here


def detail_of(machine: Revision[Plan, PlanCritique]) -> str:
    """Return why the loop ended: what cut it short, or what the last plan lacks."""
    if machine.stop_reason in ("planner_error", "budget", "cancelled"):
        return machine.detail
    judgement = machine.attempts[-1].judgement if machine.attempts else None
    if machine.stop_reason == "approved" or judgement is None:
        return ""
    messages = [finding.message for finding in _errors(judgement.critique)]
    verdict = judgement.critique.verdict
    reasons = verdict.reasons if isinstance(verdict, Refused) else ()
    return "; ".join([*reasons, *map(escape_name, messages)])


def _errors(critique: PlanCritique) -> list[Finding]:
    return [finding for finding in critique.findings if finding.severity == "error"]
