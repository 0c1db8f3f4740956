"""Judge recorded plans again, before and after a change, a few records in memory at a time.

Rule 1: both verdicts are of today's rules, so that they differ by the change alone.
Rule 2: a record that cannot be trusted or read is named, and is never counted as unchanged.
Rule 3: a beginning of an execution is judged with the decision that ends it, or else by itself.
Rule 4: each plan says of which turn it is, so that a turn is counted once.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple

from critic import Proposal, Refused, RunContext, Verified, VerifyVerdict, verify_proposal
from evals.escaping import escape_line
from harness.canonical import canonical_bytes, canonical_json
from harness.record import (
    BegunRecord,
    CriticErrorRecord,
    DecisionRecord,
    Gap,
    SettledRecord,
    sha256,
)
from harness.record.fates import TurnKey
from harness.replay.engine import RecordedLog, Replayer
from harness.replay.recheck import RecordedInputs
from harness.what_if.changed_turns import Unjudgeable
from harness.what_if.plan_answers import ShiftDirection, Stance, answer_entry, direction_between
from harness.what_if.recorded_change import (
    ChangeBySpec,
    ChangedInputs,
    InputsBySpec,
    changed_inputs,
)

_Changed = ChangedInputs | InputsBySpec

NotJudgedStatus = Literal["critic_error", "tampered", "incomplete", "redacted", "unknown"]
"""Why a record was not judged. `unknown`: it does not say what it would be after the change."""


DAMAGE: Final[tuple[NotJudgedStatus, ...]] = ("tampered", "incomplete")
"""What is wrong with a log, and not only with what it says."""


class JudgedPlan(NamedTuple):
    """A recorded plan with its verdict before and after the change.

    Attributes:
        turn: the number of its turn in a session; the canonical loop counts no turns.
        turn_id: see `turn_id`.
        attempt: the index in the attempts of the record; None for the plan that was decided on.
        drifted: the record was written under other rules, and today's give another verdict on it.
    """

    seq: int
    trace_id: str
    turn: int | None
    turn_id: int
    decision_key: str
    attempt: int | None
    before: Verified | Refused
    after: Verified | Refused
    drifted: bool = False

    @property
    def direction(self) -> ShiftDirection:
        """Return what the change does: from no over ask to ok is looser."""
        return direction_between(answer_entry(self.before), answer_entry(self.after))


class NotJudged(NamedTuple):
    """Records `seq` to `last` that were not judged, and why. Lines that are safe to print."""

    seq: int
    last: int
    status: NotJudgedStatus
    reasons: tuple[str, ...]


class NotAsked(NamedTuple):
    """A record of another decision than those that were asked for."""

    seq: int


Compared = JudgedPlan | NotJudged | NotAsked


def stance_of(verdict: Verified | Refused) -> Stance:
    """Return whether a plan may run, a person is to be asked, or it may not."""
    return answer_entry(verdict).stance


def answer_kind(verdict: Verified | Refused) -> str:
    """Return the kind of a refusal, or `ok`."""
    return "ok" if isinstance(verdict, Verified) else verdict.kind


class RecordedPlan(NamedTuple):
    """A recorded plan with today's verdict on it, before any change.

    Attributes:
        turn_id: that of its record. A plan that was tried before is of the turn of the last one.
        attempt: the index in the attempts of the record; None for the plan that was decided on.
        compiled: the digest of the recorded `compiled`.
        drifted: the record was written under other rules, and today's give another verdict.
    """

    seq: int
    turn_id: int
    attempt: int | None
    proposal: Proposal
    compiled: str
    before: Verified | Refused
    drifted: bool = False


class RecordedPlans(NamedTuple):
    """The plans of one record, those that were tried first, and what of it cannot be judged.

    `decision_key` is the id of its spec, if that can be read.
    """

    seq: int
    decision_key: str | None
    plans: tuple[RecordedPlan | NotJudged, ...]


def turn_id(ctx: RunContext, plan: str) -> int:
    """Return a number for the turn of a context and the digest of its plan: 63 bits of a hash."""
    key = TurnKey(ctx.trace_id, session_turn(ctx), plan)
    return int(sha256(canonical_json(list(key)))[:16], 16) >> 1


def session_turn(ctx: RunContext) -> int | None:
    """Return the number of a turn in its session, if it is of one."""
    return None if ctx.session is None else int(ctx.session.turn)


def what_if(
    log: RecordedLog, change: ChangeBySpec, *, decision_key: str | None = None
) -> Iterator[Compared]:
    """Yield what a change makes of each recorded plan, in the order of the records.

    Args:
        decision_key: judge only the records of this one.

    Raises:
        ValueError: the policy gives evidence an id, or a class a name, that sessions give.
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    return _compare_log(log, changed_inputs(change), decision_key)


def _compare_log(log: RecordedLog, changed: _Changed, key: str | None) -> Iterator[Compared]:
    for recorded in recorded_plans(log, key):
        if isinstance(recorded, RecordedPlans):
            yield from compared_plans(recorded, changed)
        else:
            yield recorded


def recorded_plans(
    log: RecordedLog, decision_key: str | None = None
) -> Iterator[RecordedPlans | NotJudged | NotAsked]:
    """Yield the plans of each record as today's rules judge them, and the gaps between records.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    for recorded in Replayer(log, None, judge=True).read_recorded(log.raw()):
        if isinstance(recorded, Gap):
            yield NotJudged(recorded.first, recorded.last, "incomplete", (recorded.text(),))
            continue
        key = None if recorded.proposal is None else recorded.proposal.spec.id
        if decision_key is not None and key not in (None, decision_key):
            yield NotAsked(recorded.seq)
        else:
            yield RecordedPlans(recorded.seq, key, _recorded_plans(recorded))


def compared_plans(recorded: RecordedPlans, changed: _Changed) -> list[Compared]:
    """Return what a change makes of the plans of one record."""
    try:
        return [_judge_changed(one, changed) for one in recorded.plans]
    except Exception as error:
        # A verdict is a value on any input. If this code fails, no plan passes by it.
        return [_failed_plan(recorded.seq, error)]


def _judge_changed(one: RecordedPlan | NotJudged, changed: _Changed) -> Compared:
    if isinstance(one, NotJudged):
        return one
    would_be = changed.proposal(one.proposal, one.compiled)
    if isinstance(would_be, Unjudgeable):
        return NotJudged(one.seq, one.seq, "unknown", (would_be.reason,))
    ctx = one.proposal.ctx
    named = one.seq, ctx.trace_id, session_turn(ctx), one.turn_id, one.proposal.spec.id, one.attempt
    return JudgedPlan(*named, one.before, verify_proposal(would_be), drifted=one.drifted)


def _recorded_plans(recorded: RecordedInputs) -> tuple[RecordedPlan | NotJudged, ...]:
    record, proposal, problems = recorded.record, recorded.proposal, recorded.problems
    if isinstance(record, CriticErrorRecord) and not problems.tampered:
        return (_not_judged(recorded, "critic_error", escape_line(record.where)),)
    if problems.tampered or record is None or proposal is None:
        return (_not_judged(recorded, _status_of(recorded), *problems.reasons),)
    if isinstance(record, BegunRecord | SettledRecord) and _is_judged_elsewhere(recorded):
        return ()
    try:
        return tuple(_plans_of(recorded, record, proposal))
    except Exception as error:
        # As above.
        return (_failed_plan(recorded.seq, error),)


def _is_judged_elsewhere(recorded: RecordedInputs) -> bool:
    """Return whether another record has the ruling on a plan that was executed.

    A guard records its rulings; the canonical loop has none of an execution without an end.
    """
    if recorded.problems.is_ended:
        return True
    is_settled = isinstance(recorded.record, SettledRecord)
    return (
        is_settled and recorded.proposal is not None and recorded.proposal.ctx.session is not None
    )


def _failed_plan(seq: int, error: Exception) -> NotJudged:
    return NotJudged(seq, seq, "unknown", (f"it cannot be judged: {type(error).__name__}",))


def _plans_of(
    recorded: RecordedInputs, record: Any, proposal: Proposal
) -> Iterator[RecordedPlan | NotJudged]:
    """Yield the plans of a record. A verdict that does not follow from its inputs is tampering."""
    compiled, turn = record.inputs.compiled, turn_id(proposal.ctx, record.inputs.plan)
    for attempt, plan, verdict in _tried_plans(record, proposal):
        one = _with_plan(proposal, plan)
        before = verify_proposal(one)
        same = verdict is None or canonical_bytes(verdict) == canonical_bytes(before)
        if not same and not recorded.problems.drift:
            reason = "its recorded verdict does not follow from its inputs: replay the log"
            yield _not_judged(recorded, "tampered", reason)
        else:
            named = recorded.seq, turn, attempt, one, compiled
            yield RecordedPlan(*named, before, drifted=not same)


def _tried_plans(record: Any, proposal: Proposal) -> Iterator[tuple[int | None, Any, Any]]:
    """Yield the index of each attempt, its plan and its recorded verdict; the decision is last."""
    if not isinstance(record, DecisionRecord):
        yield None, proposal.plan, None
        return
    for index, attempt in enumerate(record.attempts or ()):
        yield index, attempt.plan, attempt.verdict
    yield None, proposal.plan, record.report.verify


def _with_plan(proposal: Proposal, plan: Any) -> Proposal:
    if plan is proposal.plan:
        return proposal
    return Proposal(ctx=proposal.ctx, compiled=proposal.compiled, spec=proposal.spec, plan=plan)


def _status_of(recorded: RecordedInputs) -> NotJudgedStatus:
    status = recorded.problems.status
    known: tuple[NotJudgedStatus, ...] = ("tampered", "incomplete", "redacted")
    return next((one for one in known if one == status), "unknown")


def _not_judged(recorded: RecordedInputs, status: NotJudgedStatus, *reasons: str) -> NotJudged:
    return NotJudged(recorded.seq, recorded.seq, status, reasons)


def reason_of(verdict: VerifyVerdict) -> str:
    """Return the reasons of a verdict on one line, safe to print."""
    return escape_line("; ".join(verdict.reasons))
