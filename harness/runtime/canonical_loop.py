"""The canonical loop: plan, verify, execute, score, consolidate, record.

Rule 1: nothing runs without a permit, and only a verified proposal gets one.
Rule 2: every decision is recorded: a refusal, a success, an executor that raises after an effect,
        a cancellation. Every call that was made until then is in the record, and that an execution
        begins is recorded before it does: what cannot be recorded does not begin.
Rule 3: the loop uses no clock, disk or network directly; it has ports.
Rule 4: what the loop decides by, it never hands out. Ports and listeners are given copies, and
        what they return is copied before it is judged.
Rule 5: where an approval was used before, the plan is judged without it: two loops at once, with
        the same approval, run a plan once.
"""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from critic import (
    CompiledContext,
    CriticReport,
    DecisionSpec,
    Opening,
    Plan,
    Proposal,
    Refused,
    Run,
    RunContext,
    ScoreVerdict,
    ToolCall,
    Verified,
    consolidate,
    score,
    verify,
    verify_proposal,
)
from evals.plan import is_late_plan
from evals.run import refused_opening
from harness.canonical import digest
from harness.errors import HarnessError
from harness.failures import class_name
from harness.record import (
    BegunRecord,
    Decision,
    DecisionRecord,
    RunFacts,
)
from harness.record.inputs import Held, HeldContext, HeldInputs, held_context
from harness.runtime.awaiting import await_shielded, maybe_await
from harness.runtime.beginnings import begin_execution
from harness.runtime.loop_events import EventEmitter, Listener
from harness.runtime.permit import Permit, permit_for
from harness.runtime.ports import (
    Clock,
    DecisionLog,
    Execution,
    Executor,
    OpensSteps,
    Planner,
    PlaysBack,
    RecordsAttempts,
    RecordsInThread,
)
from harness.runtime.recorder import CallRecorder
from harness.runtime.step_permits import Approver, StepRefused
from harness.wire import detached_copy

if TYPE_CHECKING:
    from harness.runtime.opening_desk import OpeningDesk


_Attempt = dict[str, Plan | Verified | Refused]
"""The members of one attempt in a Decision: `plan` and `verdict`."""

_NOT_REDEEMED: Final = "the executor did not redeem its permit"
_NOT_OPENED: Final = "nothing was executed: the executor does not open the steps of a late plan"
_NOT_BEGUN: Final = "nothing was executed: the log did not take the record of its beginning"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One turn of the loop.

    Attributes:
        proposal: what was verified, with the plan that the planner proposed.
        report: the verdicts and the status.
        run: what was executed, if anything was.
        record: the record that the log kept.
    """

    proposal: Proposal
    report: CriticReport
    run: Run | None
    record: DecisionRecord

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the plan, or the opening of a step, was refused; else empty.

        That an approval was used before comes first.
        """
        verdict = self.report.verify
        if verdict.ok:
            refused = None if self.run is None else refused_opening(self.run.openings)
            return () if refused is None else refused.verdict.reasons
        return (*filter(None, [self.record.error]), *verdict.reasons)


class ExecutionFailed(HarnessError):
    """The executor raised, did not redeem its permit, or does not open the steps of a late plan.

    `outcome` has the calls it made.
    """

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(f"{outcome.record.error}; recorded as decision {outcome.record.seq}")
        self.outcome = outcome


class NotRecorded(HarnessError):
    """The decision log did not take the decision. It is kept here, in `decision`."""

    def __init__(self, decision: Decision) -> None:
        super().__init__("the decision was made but the log did not take it: see `decision`")
        self.decision = decision


async def run_canonical_loop(
    *,
    ctx: RunContext,
    compiled: CompiledContext,
    spec: DecisionSpec,
    planner: Planner,
    executor: Executor | None,
    clock: Clock,
    log: DecisionLog,
    intent: str | None = None,
    listener: Listener | None = None,
    approver: Approver | None = None,
) -> Outcome:
    """Take one decision from plan to record. Without an executor it is a dry run.

    Each step of a late plan is opened before it is sent. A refused opening ends the plan, once the
    `approver` was asked where that may clear it: see `refused_at`.

    Where the log is RecordsBegun, that an execution begins is recorded before it does, and uses up
    the approvals that it relies on. A plan is judged without approvals that were used before.

    To go on with a plan that waited for an approval, run the loop again with a FixedPlanner.

    `compiled` is read at the first turn with this very object: later changes of it do not count.

    Raises:
        ExecutionFailed: the executor raised, returned without having redeemed its permit, or is not
            OpensSteps while the plan is late; the decision is recorded with the calls it made.
        NotRecorded: the log failed; the decision is in the exception, without a run if the log did
            not take the beginning: nothing was executed.
        TypeError: the clock has no zone; nothing was executed.
        asyncio.CancelledError: cancelled; a decision whose execution had begun is recorded first.
        Exception: what the planner raised; nothing was executed.
    """
    inputs = await _ask_planner(planner, ctx, compiled, spec)
    tried, verdict = _tried_plans(planner, inputs), verify_proposal(inputs.proposal)
    events, began = EventEmitter(listener, partial(_time_or_none, clock)), _aware_time(clock)
    turn = _Turn(inputs, tried, verdict, clock, log, intent, began, events, approver)
    return await turn.take(executor)


async def _ask_planner(
    planner: Planner, ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec
) -> HeldInputs:
    """Return the inputs with the plan that the planner proposes for copies of them."""
    # Envelopes are frozen, but the JSON in them can be changed in place, by the caller too.
    held = Held(ctx), held_context(compiled), Held(spec)
    plan = await maybe_await(planner.plan(*_handed_out(*held)))
    return _copy_inputs(*held, plan)


def _handed_out(
    ctx: Held[RunContext], context: HeldContext, spec: Held[DecisionSpec]
) -> tuple[RunContext, CompiledContext, DecisionSpec]:
    """Return copies for the planner."""
    return ctx.handed_out(), context.handed_out(), spec.handed_out()


def _copy_inputs(
    ctx: Held[RunContext], context: HeldContext, spec: Held[DecisionSpec], plan: Any
) -> HeldInputs:
    """Return the inputs with a copy of the plan that the planner returned."""
    proposed = Proposal(ctx=ctx.envelope, compiled=context.envelope, spec=spec.envelope, plan=plan)
    return HeldInputs(ctx, context, spec, Held(proposed.plan))


def _tried_plans(planner: Planner, inputs: HeldInputs) -> tuple[Plan, ...]:
    """Return the plans that the planner tried before the proposed one, oldest first."""
    if not isinstance(planner, RecordsAttempts):
        return ()
    plans = [Held(plan) for plan, _ in planner.refused_attempts()]
    return tuple(plan.envelope for plan in plans if plan.body != inputs.plan.body)


def _aware_time(clock: Clock) -> datetime:
    return _require_aware(clock.now())


def _require_aware(moment: datetime) -> datetime:
    if not isinstance(moment, datetime) or moment.utcoffset() is None:
        raise TypeError("the clock tells a time without a zone; nothing was executed")
    return moment


@dataclass(frozen=True, slots=True)
class _Turn:
    """One decision on its way to the log. Nobody else holds the inputs and the verdict."""

    inputs: HeldInputs
    tried: tuple[Plan, ...]
    verdict: Verified | Refused
    clock: Clock
    log: DecisionLog
    intent: str | None
    began: datetime
    events: EventEmitter
    approver: Approver | None = None
    begun: BegunRecord | None = None
    note: str | None = None

    @property
    def proposal(self) -> Proposal:
        """The proposal that is decided. It is never handed out."""
        return self.inputs.proposal

    async def take(self, executor: Executor | None) -> Outcome:
        turn = self
        if executor is not None and self.verdict.ok and not self._is_run_by(executor):
            return await self.refuse_late(executor)
        if executor is not None and not isinstance(executor, PlaysBack):
            turn = await self.begin()
        self.events.tell_planned(self.proposal.plan)
        self.events.tell_verified(turn.verdict)
        if isinstance(turn.verdict, Refused) or executor is None:
            return await turn.record(turn.handed_in(executor), self.began, turn.note)
        return await turn.execute(executor)

    def _is_run_by(self, executor: Executor) -> bool:
        """Return whether an executor runs the plan: of a late one it has to open the steps."""
        if not is_late_plan(self.proposal.plan):
            return True
        opens = isinstance(executor, OpensSteps) and executor.opens_steps is True
        return opens and not isinstance(executor, PlaysBack)

    async def refuse_late(self, executor: Executor) -> Outcome:
        """Record a late plan that the executor does not run: nothing begins, no approval is used.

        A run of one that is played back has the openings that follow from it now.
        """
        self.events.tell_planned(self.proposal.plan)
        self.events.tell_verified(self.verdict)
        run = self.handed_in(executor)
        if run is not None:
            return await self.record(run, self.began)
        raise ExecutionFailed(await self.record(None, self.began, _NOT_OPENED))

    async def begin(self) -> "_Turn":
        """Return the turn with the record that its execution begins, or refused."""
        try:
            started = await begin_execution(self.log, self.inputs, self.verdict, self.began)
        except Exception as failure:
            raise NotRecorded(self._decision(None, None, _NOT_BEGUN)) from failure
        turn = replace(
            self,
            inputs=started.inputs,
            verdict=started.verdict,
            begun=started.record,
            note=started.note,
        )
        if started.cancelled:
            await turn.record(None, error="cancelled")
            raise asyncio.CancelledError
        return turn

    def handed_in(self, executor: Executor | None) -> Run | None:
        """Return the run of the transcript that is played back, if it is of this proposal."""
        if not isinstance(executor, PlaysBack):
            return None
        run = executor.transcript
        if digest(run.proposal) != self.inputs.digest:
            return None
        facts = {"wall_ms": run.wall_ms, "tokens": run.tokens, "cost_micros": run.cost_micros}
        execution = Execution(outputs=run.outputs, **facts, played_back=True)
        return self._run(run.calls, execution, _openings_now(run))

    async def execute(self, executor: Executor) -> Outcome:
        recorder = CallRecorder(self.events.call_started, self.events.call_ended)
        running = _Running(recorder, *self._issue_permit(recorder))
        self.events.tell_permitted(running.permit.digest)
        try:
            given = self.inputs.handed_out()
            execution = await maybe_await(executor.execute(running.permit, given, recorder))
            run = self._run(running.end(), execution, running.openings)
        except Exception as error:
            if isinstance(error, StepRefused) and running.is_refused:
                return await self.record(self._run(running.end(), Execution(), running.openings))
            reason = f"executor raised {class_name(error)}"
            raise ExecutionFailed(await self._record_failed(running, reason)) from error
        except BaseException as interrupt:  # cancelled, or the program has to end
            cancelled = isinstance(interrupt, asyncio.CancelledError)
            reason = "cancelled" if cancelled else f"ended by {class_name(interrupt)}"
            await self._record_failed(running, reason)
            raise
        if not (running.permit.redeemed or running.is_refused):
            raise ExecutionFailed(await self._record_failed(running, _NOT_REDEEMED))
        return await self.record(run)

    def _issue_permit(self, recorder: CallRecorder) -> "tuple[Permit, OpeningDesk | None]":
        """Return the permit, and for a late plan what opens its steps."""
        if not is_late_plan(self.proposal.plan):
            return permit_for(self.inputs), None
        from harness.runtime.opening_desk import OpeningDesk  # noqa: PLC0415 - the same

        now = partial(_time_or_none, self.clock)
        desk = OpeningDesk(self.inputs, recorder.calls, now, self.approver, self.events.tell_opened)
        return permit_for(self.inputs, desk), desk

    async def _record_failed(self, running: "_Running", error: str) -> Outcome:
        """Record an execution that ended early: its calls, and none of its outputs.

        Without a redeemed permit, calls and openings nothing was executed, so the run is None.
        """
        calls, openings = running.end(), running.openings
        began = running.permit.redeemed or calls or openings
        run = self._run(calls, Execution(), openings) if began else None
        return await self.record(run, error=error)

    def _run(
        self,
        calls: tuple[ToolCall, ...],
        execution: Execution,
        openings: tuple[Opening, ...] = (),
    ) -> Run:
        measured = execution.wall_ms
        if measured is None and not execution.played_back:
            measured = self._elapsed_ms()
        facts: dict[str, Any] = {
            "run_id": self.proposal.ctx.run_id or self.proposal.ctx.trace_id,
            "trace_id": self.proposal.ctx.trace_id,
            "calls": calls,
            "outputs": execution.outputs,
            "wall_ms": measured,
            "tokens": execution.tokens,
            "cost_micros": execution.cost_micros,
            "pack_version": self.proposal.compiled.pack_version,
            "intent": self.intent,
            "openings": openings or None,
        }
        present = {name: value for name, value in facts.items() if value is not None}
        return detached_copy(RunFacts(**present)).run_of(self.proposal)

    def _elapsed_ms(self) -> int | None:
        """Return the milliseconds since the turn began, or None from a clock that fails."""
        try:
            passed = _aware_time(self.clock) - self.began
            return max(0, round(passed.total_seconds() * 1000))
        except Exception:
            return None

    async def record(
        self, run: Run | None, decided_at: datetime | None = None, error: str | None = None
    ) -> Outcome:
        decision = self._decision(run, decided_at, error)
        try:
            detached = decision.detach_decision(self.inputs.handed_out())
            done = await await_shielded(self._append(detached))
            if not isinstance(record := done.value, DecisionRecord):
                raise TypeError(f"a log returns a DecisionRecord, not {type(record).__name__}")
        except Exception as failure:
            raise NotRecorded(decision) from failure
        if done.cancelled:
            raise asyncio.CancelledError
        self.events.tell_recorded(record)
        handed = self.inputs.handed_out()
        ended = None if run is None else RunFacts.of(run).run_of(handed)
        return Outcome(handed, decision.report, ended, record)

    def _append(self, decision: Decision) -> Any:
        if isinstance(self.log, RecordsInThread):
            return self.log.append_async(decision)
        return self.log.append(decision)

    def _decision(
        self, run: Run | None, decided_at: datetime | None, error: str | None
    ) -> Decision:
        # A plan that was refused has no score, whatever ran of it elsewhere.
        scored = self._score_run(run) if run is not None and self.verdict.ok else None
        report = consolidate(
            trace_id=self.proposal.ctx.trace_id,
            decision_key=self.proposal.spec.id,
            verify=self.verdict,
            score=scored,
            opening=refused_opening(run.openings) if scored is not None and run else None,
            decided_at=decided_at or _time_or_none(self.clock) or self.began,
        )
        optional: dict[str, Any] = {
            "run": None if run is None else RunFacts.of(run),
            "error": error,
            "attempts": self._attempts() or None,
            "begun": None if self.begun is None else self.begun.hash,
        }
        present = {name: value for name, value in optional.items() if value is not None}
        action = "allow" if self.verdict.ok else "refuse"
        return Decision.of(self.inputs, report=report, action=action, **present)

    def _attempts(self) -> tuple[_Attempt, ...]:
        """Return the plans that were tried before, with verdicts that are derived here."""
        proposal = self.proposal
        given = proposal.ctx, proposal.compiled, proposal.spec
        return tuple({"plan": plan, "verdict": verify(*given, plan)} for plan in self.tried)

    def _score_run(self, run: Run) -> ScoreVerdict:
        verdict = score(run)
        self.events.tell_scored(verdict)
        return verdict


@dataclass(frozen=True, slots=True)
class _Running:
    """An execution, until it is ended."""

    recorder: CallRecorder
    permit: Permit
    desk: "OpeningDesk | None"

    @property
    def openings(self) -> tuple[Opening, ...]:
        return () if self.desk is None else tuple(self.desk.openings)

    @property
    def is_refused(self) -> bool:
        return self.desk is not None and self.desk.is_refused

    def end(self) -> tuple[ToolCall, ...]:
        """Withdraw the permit, take no more calls, and return those there are."""
        self.permit.withdraw()
        return self.recorder.close()


def _openings_now(run: Run) -> tuple[Opening, ...]:
    """Return the openings that a run says it had, as far as they follow from it, as judged now."""
    if not run.openings or not is_late_plan(run.proposal.plan):
        return ()
    from critic.late.opened_run import open_run  # noqa: PLC0415 - for late plans only

    verdicts = open_run(run).verdicts
    return tuple(
        one.model_copy(update={"verdict": verdict})
        for one, verdict in zip(run.openings, verdicts, strict=False)
    )


def _time_or_none(clock: Clock) -> datetime | None:
    """Return the time, or None from a clock that fails after an effect: the record comes first."""
    try:
        return _aware_time(clock)
    except Exception:
        return None
