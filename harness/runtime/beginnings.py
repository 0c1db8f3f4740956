"""The record that an execution begins: made before its first effect, or nothing begins."""

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime

from critic import Refused, Verified, verify_proposal
from evals.escaping import escape_name
from harness.record import (
    AlreadyClaimed,
    Begun,
    BegunRecord,
    UsedApproval,
    used_approvals,
    without_approvals,
)
from harness.record.inputs import HeldInputs
from harness.runtime.awaiting import Shielded, await_shielded
from harness.runtime.ports import DecisionLog, RecordsBegun, RecordsInThread


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
