"""The loops with a model as critic, as agents: what they call, and how a run begins."""

from contextlib import aclosing
from typing import Generic

from harness.loops import revise
from harness.loops.agents.agent import Agent, AgentResult
from harness.loops.agents.retry import CallPolicy
from harness.loops.agents.usage import UNLIMITED, Budget
from harness.loops.loop_stream import LoopSpec, LoopStream
from harness.loops.revise import CritiqueT
from harness.runtime.ports import Clock


class Loop(Generic[CritiqueT]):
    """An agent made of others: drafts, has each draft judged, and revises what was refused."""

    name: str

    def __init__(
        self, spec: LoopSpec[CritiqueT], max_rounds: int, *, calls: CallPolicy, clock: Clock
    ) -> None:
        """Prepare a loop of at most `max_rounds` judged drafts.

        Raises:
            ValueError: `max_rounds` is not a whole number of at least 1.
        """
        revise.Revision[str, CritiqueT](max_rounds)  # refuses now what it would refuse later
        self._spec = spec
        self._max_rounds = max_rounds
        self._calls = calls
        self._clock = clock
        self._session = self.name

    def declared_workers(self) -> dict[str, Agent]:
        """Return the agents that it calls, by role."""
        return {"actor": self._spec.actor, "critic": self._spec.critic}

    def stream(
        self,
        prompt: str,
        *,
        session_id: str | None = None,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> "LoopStream[CritiqueT]":
        """Return one run, which starts when its events are read.

        `session_id` is the loop's name unless given. The calls have sessions of their own:
        `{session_id}__actor_{round}` from 0 and `{session_id}__critic_{round}` from 1, with
        `__again` after that where a reply was malformed.
        """
        revision = revise.Revision[str, CritiqueT](self._max_rounds)
        session = self._session if session_id is None else session_id
        return LoopStream(
            self._spec,
            revision,
            prompt=prompt,
            session_id=session,
            budget=budget,
            text_only=text_only,
            calls=self._calls,
            clock=self._clock,
        )

    async def run(
        self, prompt: str, *, session_id: str | None = None, budget: Budget = UNLIMITED
    ) -> AgentResult:
        """Run once and return the result, without the events.

        Raises:
            JournalError: a call diverges from the one that a journal of an agent holds.
        """
        async with aclosing(self.stream(prompt, session_id=session_id, budget=budget)) as stream:
            async for _ in stream:
                pass
            return stream.result
