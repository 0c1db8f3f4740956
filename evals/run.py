"""What really happened: facts from an executor, never a verdict."""

from typing import Annotated, Literal

from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, Identifier
from evals.json_value import JsonObject, JsonValue, PresentJson, Text
from evals.plan import Proposal

CallStatus = Literal["completed", "failed", "timed_out", "unknown"]


class ToolCall(Envelope):
    """One call as it was sent. An absent measure was not measured.

    `step` is the position in the plan, `attempt` counts from 1, times are in milliseconds.
    """

    step: Count
    adapter_id: Identifier
    capability_id: Identifier
    args: JsonObject
    status: CallStatus
    output: PresentJson = None
    error: Annotated[Text | None, OPTIONAL] = None
    started_ms: Annotated[Count | None, OPTIONAL] = None
    duration_ms: Annotated[Count | None, OPTIONAL] = None
    tokens: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None
    attempt: Count = 1
    idempotency_key: Annotated[Text | None, OPTIONAL] = None


class Run(Envelope):
    """The calls an executor made for one proposal, in order, and the outputs it returned."""

    run_id: Identifier
    trace_id: Identifier
    proposal: Proposal
    calls: Annotated[tuple[ToolCall, ...], ARRAY]
    outputs: dict[Identifier, JsonValue]
    wall_ms: Annotated[Count | None, OPTIONAL] = None
    tokens: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None
    pack_version: Annotated[Identifier | None, OPTIONAL] = None
    intent: Annotated[Text | None, OPTIONAL] = None
