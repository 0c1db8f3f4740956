"""An agent whose calls are kept in a journal, their events included.

The call as a whole is the step: what an agent did in a call that was cut short, tools included,
is done again. So to resume a loop in its middle, journal its agents and not the loop.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

from evals.envelope import ARRAY, OPTIONAL, Envelope
from harness.runtime.agent import UNLIMITED, Agent, AgentResult, Budget, Event, describe
from harness.runtime.journal import (
    Entry,
    Journal,
    JournalDamaged,
    JournalError,
    RecordedFailure,
)
from harness.runtime.subagent import SubagentInvocation
from harness.wire import InvalidInput, build


class Heard(Envelope):
    """What a call gave: its events within the frame, and its result if it came to one."""

    events: Annotated[tuple[Event, ...], ARRAY]
    result: Annotated[AgentResult | None, OPTIONAL] = None


class Journaled:
    """The agent, but for calls that the journal holds: those are given from there.

    A call is known by its session and the agent's name; its inputs are the prompt and the mode.
    A call that raised or was interrupted is a failure, and made again when its loop is resumed.
    The budget is no input: what was paid for once is not paid for again.
    """

    def __init__(self, agent: Agent, journal: Journal) -> None:
        self._agent = agent
        self._journal = journal

    @property
    def name(self) -> str:
        """The agent's own."""
        return self._agent.name

    async def stream(
        self,
        prompt: str,
        *,
        session_id: str,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """The events as recorded, or as they happen. `completed` comes once they are recorded.

        Raises:
            JournalError: the call diverges from the recorded one, or cannot be recorded.
            RecordedFailure: in a replay, the call raised when it was recorded.
            Exception: whatever the agent raised, recorded as a failure.
        """
        inputs = {"prompt": prompt, "text_only": text_only}
        entry = self._journal.find(session_id, self.name, inputs)
        call = SubagentInvocation(
            self._agent, prompt, session_id=session_id, budget=budget, text_only=text_only
        )
        yield Event(kind="started", session_id=session_id)
        events = self._live(call, session_id, inputs) if entry is None else _recorded(entry)
        async with aclosing(events):
            async for event in events:
                yield event

    async def _live(
        self, call: SubagentInvocation, session_id: str, inputs: dict[str, Any]
    ) -> AsyncGenerator[Event, None]:
        heard: list[Event] = []

        def keep(error: str | None, **result: AgentResult) -> None:
            reply = Heard(events=tuple(heard), **result).wire()
            self._journal.keep(session_id, self.name, inputs, reply=reply, error=error)

        try:
            async with aclosing(call.events()) as events:
                async for event in events:
                    heard.append(event)
                    yield event
        except JournalError:
            raise  # of a journal within the agent: no failure of the call
        except Exception as error:
            keep(describe(error))
            raise
        if (result := call.result) is not None:
            keep(result.interruption_reason, result=result)
            yield Event(kind="completed", session_id=session_id, result=result)


async def _recorded(entry: Entry) -> AsyncGenerator[Event, None]:
    try:
        heard = build(Heard, entry.reply)
    except InvalidInput as error:
        raise JournalDamaged(f"{entry.step} of {entry.session}: no call: {error}") from None
    for event in heard.events:
        yield event
    if heard.result is None:
        raise RecordedFailure(entry.error)
    yield Event(kind="completed", session_id=entry.session, result=heard.result)
