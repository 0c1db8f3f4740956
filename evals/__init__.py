"""The facts of a run, and the five evaluators over them. `critic` is the door that users need."""

from evals.canonical import digest
from evals.capability import Binding, Demand, ToolCapability, ToolName, ToolResult
from evals.context import (
    Approval,
    ApprovedValue,
    RunBudget,
    RunContext,
    SessionFacts,
    Spent,
    SpentCall,
)
from evals.envelope import MODE_RANK, ApprovalMode
from evals.manifest import CompiledContext, EvidenceItem, Manifests, Source
from evals.plan import Plan, Proposal, ReasonStep, Step, ToolStep
from evals.run import Run, ToolCall
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
    "EvidenceItem",
    "Finding",
    "Manifests",
    "Plan",
    "Proposal",
    "ReasonStep",
    "Run",
    "RunBudget",
    "RunContext",
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
    "digest",
    "score_run",
]
