"""Calls of agents and models from within something else: forwarded, counted, journaled."""

from typing import Self

from harness.agents.agent import (
    Agent,
    AgentFailed,
    AgentResult,
    Event,
    EventStream,
    HasPartialResult,
)
from harness.agents.usage import UNLIMITED, Budget


class SubagentInvocation:
    """One call of an agent whose events go on to the parent's consumer as they happen.

    The parent has a frame of its own, so `started` and `completed` are kept back; everything else
    is forwarded as it is. The call ends with the `completed` of its own session.

    Its events come from an iterator, not from a generator: of generators within generators, the end
    of an event loop or of their lives closes the inner ones while the outer ones still use them.
    """

    def __init__(
        self,
        agent: Agent,
        prompt: str,
        *,
        session_id: str | None = None,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> None:
        """A call that starts when `events` is read. Without a session, it is the agent's name."""
        self._agent = agent
        self._prompt = prompt
        self._session_id = agent.name if session_id is None else session_id
        self._budget = budget
        self._text_only = text_only
        self._stream: EventStream | None = None
        self._result: AgentResult | None = None
        self._ended = False

    @property
    def result(self) -> AgentResult | None:
        """What the call came to. Before its end: what its stream can tell so far, if it can."""
        if self._result is None and isinstance(self._stream, HasPartialResult):
            return self._stream.result
        return self._result

    def events(self) -> Self:
        """The events within the frame; to be read once.

        Raises:
            AgentFailed: while it is read, the stream ended without a result.
            Exception: while it is read, whatever the agent raised.
        """
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if self._ended:
            raise StopAsyncIteration
        try:
            event = await self._next()
        except BaseException:
            await self.aclose()
            raise
        if event is None:
            await self.aclose()
            raise StopAsyncIteration
        return event

    async def aclose(self) -> None:
        """Leave: the call that is going on is cancelled."""
        self._ended = True
        if self._stream is not None:
            await self._stream.aclose()

    async def _next(self) -> Event | None:
        if self._stream is None:
            self._stream = self._agent.stream(
                self._prompt,
                session_id=self._session_id,
                budget=self._budget,
                text_only=self._text_only,
            )
        async for event in self._stream:
            if event.kind == "completed" and event.session_id == self._session_id:
                self._result = event.result
                return None
            if event.kind not in ("started", "completed"):
                return event
        raise AgentFailed("the agent ended without a result")


async def run_agent(
    agent: Agent, prompt: str, *, session_id: str | None = None, budget: Budget = UNLIMITED
) -> AgentResult:
    """The result of one call, for whoever does not want its events.

    Raises:
        AgentFailed: the agent ended without a result.
        Exception: whatever the agent raised.
    """
    call = SubagentInvocation(agent, prompt, session_id=session_id, budget=budget)
    async for _ in call.events():
        pass
    if call.result is None:
        raise AgentFailed("the agent ended without a result")
    return call.result
