"""What is asked and what is allowed: the facts that give a plan its bounds.

Authority lives here. A plan may add requirements to these, never lift one.
"""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Self

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from evals.binding import ContentIndex
from evals.envelope import ARRAY, OPTIONAL, ApprovalMode, Count, Envelope, EvidenceRef, Identifier
from evals.json_value import PresentJson, Text
from evals.schemas import JsonSchema
from evals.timestamps import Time

# Twelve steps and 8,000 tokens are the defaults of the published critic this one grew from.
DEFAULT_MAX_STEPS = 12
DEFAULT_BUCKET_TOKENS = 8000


class RunBudget(Envelope):
    """What one trace may spend: steps, tokens, wall-clock milliseconds, micros of money."""

    max_steps: Count = DEFAULT_MAX_STEPS
    bucket_tokens: Count = DEFAULT_BUCKET_TOKENS
    wall_ms: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None


class Spent(Envelope):
    """What earlier plans of the same trace have used up already."""

    steps: Annotated[Count | None, OPTIONAL] = None
    tokens: Annotated[Count | None, OPTIONAL] = None


class Approval(Envelope):
    """A person's yes to one exact plan.

    `plan_digest` is `digest(plan)`: 64 hexadecimal digits, with or without a `sha256:` prefix.
    `steps` are the positions it covers; absent means all of them.
    """

    approval_id: Identifier
    plan_digest: Identifier
    steps: Annotated[tuple[Count, ...] | None, OPTIONAL, ARRAY] = None
    approver: Identifier
    expires_at: Annotated[Time | None, OPTIONAL] = None


class RunContext(Envelope):
    """The run a plan is judged for. `as_of` is the caller's clock; nothing here reads one."""

    trace_id: Identifier
    safety_mode: ApprovalMode
    run_id: Annotated[Identifier | None, OPTIONAL] = None
    tenant_id: Annotated[Identifier | None, OPTIONAL] = None
    run_budget: Annotated[RunBudget | None, OPTIONAL] = None
    spent: Annotated[Spent | None, OPTIONAL] = None
    approvals: Annotated[tuple[Approval, ...] | None, OPTIONAL, ARRAY] = None
    as_of: Annotated[Time | None, OPTIONAL] = None


class ToolCapability(Envelope):
    """One tool on the surface: what it may do, and what a step that calls it must bring."""

    adapter_id: Identifier
    capability_id: Identifier
    approval_mode: ApprovalMode
    requires_evidence: Annotated[tuple[Identifier, ...] | None, OPTIONAL, ARRAY] = None
    bound_args: Annotated[dict[Text, Annotated[tuple[Identifier, ...], ARRAY]] | None, OPTIONAL] = (
        None
    )
    args_schema: Annotated[JsonSchema | None, OPTIONAL] = None
    produces: Annotated[tuple[Identifier, ...] | None, OPTIONAL, ARRAY] = None
    min_tokens: Annotated[Count | None, OPTIONAL] = None


class EvidenceItem(Envelope):
    """A piece of evidence that exists. `snapshot` and `subject` are recorded, not judged."""

    id: EvidenceRef
    classification: Identifier
    content: PresentJson = None
    expires_at: Annotated[Time | None, OPTIONAL] = None
    snapshot: Annotated[Text | None, OPTIONAL] = None
    subject: Annotated[Text | None, OPTIONAL] = None

    @cached_property
    def backing(self) -> ContentIndex:
        """The content, indexed for the question whether it backs a value."""
        return ContentIndex(self.content)


class Manifests(Envelope):
    """The surface and the evidence. Each tool pair and each evidence id stands in it once."""

    tool_manifest: Annotated[tuple[ToolCapability, ...], ARRAY]
    evidence_manifest: Annotated[tuple[EvidenceItem, ...], ARRAY]

    @cached_property
    def tools(self) -> Mapping[tuple[str, str], ToolCapability]:
        """Capabilities by (adapter_id, capability_id): a pair, because joined strings collide."""
        return MappingProxyType(
            {(tool.adapter_id, tool.capability_id): tool for tool in self.tool_manifest}
        )

    @cached_property
    def evidence(self) -> Mapping[str, EvidenceItem]:
        """Evidence items by id."""
        return MappingProxyType({item.id: item for item in self.evidence_manifest})

    @model_validator(mode="after")
    def _unique(self) -> Self:
        if len(self.tools) != len(self.tool_manifest):
            raise _duplicate("tool_manifest", "adapter_id and capability_id")
        if len(self.evidence) != len(self.evidence_manifest):
            raise _duplicate("evidence_manifest", "id")
        return self


class CompiledContext(Envelope):
    """What the planner could see: the manifests that its pack was compiled to."""

    manifests: Manifests
    pack_version: Annotated[Identifier | None, OPTIONAL] = None


class DecisionSpec(Envelope):
    """The contract of one kind of decision.

    `approval_mode` is a ceiling over the safety mode; steps at or above `approval_required_from`
    need an approval; content of `confined_evidence` classes must not leave through outputs or
    calls at `network` or above.
    """

    id: Identifier
    required_outputs: Annotated[tuple[Identifier, ...], ARRAY]
    required_evidence: Annotated[tuple[Identifier, ...] | None, OPTIONAL, ARRAY] = None
    approval_mode: Annotated[ApprovalMode | None, OPTIONAL] = None
    approval_required_from: Annotated[ApprovalMode | None, OPTIONAL] = None
    output_schemas: Annotated[dict[Identifier, JsonSchema] | None, OPTIONAL] = None
    confined_evidence: Annotated[tuple[Identifier, ...] | None, OPTIONAL, ARRAY] = None


def _duplicate(manifest: str, key: str) -> PydanticCustomError:
    return PydanticCustomError(
        "duplicate_entry",
        "two entries of {manifest} have the same {key}: keep one",
        {"manifest": manifest, "key": key},
    )
