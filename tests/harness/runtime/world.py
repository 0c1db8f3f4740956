"""Ports for the loop to be run with: clocks that tick, logs that keep, fail or wait."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

from critic import CriticReport, Plan, Proposal, Run, ToolCall
from evals.canonical_json import canonical_bytes
from harness.record import GENESIS, Decision, DecisionRecord, Head, draft, seal_record
from harness.runtime.canonical_loop import Outcome, run_canonical_loop
from harness.runtime.loop_events import Listener
from harness.runtime.permit import Permit
from harness.runtime.planners import FixedPlanner
from harness.runtime.ports import Execution, Recorder
from harness.runtime.step_permits import Approver
from tests.support.examples import good_proposal, proposal_of

NOON = datetime(2026, 5, 9, 12, tzinfo=UTC)


class Ticking:
    """A clock that is `step` later each time it is asked."""

    def __init__(self, step: timedelta = timedelta(seconds=1)) -> None:
        self.step, self.asked = step, 0

    def now(self) -> datetime:
        self.asked += 1
        return NOON + (self.asked - 1) * self.step


class KeptLog:
    """A log in memory, chained like any other."""

    def __init__(self) -> None:
        self.records: list[DecisionRecord] = []
        self.decisions: list[Decision] = []

    def append(self, decision: Decision) -> DecisionRecord:
        last = self.records[-1] if self.records else None
        head = Head(last.seq, last.hash) if last else Head(0, GENESIS)
        record = seal_record(draft(decision), head).record
        self.records.append(record)
        self.decisions.append(decision)
        return record

    @property
    def only(self) -> DecisionRecord:
        (record,) = self.records
        return record


class AsyncLog(KeptLog):
    """The same, as a coroutine that gives way once."""

    async def append(self, decision: Decision) -> DecisionRecord:  # type: ignore[override] # a port may be either
        await asyncio.sleep(0)
        return super().append(decision)


class FailingLog:
    """A log that takes nothing."""

    def append(self, _decision: Decision, /) -> DecisionRecord:
        raise OSError("no space left")


class AsyncPlanner:
    """The fixed planner, as a coroutine."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    async def plan(self, *_given: object) -> Plan:
        await asyncio.sleep(0)
        return self._plan


class Scripted:
    """An executor that does what the function says, and counts how often it was asked."""

    def __init__(self, act: Callable[[Plan, Recorder], Any], *, redeems: bool = True) -> None:
        self._act, self._redeems, self.asked = act, redeems, 0

    def execute(self, permit: Permit, proposal: Proposal, record: Recorder) -> Execution:
        self.asked += 1
        plan = permit.redeem(proposal) if self._redeems else proposal.plan
        done: Execution = self._act(plan, record)
        return done


def call_of(plan: Plan, at: int, **changes: Any) -> ToolCall:
    """Return the call that a step plans, completed unless changed."""
    step = plan.steps[at].wire()
    names = ("adapter_id", "capability_id", "args")
    facts: dict[str, Any] = {"step": at, "status": "completed"}
    return ToolCall(**{**facts, **{name: step[name] for name in names}, **changes})


OUTPUTS = {"refund_amount_inr": 24500, "refund_reason_class": "item_defective"}


def do_all(plan: Plan, record: Recorder) -> Execution:
    """Carry out every step as planned."""
    for at in range(len(plan.steps)):
        record(call_of(plan, at, tokens=100, cost_micros=1))
    return Execution(outputs=dict(OUTPUTS))


def still() -> Ticking:
    """Return a clock that a listener cannot make run faster."""
    return Ticking(0 * Ticking().step)


def turn(
    executor: Any,
    *,
    log: Any = None,
    clock: Any = None,
    planner: Any = None,
    proposal: Proposal | None = None,
    intent: str | None = None,
    listener: Listener | None = None,
    approver: Approver | None = None,
) -> Coroutine[Any, Any, Outcome]:
    """Take one turn of the loop on plan B, with the given ports."""
    proposed = proposal or proposal_of(good_proposal())
    return run_canonical_loop(
        ctx=proposed.ctx,
        compiled=proposed.compiled,
        spec=proposed.spec,
        planner=planner or FixedPlanner(proposed.plan),
        executor=executor,
        clock=clock or Ticking(),
        log=KeptLog() if log is None else log,
        intent=intent,
        listener=listener,
        approver=approver,
    )


def shown(outcome: Outcome) -> list[bytes | None]:
    """Everything that the caller is told, in canonical bytes."""
    told: list[Proposal | CriticReport | Run | None] = [
        outcome.proposal,
        outcome.report,
        outcome.run,
    ]
    return [None if part is None else canonical_bytes(part) for part in told]
