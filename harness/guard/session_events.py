"""The events of a session on the wire: one JSON object a line, strict like every envelope."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from evals.context import CallId, SessionId, Sha256
from evals.envelope import (
    ARRAY,
    MEMBERS,
    OPTIONAL,
    RESTRICTION,
    Array,
    Count,
    Envelope,
    Identifier,
    OnlyTrue,
)
from evals.escaping import escape_name
from evals.json_value import JsonObject, JsonValue, PresentJson, PresentObject, Text
from evals.pointers import InnerPointer, Pointer
from evals.run import CallStatus
from evals.timestamps import Time
from harness.canonical import canonical_bytes
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput, build, parse_json

MAX_SPOKEN_BYTES: Final = 1024 * 1024
"""The largest `open`, `said`, `calls` or `plan`: what people and models write, and no tool."""
_MOST_VALUES: Final = 50_000
_SPOKEN: Final = ("open", "said", "calls", "plan")
_SOME: Final = Field(min_length=1)


class _Event(Envelope):
    """Base of the events. `as_of` counts until another event of the session has one."""

    session: SessionId
    as_of: Annotated[Time | None, OPTIONAL] = None


class OpenEvent(_Event):
    """Opens a session: the user's request, the system prompt, the scope and the user.

    `scope` lists tools of the policy; any other name is an error. By default, the scope of the
    policy counts. Without that, it is unknown which tools the request is for. `tenant` and `user`
    are in the context of every turn. The caller authenticates them: they are recorded, but decide
    nothing.

    `again` reopens a closed session under its id. Denials, questions and spending are kept, and
    everything that gave authority is dropped. The log must have the record of the close.
    """

    event: Literal["open"] = "open"
    request: Text
    system: Annotated[Text | None, OPTIONAL] = None
    scope: Annotated[tuple[Text, ...] | None, OPTIONAL, ARRAY] = None
    tenant: Annotated[Identifier | None, OPTIONAL] = None
    user: Annotated[Identifier | None, OPTIONAL] = None
    again: Annotated[bool | None, OPTIONAL] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            session: str,
            request: str,
            system: str | None = None,
            scope: Array[str] | None = None,
            tenant: str | None = None,
            user: str | None = None,
            again: bool | None = None,
            as_of: datetime | str | None = None,
        ) -> None: ...


class SaidEvent(_Event):
    """A later message of the user."""

    event: Literal["said"] = "said"
    text: Text


class RequestedTake(Envelope):
    """A value of a call's arguments that another call of its list returns.

    `arg` is its place in the arguments, and `at` the place in what the call returns, where `*`
    stands for the only member or element.
    """

    arg: InnerPointer
    call: CallId
    at: Pointer


class RequestedCall(Envelope):
    """A call that the agent requests. `tool` is any name, in the policy or not.

    `shell` are the facts by which its shell command is read: see `ShellFacts`. It may take values
    from other calls of its list, and comes after those that `after` names. Then each call of the
    list waits for its `ready` event.
    """

    id: CallId
    tool: CallId
    args: JsonObject
    estimated_tokens: Annotated[Count | None, RESTRICTION] = None
    shell: Annotated[PresentObject, OPTIONAL] = None
    takes: Annotated[tuple[RequestedTake, ...] | None, RESTRICTION, ARRAY, _SOME] = None
    after: Annotated[tuple[CallId, ...] | None, RESTRICTION, ARRAY, _SOME] = None

    @property
    def waits_for(self) -> tuple[str, ...]:
        """The ids of the calls that it waits for."""
        return (*(one.call for one in self.takes or ()), *(self.after or ()))


class CallsEvent(_Event):
    """The calls of one turn of the agent, before any of them runs."""

    event: Literal["calls"] = "calls"
    calls: Annotated[tuple[RequestedCall, ...], ARRAY, Field(min_length=1)]

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            session: str,
            calls: Array[RequestedCall],
            as_of: datetime | str | None = None,
        ) -> None: ...

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        _require_calls(self.calls)
        return self


class SessionPlanEvent(_Event):
    """A plan that the agent carries out itself, in later turns. Once allowed it is open.

    Calls of later turns that are those of `steps`, in tool and arguments, carry it out, and make
    no turn of their own. Any other calls, another plan and `said` end it.
    """

    event: Literal["plan"] = "plan"
    steps: Annotated[tuple[RequestedCall, ...], ARRAY, _SOME]

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            session: str,
            steps: Array[RequestedCall],
            as_of: datetime | str | None = None,
        ) -> None: ...

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        _require_calls(self.steps)
        return self


class ReadyEvent(_Event):
    """Opens an allowed call whose turn has calls that wait for one another, before it is made.

    It is judged again with the values that it takes. Send the `args` of the answer.
    """

    event: Literal["ready"] = "ready"
    id: CallId


def _require_calls(calls: Sequence[RequestedCall]) -> None:
    """Require that calls have ids of their own, and wait for calls of their list."""
    seen = {call.id for call in calls}
    if len(seen) < len(calls):
        counts = Counter(call.id for call in calls)
        raise PydanticCustomError(
            "duplicate_entry",
            "two calls have the id {id}: give each its own",
            {"id": escape_name(next(name for name, count in counts.items() if count > 1))},
        )
    for call in calls:
        for name in call.waits_for:
            if name not in seen:
                raise PydanticCustomError(
                    "unknown_call",
                    "call {id} waits for {other}, which is not in the list: leave it out",
                    {"id": escape_name(call.id), "other": escape_name(name)},
                )


class SentCall(Envelope):
    """A call that ran in place of the allowed one, or without a ruling.

    `shell` are the facts by which its shell command is read: see `ShellFacts`.
    """

    tool: CallId
    args: JsonObject
    shell: Annotated[PresentObject, OPTIONAL] = None


class ResultEvent(_Event):
    """The result of an allowed call. `error` is the text of its failure: evidence, like `output`.

    `sent` is the call that really ran, if somebody changed it after the ruling. No ruling allowed
    it, and its output is not evidence. With the tool and arguments of the allowed call it is that
    call. If no result with this `id` is expected, it is a call that
    ran without a ruling: a turn of its own.

    `cut`: the call returned more than is reported here. The rest may mention anything, so it
    contests each field value until the session closes, and each link in content asks.

    `denied_by`: it failed because this person said no to it, who was asked by the agent and not by
    the guard. The guard denies it for the rest of the session, as after a no to its own question.
    """

    event: Literal["result"] = "result"
    id: CallId
    status: CallStatus
    output: Annotated[PresentJson, OPTIONAL] = None
    error: Annotated[Text | None, OPTIONAL] = None
    tokens: Annotated[Count | None, OPTIONAL] = None
    duration_ms: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None
    cut: Annotated[bool | None, RESTRICTION] = None
    sent: Annotated[SentCall | None, OPTIONAL] = None
    denied_by: Annotated[Identifier | None, RESTRICTION] = None

    @model_validator(mode="after")
    def _denied_is_not_made(self) -> Self:
        if self.denied_by is not None and (self.status != "failed" or self.sent is not None):
            what = "a call that somebody said no to failed, and nothing was sent"
            raise PydanticCustomError("contradiction", "{what}", {"what": what})
        return self


class AnswerEvent(_Event):
    """A person's answer to the open question, with the digest of its plan.

    The caller authenticates `approver`. The approval expires at `expires_at`. `late`: the person
    was shown where each value comes from that is not there yet; without, a yes covers no call that
    takes one.
    """

    event: Literal["answer"] = "answer"
    plan_digest: Sha256
    yes: bool
    approver: Identifier
    expires_at: Annotated[Time | None, RESTRICTION] = None
    late: Annotated[OnlyTrue | None, OPTIONAL] = None


class CloseEvent(_Event):
    """Closes the session with these outputs."""

    event: Literal["close"] = "close"
    outputs: Annotated[dict[Identifier, JsonValue], MEMBERS] = Field(default_factory=dict)


SessionEvent = (
    OpenEvent
    | SaidEvent
    | CallsEvent
    | SessionPlanEvent
    | ReadyEvent
    | ResultEvent
    | AnswerEvent
    | CloseEvent
)
"""An event of a session. `event` tells which."""

_EVENTS: dict[str, type[SessionEvent]] = {
    "open": OpenEvent,
    "said": SaidEvent,
    "calls": CallsEvent,
    "plan": SessionPlanEvent,
    "ready": ReadyEvent,
    "result": ResultEvent,
    "answer": AnswerEvent,
    "close": CloseEvent,
}


def event_of(value: Any) -> SessionEvent:
    """Build an event from a parsed JSON value.

    Raises:
        InvalidInput: it is not an event.
    """
    if not isinstance(value, dict):
        raise InvalidInput("", "must be an object with the members event and session")
    name = value.get("event")
    model = _EVENTS.get(name) if isinstance(name, str) else None
    if model is None:
        raise InvalidInput("/event", f"must be one of {', '.join(_EVENTS)}")
    return build(model, value)


def bytes_of_event(event: SessionEvent) -> bytes:
    """Return the canonical bytes of an event.

    Raises:
        InvalidInput: it is not an event.
    """
    if not isinstance(event, _Event):
        raise InvalidInput(
            "",
            f"an event is needed, and this is of type {type(event).__name__}: build one, such as "
            "OpenEvent(...), call the method of its name, such as guard.open(...), or give JSON to "
            "handle_line",
        )
    return canonical_bytes(event)


def require_event_size(value: Any, size: int) -> None:
    """Check the length of an event whose text a person or a model wrote.

    Raises:
        InvalidInput: it is too long.
    """
    name = value.get("event") if isinstance(value, dict) else None
    if name not in _SPOKEN:
        return
    if size > MAX_SPOKEN_BYTES:
        limit = f"over the limit of {MAX_SPOKEN_BYTES} bytes for {name}"
        raise InvalidInput("", f"{size} bytes is {limit}: split it, or send a reference")
    if size > 2 * _MOST_VALUES and _values_in(value) > _MOST_VALUES:
        limit = f"over the limit of {_MOST_VALUES} values for {name}"
        raise InvalidInput("", f"{limit}: split it")


def _values_in(value: Any) -> int:
    """Return the number of values in a JSON value, itself included. It may stop at the limit."""
    count, waiting = 1, [value]
    while waiting and count <= _MOST_VALUES:
        current = waiting.pop()
        count += len(current)
        inner = current.values() if type(current) is dict else current
        waiting.extend(one for one in inner if type(one) in (dict, list))
    return count


def parse_event(data: bytes, max_bytes: int = MAX_DOCUMENT_BYTES) -> SessionEvent:
    """Parse one line of a session.

    Raises:
        InvalidInput: it is not an event.
    """
    value = parse_json(data, max_bytes)
    require_event_size(value, len(data))
    return event_of(value)
