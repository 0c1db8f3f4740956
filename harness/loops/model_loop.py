"""The driver of the loops with a model for a critic: it asks, and feeds `Revision` the answers.

Rule 1: before every call the budget is checked against all that was spent, by nested calls too.
Rule 2: whatever ends the loop, `completed` comes last with the best output so far; a consumer
        that leaves before finds the same in `result`.
Rule 3: an agent that raises, or was interrupted, ends the loop with a reason; nothing is lost.
        Only what a journal refuses goes on to the consumer as an exception.
"""

import hashlib
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, Self, TypeVar, assert_never

from evals.escaping import escape_line
from harness.agents.agent import Agent, AgentResult, Event, EventKind, describe
from harness.agents.invocation import SubagentInvocation
from harness.agents.journal import JournalError
from harness.agents.usage import NO_USAGE, UNLIMITED, Budget, add_usage
from harness.loops.critique import EMPTY_REPLY
from harness.runtime import revise

CritiqueT = TypeVar("CritiqueT")
LoopRole = Literal["actor", "critic"]

_AGAIN: Final = (
    "{prompt}\n\nYour last reply could not be used: {why}\n"
    "Reply once more, in exactly the form that is asked for above."
)


@dataclass(frozen=True, slots=True)
class Roles(Generic[CritiqueT]):
    """Who is asked for what, in which words, and how the critic's reply is read.

    `later_text_only` says that all but the first draft are wanted without tools.
    """

    actor: Agent
    critic: Agent
    ask_critic: Callable[[str, str], str]
    ask_revision: Callable[[str, str, CritiqueT], str]
    read: Callable[[str, int], revise.Judgement[CritiqueT] | revise.Malformed]
    report: Callable[[CritiqueT], dict[str, Any]]
    later_text_only: bool = False


@dataclass(frozen=True, slots=True)
class _Call:
    role: LoopRole
    round: int
    session_id: str
    invocation: SubagentInvocation


class Loop(Generic[CritiqueT]):
    """An agent made of others: drafts, has each judged, and revises what was refused."""

    name: str

    def __init__(self, roles: Roles[CritiqueT], max_rounds: int) -> None:
        """A loop of at most `max_rounds` judged drafts.

        Raises:
            ValueError: `max_rounds` is not a whole number of at least 1.
        """
        revise.Revision[str, CritiqueT](max_rounds)  # refuses now what it would refuse later
        self._roles = roles
        self._max_rounds = max_rounds

    def declared_workers(self) -> dict[str, Agent]:
        """The agents that it asks, by role."""
        return {"actor": self._roles.actor, "critic": self._roles.critic}

    def stream(
        self,
        prompt: str,
        *,
        session_id: str | None = None,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> "LoopStream[CritiqueT]":
        """One run, which starts when its events are read. Without a session, it is the loop's name.

        The calls have sessions of their own, `{session_id}__actor_{round}` from 0 and
        `{session_id}__critic_{round}` from 1, and `__again` after that where a reply was malformed.
        """
        revision = revise.Revision[str, CritiqueT](self._max_rounds)
        session = self.name if session_id is None else session_id
        return LoopStream(
            self._roles,
            revision,
            prompt=prompt,
            session_id=session,
            budget=budget,
            text_only=text_only,
        )

    async def run(
        self, prompt: str, *, session_id: str | None = None, budget: Budget = UNLIMITED
    ) -> AgentResult:
        """The result of one run, for whoever does not want its events.

        Raises:
            JournalError: what is asked diverges from what a journal of an agent holds.
        """
        async with aclosing(self.stream(prompt, session_id=session_id, budget=budget)) as stream:
            async for _ in stream:
                pass
            return stream.result


class LoopStream(Generic[CritiqueT]):
    """The events of one run. It may be left, and asked for its result, at any moment."""

    def __init__(
        self,
        roles: Roles[CritiqueT],
        revision: revise.Revision[str, CritiqueT],
        *,
        prompt: str,
        session_id: str,
        budget: Budget,
        text_only: bool,
    ) -> None:
        self._roles = roles
        self._revision = revision
        self._prompt = prompt
        self._session_id = session_id
        self._budget = budget
        self._text_only = text_only
        self._usage = NO_USAGE
        self._turns = 0
        self._call: _Call | None = None
        self._unfinished = ""
        self._warned = False
        self._ended = False
        self._told = [self._event("started")]

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while not self._told:
            if self._ended:
                raise StopAsyncIteration
            try:
                await self._go_on()
            except BaseException:
                await self.aclose()
                raise
        return self._told.pop(0)

    async def aclose(self) -> None:
        """Leave: the call that is going on is cancelled, and no other is made."""
        self._ended = True
        self._told.clear()
        if self._call is not None:
            await self._call.invocation.aclose()

    @property
    def attempts(self) -> tuple[revise.Attempt[str, CritiqueT], ...]:
        """Every output so far with its judgement."""
        return self._revision.attempts

    @property
    def result(self) -> AgentResult:
        """What the run came to. Before its end, or left before it: `cancelled`, with all so far.

        The output is the approved one, else the best that was judged, else the newest, else what
        an interrupted actor had. Usage and turns are those of all calls that gave a result.
        """
        revision, call = self._revision, self._call
        reason: revise.StopReason = revision.stop_reason or "cancelled"
        going_on = None if call is None else call.invocation.result
        best = revision.best
        output = self._unfinished if best is None else best.draft
        if best is None and going_on is not None:
            output = going_on.output
        why = self._why(reason)
        facts: dict[str, Any] = {}
        if why is not None:
            facts = {"interrupted": True, "interruption_reason": why}
        return AgentResult(
            output=output,
            turns=self._turns + (going_on.turns if going_on else 0),
            usage=add_usage(self._usage, going_on.usage) if going_on else self._usage,
            stop_reason=reason,
            round=revision.round,
            **facts,
        )

    def _why(self, reason: revise.StopReason) -> str | None:
        """Why it was interrupted, in words; None if it was not."""
        detail = self._revision.detail
        match reason:
            case "budget":
                return detail
            case "planner_error" | "unrecoverable":
                return f"{reason}:round_{self._revision.round}: {detail}"
            case "cancelled":  # the detail is of something before that
                return f"{reason}:round_{self._revision.round}"
            case "approved" | "max_rounds" | "no_progress":
                return None
            case _:
                assert_never(reason)

    def _event(self, kind: EventKind, **data: Any) -> Event:
        return Event(kind=kind, session_id=self._session_id, data=data)

    def _progress(self, what: str, **data: Any) -> Event:
        return self._event("architecture_event", event=what, **data)

    async def _go_on(self) -> None:
        """One step of the run, which has something to tell or brings the next one nearer."""
        revision, call = self._revision, self._call
        if call is not None:
            await self._hear(call)
        elif revision.state == "stopped":
            self._finish()
        elif limit := self._budget.exceeded_by(self._usage):
            revision.feed(revise.OverBudget(f"budget:{limit}"))
            spent = self._usage.wire()
            self._told.append(self._event("budget_exceeded", limit=limit, spent=spent))
        else:
            if revision.state == "drafting":
                self._told.append(self._progress("round_started", round=revision.round))
            self._call = self._due()

    def _finish(self) -> None:
        result = self.result
        reason, why = result.stop_reason, result.interruption_reason
        self._told += (
            self._progress("stopped", reason=reason, round=result.round, why=why),
            Event(kind="completed", session_id=self._session_id, result=result),
        )
        self._ended = True

    def _due(self) -> _Call:
        revision, roles = self._revision, self._roles
        round_, again = revision.round, revision.state in ("redrafting", "rejudging")
        newest = revision.attempts[-1] if revision.attempts else None
        text_only = self._text_only or roles.later_text_only
        role: LoopRole = "actor" if revision.state in ("drafting", "redrafting") else "critic"
        if role == "critic" and newest is not None:
            agent, number = roles.critic, round_ + 1
            prompt = roles.ask_critic(self._prompt, newest.draft)
        elif newest is not None and newest.judgement is not None:
            agent, number = roles.actor, round_
            prompt = roles.ask_revision(self._prompt, newest.draft, newest.judgement.critique)
        else:
            agent, number, prompt, text_only = roles.actor, round_, self._prompt, self._text_only
        if again:
            prompt = _AGAIN.format(prompt=prompt, why=revision.detail)
        session = f"{self._session_id}__{role}_{number}" + ("__again" if again else "")
        left = self._budget.after(self._usage)
        invocation = SubagentInvocation(
            agent, prompt, session_id=session, budget=left, text_only=text_only
        )
        return _Call(role, round_, session, invocation)

    async def _hear(self, call: _Call) -> None:
        """The next event of a call, or its end."""
        try:
            self._told.append(await anext(call.invocation))
            return
        except StopAsyncIteration:
            fault = None
        except JournalError as error:
            self._settle(call)
            self._revision.feed(revise.Failed(describe(error)))
            raise
        except Exception as error:
            fault = describe(error)
        result = self._settle(call)
        if fault is None and result is not None:
            self._told += self._take(call, result)
        else:
            self._revision.feed(revise.Failed(fault or "no result"))
            data = {"role": call.role, "round": call.round, "message": fault}
            self._told.append(Event(kind="error", session_id=call.session_id, data=data))

    def _settle(self, call: _Call) -> AgentResult | None:
        """Count what a call came to, once; keep what an actor had when it ended early."""
        result = call.invocation.result
        self._call = None
        if result is not None:
            self._usage = add_usage(self._usage, result.usage)
            self._turns += result.turns
            if call.role == "actor":
                self._unfinished = result.output
        return result

    def _take(self, call: _Call, result: AgentResult) -> list[Event]:
        """Feed what a call came to; the events are what there is to tell of it."""
        told = []
        if self._budget.nears(self._usage) and not self._warned:
            self._warned = True
            told.append(self._event("budget_warning", spent=self._usage.wire()))
        if (why := result.interruption_reason) is not None:
            why, broke = escape_line(why), result.stop_reason == "budget"
            self._revision.feed(revise.OverBudget(why) if broke else revise.Failed(why))
            return told
        event: revise.RevisionEvent[str, CritiqueT]
        if call.role == "actor":
            event = _drafted(result.output)
        else:
            read = _vouched(self._roles.read(result.output, call.round), result)
            event = revise.JudgedDraft(read) if isinstance(read, revise.Judgement) else read
        self._revision.feed(event)
        facts: dict[str, Any] = {"role": call.role, "round": call.round}
        if isinstance(event, revise.Malformed):
            told.append(self._progress("malformed", why=event.why, **facts))
        elif isinstance(event, revise.JudgedDraft):
            report = self._roles.report(event.judgement.critique)
            ruling = event.judgement.ruling
            told.append(self._progress("judged", round=call.round, ruling=ruling, **report))
        return told


def _vouched(
    read: revise.Judgement[CritiqueT] | revise.Malformed, review: AgentResult
) -> revise.Judgement[CritiqueT] | revise.Malformed:
    """A review that is the output of a loop approves only if that loop approved of it."""
    refused = review.stop_reason is not None and not review.approved
    if refused and isinstance(read, revise.Judgement) and read.ruling == "approved":
        return revise.Malformed(f"its own critic did not approve it: {review.stop_reason}")
    return read


def _drafted(output: str) -> revise.Drafted[str] | revise.Malformed:
    if not output.strip():
        return revise.Malformed(EMPTY_REPLY)
    return revise.Drafted(output, hashlib.sha256(output.encode()).hexdigest())
