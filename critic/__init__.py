"""The Critic: verify a plan before it runs, score the run, consolidate both into a report."""

from typing import TYPE_CHECKING

from critic.consolidate import consolidate
from critic.repairs.advise import advise
from critic.repairs.apply import apply_repairs
from critic.repairs.kinds import Advice, Disposition, Repair
from critic.score import score
from critic.verdicts import (
    RULESET_VERSION,
    Check,
    CriticReport,
    RefusalKind,
    Refused,
    ReportStatus,
    ScoreVerdict,
    Verified,
    VerifyVerdict,
    Violation,
)
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
    EvidenceItem,
    Finding,
    Manifests,
    Plan,
    Proposal,
    ReasonStep,
    Run,
    RunBudget,
    RunContext,
    Scorecard,
    Scores,
    SessionFacts,
    Source,
    Spent,
    SpentCall,
    Step,
    ToolCall,
    ToolCapability,
    ToolName,
    ToolResult,
    ToolStep,
    digest,
)
from evals.approval import context_digest

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
    "CriticReport",
    "DecisionSpec",
    "Demand",
    "Disposition",
    "EvaluatorVerdict",
    "EvidenceItem",
    "Finding",
    "Manifests",
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
    "SessionFacts",
    "Source",
    "Spent",
    "SpentCall",
    "Step",
    "ToolCall",
    "ToolCapability",
    "ToolName",
    "ToolResult",
    "ToolStep",
    "Verified",
    "VerifyVerdict",
    "Violation",
    "advise",
    "apply_repairs",
    "consolidate",
    "context_digest",
    "digest",
    "score",
    "verify",
    "verify_proposal",
]

__version__: str

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker

    def __getattr__(name: str) -> str:
        """Return `__version__`, looked up when it is asked for."""
        if name == "__version__":
            return _installed_version()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def _installed_version() -> str:
    """Return the version of the installed package, or "0+unknown" where it is not installed."""
    from importlib.metadata import version  # noqa: PLC0415 - slow, and seldom needed

    try:
        return str(version("plan-critic"))
    except Exception:  # not installed, or installed with damaged metadata
        return "0+unknown"
