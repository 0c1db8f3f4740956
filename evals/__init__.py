"""The facts of a run, and the five evaluators over them. `critic` is the door that users need."""

from evals.canonical import digest
from evals.context import (
    Approval,
    CompiledContext,
    DecisionSpec,
    EvidenceItem,
    Manifests,
    RunBudget,
    RunContext,
    Spent,
    ToolCapability,
)
from evals.envelope import MODE_RANK, ApprovalMode
from evals.plan import Plan, Proposal, ReasonStep, Step, ToolStep
from evals.run import Run, ToolCall
from evals.scorecard import EVALUATORS, Scorecard, Scores, score_run
from evals.verdict import EVALUATOR_VERSIONS, EvaluatorVerdict, Finding

__all__ = [
    "EVALUATORS",
    "EVALUATOR_VERSIONS",
    "MODE_RANK",
    "Approval",
    "ApprovalMode",
    "CompiledContext",
    "DecisionSpec",
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
    "Spent",
    "Step",
    "ToolCall",
    "ToolCapability",
    "ToolStep",
    "digest",
    "score_run",
]
