"""The Critic: verify a plan before it runs, score the run, consolidate both into a report."""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from critic.batch import verify_many
    from critic.consolidate import consolidate
    from critic.late.opened_steps import EarlierOpening
    from critic.late.openings import OpeningError, open_step, settle_step
    from critic.late.settled_plan import SettledStep
    from critic.repairs.advise import advise
    from critic.repairs.apply import apply_repairs
    from critic.repairs.repair_kinds import Advice, Disposition, Repair
    from critic.reports import CriticReport, ScoreVerdict
    from critic.score import score
    from critic.verify import verify, verify_proposal
    from evals import (
        MODE_RANK,
        Approval,
        ApprovalMode,
        ApprovedValue,
        Binding,
        CompiledContext,
        DecisionSpec,
        Demand,
        EvaluatorVerdict,
        EvidenceClass,
        EvidenceItem,
        Finding,
        Manifests,
        Opening,
        OwnValue,
        Plan,
        Proposal,
        ReasonStep,
        Run,
        RunBudget,
        RunContext,
        Scorecard,
        Scores,
        SentValues,
        SessionFacts,
        Source,
        Spent,
        SpentCall,
        Step,
        Take,
        ToolCall,
        ToolCapability,
        ToolName,
        ToolResult,
        ToolStep,
        WaivedCall,
        digest,
    )
    from evals.approval import context_digest
    from evals.kinds import Check, RefusalKind, ReportStatus
    from evals.plan_verdicts import (
        RULESET_VERSION,
        Condition,
        Refused,
        Verified,
        VerifyVerdict,
        Violation,
    )

__all__ = [
    "MODE_RANK",
    "RULESET_VERSION",
    "Advice",
    "Approval",
    "ApprovalMode",
    "ApprovedValue",
    "Binding",
    "Check",
    "CompiledContext",
    "Condition",
    "CriticReport",
    "DecisionSpec",
    "Demand",
    "Disposition",
    "EarlierOpening",
    "EvaluatorVerdict",
    "EvidenceClass",
    "EvidenceItem",
    "Finding",
    "Manifests",
    "Opening",
    "OpeningError",
    "OwnValue",
    "Plan",
    "Proposal",
    "ReasonStep",
    "RefusalKind",
    "Refused",
    "Repair",
    "ReportStatus",
    "Run",
    "RunBudget",
    "RunContext",
    "ScoreVerdict",
    "Scorecard",
    "Scores",
    "SentValues",
    "SessionFacts",
    "SettledStep",
    "Source",
    "Spent",
    "SpentCall",
    "Step",
    "Take",
    "ToolCall",
    "ToolCapability",
    "ToolName",
    "ToolResult",
    "ToolStep",
    "Verified",
    "VerifyVerdict",
    "Violation",
    "WaivedCall",
    "advise",
    "apply_repairs",
    "consolidate",
    "context_digest",
    "digest",
    "open_step",
    "score",
    "settle_step",
    "verify",
    "verify_many",
    "verify_proposal",
]

__version__: str

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    _load = lazy_front(
        __name__,
        {
            "critic.batch": "verify_many",
            "critic.consolidate": "consolidate",
            "critic.repairs.advise": "advise",
            "critic.repairs.apply": "apply_repairs",
            "critic.repairs.repair_kinds": "Advice Disposition Repair",
            "critic.late.opened_steps": "EarlierOpening",
            "critic.late.openings": "OpeningError open_step settle_step",
            "critic.late.settled_plan": "SettledStep",
            "critic.reports": "CriticReport ScoreVerdict",
            "critic.score": "score",
            "evals.plan_verdicts": (
                "RULESET_VERSION Condition Refused Verified VerifyVerdict Violation"
            ),
            "critic.verify": "verify verify_proposal",
            "evals": (
                "MODE_RANK Approval ApprovalMode ApprovedValue Binding CompiledContext "
                "DecisionSpec Demand EvaluatorVerdict EvidenceClass EvidenceItem Finding "
                "Manifests Opening OwnValue Plan Proposal ReasonStep Run RunBudget RunContext "
                "Scorecard Scores SentValues SessionFacts Source Spent SpentCall Step Take "
                "ToolCall ToolCapability ToolName ToolResult ToolStep WaivedCall digest"
            ),
            "evals.approval": "context_digest",
            "evals.kinds": "Check RefusalKind ReportStatus",
        },
    )

    def __getattr__(name: str) -> object:
        """Return a public name, loaded when it is first asked for."""
        return _installed_version() if name == "__version__" else _load(name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def _installed_version() -> str:
    """Return the version of the installed package, or "0+unknown" where it is not installed."""
    from importlib.metadata import version  # noqa: PLC0415 - slow, and seldom needed

    try:
        return str(version("plan-critic"))
    except Exception:  # not installed, or installed with damaged metadata
        return "0+unknown"
