"""What a loop knows of an agent: a name, and a stream of events that ends with a result.

Rule 1: what was not measured is absent, and a sum with an absent part is absent: a budget that
        cannot be checked is not a budget that is kept.
Rule 2: a loop is an agent itself, so loops nest; the session of a call made in one is the
        loop's own session with `__actor_{round}` or `__critic_{round}` after it.
"""

from collections.abc import AsyncIterator, Awaitable
from typing import Annotated, Literal, Protocol, Self, runtime_checkable

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from evals.envelope import OPTIONAL, Count, Envelope
from evals.escaping import escape_line, escape_name
from evals.json_value import JsonObject, Text
from harness.agents.usage import UNLIMITED, Budget, Usage
from harness.runtime.revise import StopReason

EventKind = Literal[
    "started",
    "model_chunk",
    "tool_call",
    "tool_result",
    "budget_warning",
    "budget_exceeded",
    "error",
    "architecture_event",
    "completed",
]
"""What an agent can tell while it works. `started` and `completed` frame all the others."""

SessionId = Annotated[str, Field(min_length=1)]


class AgentFailed(Exception):
    """An agent could not answer. The message says why, in one line that is safe to print."""


def describe(error: Exception) -> str:
    """Why an agent failed, in one line that is safe to print."""
    if isinstance(error, AgentFailed):
        return escape_line(str(error))
    text = escape_name(str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class AgentResult(Envelope):
    """What a call of an agent came to.

    `interrupted` says that it ended before it was done, and then `interruption_reason` says why.
    `stop_reason` and `round` say it as a closed set: a loop always gives both, and an agent that
    ran out of money gives `budget`.
    """

    output: Text
    turns: Count = 1
    usage: Usage
    interrupted: bool = False
    interruption_reason: Annotated[Text | None, OPTIONAL] = None
    stop_reason: Annotated[StopReason | None, OPTIONAL] = None
    round: Annotated[Count | None, OPTIONAL] = None

    @model_validator(mode="after")
    def _explained(self) -> Self:
        if self.interrupted != (self.interruption_reason is not None):
            raise PydanticCustomError("reason", "exactly what was interrupted has a reason")
        return self

    @property
    def approved(self) -> bool:
        """Whether a loop ended with an output that its critic approved."""
        return self.stop_reason == "approved"


class Event(Envelope):
    """One thing that happened in a session. Only `completed` carries a result, and it must."""

    kind: EventKind
    session_id: SessionId
    data: JsonObject = Field(default_factory=dict)
    result: Annotated[AgentResult | None, OPTIONAL] = None

    @model_validator(mode="after")
    def _framed(self) -> Self:
        if (self.kind == "completed") != (self.result is not None):
            raise PydanticCustomError("framing", "exactly a completed event carries a result")
        return self


class EventStream(Protocol):
    """The events of one call. An async generator is one."""

    def __aiter__(self) -> AsyncIterator[Event]: ...

    def __anext__(self) -> Awaitable[Event]: ...

    def aclose(self) -> Awaitable[object]: ...


@runtime_checkable
class HasPartialResult(Protocol):
    """A stream that can be asked at any moment what the call came to so far, if it can tell."""

    @property
    def result(self) -> AgentResult | None: ...


class Agent(Protocol):
    """Answers a prompt.

    `stream` gives `started`, then whatever happens, then `completed` with the result. It may raise
    instead; an `AgentFailed` says why in words that are safe to show. `budget` is what is left to
    spend: an agent of several calls keeps to it. With `text_only`, no tools are wanted: an agent
    that has a mode without tools answers in that.
    """

    @property
    def name(self) -> str: ...

    def stream(
        self,
        prompt: str,
        *,
        session_id: str,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> EventStream: ...
