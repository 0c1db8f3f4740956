"""Record that an execution begins, before it does, and use up the approvals that it relies on.

Rule 1: what cannot be recorded does not begin.
Rule 2: where an approval was used before, the plan is judged without it: two loops at once, with
        the same approval, run a plan once.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime

from critic import Refused, Verified, verify_proposal
from harness.record import AlreadyClaimed, Begun, BegunRecord, used_approvals, without_approvals
from harness.record.inputs import HeldInputs
from harness.runtime.awaiting import Shielded, await_shielded
from harness.runtime.ports import DecisionLog, RecordsBegun, RecordsInThread


@dataclass(frozen=True, slots=True)
class Beginning:
    """What may be executed now, or why it may not.

    Attributes:
        inputs: what was judged last: without the approvals that were used before.
        verdict: on that proposal.
        record: that the execution begins; None if it is refused, or the log keeps no such record.
        cancelled: the task was cancelled while the record was made.
    """

    inputs: HeldInputs
    verdict: Verified | Refused
    record: BegunRecord | None = None
    cancelled: bool = False


async def begin_execution(
    log: DecisionLog, inputs: HeldInputs, verdict: Verified | Refused, begun_at: datetime
) -> Beginning:
    """Record that a verified proposal is about to be executed.

    Raises:
        Exception: the log did not take the record: nothing may be executed.
    """
    if not isinstance(log, RecordsBegun):
        return Beginning(inputs, verdict)
    while verdict.ok:
        used = used_approvals(inputs.proposal)
        begun = Begun.of(inputs, approvals=used, begun_at=begun_at)
        try:
            record, cancelled = await _recorded(log, begun)
        except AlreadyClaimed as refusal:
            spent = frozenset(one.approval_id for one in used if one.claim in refusal.claims)
            if not spent:
                raise
            inputs = inputs.with_ctx(without_approvals(inputs.proposal, spent).ctx)
            verdict = verify_proposal(inputs.proposal)
        else:
            return Beginning(inputs, verdict, record, cancelled)
    return Beginning(inputs, verdict)


async def _recorded(log: RecordsBegun, begun: Begun) -> Shielded[BegunRecord]:
    given: BegunRecord | Awaitable[BegunRecord]
    given = log.begin_async(begun) if isinstance(log, RecordsInThread) else log.begin(begun)
    done: Shielded[BegunRecord] = await await_shielded(given)
    if not isinstance(done.value, BegunRecord):
        raise TypeError(f"a log returns a BegunRecord, not {type(done.value).__name__}")
    return done
