"""The facts of an execution, from an executor: never a verdict."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from evals.context import Approval
from evals.envelope import ARRAY, MEMBERS, OPTIONAL, Array, Count, Envelope, Identifier
from evals.json_value import JsonObject, JsonValue, PresentJson, Text
from evals.plan import Proposal
from evals.plan_verdicts import VerifyVerdict
from evals.timestamps import Time

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


class Opening(Envelope):
    """The opening of a step of a late plan: it was judged once more, with its values.

    `step` is the position in the plan, `after` says how many calls had ended by then. `approvals`
    are those that were given for this opening.
    """

    step: Count
    after: Count
    as_of: Annotated[Time | None, OPTIONAL] = None
    approvals: Annotated[tuple[Approval, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None
    verdict: VerifyVerdict

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            step: int,
            after: int,
            as_of: Any = None,
            approvals: Array[Approval] | None = None,
            verdict: VerifyVerdict,
        ) -> None: ...


class Run(Envelope):
    """The calls that an executor made for one proposal, in order, and the outputs it returned.

    `openings` are there where the plan is late and any of its steps was opened: all of them, also
    the one that was refused, in order.
    """

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
    openings: Annotated[tuple[Opening, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None

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
            openings: Array[Opening] | None = None,
        ) -> None: ...


def refused_opening(openings: Sequence[Opening] | None) -> Opening | None:
    """Return the first opening that was refused and that no person cleared, if there is one.

    One that a person cleared is followed at once by another of the same step, with an approval.
    """
    known = openings or ()
    for at, one in enumerate(known):
        if not one.verdict.ok and not is_cleared_by(one, known[at + 1 : at + 2]):
            return one
    return None


def is_cleared_by(refused: Opening, following: Sequence[Opening]) -> bool:
    """Return whether the opening that follows a refused one is that of a person's yes."""
    return any(one.step == refused.step and one.approvals is not None for one in following[:1])
