"""One run of a loop with a model as critic: it makes the calls, and feeds `Revision`.

Rule 1: before every call the budget is checked against everything that was spent, by nested calls
        too, and against the time that has passed.
Rule 2: however the loop ends, `completed` comes last, with the best output so far. A consumer that
        leaves before finds the same in `result`.
Rule 3: an agent that raises an error, or was interrupted, ends the loop with a reason; nothing is
        lost. Only the errors of a journal are raised to the consumer.
Rule 4: events, results and attempts that are handed out are copies: changing them changes no
        decision.
"""

import hashlib
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, Literal, NamedTuple, Self, assert_never

from evals.escaping import escape_line
from harness.loops import revise
from harness.loops.agents.agent import Agent, AgentResult, Event, EventKind, describe
from harness.loops.agents.invocation import SubagentInvocation
from harness.loops.agents.journal import JournalError
from harness.loops.agents.journaled import with_policy
from harness.loops.agents.retry import CallPolicy
from harness.loops.agents.usage import NO_USAGE, Budget, add_usage
from harness.loops.critique import EMPTY_REPLY
from harness.loops.revise import CritiqueT
from harness.runtime.ports import Clock

LoopRole = Literal["actor", "critic"]

_AGAIN: Final = (
    "{prompt}\n\nYour last reply could not be used: {why}\n"
    "Reply once more, in exactly the form that is asked for above."
)


class Asked(NamedTuple):
    """The question to a critic: the draft to judge, its round, and the whole prompt."""

    draft: str
    round: int
    prompt: str


@dataclass(frozen=True, slots=True)
class LoopSpec(Generic[CritiqueT]):
    """The two agents, the prompts they are given, and how a reply of the critic is parsed.

    With `later_text_only`, every call but the first is made without tools. `reviser` returns the
    agent that revises after a critique, where it is not the actor.
    """

    actor: Agent
    critic: Agent
    ask_critic: Callable[[str, str], str]
    ask_revision: Callable[[str, str, CritiqueT], str]
    read: Callable[[str, Asked], revise.Judgement[CritiqueT] | revise.Malformed]
    report: Callable[[CritiqueT], dict[str, Any]]
    later_text_only: bool = False
    reviser: Callable[[CritiqueT], Agent] | None = None


@dataclass(frozen=True, slots=True)
class _Call:
    role: LoopRole
    round: int
    session_id: str
    invocation: SubagentInvocation
    asked: Asked


class LoopStream(Generic[CritiqueT]):
    """The events of one run. It may be left, and asked for its result, at any moment.

    Each event has the next `sequence` number, from 0, and the time `at`.
    """

    def __init__(
        self,
        spec: LoopSpec[CritiqueT],
        revision: revise.Revision[str, CritiqueT],
        *,
        prompt: str,
        session_id: str,
        budget: Budget,
        text_only: bool,
        calls: CallPolicy,
        clock: Clock,
    ) -> None:
        self._spec = spec
        self._revision = revision
        self._prompt = prompt
        self._session_id = session_id
        self._budget = budget
        self._text_only = text_only
        self._calls = calls
        self._now = clock.now
        self._began: datetime | None = None
        self._sequence = 0
        self._usage = NO_USAGE
        self._turns = 0
        self._call: _Call | None = None
        self._unfinished = ""
        self._warned = False
        self._ended = False
        self._pending: list[Event] = []

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if self._began is None and not self._ended:
            self._began = self._now()
            self._tell("started")
        while not self._pending:
            if self._ended:
                raise StopAsyncIteration
            try:
                await self._advance()
            except BaseException:
                await self.aclose()
                raise
        return self._pending.pop(0)

    async def aclose(self) -> None:
        """Cancel the call that is going on, and make no other."""
        self._ended = True
        self._pending.clear()
        if self._call is not None:
            await self._call.invocation.aclose()

    @property
    def attempts(self) -> tuple[revise.Attempt[str, CritiqueT], ...]:
        """Return copies of all outputs so far with their judgements."""
        return deepcopy(self._revision.attempts)

    @property
    def result(self) -> AgentResult:
        """Return the result; before the end, or if it was left early, `cancelled` with all so far.

        The output is the approved one, else the best that was judged, else the newest, else the
        partial output of an interrupted actor. Usage and turns are the sums of all calls.
        """
        revision, call = self._revision, self._call
        reason: revise.StopReason = revision.stop_reason or "cancelled"
        partial = None if call is None else call.invocation.result
        best = revision.best
        output = self._unfinished if best is None else best.draft
        if best is None and partial is not None:
            output = partial.output
        why = self._why_interrupted(reason)
        facts: dict[str, Any] = {}
        if why is not None:
            facts = {"interrupted": True, "interruption_reason": why}
        return AgentResult(
            output=output,
            turns=self._turns + (partial.turns if partial else 0),
            usage=add_usage(self._usage, partial.usage) if partial else self._usage,
            stop_reason=reason,
            round=revision.round,
            **facts,
        )

    def _why_interrupted(self, reason: revise.StopReason) -> str | None:
        """Return why it was interrupted, in words; None if it was not."""
        detail = self._revision.detail
        match reason:
            case "budget":
                return detail
            case "planner_error" | "unrecoverable":
                return f"{reason}:round_{self._revision.round}: {detail}"
            case "cancelled":  # the detail is of an earlier event
                return f"{reason}:round_{self._revision.round}"
            case "approved" | "max_rounds" | "no_progress":
                return None
            case _:
                assert_never(reason)

    def _elapsed_seconds(self) -> float:
        """Return the seconds since the first event."""
        return 0.0 if self._began is None else max(0.0, (self._now() - self._began).total_seconds())

    def _tell(self, kind: EventKind, **data: Any) -> None:
        self._hand_out(Event(kind=kind, session_id=self._session_id, data=data))

    def _tell_progress(self, what: str, **data: Any) -> None:
        self._tell("architecture_event", event=what, **data)

    def _hand_out(self, event: Event) -> None:
        """Number an event and give it the time, also if a loop within this one gave it others."""
        stamp = {"sequence": self._sequence, "at": self._now()}
        self._pending.append(event.model_copy(update=stamp))
        self._sequence += 1

    async def _advance(self) -> None:
        """Take one step of the run. It may add events."""
        revision, call = self._revision, self._call
        if call is not None:
            await self._next_event(call)
        elif revision.state == "stopped":
            self._finish()
        elif limit := self._budget.exceeded_by(self._usage, self._elapsed_seconds()):
            revision.feed(revise.OverBudget(f"budget:{limit}"))
            self._tell("budget_exceeded", limit=limit, spent=self._usage.wire())
        else:
            if revision.state == "drafting":
                self._tell_progress("round_started", round=revision.round)
            self._call = self._next_call()

    def _finish(self) -> None:
        result = self.result
        reason, why = result.stop_reason, result.interruption_reason
        self._tell_progress("stopped", reason=reason, round=result.round, why=why)
        self._hand_out(Event(kind="completed", session_id=self._session_id, result=result))
        self._ended = True

    def _next_call(self) -> _Call:
        revision, spec = self._revision, self._spec
        number = revision.round
        newest = revision.attempts[-1] if revision.attempts else None
        text_only = self._text_only or spec.later_text_only
        role: LoopRole = "actor" if revision.due == "draft" else "critic"
        if role == "critic" and newest is not None:
            agent, number = spec.critic, revision.round + 1
            prompt = spec.ask_critic(self._prompt, newest.draft)
        elif newest is not None and newest.judgement is not None:
            critique = newest.judgement.critique
            agent = spec.actor if spec.reviser is None else spec.reviser(critique)
            prompt = spec.ask_revision(self._prompt, newest.draft, critique)
        else:
            agent, prompt, text_only = spec.actor, self._prompt, self._text_only
        asked = Asked("" if newest is None else newest.draft, revision.round, prompt)
        if revision.again:
            prompt = _AGAIN.format(prompt=prompt, why=revision.detail)
        session = f"{self._session_id}__{role}_{number}" + ("__again" if revision.again else "")
        invocation = SubagentInvocation(
            with_policy(agent, self._calls),
            prompt,
            session_id=session,
            budget=self._budget.remaining_after(self._usage, self._elapsed_seconds()),
            text_only=text_only,
        )
        return _Call(role, revision.round, session, invocation, asked)

    async def _next_event(self, call: _Call) -> None:
        """Hand out the next event of a call, or take in its outcome."""
        try:
            self._hand_out(await anext(call.invocation))
            return
        except StopAsyncIteration:
            reason = None
        except JournalError as error:
            self._settle(call)
            self._revision.feed(revise.Failed(describe(error)))
            raise
        except Exception as error:
            reason = describe(error)
        result = self._settle(call)
        if reason is None and result is not None:
            self._take(call, result)
        else:
            self._revision.feed(revise.Failed(reason or "no result"))
            data = {"role": call.role, "round": call.round, "message": reason}
            self._hand_out(Event(kind="error", session_id=call.session_id, data=data))

    def _settle(self, call: _Call) -> AgentResult | None:
        """Count a call that has ended, once; keep the partial output of an actor."""
        result = call.invocation.result
        self._call = None
        if result is not None:
            self._usage = add_usage(self._usage, result.usage)
            self._turns += result.turns
            if call.role == "actor":
                self._unfinished = result.output
        return result

    def _take(self, call: _Call, result: AgentResult) -> None:
        """Feed the outcome of a call, and report it."""
        nearly = self._budget.nearly_exceeded_by(self._usage, self._elapsed_seconds())
        if nearly and not self._warned:
            self._warned = True
            self._tell("budget_warning", spent=self._usage.wire())
        if (why := result.interruption_reason) is not None:
            why, over_budget = escape_line(why), result.stop_reason == "budget"
            self._revision.feed(revise.OverBudget(why) if over_budget else revise.Failed(why))
            return
        event: revise.RevisionEvent[str, CritiqueT]
        if call.role == "actor":
            event = _read_draft(result.output)
        else:
            review = self._spec.read(result.output, call.asked)
            review = _reject_unapproved_review(review, result)
            event = revise.JudgedDraft(review) if isinstance(review, revise.Judgement) else review
        self._revision.feed(event)
        if isinstance(event, revise.Malformed):
            self._tell_progress("malformed", why=event.why, role=call.role, round=call.round)
        elif isinstance(event, revise.JudgedDraft):
            report = self._spec.report(event.judgement.critique)
            ruling = event.judgement.ruling
            self._tell_progress("judged", round=call.round, ruling=ruling, **report)


def _reject_unapproved_review(
    review: revise.Judgement[CritiqueT] | revise.Malformed, result: AgentResult
) -> revise.Judgement[CritiqueT] | revise.Malformed:
    """Return the review, unless it approves and comes from a loop that did not approve it."""
    refused = result.stop_reason is not None and not result.approved
    if refused and isinstance(review, revise.Judgement) and review.ruling == "approved":
        return revise.Malformed(f"its own critic did not approve it: {result.stop_reason}")
    return review


def _read_draft(output: str) -> revise.Drafted[str] | revise.Malformed:
    if not output.strip():
        return revise.Malformed(EMPTY_REPLY)
    return revise.Drafted(output, hashlib.sha256(output.encode()).hexdigest())
