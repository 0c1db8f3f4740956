"""A call of an agent from within another one, its events forwarded."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from evals.escaping import escape_name
from harness.loops.agents.agent import (
    Agent,
    AgentFailed,
    AgentResult,
    AgentTool,
    Equippable,
    Event,
    EventStream,
    HasPartialResult,
)
from harness.loops.agents.event_buffer import BufferedStream
from harness.loops.agents.usage import UNLIMITED, Budget


class SubagentInvocation:
    """One call of an agent whose events are forwarded to the parent's consumer as they happen.

    The parent sends its own `started` and `completed` events, so those of the agent are left
    out; all others are forwarded unchanged. The call ends with the `completed` of its session.

    This is an iterator and not a generator. When an event loop ends, Python closes generators in
    any order, and an inner one may be closed while an outer one still uses it.
    """

    def __init__(
        self,
        agent: Agent,
        prompt: str,
        *,
        session_id: str | None = None,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
        context: Mapping[str, Any] | None = None,
        extra_tools: Sequence[AgentTool] = (),
        buffer_size: int = 0,
    ) -> None:
        """Prepare a call. It starts when its events are read.

        `session_id` is the agent's name unless given. `context` (a JSON object) and `extra_tools`
        (functions) are handed to the agent for this call. The agent may be `buffer_size` events
        ahead of the reader; with 0 it goes on only when the next event is asked for.

        Raises:
            AgentFailed: the agent cannot be handed a context or tools.
            ValueError: tools are given to a call that is to be made without tools, or `buffer_size`
                is not a whole number of at least 0.
        """
        if type(buffer_size) is not int or buffer_size < 0:
            what = f"a whole number of at least 0, not {buffer_size!r}"
            raise ValueError(f"buffer_size must be {what}")
        if text_only and extra_tools:
            raise ValueError("extra_tools are given, but text_only asks for a call without tools")
        self._agent = equip(agent, context, extra_tools)
        self._prompt = prompt
        self._session_id = agent.name if session_id is None else session_id
        self._budget = budget
        self._text_only = text_only
        self._buffer_size = buffer_size
        self._stream: EventStream | None = None
        self._result: AgentResult | None = None
        self._ended = False

    @property
    def result(self) -> AgentResult | None:
        """Return the result; before the end of the call, the partial result, if known."""
        if self._result is None and isinstance(self._stream, HasPartialResult):
            return self._stream.result
        return self._result

    def events(self) -> Self:
        """Return the events between `started` and `completed`, to be read once.

        Raises:
            AgentFailed: while it is read, the stream ended without a result.
            Exception: while it is read, an error that the agent raised.
        """
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if self._ended:
            raise StopAsyncIteration
        try:
            event = await self._next_event()
        except BaseException:
            await self.aclose()
            raise
        if event is None:
            await self.aclose()
            raise StopAsyncIteration
        return event

    async def aclose(self) -> None:
        """Cancel the call, if it is going on."""
        self._ended = True
        if self._stream is not None:
            await self._stream.aclose()

    async def _next_event(self) -> Event | None:
        if self._stream is None:
            self._stream = self._begin_stream()
        async for event in self._stream:
            if event.kind == "completed" and event.session_id == self._session_id:
                self._result = event.result
                return None
            if event.kind not in ("started", "completed"):
                return event
        raise AgentFailed("the agent ended without a result")

    def _begin_stream(self) -> EventStream:
        stream = self._agent.stream(
            self._prompt,
            session_id=self._session_id,
            budget=self._budget,
            text_only=self._text_only,
        )
        if not self._buffer_size:
            return stream
        return BufferedStream(stream, self._buffer_size, self._session_id)


def equip(
    agent: Agent, context: Mapping[str, Any] | None, extra_tools: Sequence[AgentTool]
) -> Agent:
    """Return the agent with a context and tools, or the agent itself without them.

    Raises:
        AgentFailed: it cannot be handed them.
    """
    if context is None and not extra_tools:
        return agent
    if not isinstance(agent, Equippable):
        raise AgentFailed(
            f"the agent {escape_name(agent.name)} cannot be handed a context or tools: "
            "it has no method `equipped`"
        )
    return agent.equipped(context=context, extra_tools=tuple(extra_tools))


async def run_agent(
    agent: Agent,
    prompt: str,
    *,
    session_id: str | None = None,
    budget: Budget = UNLIMITED,
    context: Mapping[str, Any] | None = None,
    extra_tools: Sequence[AgentTool] = (),
) -> AgentResult:
    """Make one call and return its result, without its events.

    Raises:
        AgentFailed: the agent ended without a result, or cannot be handed a context or tools.
        Exception: an error that the agent raised.
    """
    call = SubagentInvocation(
        agent,
        prompt,
        session_id=session_id,
        budget=budget,
        context=context,
        extra_tools=extra_tools,
    )
    async for _ in call.events():
        pass
    if call.result is None:
        raise AgentFailed("the agent ended without a result")
    return call.result
