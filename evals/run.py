"""The facts of an execution, from an executor: never a verdict."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from evals.envelope import ARRAY, MEMBERS, OPTIONAL, Array, Count, Envelope, Identifier
from evals.json_value import JsonObject, JsonValue, PresentJson, Text
from evals.plan import Proposal

CallStatus = Literal["completed", "failed", "timed_out", "unknown"]


class ToolCall(Envelope):
    """One call as it was sent. A measure that is absent was not taken.

    `step` is the position in the plan, `attempt` counts from 1, times are in milliseconds.
    """

    step: Count
    adapter_id: Identifier
    capability_id: Identifier
    args: JsonObject
    status: CallStatus
    output: Annotated[PresentJson, OPTIONAL] = None
    error: Annotated[Text | None, OPTIONAL] = None
    started_ms: Annotated[Count | None, OPTIONAL] = None
    duration_ms: Annotated[Count | None, OPTIONAL] = None
    tokens: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None
    attempt: Count = 1
    idempotency_key: Annotated[Text | None, OPTIONAL] = None


class Run(Envelope):
    """The calls that an executor made for one proposal, in order, and the outputs it returned."""

    run_id: Identifier
    trace_id: Identifier
    proposal: Proposal
    calls: Annotated[tuple[ToolCall, ...], ARRAY]
    outputs: Annotated[dict[Identifier, JsonValue], MEMBERS]
    wall_ms: Annotated[Count | None, OPTIONAL] = None
    tokens: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None
    pack_version: Annotated[Identifier | None, OPTIONAL] = None
    intent: Annotated[Text | None, OPTIONAL] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            run_id: str,
            trace_id: str,
            proposal: Proposal,
            calls: Array[ToolCall],
            outputs: dict[str, Any],
            wall_ms: int | None = None,
            tokens: int | None = None,
            cost_micros: int | None = None,
            pack_version: str | None = None,
            intent: str | None = None,
        ) -> None: ...
