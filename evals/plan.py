"""What a planner proposes. Nothing in it carries authority."""

from typing import Annotated, Literal

from pydantic import Field

from evals.context import CompiledContext, DecisionSpec, RunContext
from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, EvidenceRef, Identifier
from evals.json_value import JsonObject, Text


class ToolStep(Envelope):
    """A call of one tool. What it says of itself only adds to what the manifest demands."""

    kind: Literal["tool"] = "tool"
    adapter_id: Identifier
    capability_id: Identifier
    args: JsonObject = Field(default_factory=dict)
    id: Annotated[Identifier | None, OPTIONAL] = None
    depends_on: Annotated[tuple[Identifier, ...] | None, OPTIONAL, ARRAY] = None
    requires_evidence: Annotated[tuple[Identifier, ...] | None, OPTIONAL, ARRAY] = None
    evidence_refs: Annotated[tuple[EvidenceRef, ...] | None, OPTIONAL, ARRAY] = None
    estimated_tokens: Annotated[Count | None, OPTIONAL] = None


class ReasonStep(Envelope):
    """A model-only step: no tool, no side effect."""

    kind: Literal["reason"] = "reason"
    summary: Annotated[Text | None, OPTIONAL] = None
    id: Annotated[Identifier | None, OPTIONAL] = None
    depends_on: Annotated[tuple[Identifier, ...] | None, OPTIONAL, ARRAY] = None
    requires_evidence: Annotated[tuple[Identifier, ...] | None, OPTIONAL, ARRAY] = None
    evidence_refs: Annotated[tuple[EvidenceRef, ...] | None, OPTIONAL, ARRAY] = None
    estimated_tokens: Annotated[Count | None, OPTIONAL] = None


Step = Annotated[ToolStep | ReasonStep, Field(discriminator="kind")]


class Plan(Envelope):
    """Steps in the order they are to run, and the outputs they are declared to give."""

    steps: Annotated[tuple[Step, ...], ARRAY]
    declared_outputs: Annotated[tuple[Identifier, ...], ARRAY]
    plan_id: Annotated[Identifier | None, OPTIONAL] = None
    trace_id: Annotated[Identifier | None, OPTIONAL] = None


class Proposal(Envelope):
    """The four inputs of `verify` as one value."""

    ctx: RunContext
    compiled: CompiledContext
    spec: DecisionSpec
    plan: Plan
