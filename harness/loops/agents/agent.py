"""The interface of an agent: a name, and a stream of events that ends with a result.

Rule 1: what was not measured is absent, and a sum with an absent part is absent: a budget that
        cannot be checked counts as exceeded.
Rule 2: a loop is itself an agent, so loops nest. The session of a call made in one is the loop's
        own session with `__actor_{round}` or `__critic_{round}` after it.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol, Self, runtime_checkable

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from evals.envelope import OPTIONAL, Count, Envelope
from evals.escaping import escape_line
from evals.json_value import JsonObject, Text
from evals.timestamps import Time
from harness.errors import HarnessError, escape_text
from harness.loops.agents.usage import UNLIMITED, Budget, Usage
from harness.loops.revise import StopReason

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
"""The events of an agent at work. `started` comes first and `completed` last."""

AgentSessionId = Annotated[str, Field(min_length=1)]


class AgentFailed(HarnessError):
    """An agent could not answer. The message says why, in one line that is safe to print."""


class TransientFailure(AgentFailed):
    """An agent could not answer now, and the same call may succeed when it is made again."""


def describe(error: Exception) -> str:
    """Return why an agent failed, in one line that is safe to print."""
    if isinstance(error, AgentFailed):
        return escape_line(str(error))
    text = escape_text(str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class AgentResult(Envelope):
    """The outcome of a call of an agent.

    Attributes:
        output: the answer, or what there was of it when the call was interrupted.
        turns: how many requests were made to models.
        usage: what the call cost, as far as it was measured.
        interrupted: whether the call ended before it was done.
        interruption_reason: why, for exactly the interrupted calls.
        stop_reason: why a loop ended. A loop always gives it; an agent that ran out of tokens,
            money or time gives `budget`.
        round: the round that a loop ended in, from 0.
        transient: true where the same call may succeed when it is made again.
    """

    output: Text
    turns: Count = 1
    usage: Usage
    interrupted: bool = False
    interruption_reason: Annotated[Text | None, OPTIONAL] = None
    stop_reason: Annotated[StopReason | None, OPTIONAL] = None
    round: Annotated[Count | None, OPTIONAL] = None
    transient: Annotated[Literal[True] | None, OPTIONAL] = None

    @model_validator(mode="after")
    def _require_reason(self) -> Self:
        if self.interrupted != (self.interruption_reason is not None):
            raise PydanticCustomError("reason", "exactly an interrupted result has a reason")
        if self.transient and not self.interrupted:
            raise PydanticCustomError("transient", "only an interrupted result is transient")
        return self

    @property
    def approved(self) -> bool:
        """Return whether a loop ended with an output that its critic approved."""
        return self.stop_reason == "approved"


class Event(Envelope):
    """One thing that happened in a session. Exactly `completed` carries a result.

    `sequence` (from 0, without gaps) and `at` are set by the loop that hands the event out; an
    agent that is not a loop leaves them out.
    """

    kind: EventKind
    session_id: AgentSessionId
    data: JsonObject = Field(default_factory=dict)
    result: Annotated[AgentResult | None, OPTIONAL] = None
    sequence: Annotated[Count | None, OPTIONAL] = None
    at: Annotated[Time | None, OPTIONAL] = None

    @model_validator(mode="after")
    def _require_frame(self) -> Self:
        if (self.kind == "completed") != (self.result is not None):
            raise PydanticCustomError("framing", "exactly a completed event carries a result")
        return self


class EventStream(Protocol):
    """The events of one call. An async generator is one."""

    def __aiter__(self) -> AsyncIterator[Event]:
        """Return the stream itself."""

    def __anext__(self) -> Awaitable[Event]:
        """Wait for the next event.

        Raises:
            StopAsyncIteration: the stream has ended.
            Exception: the call failed.
        """

    def aclose(self) -> Awaitable[object]:
        """End the call, if it is going on. May be called at any time, and more than once."""


@runtime_checkable
class HasPartialResult(Protocol):
    """A stream that can report the partial result of its call at any time."""

    @property
    def result(self) -> AgentResult | None:
        """Return the result so far, or None while it is unknown."""


class Agent(Protocol):
    """Answers a prompt.

    A loop calls `stream` from the thread of its event loop, any number of times, also before an
    earlier stream has ended: an agent keeps what belongs to one call in the stream.
    """

    @property
    def name(self) -> str:
        """Return the name for messages, sessions and journals."""

    def stream(
        self,
        prompt: str,
        *,
        session_id: str,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> EventStream:
        """Begin a call: `started`, then any other events, then `completed` with the result.

        `stream` and its events may raise any `Exception`: the call has failed. It is made again if
        the error is transient (see `CallPolicy`) and no event reported a tool call. The message of
        an `AgentFailed` is shown as it is; of another error it is escaped first. An agent that
        knows what a failed call cost gives an interrupted result instead of raising.

        `budget` is what is left to spend: an agent that makes several calls keeps to it. With
        `text_only` no tools are wanted: an agent that can answer without its tools does so.
        """


AgentTool = Callable[..., Any]
"""A Python function with a name, a docstring and annotated parameters; it may be async."""


@runtime_checkable
class Equippable(Protocol):
    """An agent that can be handed the caller's context, or tools, for one call."""

    def equipped(
        self, *, context: Mapping[str, Any] | None, extra_tools: Sequence[AgentTool]
    ) -> Agent:
        """Return this agent with the context (a JSON object) and tools that it was handed.

        Raises:
            AgentFailed: the agent has no use for one of them; the message says for which.
        """
