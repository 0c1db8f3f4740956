"""The canonical loop: plan, verify, execute, score, consolidate, record.

Rule 1: nothing runs without a permit, and only a verified proposal gets one.
Rule 2: a decision is recorded whatever happens: refusal, success, an executor that raises after
        an effect, cancellation. Every call that was made until then is in the record.
Rule 3: the loop has no clock, disk or network of its own; it has ports.
"""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from critic import (
    CompiledContext,
    CriticReport,
    DecisionSpec,
    Proposal,
    Refused,
    Run,
    RunContext,
    ToolCall,
    Verified,
    consolidate,
    score,
    verify,
)
from harness.record import Decision, DecisionRecord
from harness.runtime.permit import Permit, issue_permit
from harness.runtime.ports import Clock, DecisionLog, Execution, Executor, Planner
from harness.wire import detached_copy

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One turn of the loop: the report, the run if there was one, and the record that was kept."""

    report: CriticReport
    run: Run | None
    record: DecisionRecord


class ExecutionFailed(Exception):
    """The executor raised. Its calls so far were scored and are in `outcome.record`."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(f"{outcome.record.error}; recorded as decision {outcome.record.seq}")
        self.outcome = outcome


class NotRecorded(Exception):
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
) -> Outcome:
    """Take one decision from plan to record. Without an executor it is a dry run.

    Raises:
        ExecutionFailed: the executor raised; the decision is recorded with the calls it made.
        NotRecorded: the log failed; the decision is in the exception.
        TypeError: the clock has no zone; nothing was executed.
        asyncio.CancelledError: cancelled; a decision whose execution had begun is recorded first.
        Exception: whatever the planner raised; nothing was executed.
    """
    # Frozen as they are, envelopes hold JSON that can be changed in place. So the planner is handed
    # copies of what it is judged by, the executor copies of what it is scored by, and what is
    # verified and recorded is a plan that neither of them holds.
    plan = await _settled(
        planner.plan(detached_copy(ctx), detached_copy(compiled), detached_copy(spec))
    )
    own = detached_copy(Proposal(ctx=ctx, compiled=compiled, spec=spec, plan=plan).plan)
    kept = Proposal(ctx=ctx, compiled=compiled, spec=spec, plan=own)
    verdict = verify(ctx, compiled, spec, own)
    turn = _Turn(kept, verdict, clock, log, intent, began=_aware(clock.now()))
    if isinstance(verdict, Refused) or executor is None:
        return await turn.record(None, turn.began)
    return await turn.execute(executor, issue_permit(kept), detached_copy(kept))


def _aware(moment: datetime) -> datetime:
    if not isinstance(moment, datetime) or moment.utcoffset() is None:
        raise TypeError("the clock tells a time without a zone; nothing was executed")
    return moment


@dataclass(frozen=True, slots=True)
class _Turn:
    proposal: Proposal
    verdict: Verified | Refused
    clock: Clock
    log: DecisionLog
    intent: str | None
    began: datetime

    async def execute(self, executor: Executor, permit: Permit, handed: Proposal) -> Outcome:
        calls: list[ToolCall] = []

        def keep(call: ToolCall) -> None:
            if type(call) is not ToolCall:
                raise TypeError(f"an executor records ToolCall, not {type(call).__name__}")
            calls.append(call)

        try:
            execution = await _settled(executor.execute(permit, handed, keep))
            run = self._run(calls, execution)
        except Exception as error:
            reason = f"executor raised {type(error).__name__}"
            outcome = await self.record(self._run(calls, Execution()), error=reason)
            raise ExecutionFailed(outcome) from error
        except BaseException as interrupt:  # cancelled, or the program is told to end
            cancelled = isinstance(interrupt, asyncio.CancelledError)
            reason = "cancelled" if cancelled else f"ended by {type(interrupt).__name__}"
            await self.record(self._run(calls, Execution()), error=reason)
            raise
        return await self.record(run)

    def _now(self) -> datetime | None:
        """The time, or None from a clock that fails after an effect: the record matters more."""
        try:
            return _aware(self.clock.now())
        except Exception:
            return None

    def _run(self, calls: list[ToolCall], execution: Execution) -> Run:
        ended = self._now()
        passed = None if ended is None else (ended - self.began).total_seconds()
        facts: dict[str, Any] = {
            "wall_ms": None if passed is None else max(0, round(passed * 1000)),
            "pack_version": self.proposal.compiled.pack_version,
            "intent": self.intent,
        }
        reported = {name: getattr(execution, name) for name in ("wall_ms", "tokens", "cost_micros")}
        facts |= {name: value for name, value in reported.items() if value is not None}
        return Run(
            run_id=self.proposal.ctx.run_id or self.proposal.ctx.trace_id,
            trace_id=self.proposal.ctx.trace_id,
            proposal=self.proposal,
            calls=tuple(calls),
            outputs=execution.outputs,
            **{name: value for name, value in facts.items() if value is not None},
        )

    async def record(
        self, run: Run | None, decided_at: datetime | None = None, error: str | None = None
    ) -> Outcome:
        report = consolidate(
            trace_id=self.proposal.ctx.trace_id,
            decision_key=self.proposal.spec.id,
            verify=self.verdict,
            score=None if run is None else score(run),
            decided_at=decided_at or self._now() or self.began,
        )
        optional: dict[str, Any] = {"run": run, "error": error}
        present = {name: value for name, value in optional.items() if value is not None}
        decision = Decision(proposal=self.proposal, report=report, **present)
        try:
            record = await _finished(self.log.append(decision))
        except Exception as failure:
            raise NotRecorded(decision) from failure
        return Outcome(report, run, record)


async def _settled(value: T | Awaitable[T]) -> T:
    """The value of a port, whether it is synchronous or asynchronous."""
    if isinstance(value, Awaitable):
        return await value
    return value


async def _finished(value: T | Awaitable[T]) -> T:
    """Like `_settled`, but seen through to its end even while this task is being cancelled."""
    if not isinstance(value, Awaitable):
        return value
    task: asyncio.Future[T] = asyncio.ensure_future(value)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    result = task.result()
    if cancelled:
        raise asyncio.CancelledError
    return result
