"""An agent whose calls are kept in a journal, their events included.

The call as a whole is the step: a call that was cut short is made again, with all its tool calls.
So to resume a loop in its middle, journal its agents and not the loop.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Self

from evals.envelope import ARRAY, OPTIONAL, Envelope
from evals.escaping import escape_name
from harness.loops.agents.agent import Agent, AgentResult, AgentTool, Event, describe
from harness.loops.agents.invocation import SubagentInvocation, equip
from harness.loops.agents.journal import (
    Entry,
    Journal,
    JournalDamaged,
    JournalError,
    RecordedFailure,
)
from harness.loops.agents.retry import CallPolicy
from harness.loops.agents.retrying import Retrying
from harness.loops.agents.usage import UNLIMITED, Budget
from harness.wire import InvalidInput, build


class _RecordedCall(Envelope):
    """A call as it is recorded: the events between `started` and `completed`, and the result."""

    events: Annotated[tuple[Event, ...], ARRAY]
    result: Annotated[AgentResult | None, OPTIONAL] = None


class Journaled:
    """An agent that replays the calls that the journal holds, and records all others.

    A call is found by its session and the agent's name. Its inputs are the prompt, the mode, and
    `settings`: put everything else there that its replies depend on (the model, instructions,
    tools), because a change of anything that is not an input is not noticed.

    A call that raised an error or was interrupted is a failure, and is made again when its loop is
    resumed. The budget is not part of the key: replaying costs nothing.
    """

    def __init__(self, agent: Agent, journal: Journal, *, settings: Any = None) -> None:
        """Wrap an agent. `settings` is any JSON value."""
        self._agent = agent
        self._journal = journal
        self._settings = settings
        self._handed: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """Return the name of the wrapped agent."""
        return self._agent.name

    def equipped(
        self, *, context: Mapping[str, Any] | None, extra_tools: Sequence[AgentTool]
    ) -> "Journaled":
        """Return the same around the agent with them; they are inputs, the tools by their names."""
        agent = Journaled(
            equip(self._agent, context, extra_tools), self._journal, settings=self._settings
        )
        agent._handed = dict(self._handed)
        if context is not None:
            agent._handed["context"] = dict(context)
        if extra_tools:
            agent._handed["extra_tools"] = [
                getattr(tool, "__name__", type(tool).__name__) for tool in extra_tools
            ]
        return agent

    def with_policy(self, policy: CallPolicy) -> "Journaled":
        """Return the same around the agent that retries: all tries are recorded as one call."""
        agent = Journaled(with_policy(self._agent, policy), self._journal, settings=self._settings)
        agent._handed = self._handed
        return agent

    def stream(
        self,
        prompt: str,
        *,
        session_id: str,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> "JournaledStream":
        """Yield the recorded events, or the events as they happen and then are recorded.

        `completed` comes once the call is recorded.

        Raises:
            JournalError: while it is read, the call diverges from the recorded one, or cannot be
                recorded.
            RecordedFailure: while it is read, in a replay: the recorded call raised an error.
            Exception: while it is read, an error of the agent; it is recorded as a failure.
        """
        inputs: dict[str, Any] = {"prompt": prompt, "text_only": text_only, **self._handed}
        if self._settings is not None:
            inputs["settings"] = self._settings
        call = SubagentInvocation(
            self._agent, prompt, session_id=session_id, budget=budget, text_only=text_only
        )
        return JournaledStream(self._journal, session_id, self.name, inputs, call)


class JournaledStream:
    """The events of one call. An iterator, for the same reason as `SubagentInvocation`."""

    def __init__(
        self,
        journal: Journal,
        session_id: str,
        step: str,
        inputs: dict[str, Any],
        call: SubagentInvocation,
    ) -> None:
        self._journal = journal
        self._where = session_id, step
        self._inputs = inputs
        self._call = call
        self._events: list[Event] = []
        self._recorded: Iterator[Event] | None = None
        self._began = False
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if self._ended:
            raise StopAsyncIteration
        try:
            return (
                await self._next_live()
                if self._recorded is None
                else self._replay_event(self._recorded)
            )
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Cancel a call that is going on. Nothing of it is recorded."""
        self._ended = True
        await self._call.aclose()

    @property
    def result(self) -> AgentResult | None:
        """Return the partial result of a call that is going on, if its agent reports one."""
        return self._call.result

    def _replay_event(self, recorded: Iterator[Event]) -> Event:
        for event in recorded:
            return event
        raise StopAsyncIteration

    async def _next_live(self) -> Event:
        session_id, step = self._where
        if not self._began:
            self._began = True
            entry = self._journal.find(session_id, step, self._inputs)
            self._recorded = None if entry is None else _recorded_events(entry)
            return Event(kind="started", session_id=session_id)
        try:
            event = await anext(self._call)
        except StopAsyncIteration:
            return self._complete_call()
        except JournalError:
            raise  # of a journal within the agent: not a failure of the call
        except Exception as error:
            self._keep(describe(error))
            raise
        # A copy: a consumer that changes its event must not change the record.
        self._events.append(event.model_copy(deep=True))
        return event

    def _complete_call(self) -> Event:
        result = self._call.result
        assert result is not None  # noqa: S101 - for the type checker: else the call had raised
        self._keep(result.interruption_reason, result=result)
        self._ended = True
        return Event(kind="completed", session_id=self._where[0], result=result)

    def _keep(self, error: str | None, **result: AgentResult) -> None:
        reply = _RecordedCall(events=tuple(self._events), **result).wire()
        self._journal.keep(*self._where, self._inputs, reply=reply, error=error)


def _recorded_events(entry: Entry) -> Iterator[Event]:
    try:
        recorded = build(_RecordedCall, entry.reply)
    except InvalidInput as error:
        where = f"step {escape_name(entry.step)} of session {escape_name(entry.session)}"
        raise JournalDamaged(f"{where} is not a recorded call: {error}") from None
    yield from recorded.events
    if recorded.result is None:
        raise RecordedFailure(entry.error)
    yield Event(kind="completed", session_id=entry.session, result=recorded.result)


def with_policy(agent: Agent, policy: CallPolicy) -> Agent:
    """Return the agent with its calls made by this policy, unless it has its own policy.

    The retries of a journaled agent happen within its journal, so that a replay gives the same
    events and the same usage.
    """
    if isinstance(agent, Journaled):
        return agent.with_policy(policy)
    return agent if isinstance(agent, Retrying) else Retrying(agent, policy)
