"""The plan loop: a planner proposes, `verify` refuses with every violation, the planner revises.

Rule 1: the deterministic verdict decides, before anybody else sees it. An advisor can add findings
        and hold back a plan that verifies; it can never overrule a refusal.
Rule 2: everything that is handed out is a copy: inputs, requests, plans, verdicts, events and
        attempts. A change to one changes no decision.
Rule 3: a loop that is cut short has lost nothing: see `PlanLoop.revision`.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from copy import deepcopy
from datetime import datetime
from typing import Any, Final, Unpack

from critic import (
    Approval,
    CompiledContext,
    DecisionSpec,
    Plan,
    Refused,
    RunContext,
    advise,
    digest,
    verify,
)
from harness.clock import SystemClock
from harness.loops.agents.agent import describe
from harness.loops.agents.journal import JournalError
from harness.loops.agents.retry import DEFAULT_CALLS, OutOfTime
from harness.loops.agents.usage import NO_USAGE, UNLIMITED, Usage, add_usage
from harness.loops.plan_calls import CallSite, PlanCalls, copies_of
from harness.loops.plan_judgement import (
    detail_of,
    facts_of,
    is_revisable,
    judgement_of,
    judgement_unadvised,
)
from harness.loops.plan_replies import findings_of, plan_of, usage_of
from harness.loops.plan_types import (
    PlanCritique,
    PlanEvent,
    PlanEventKind,
    PlanLoopOptions,
    PlanRevision,
    PlanRole,
    RevisingPlanner,
    RevisionRequest,
)
from harness.loops.revise import (
    DEFAULT_MAX_ROUNDS,
    Cancelled,
    Drafted,
    Failed,
    JudgedDraft,
    Malformed,
    OverBudget,
    Revision,
    RevisionEvent,
)
from harness.wire import detached_copy

_Event = RevisionEvent[Plan, PlanCritique]


async def revise_plan(
    *,
    ctx: RunContext,
    compiled: CompiledContext,
    spec: DecisionSpec,
    planner: RevisingPlanner,
    **options: Unpack[PlanLoopOptions],
) -> PlanRevision:
    """Have a plan made and revised until it verifies, cannot be repaired, or rounds run out.

    Raises:
        ValueError: `max_rounds` is not a whole number of at least 1.
        JournalError: a call diverges from the one that the journal holds.
        asyncio.CancelledError: cancelled. Run a `PlanLoop` to keep what there was until then.
    """
    return await PlanLoop(ctx=ctx, compiled=compiled, spec=spec, planner=planner, **options).run()


class PlanLoop:
    """One run of the plan loop, read by one consumer at a time; see `PlanLoopOptions`."""

    def __init__(
        self,
        *,
        ctx: RunContext,
        compiled: CompiledContext,
        spec: DecisionSpec,
        planner: RevisingPlanner,
        **options: Unpack[PlanLoopOptions],
    ) -> None:
        """Prepare a loop.

        Raises:
            ValueError: `max_rounds` is not a whole number of at least 1.
            TypeError: an option is unknown.
        """
        if unknown := options.keys() - PlanLoopOptions.__annotations__.keys():
            raise TypeError(f"unknown option {', '.join(sorted(unknown))}: see PlanLoopOptions")
        session = options.get("session")
        self._machine: Final = Revision[Plan, PlanCritique](
            options.get("max_rounds", DEFAULT_MAX_ROUNDS)
        )
        self._inputs: Final = copies_of((ctx, compiled, spec))
        self._planner: Final = planner
        self._options: Final = options
        self._feedback: Final = tuple(options.get("feedback", ()))
        self._session: Final = ctx.trace_id if session is None else session
        self._budget: Final = options.get("budget", UNLIMITED)
        self._now: Final = (options.get("clock") or SystemClock()).now
        self._calls: Final = self._plan_calls()
        self._began: datetime | None = None
        self._sequence = 0
        self._pending: list[PlanEvent] = []
        self._usage = NO_USAGE
        self._error: Exception | None = None

    def _plan_calls(self) -> PlanCalls:
        return PlanCalls(
            self._inputs,
            self._planner,
            self._options.get("advisor"),
            policy=self._options.get("calls", DEFAULT_CALLS),
            journal=self._options.get("journal"),
            session=self._session,
            settings=self._options.get("settings"),
            on_failure=self._note_failure,
        )

    @property
    def revision(self) -> PlanRevision:
        """Return a copy of the outcome; before the end, or if cancelled, of the state so far."""
        machine = self._machine
        approved = machine.approved
        return PlanRevision(
            stop_reason=machine.stop_reason,
            plan=None if approved is None else deepcopy(approved.draft),
            best_attempt=deepcopy(machine.best),
            attempts=deepcopy(machine.attempts),
            detail=detail_of(machine),
            error=self._error,
            usage=self._usage,
        )

    async def run(self) -> PlanRevision:
        """Go on until the loop has ended.

        Raises:
            JournalError: a call diverges from the one that the journal holds.
            asyncio.CancelledError: cancelled; `revision` has what there was until then.
        """
        async with aclosing(self.stream()) as events:
            async for _ in events:
                pass
        return self.revision

    async def stream(self) -> AsyncGenerator[PlanEvent, None]:
        """Go on until the loop has ended, and give its events. `revision` has the outcome.

        A consumer that closes the generator before its end cancels the loop. Events of a call,
        such as its retries, are given when the call has ended; their `at` is when they happened.

        Raises:
            JournalError: a call diverges from the one that the journal holds.
        """
        machine = self._machine
        try:
            if self._began is None:
                self._began = self._now()
                self._tell("started")
            while machine.state != "stopped":
                await self._advance()
                while self._pending:
                    yield self._pending.pop(0)
        except BaseException as interrupt:
            if machine.state != "stopped":
                cancelled = isinstance(interrupt, asyncio.CancelledError | GeneratorExit)
                machine.feed(Cancelled("cancelled" if cancelled else type(interrupt).__name__))
            raise

    async def continue_with(
        self, approvals: Sequence[Approval], *, as_of: datetime | None = None
    ) -> PlanRevision:
        """Verify the last plan again under these approvals, without asking the planner.

        `as_of` is the new time of the context, unless it stays as it was. The advisor is asked, as
        for any plan that verifies. This loop stays as it is, so it can be continued again.

        Raises:
            ValueError: `revision.awaits_approval` is false.
            JournalError: the call of the advisor diverges from the one that the journal holds.
        """
        revision = self.revision
        if not revision.awaits_approval:
            raise ValueError("this loop does not wait for approvals: see revision.outstanding")
        ctx, compiled, spec = self._inputs
        changes: dict[str, Any] = {"approvals": (*(ctx.approvals or ()), *approvals)}
        ctx = ctx.model_copy(update=changes if as_of is None else {**changes, "as_of": as_of})
        session = f"{self._session}__approved_{digest(ctx)[:12]}"
        options: PlanLoopOptions = {**self._options, "session": session}
        options["max_rounds"] = len(revision.attempts)
        loop = PlanLoop(ctx=ctx, compiled=compiled, spec=spec, planner=self._planner, **options)
        loop._repeat(self)
        return await loop.run()

    def _repeat(self, before: "PlanLoop") -> None:
        """Take in the attempts of another loop, the last one without its judgement."""
        self._usage = before._usage
        *earlier, last = deepcopy(before._machine.attempts)
        for attempt in earlier:
            self._machine.feed(Drafted(attempt.draft, attempt.digest))
            if attempt.judgement is not None:
                self._machine.feed(JudgedDraft(attempt.judgement))
        self._machine.feed(Drafted(last.draft, last.digest))

    async def _advance(self) -> None:
        """Make the call that is due, and take in its outcome."""
        machine = self._machine
        role: PlanRole = "planner" if machine.due == "draft" else "advisor"
        event = await (self._draft() if role == "planner" else self._judge())
        round_ = machine.round
        machine.feed(event)
        if isinstance(event, Malformed):
            self._tell("malformed", round=round_, role=role, why=event.why)
        elif isinstance(event, Drafted):
            self._tell("drafted", round=round_, plan_digest=event.digest)
        elif isinstance(event, JudgedDraft):
            facts = facts_of(event.judgement)
            self._tell("judged", round=round_, plan_digest=machine.attempts[-1].digest, **facts)
        if machine.stop_reason is not None:
            why = {"why": detail} if (detail := detail_of(machine)) else {}
            self._tell("stopped", stop_reason=machine.stop_reason, **why)

    def _tell(self, kind: PlanEventKind, **facts: Any) -> None:
        facts = {"round": self._machine.round, "session": self._session, **facts}
        self._pending.append(PlanEvent(kind=kind, sequence=self._sequence, at=self._now(), **facts))
        self._sequence += 1

    def _note_failure(self, role: PlanRole, wait: float, why: str) -> None:
        self._tell("retrying", role=role, wait_s=wait, why=why)

    def _elapsed_seconds(self) -> float:
        return 0.0 if self._began is None else max(0.0, (self._now() - self._began).total_seconds())

    def _limit(self) -> OverBudget | None:
        """Return why no other call may be made, if so."""
        limit = self._budget.exceeded_by(self._usage, self._elapsed_seconds())
        return OverBudget(f"budget:{limit}") if limit else None

    def _site(self) -> CallSite:
        left = self._budget.remaining_after(self._usage, self._elapsed_seconds())
        return CallSite(self._machine.round, self._machine.again, left.max_seconds)

    def _count_failure(self, error: Exception) -> None:
        """Keep the error of a call. The cost of a call that timed out is unknown."""
        self._error = error
        if isinstance(error, TimeoutError | OutOfTime):
            self._usage = add_usage(self._usage, Usage())

    async def _draft(self) -> _Event:
        if limit := self._limit():
            return limit
        try:
            reply = await self._calls.plan(self._request(), self._site())
        except JournalError:
            raise
        except Exception as error:
            self._count_failure(error)
            out_of_time = isinstance(error, OutOfTime)
            return OverBudget(str(error)) if out_of_time else Failed(describe(error))
        self._usage = add_usage(self._usage, usage_of(reply))
        if "malformed" in reply:
            return Malformed(reply["malformed"])
        plan = plan_of(reply)
        return Drafted(plan, digest(plan))

    def _request(self) -> RevisionRequest | None:
        """Return the request to the planner; None for the first plan without feedback."""
        machine, facts = self._machine, dict[str, Any]()
        if machine.again:
            facts["complaint"] = machine.detail
        last = machine.attempts[-1] if machine.attempts else None
        if last is not None and last.judgement is not None:
            critique = last.judgement.critique
            facts |= {"plan": last.draft, "plan_digest": last.digest, "findings": critique.findings}
            if isinstance(critique.verdict, Refused):
                facts |= {"violations": critique.verdict.violations, "advice": critique.advice}
        if self._feedback:
            facts["feedback"] = self._feedback
        return RevisionRequest(round=machine.round, **facts) if facts else None

    async def _judge(self) -> _Event:
        """Verify the newest plan, and ask the advisor where that can make a difference."""
        machine = self._machine
        plan = machine.attempts[-1].draft
        verdict = detached_copy(verify(*self._inputs, plan))
        advice = advise(*self._inputs, plan)
        last = len(machine.attempts) == machine.max_rounds
        limit = self._limit()
        hopeless = advice is not None and (last or limit or not is_revisable(advice))
        critique = PlanCritique(verdict, advice, ())
        if self._options.get("advisor") is None or hopeless:
            return JudgedDraft(judgement_of(critique))
        return limit or await self._review(plan, critique)

    async def _review(self, plan: Plan, critique: PlanCritique) -> _Event:
        """Ask the advisor. Its findings are added to a critique that is decided already."""
        try:
            reply = await self._calls.review(plan, critique.verdict, self._site())
        except JournalError:
            raise
        except Exception as error:
            self._count_failure(error)
            if isinstance(error, OutOfTime) and not isinstance(critique.verdict, Refused):
                return OverBudget(str(error))
            return JudgedDraft(judgement_unadvised(critique, describe(error)))
        self._usage = add_usage(self._usage, usage_of(reply))
        if "findings" in reply:
            advised = PlanCritique(critique.verdict, critique.advice, findings_of(reply))
            return JudgedDraft(judgement_of(advised))
        if not self._machine.again:
            return Malformed(reply["malformed"])
        return JudgedDraft(judgement_unadvised(critique, reply["malformed"]))
