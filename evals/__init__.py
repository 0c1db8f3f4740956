"""The facts of a run, and the five evaluators over them. `critic` is the door that users need."""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from evals.canonical_json import digest
    from evals.capability import Binding, Demand, ToolCapability, ToolName, ToolResult
    from evals.context import (
        Approval,
        ApprovedValue,
        OwnValue,
        RunBudget,
        RunContext,
        SentValues,
        SessionFacts,
        Spent,
        SpentCall,
        WaivedCall,
    )
    from evals.kinds import MODE_RANK, ApprovalMode
    from evals.manifest import CompiledContext, EvidenceClass, EvidenceItem, Manifests, Source
    from evals.plan import Plan, Proposal, ReasonStep, Step, Take, ToolStep
    from evals.run import Opening, Run, ToolCall
    from evals.scorecard import EVALUATORS, Scorecard, Scores, score_run
    from evals.spec import DecisionSpec
    from evals.verdict import EVALUATOR_VERSIONS, EvaluatorVerdict, Finding

__all__ = [
    "EVALUATORS",
    "EVALUATOR_VERSIONS",
    "MODE_RANK",
    "Approval",
    "ApprovalMode",
    "ApprovedValue",
    "Binding",
    "CompiledContext",
    "DecisionSpec",
    "Demand",
    "EvaluatorVerdict",
    "EvidenceClass",
    "EvidenceItem",
    "Finding",
    "Manifests",
    "Opening",
    "OwnValue",
    "Plan",
    "Proposal",
    "ReasonStep",
    "Run",
    "RunBudget",
    "RunContext",
    "Scorecard",
    "Scores",
    "SentValues",
    "SessionFacts",
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
    "WaivedCall",
    "digest",
    "score_run",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "evals.canonical_json": "digest",
            "evals.capability": "Binding Demand ToolCapability ToolName ToolResult",
            "evals.context": (
                "Approval ApprovedValue OwnValue RunBudget RunContext SentValues SessionFacts "
                "Spent SpentCall WaivedCall"
            ),
            "evals.kinds": "ApprovalMode MODE_RANK",
            "evals.manifest": "CompiledContext EvidenceClass EvidenceItem Manifests Source",
            "evals.plan": "Plan Proposal ReasonStep Step Take ToolStep",
            "evals.run": "Opening Run ToolCall",
            "evals.scorecard": "EVALUATORS Scorecard Scores score_run",
            "evals.spec": "DecisionSpec",
            "evals.verdict": "EVALUATOR_VERSIONS EvaluatorVerdict Finding",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
