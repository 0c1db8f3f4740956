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
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from critic import (
    CompiledContext,
    CriticReport,
    DecisionSpec,
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
from evals.escaping import escape_name
from evals.plan import is_late_plan
from harness.canonical import digest
from harness.errors import HarnessError
from harness.failures import class_name
from harness.record import (
    AlreadyClaimed,
    Begun,
    BegunRecord,
    Decision,
    DecisionRecord,
    RunFacts,
    UsedApproval,
    used_approvals,
    without_approvals,
)
from harness.record.inputs import Held, HeldContext, HeldInputs, held_context
from harness.runtime.awaiting import Shielded, await_shielded, maybe_await
from harness.runtime.loop_events import EventEmitter, Listener
from harness.runtime.permit import Permit, permit_for
from harness.runtime.ports import (
    Clock,
    DecisionLog,
    Execution,
    Executor,
    Planner,
    PlaysBack,
    RecordsAttempts,
    RecordsBegun,
    RecordsInThread,
)
from harness.runtime.recorder import CallRecorder
from harness.wire import detached_copy


@dataclass(frozen=True, slots=True)
class Beginning:
    """The permit to execute now, or why there is none.

    Attributes:
        inputs: what was judged last: without the approvals that were used before.
        verdict: on that proposal.
        record: that the execution begins; None if it is refused, or the log keeps no such record.
        cancelled: the task was cancelled while the record was made.
        note: which approvals were used before, if any were.
    """

    inputs: HeldInputs
    verdict: Verified | Refused
    record: BegunRecord | None = None
    cancelled: bool = False
    note: str | None = None


async def begin_execution(
    log: DecisionLog, inputs: HeldInputs, verdict: Verified | Refused, begun_at: datetime
) -> Beginning:
    """Record that a verified proposal is about to be executed.

    Raises:
        Exception: the log did not take the record: nothing may be executed.
    """
    if not isinstance(log, RecordsBegun):
        return Beginning(inputs, verdict)
    notes: list[str] = []
    while verdict.ok:
        used = used_approvals(inputs.proposal)
        begun = Begun.of(inputs, approvals=used, begun_at=begun_at)
        try:
            record, cancelled = await _record_begin(log, begun)
        except AlreadyClaimed as refusal:
            spent = frozenset(one.approval_id for one in used if one.claim in refusal.claims)
            if not spent:
                raise
            notes += [_word_used(one, refusal) for one in used if one.approval_id in spent]
            inputs = inputs.with_ctx(without_approvals(inputs.proposal, spent).ctx)
            verdict = verify_proposal(inputs.proposal)
        else:
            return Beginning(inputs, verdict, record, cancelled)
    return Beginning(inputs, verdict, note="; ".join(notes) or None)


def _word_used(approval: UsedApproval, refusal: AlreadyClaimed) -> str:
    record = refusal.records.get(approval.claim)
    where = "before" if record is None else f"by record {record}"
    shown = escape_name(approval.approval_id)
    return f"approval {shown} was used {where}: a yes is to one execution, ask for another one"


async def _record_begin(log: RecordsBegun, begun: Begun) -> Shielded[BegunRecord]:
    given: BegunRecord | Awaitable[BegunRecord]
    given = log.begin_async(begun) if isinstance(log, RecordsInThread) else log.begin(begun)
    done: Shielded[BegunRecord] = await await_shielded(given)
    if not isinstance(done.value, BegunRecord):
        raise TypeError(f"a log returns a BegunRecord, not {type(done.value).__name__}")
    return done


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
        """Why the plan was refused: an approval that was used before comes first. Else empty."""
        verdict = self.report.verify
        if verdict.ok:
            return ()
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
) -> Outcome:
    """Take one decision from plan to record. Without an executor it is a dry run.

    Where the log is RecordsBegun, that an execution begins is recorded before it does, and uses up
    the approvals that it relies on. A plan is judged without approvals that were used before.

    To go on with a plan that waited for an approval, run the loop again with a FixedPlanner.

    `compiled` is read at the first turn with this very object, which makes later turns cheap. Later
    changes of it in place do not count: give another context.

    Raises:
        ExecutionFailed: the executor raised, or returned without having redeemed its permit, or the
            plan is late (`critic.late`), and nothing was executed; the decision is recorded with
            the calls it made.
        NotRecorded: the log failed; the decision is in the exception. If the log did not take the
            beginning, nothing was executed, and the decision has no run.
        TypeError: the clock has no zone; nothing was executed.
        asyncio.CancelledError: cancelled; a decision whose execution had begun is recorded first.
        Exception: what the planner raised; nothing was executed.
    """
    inputs = await _ask_planner(planner, ctx, compiled, spec)
    tried, verdict = _tried_plans(planner, inputs), verify_proposal(inputs.proposal)
    events = EventEmitter(listener, lambda: _time_or_none(clock))
    turn = _Turn(inputs, tried, verdict, clock, log, intent, _require_aware(clock.now()), events)
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
    begun: BegunRecord | None = None
    note: str | None = None

    @property
    def proposal(self) -> Proposal:
        """The proposal that is decided. It is never handed out."""
        return self.inputs.proposal

    async def take(self, executor: Executor | None) -> Outcome:
        turn = self
        if executor is not None and self.verdict.ok and is_late_plan(self.proposal.plan):
            return await self.refuse_late(executor)
        if executor is not None and not isinstance(executor, PlaysBack):
            turn = await self.begin()
        self.events.tell_planned(self.proposal.plan)
        self.events.tell_verified(turn.verdict)
        if isinstance(turn.verdict, Refused) or executor is None:
            return await turn.record(turn.handed_in(executor), self.began, turn.note)
        return await turn.execute(executor)

    async def refuse_late(self, executor: Executor) -> Outcome:
        """Record a late plan that no executor runs: nothing begins, and no approval is used.

        A run of one that is handed in was not opened, which its score says.
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
        return self._run(run.calls, Execution(outputs=run.outputs, **facts, played_back=True))

    async def execute(self, executor: Executor) -> Outcome:
        recorder = CallRecorder(self.events.call_started, self.events.call_ended)
        permit = permit_for(self.inputs)
        self.events.tell_permitted(permit.digest)
        try:
            given = self.inputs.handed_out()
            execution = await maybe_await(executor.execute(permit, given, recorder))
            run = self._run(_end_execution(permit, recorder), execution)
        except Exception as error:
            reason = f"executor raised {class_name(error)}"
            outcome = await self._record_failed(permit, _end_execution(permit, recorder), reason)
            raise ExecutionFailed(outcome) from error
        except BaseException as interrupt:  # cancelled, or the program has to end
            cancelled = isinstance(interrupt, asyncio.CancelledError)
            reason = "cancelled" if cancelled else f"ended by {class_name(interrupt)}"
            await self._record_failed(permit, _end_execution(permit, recorder), reason)
            raise
        if not permit.redeemed:
            raise ExecutionFailed(await self._record_failed(permit, run.calls, _NOT_REDEEMED))
        return await self.record(run)

    async def _record_failed(
        self, permit: Permit, calls: tuple[ToolCall, ...], error: str
    ) -> Outcome:
        """Record an execution that ended early: its calls, and none of its outputs.

        Without a redeemed permit and without calls nothing was executed, so the run is None.
        """
        began = permit.redeemed or calls
        return await self.record(self._run(calls, Execution()) if began else None, error=error)

    def _run(self, calls: tuple[ToolCall, ...], execution: Execution) -> Run:
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
        }
        present = {name: value for name, value in facts.items() if value is not None}
        return detached_copy(RunFacts(**present)).run_of(self.proposal)

    def _elapsed_ms(self) -> int | None:
        """Return the milliseconds since the turn began, or None from a clock that fails."""
        try:
            passed = _require_aware(self.clock.now()) - self.began
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


def _end_execution(permit: Permit, recorder: CallRecorder) -> tuple[ToolCall, ...]:
    """End the execution: withdraw the permit, take no more calls, and return those there are."""
    permit.withdraw()
    return recorder.close()


def _time_or_none(clock: Clock) -> datetime | None:
    """Return the time, or None from a clock that fails after an effect: the record comes first."""
    try:
        return _require_aware(clock.now())
    except Exception:
        return None
