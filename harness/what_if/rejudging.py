"""Judge recorded plans again, before and after a change, a few records in memory at a time.

Rule 1: both verdicts are of today's rules, so that they differ by the change alone.
Rule 2: a record that cannot be trusted or read is named, and is never counted as unchanged.
Rule 3: a beginning of an execution is judged with the decision that ends it, or else by itself.
Rule 4: each plan says of which turn it is, so that a turn is counted once.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

from critic import Plan, Proposal, Refused, RunContext, Verified, VerifyVerdict, verify_proposal
from evals.escaping import escape_line
from harness.canonical import canonical_bytes, canonical_json
from harness.record import (
    BegunRecord,
    CriticErrorRecord,
    DecisionRecord,
    Gap,
    NoTurnRecord,
    RunFacts,
    SettledRecord,
    sha256,
)
from harness.record.fates import TurnKey
from harness.replay.document_reading import RecordedLog
from harness.replay.findings import RecordFinding, findings
from harness.replay.recheck import RecordedInputs
from harness.what_if.changed_turns import Unjudgeable
from harness.what_if.opened_answers import answer_opened
from harness.what_if.plan_answers import ShiftDirection, Stance, answer_entry, direction_between
from harness.what_if.recorded_change import (
    ChangeBySpec,
    ChangedInputs,
    InputsBySpec,
    changed_inputs,
)

_Changed = ChangedInputs | InputsBySpec

_NOT_OPENED: Final = "its openings do not follow from its calls under these rules"

NotJudgedStatus = Literal["critic_error", "tampered", "incomplete", "redacted", "unknown"]
"""Why a record was not judged. `unknown`: it does not say what it would be after the change."""


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
        run: what was executed, if the plan is late and any of its steps was opened.
    """

    seq: int
    turn_id: int
    attempt: int | None
    proposal: Proposal
    compiled: str
    before: Verified | Refused
    drifted: bool = False
    run: RunFacts | None = None


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


class PlanFinder:
    """Finds what a change makes of the plans of a record."""

    def __init__(self, change: ChangeBySpec, decision_key: str | None = None) -> None:
        """Take a change.

        Args:
            decision_key: judge only the records of this one.

        Raises:
            ValueError: a policy gives evidence an id, or a class a name, that sessions give.
        """
        self._changed, self._key = changed_inputs(change), decision_key

    def __call__(self, recorded: RecordedInputs) -> list[Compared]:
        """Return what becomes of the plans. Never raises."""
        found = plans_in(recorded)
        if self._key is not None and found.decision_key not in (None, self._key):
            return [NotAsked(found.seq)]
        return compared_plans(found, self._changed)


def what_if(found: Iterable[RecordFinding[list[Compared]]]) -> Iterator[Compared]:
    """Yield what a change makes of each recorded plan, in the order of the records.

    Args:
        found: what a `PlanFinder` finds in each.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    for one in found:
        if isinstance(one.found, Gap):
            yield _of_gap(one.found)
        elif one.is_damaged:
            yield _of_damage(one)
        else:
            yield from one.found


def recorded_plans(log: RecordedLog) -> Iterator[RecordedPlans | NotJudged]:
    """Yield the plans of each record as today's rules judge them, and the gaps between records.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    for one in findings(log, plans_in):
        if isinstance(one.found, Gap):
            yield _of_gap(one.found)
        elif one.is_damaged:
            yield RecordedPlans(one.answer.seq, None, (_of_damage(one),))
        else:
            yield one.found


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
    before = answer_opened(one.proposal, one.run, one.before)
    after = answer_opened(would_be, one.run, verify_proposal(would_be))
    if before is None or after is None:
        return NotJudged(one.seq, one.seq, "unknown", (_NOT_OPENED,))
    return JudgedPlan(*named, before, after, drifted=one.drifted)


def plans_in(recorded: RecordedInputs) -> RecordedPlans:
    """Return the plans of a record as today's rules judge them. Never raises."""
    key = None if recorded.proposal is None else recorded.proposal.spec.id
    try:
        return RecordedPlans(recorded.seq, key, tuple(_recorded_plans(recorded)))
    except Exception as error:
        # As above.
        return RecordedPlans(recorded.seq, key, (_failed_plan(recorded.seq, error),))


def _recorded_plans(recorded: RecordedInputs) -> Iterator[RecordedPlan | NotJudged]:
    record, proposal, problems = recorded.record, recorded.proposal, recorded.problems
    if isinstance(record, CriticErrorRecord):
        yield _not_judged(recorded, "critic_error", escape_line(record.where))
    elif isinstance(record, NoTurnRecord):
        return
    elif record is None or proposal is None:
        status: NotJudgedStatus = "redacted" if problems.status == "redacted" else "unknown"
        yield _not_judged(recorded, status, *problems.reasons)
    elif isinstance(record, BegunRecord | SettledRecord):
        if not _is_judged_elsewhere(record, proposal, is_ended=problems.is_ended):
            yield _plan_of(recorded, record, proposal, None, verify_proposal(proposal))
    elif recorded.report is None:
        yield _not_judged(recorded, "unknown", *problems.reasons)
    else:
        tried = zip(record.attempts or (), recorded.verdicts, strict=True)
        for index, (attempt, verdict) in enumerate(tried):
            one = _with_plan(proposal, attempt.plan)
            drifted = not _is_same(attempt.verdict, verdict)
            yield _plan_of(recorded, record, one, index, verdict, drifted=drifted)
        verdict = recorded.report.verify
        drifted = not _is_same(record.report.verify, verdict)
        plan = _plan_of(recorded, record, proposal, None, verdict, drifted=drifted)
        has_openings = record.run is not None and record.run.openings is not None
        yield plan._replace(run=record.run) if has_openings else plan


def _plan_of(
    recorded: RecordedInputs,
    record: BegunRecord | SettledRecord | DecisionRecord,
    proposal: Proposal,
    attempt: int | None,
    before: Verified | Refused,
    *,
    drifted: bool = False,
) -> RecordedPlan:
    turn = turn_id(proposal.ctx, record.inputs.plan)
    named = recorded.seq, turn, attempt, proposal, record.inputs.compiled
    return RecordedPlan(*named, before, drifted)


def _is_same(recorded: VerifyVerdict, derived: VerifyVerdict) -> bool:
    return canonical_bytes(recorded) == canonical_bytes(derived)


def _with_plan(proposal: Proposal, plan: Plan) -> Proposal:
    return Proposal(ctx=proposal.ctx, compiled=proposal.compiled, spec=proposal.spec, plan=plan)


def _of_gap(gap: Gap) -> NotJudged:
    return NotJudged(gap.first, gap.last, "incomplete", (gap.text(),))


def _of_damage(one: RecordFinding[Any]) -> NotJudged:
    """Return that a damaged record was not judged: no option excuses it, and no filter."""
    status: NotJudgedStatus = "tampered" if one.answer.status == "tampered" else "incomplete"
    return NotJudged(one.answer.seq, one.answer.seq, status, one.answer.reasons)


def _is_judged_elsewhere(
    record: BegunRecord | SettledRecord, proposal: Proposal, *, is_ended: bool
) -> bool:
    """Return whether another record has the ruling on a plan that was executed.

    A guard records its rulings; the canonical loop has none of an execution without an end.
    """
    return is_ended or (isinstance(record, SettledRecord) and proposal.ctx.session is not None)


def _failed_plan(seq: int, error: Exception) -> NotJudged:
    return NotJudged(seq, seq, "unknown", (f"it cannot be judged: {type(error).__name__}",))


def _not_judged(recorded: RecordedInputs, status: NotJudgedStatus, *reasons: str) -> NotJudged:
    return NotJudged(recorded.seq, recorded.seq, status, reasons)


def reason_of(verdict: VerifyVerdict) -> str:
    """Return the reasons of a verdict on one line, safe to print."""
    return escape_line("; ".join(verdict.reasons))
