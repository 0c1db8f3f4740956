"""What is asked for and what is allowed: the facts that limit a plan.

All authority is here. A plan can add requirements to these, and can never remove one.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

import orjson
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from evals.binding import ContentIndex
from evals.envelope import (
    ARRAY,
    OPTIONAL,
    RESTRICTION,
    ApprovalMode,
    Array,
    Count,
    Envelope,
    EvidenceRef,
    Identifier,
)
from evals.json_value import PresentJson, Text
from evals.schemas import JsonSchema
from evals.timestamps import Time

_T = TypeVar("_T")

# The defaults of the published critic that this one grew from.
DEFAULT_MAX_STEPS = 12
DEFAULT_BUCKET_TOKENS = 8000


class RunBudget(Envelope):
    """What one trace may spend: steps, tokens, milliseconds, and millionths of a currency."""

    max_steps: Count = DEFAULT_MAX_STEPS
    bucket_tokens: Count = DEFAULT_BUCKET_TOKENS
    wall_ms: Annotated[Count | None, RESTRICTION] = None
    cost_micros: Annotated[Count | None, RESTRICTION] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            max_steps: int = ...,
            bucket_tokens: int = ...,
            wall_ms: int = ...,
            cost_micros: int = ...,
        ) -> None: ...


class Spent(Envelope):
    """What earlier plans of the same trace have used already."""

    steps: Annotated[Count | None, RESTRICTION] = None
    tokens: Annotated[Count | None, RESTRICTION] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            steps: int = ...,
            tokens: int = ...,
        ) -> None: ...


class Approval(Envelope):
    """A person's approval of one exact plan.

    `plan_digest` is `digest(plan)`: 64 hexadecimal digits, with or without a `sha256:` prefix.
    `steps` are the positions that it covers; absent means all of them.
    """

    approval_id: Identifier
    plan_digest: Identifier
    steps: Annotated[tuple[Count, ...] | None, RESTRICTION, ARRAY] = None
    approver: Identifier
    expires_at: Annotated[Time | None, RESTRICTION] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            approval_id: str,
            plan_digest: str,
            steps: Array[int] = ...,
            approver: str,
            expires_at: datetime | str = ...,
        ) -> None: ...


class RunContext(Envelope):
    """The run that a plan is for. `as_of` is the time: the caller gives it, no clock is read."""

    trace_id: Identifier
    safety_mode: ApprovalMode
    run_id: Annotated[Identifier | None, OPTIONAL] = None
    tenant_id: Annotated[Identifier | None, OPTIONAL] = None
    run_budget: Annotated[RunBudget | None, RESTRICTION] = None
    spent: Annotated[Spent | None, RESTRICTION] = None
    approvals: Annotated[tuple[Approval, ...] | None, OPTIONAL, ARRAY] = None
    as_of: Annotated[Time | None, OPTIONAL] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            trace_id: str,
            safety_mode: ApprovalMode,
            run_id: str | None = None,
            tenant_id: str | None = None,
            run_budget: RunBudget = ...,
            spent: Spent = ...,
            approvals: Array[Approval] | None = None,
            as_of: datetime | str | None = None,
        ) -> None: ...


class ToolCapability(Envelope):
    """One tool of the manifest: what it may do, and what a step that calls it must provide."""

    adapter_id: Identifier
    capability_id: Identifier
    approval_mode: ApprovalMode
    requires_evidence: Annotated[tuple[Identifier, ...] | None, RESTRICTION, ARRAY] = None
    bound_args: Annotated[
        dict[Text, Annotated[tuple[Identifier, ...], ARRAY]] | None, RESTRICTION
    ] = None
    args_schema: Annotated[JsonSchema | None, RESTRICTION] = None
    produces: Annotated[tuple[Identifier, ...] | None, RESTRICTION, ARRAY] = None
    min_tokens: Annotated[Count | None, RESTRICTION] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            adapter_id: str,
            capability_id: str,
            approval_mode: ApprovalMode,
            requires_evidence: Array[str] = ...,
            bound_args: dict[str, list[str]] | dict[str, tuple[str, ...]] = ...,
            args_schema: dict[str, Any] | bool = ...,
            produces: Array[str] = ...,
            min_tokens: int = ...,
        ) -> None: ...


class EvidenceItem(Envelope):
    """A piece of evidence that exists. `snapshot` and `subject` are recorded and not judged."""

    id: EvidenceRef
    classification: Identifier
    content: Annotated[PresentJson, OPTIONAL] = None
    expires_at: Annotated[Time | None, RESTRICTION] = None
    snapshot: Annotated[Text | None, OPTIONAL] = None
    subject: Annotated[Text | None, OPTIONAL] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            id: str,
            classification: str,
            content: Any = None,
            expires_at: datetime | str = ...,
            snapshot: str | None = None,
            subject: str | None = None,
        ) -> None: ...

    __slots__ = ("_index",)

    @property
    def backing(self) -> ContentIndex:
        """Return an index that answers whether the content backs a value.

        It is kept, and built again when the content has been edited in place.
        """
        content = self.content
        written = content if type(content) is str else orjson.dumps(content)
        index: tuple[str | bytes, ContentIndex] | None = getattr(self, "_index", None)
        if index is None or index[0] != written:
            index = written, ContentIndex(content)
            object.__setattr__(self, "_index", index)
        return index[1]


class Manifests(Envelope):
    """The tools and the evidence. No two tools have one pair of ids; no two items have one id."""

    tool_manifest: Annotated[tuple[ToolCapability, ...], ARRAY]
    evidence_manifest: Annotated[tuple[EvidenceItem, ...], ARRAY]

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            tool_manifest: Array[ToolCapability],
            evidence_manifest: Array[EvidenceItem],
        ) -> None: ...

    __slots__ = ("_evidence", "_tools")

    @property
    def tools(self) -> Mapping[tuple[str, str], ToolCapability]:
        """Capabilities by (adapter_id, capability_id): a pair, because joined strings collide."""
        return _kept(self, "_tools", lambda: _by_call(self.tool_manifest))

    @property
    def evidence(self) -> Mapping[str, EvidenceItem]:
        """Evidence items by id."""
        return _kept(self, "_evidence", lambda: _by_id(self.evidence_manifest))

    @model_validator(mode="after")
    def _unique(self) -> Self:
        if len(self.tools) != len(self.tool_manifest):
            raise _duplicate("tool_manifest", "adapter_id and capability_id")
        if len(self.evidence) != len(self.evidence_manifest):
            raise _duplicate("evidence_manifest", "id")
        return self


class CompiledContext(Envelope):
    """What the planner could see: the manifests that its context pack was compiled to."""

    __slots__ = ("_surface",)  # the index that `critic.surface` keeps with the context

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
    required_evidence: Annotated[tuple[Identifier, ...] | None, RESTRICTION, ARRAY] = None
    approval_mode: Annotated[ApprovalMode | None, RESTRICTION] = None
    approval_required_from: Annotated[ApprovalMode | None, RESTRICTION] = None
    output_schemas: Annotated[dict[Identifier, JsonSchema] | None, RESTRICTION] = None
    confined_evidence: Annotated[tuple[Identifier, ...] | None, RESTRICTION, ARRAY] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            id: str,
            required_outputs: Array[str],
            required_evidence: Array[str] = ...,
            approval_mode: ApprovalMode = ...,
            approval_required_from: ApprovalMode = ...,
            output_schemas: dict[str, Any] = ...,
            confined_evidence: Array[str] = ...,
        ) -> None: ...


def _by_call(tools: tuple[ToolCapability, ...]) -> Mapping[tuple[str, str], ToolCapability]:
    return MappingProxyType({(tool.adapter_id, tool.capability_id): tool for tool in tools})


def _by_id(items: tuple[EvidenceItem, ...]) -> Mapping[str, EvidenceItem]:
    return MappingProxyType({item.id: item for item in items})


def _kept(envelope: Envelope, slot: str, derive: Callable[[], _T]) -> _T:
    """Return what `derive` gives, and keep it in a slot of the envelope.

    A slot is not a field: it is not compared, copied, pickled or dumped, and setting it disturbs
    no other thread that is doing so.
    """
    value: _T | None = getattr(envelope, slot, None)
    if value is None:
        value = derive()
        object.__setattr__(envelope, slot, value)
    return value


def _duplicate(manifest: str, key: str) -> PydanticCustomError:
    return PydanticCustomError(
        "duplicate_entry",
        "two entries of {manifest} have the same {key}: keep one",
        {"manifest": manifest, "key": key},
    )
