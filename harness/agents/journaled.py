"""An agent whose calls are kept in a journal, their events included.

The call as a whole is the step: what an agent did in a call that was cut short, tools included,
is done again. So to resume a loop in its middle, journal its agents and not the loop.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Self

from evals.envelope import ARRAY, OPTIONAL, Envelope
from harness.agents.agent import Agent, AgentResult, Event, describe
from harness.agents.invocation import SubagentInvocation
from harness.agents.journal import (
    Entry,
    Journal,
    JournalDamaged,
    JournalError,
    RecordedFailure,
)
from harness.agents.usage import UNLIMITED, Budget
from harness.wire import InvalidInput, build


class Heard(Envelope):
    """What a call gave: its events within the frame, and its result if it came to one."""

    events: Annotated[tuple[Event, ...], ARRAY]
    result: Annotated[AgentResult | None, OPTIONAL] = None


class Journaled:
    """The agent, but for calls that the journal holds: those are given from there.

    A call is known by its session and the agent's name; its inputs are the prompt, the mode, and
    `settings`: name there whatever else its replies depend on (the model, instructions, tools),
    for a change that is not named there is not seen.

    A call that raised or was interrupted is a failure, and made again when its loop is resumed.
    The budget is no input: what was paid for once is not paid for again.
    """

    def __init__(self, agent: Agent, journal: Journal, *, settings: Any = None) -> None:
        """`settings` is any JSON value."""
        self._agent = agent
        self._journal = journal
        self._settings = settings

    @property
    def name(self) -> str:
        """The agent's own."""
        return self._agent.name

    def stream(
        self,
        prompt: str,
        *,
        session_id: str,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> "JournaledStream":
        """The events as recorded, or as they happen. `completed` comes once they are recorded.

        Raises:
            JournalError: while it is read, the call diverges from the recorded one, or cannot be
                recorded.
            RecordedFailure: while it is read, in a replay: the call raised when it was recorded.
            Exception: while it is read, whatever the agent raised, recorded as a failure.
        """
        inputs: dict[str, Any] = {"prompt": prompt, "text_only": text_only}
        if self._settings is not None:
            inputs["settings"] = self._settings
        call = SubagentInvocation(
            self._agent, prompt, session_id=session_id, budget=budget, text_only=text_only
        )
        return JournaledStream(self._journal, session_id, self.name, inputs, call)


class JournaledStream:
    """The events of one call. An iterator, for the reason that `SubagentInvocation` is one."""

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
        self._heard: list[Event] = []
        self._recorded: Iterator[Event] | None = None
        self._began = False
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if self._ended:
            raise StopAsyncIteration
        try:
            return await self._live() if self._recorded is None else self._told(self._recorded)
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Leave: a call that is going on is cancelled, and nothing of it is recorded."""
        self._ended = True
        await self._call.aclose()

    @property
    def result(self) -> AgentResult | None:
        """What a call that is not recorded came to so far, if its agent can tell."""
        return self._call.result

    def _told(self, recorded: Iterator[Event]) -> Event:
        for event in recorded:
            return event
        raise StopAsyncIteration

    async def _live(self) -> Event:
        session_id, step = self._where
        if not self._began:
            self._began = True
            entry = self._journal.find(session_id, step, self._inputs)
            self._recorded = None if entry is None else _recorded(entry)
            return Event(kind="started", session_id=session_id)
        try:
            self._heard.append(await anext(self._call))
        except StopAsyncIteration:
            return self._completed()
        except JournalError:
            raise  # of a journal within the agent: no failure of the call
        except Exception as error:
            self._keep(describe(error))
            raise
        return self._heard[-1]

    def _completed(self) -> Event:
        result = self._call.result
        assert result is not None  # noqa: S101 - for the type checker: else the call had raised
        self._keep(result.interruption_reason, result=result)
        self._ended = True
        return Event(kind="completed", session_id=self._where[0], result=result)

    def _keep(self, error: str | None, **result: AgentResult) -> None:
        reply = Heard(events=tuple(self._heard), **result).wire()
        self._journal.keep(*self._where, self._inputs, reply=reply, error=error)


def _recorded(entry: Entry) -> Iterator[Event]:
    try:
        heard = build(Heard, entry.reply)
    except InvalidInput as error:
        raise JournalDamaged(f"{entry.step} of {entry.session}: no call: {error}") from None
    yield from heard.events
    if heard.result is None:
        raise RecordedFailure(entry.error)
    yield Event(kind="completed", session_id=entry.session, result=heard.result)
