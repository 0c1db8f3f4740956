"""Record the decisions of a guard before they are returned.

Rule 1: a ruling is a decision without a run. If it lets a batch run, in a shadow too, the beginning
        of the execution is recorded with it, both or neither, and uses up the approval. After the
        calls, a decision of the same proposal has the calls, their score and the beginning. The
        answer to a question is a separate decision, and so is its expiry.
Rule 2: the step of a session is stored with its records, which claim it: both or neither. No step
        is made twice.
Rule 3: a session claims its id with its first record, so a log has one session of an id. Another
        one would forget its refusals, questions and spending.
Rule 4: if a person settled an execution, the end of its calls is recorded only if one is known.
Rule 5: a failure of the guard is recorded too, if the log still accepts it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from critic import consolidate
from evals.escaping import escape_name
from evals.run import ToolCall
from evals.side_table import Beside
from harness.canonical import canonical_json
from harness.clock import SystemClock
from harness.errors import HarnessError
from harness.guard.course import Answered, Course
from harness.guard.course_answers import OutOfPlace, ToRecord
from harness.guard.guard_state import GuardState
from harness.guard.log_claims import OPENED, KeepsClaims, id_claim, require_stored
from harness.guard.reopening import carried_of, find_closed
from harness.guard.rulings import OpeningRuling, Ruling
from harness.guard.session_events import CloseEvent, ResultEvent
from harness.guard.session_journal import (
    JournalAltered,
    JournalPlace,
    KeepsSessions,
    Marks,
    StepEntry,
    ToldEvent,
    claim_prefix,
    event_body,
    is_whole,
    note_body,
    state_body,
    step_claim,
)
from harness.log.journal_rows import JournalRow, JournalStep
from harness.log.log_errors import Unrecordable
from harness.record import (
    AlreadyClaimed,
    Begun,
    CriticError,
    CriticErrorRecord,
    Decision,
    DecisionRecord,
    SessionClosed,
    SessionClosedRecord,
    SessionReopened,
    used_approvals,
)
from harness.record.drafts import session_key
from harness.record.parts import MOST_RETURNED
from harness.runtime.ports import Clock, RecordsBegun

if TYPE_CHECKING:
    from harness.guard.session_inputs import BatchInputs

OnDecision = Callable[[Decision], None]
"""Is given each decision after it was recorded, and before it is answered."""

_REVISION: Final = "revision "
"""How the claim of a session on a state begins that was handed over."""
_UNKNOWN: Final = frozenset({"unknown"})
_APPROVAL: Final = "approval "
"""How the claim of a beginning on an approval begins."""


class WentOnElsewhere(HarnessError):
    """Another session has this id, or has already made this step."""


class GuardLog(Protocol):
    """Stores decisions. Synchronous: `AsyncGuard` calls it in a thread.

    Further methods of `SqlDecisionLog` are optional. With `begin` and `append_error`, the log shows
    which calls may have run when a process died, and where the guard failed. With `append_all`, a
    ruling and the beginning of its execution are stored together or not at all. With `head` and
    `claims`, no two sessions can have one id. With `KeepsSessions`, any process can continue an
    open session; with `raw_at`, also a closed one.
    """

    def append(self, decision: Decision) -> DecisionRecord:
        """Store the decision, and return its record once it is durable."""
        ...


@runtime_checkable
class _KeepsTogether(Protocol):
    """A log that stores several entries or none; beginnings too, if it has `begin`."""

    def append_all(self, entries: Iterable[Decision | Begun]) -> Sequence[Any]:
        """Store the entries in order, all or none. Return the `seq` and `hash` of each."""
        ...


@runtime_checkable
class _RecordsErrors(Protocol):
    """A log that stores failures of the critic."""

    def append_error(self, error: CriticError) -> CriticErrorRecord:
        """Store the failure."""
        ...


@runtime_checkable
class _KeepsSettlements(Protocol):
    """A log in which a person may settle an execution without an end."""

    def find_settled(self, begun: Iterable[str]) -> Iterable[str]:
        """Return the hashes of the beginnings that a person settled."""
        ...


_SIZES: Final = Beside[int]()
"""Beside a call that ended, the bytes of what it returned."""


def _require_recordable(course: Course, call_id: str) -> None:
    """Check that the turns that still run did not return more than their records can hold.

    Raises:
        Unrecordable: one did. What a call of it would do later could not be recorded.
    """
    for running in course.session.running.values():
        if sum(map(_returned_by, running.ended)) > MOST_RETURNED:
            raise Unrecordable(
                f"with the result of call {escape_name(call_id)} its turn returned over "
                f"{MOST_RETURNED} bytes, which no record can hold: tell the beginning of it, "
                'with "cut": true'
            )


def _returned_by(call: ToolCall) -> int:
    known = _SIZES.get(call)
    return _SIZES.keep(call, len(canonical_json(call.output))) if known is None else known


class RulingRecorder:
    """Writes to the log of a guard, if there is one."""

    def __init__(
        self,
        log: GuardLog | None,
        clock: Clock,
        on_decision: OnDecision | None = None,
        keeper: KeepsSessions | None = None,
    ) -> None:
        """Record in a log, with the time of a clock, and pass on each stored decision.

        `keeper` keeps the open sessions.
        """
        self._log, self._clock, self._on_decision = log, clock, on_decision
        self._keeper: Final = keeper
        self._records_begun: Final = isinstance(log, RecordsBegun)

    @property
    def keeps_sessions(self) -> bool:
        """Whether open sessions are kept."""
        return self._keeper is not None

    def begin(self, session: str) -> Marks | None:
        """Return the place of a new session; None if the log has another session of its id."""
        place = None if self._keeper is None else JournalPlace(session_key(session))
        if not isinstance(self._log, KeepsClaims):
            return Marks(place)
        claim = id_claim(session)
        taken = require_stored(self._log.claims([claim]))
        return None if taken else Marks(place, claims=(claim,))

    def find_closed(self, session: str) -> tuple[Marks, SessionClosedRecord]:
        """Return the place of a closed session that may be reopened: see `find_closed`."""
        return find_closed(self._log, session)

    def keep_reopening(
        self, course: Course, closed: SessionClosedRecord, marks: Marks, note: str | None
    ) -> None:
        """Record that a closed session is reopened, with everything that it keeps.

        Raises:
            JournalMoved, AlreadyClaimed: it was reopened elsewhere.
            Exception: it was not stored.
        """
        place = marks.place
        assert place is not None and self._keeper is not None  # noqa: S101 - it was found there
        place.note = note
        body = state_body(course, {}, note)
        step = place.step(body, marks.last, is_whole=True, is_reopening=True)
        session, claims = course.session, (step_claim(step),)
        facts = session.trace_id, closed.hash, closed.turns, len(session.trail)
        reopened = SessionReopened(*facts, self._clock.now(), claims)
        require_stored(self._keeper.append_step((reopened,), step))
        place.advance(step.number, len(body), is_whole=True, note=note)

    def go_on(self, session: str, state: GuardState) -> Marks | None:
        """Return the place of an exported session; None if another session has its id.

        In a log without journals, the next record claims the revision of the state, so the log
        refuses a second session that continues from it.
        """
        if state.mark is None or self._log is None or self._keeper is not None:
            return self.begin(session)
        claim = f"{_REVISION}{session_key(session)} {state.revision}"
        if isinstance(self._log, KeepsClaims) and require_stored(self._log.claims([claim])):
            return None
        begun = {one.turn: one.hash for one in state.begun}
        return Marks(last=state.mark, claims=(claim,), begun=begun)

    def find(self, session: str) -> tuple[Marks, Sequence[JournalRow]] | None:
        """Return the journal of an open session; None if there is none."""
        if self._keeper is None:
            return None
        marks = Marks(JournalPlace(session_key(session)), claims=(id_claim(session),))
        rows = self._keeper.journal(session_key(session))
        return (marks, rows) if rows else None

    def was_open(self, session: str) -> bool:
        """Return whether the log has records of the steps of a session."""
        prefix = claim_prefix(session_key(session))
        return self._keeper is not None and self._keeper.last_claim(prefix) is not None

    def rows_missed(self, marks: Marks) -> Sequence[JournalRow] | None:
        """Return the steps that records claim but the journal did not have when it was read.

        None if the session has ended since.

        Raises:
            JournalAltered: it still lacks them: it was cut, or an old one was put back.
        """
        if self._keeper is None or marks.place is None:
            return ()
        claimed = self._keeper.last_claim(claim_prefix(marks.place.session))
        if is_whole(marks.place, claimed):
            return ()
        rows = self.rows_after(marks.place)
        if rows is not None and not rows:
            raise JournalAltered("records of later steps are in the log: it was cut, or put back")
        return rows

    def rows_after(self, place: JournalPlace) -> Sequence[JournalRow] | None:
        """Return the steps of other processes; None if the session is over."""
        assert self._keeper is not None  # noqa: S101 - a place is of a keeper
        last = self._keeper.last_step(place.session)
        if last == place.number:
            return ()
        if last and (rows := self._keeper.journal(place.session, place.number)):
            return rows
        # It may have ended after the first look.
        return () if last and self._keeper.last_step(place.session) else None

    def record(self, answered: Answered, marks: Marks, told: ToldEvent) -> None:
        """Record the decisions of an event in order, and update the place of the session.

        Raises:
            JournalMoved: another process continued the session. Nothing was recorded.
            WentOnElsewhere: the log has another session of its id.
            Exception: the log did not accept it.
        """
        if self._log is not None and isinstance(told.event, ResultEvent):
            _require_recordable(answered.course, told.event.id)
        is_wanted = self._log is not None or self._on_decision is not None
        entries = self._say_more(answered.records, marks) if is_wanted else ()
        step = self._step_of(answered, marks, told)
        inputs, decisions = self._decide(entries, marks, step)
        if self._log is not None or step is not None:
            decided = [*zip(entries, inputs, decisions, strict=True)]
            self._store(decided, marks, step, answered.course)
        marks.note_ends(answered.records, None)
        for entry, given, decision in zip(entries, inputs, decisions, strict=True):
            if entry.begins:
                marks.inputs[entry.batch.turn] = given
            if self._on_decision is not None:
                self._on_decision(decision.detach_decision(given.handed_out()))
        if step is not None and marks.place is not None:  # not before: an error is read again
            marks.place.advance(step.number, len(step.body), is_whole=False, note=told.note)

    def _say_more(self, records: Sequence[ToRecord], marks: Marks) -> Sequence[ToRecord]:
        """Return records without the ends of executions that a person settled with more knowledge.

        A closed session knows nothing of calls without a result.
        """
        wanted = {
            begun: one.batch.turn
            for one in records
            if one.ended and {call.status for call in one.ended.running.ended} <= _UNKNOWN
            if (begun := marks.begun.get(one.batch.turn)) is not None
        }
        if not wanted or not isinstance(self._log, _KeepsSettlements):
            return records
        settled = {wanted[begun] for begun in require_stored(self._log.find_settled(wanted))}
        return [one for one in records if one.ended is None or one.batch.turn not in settled]

    def _decide(
        self, entries: Sequence[ToRecord], marks: Marks, step: JournalStep | None
    ) -> tuple[list["BatchInputs"], list[Decision]]:
        """Return the inputs and the decisions to record."""
        inputs = [marks.inputs_of(entry.batch) for entry in entries]
        claims = marks.claims if self._log is not None else ()
        if step is not None and not step.is_end and self._log is not None:
            claims += (step_claim(step),)  # that of a close is claimed by its own record
        decisions: list[Decision] = []
        for entry, given in zip(entries, inputs, strict=True):
            own = () if decisions else claims
            decisions.append(_decision_of(entry, given, self._clock.now(), marks, own))
        return inputs, decisions

    def _step_of(self, answered: Answered, marks: Marks, told: ToldEvent) -> JournalStep | None:
        """Return the step of an event; None if sessions are not kept."""
        if marks.place is None:
            return None
        answer = answered.answer
        ruled = answer.action if isinstance(answer, Ruling | OpeningRuling) else None
        is_end = isinstance(told.event, CloseEvent)
        body = b"" if is_end else event_body(told, ruled)
        return marks.place.step(body, marks.last, is_end=is_end)

    def _store(
        self,
        decided: Sequence[tuple[ToRecord, "BatchInputs", Decision]],
        marks: Marks,
        step: JournalStep | None,
        course: Course,
    ) -> None:
        """Store decisions, each with the beginning of its execution, and the step."""
        given: list[tuple[int, StepEntry]] = []
        for told, inputs, decision in decided if self._log is not None else ():
            given.append((told.batch.turn, decision))
            if told.begins and self._records_begun:
                given.append((told.batch.turn, self._beginning_of(inputs, decision)))
        if step is not None and step.is_end and self._log is not None:
            given += self._close_of(marks, step, course, is_recorded=bool(decided))
        try:
            stored = self._append_entries([entry for _, entry in given], step)
            for (turn, entry), record in zip(given, stored, strict=True):
                if isinstance(entry, Begun):
                    marks.begun[turn] = record.hash
                elif isinstance(entry, Decision):
                    marks.last, marks.claims = record.seq, ()
        except AlreadyClaimed as error:
            raise _error_of_claim(error) from None

    def _close_of(
        self, marks: Marks, step: JournalStep, course: Course, *, is_recorded: bool
    ) -> list[tuple[int, StepEntry]]:
        """Return the record of a close; none if the log has no record of the session."""
        if marks.last is None and not is_recorded:
            return []
        session, now = course.session, self._clock.now()
        claims = (step_claim(step),)
        closed = SessionClosed(session.trace_id, session.turn, carried_of(course), now, claims)
        return [(0, closed)]

    def _append_entries(
        self, entries: Sequence[StepEntry], step: JournalStep | None
    ) -> Iterator[Any]:
        """Yield the records of entries once they are stored: together, if the log supports it."""
        log = self._log
        if step is not None and self._keeper is not None:
            yield from require_stored(self._keeper.append_step(entries, step))
        elif isinstance(log, _KeepsTogether):
            yield from require_stored(log.append_all(entries) if entries else ())
        else:
            for entry in entries:
                keep: Any = log.begin if isinstance(entry, Begun) else log.append  # type: ignore[union-attr]
                yield require_stored(keep(entry))

    def keep_opening(self, told: ToldEvent, policy: str, marks: Marks) -> None:
        """Store the first step of a session, under rules with this digest.

        Raises:
            JournalMoved: another process opened it.
            Exception: it was not stored.
        """
        if marks.place is not None:
            body = event_body(told, policy=policy)
            self._keep(marks, marks.place.step(body, None), told.note)

    def keep_whole(self, course: Course, marks: Marks) -> None:
        """Store the whole state of a session as its next step. Raises what `keep_opening` does."""
        if marks.place is not None:
            body = state_body(course, marks.begun, marks.place.note)
            self._keep(marks, marks.place.step(body, marks.last, is_whole=True))

    def keep_note(self, note: str, marks: Marks) -> None:
        """Store a note of the caller as the next step.

        Raises:
            OutOfPlace: sessions are not kept.
            JournalMoved: another process went on with it.
            Exception: it was not stored.
        """
        if marks.place is None:
            raise OutOfPlace("/session", "nothing keeps the sessions of this guard: give it a log")
        self._keep(marks, marks.place.step(note_body(note), marks.last), note)

    def shorten(self, course: Course, marks: Marks) -> None:
        """Store the whole state of a session if its journal is long. It may fail."""
        if marks.place is not None and marks.place.is_long:
            with suppress(Exception):  # the steps are still there
                self.keep_whole(course, marks)

    def _keep(self, marks: Marks, step: JournalStep, note: str | None = None) -> None:
        assert self._keeper is not None  # noqa: S101 - a place is of a keeper
        assert marks.place is not None  # noqa: S101 - the step is of it
        self._keeper.append_step((), step)
        marks.place.advance(step.number, len(step.body), is_whole=step.is_whole, note=note)

    def _beginning_of(self, inputs: "BatchInputs", ruling: Decision) -> Begun:
        """Return the beginning of a batch that may run from now on."""
        batch, now = inputs.batch, self._clock.now()
        used = used_approvals(batch.proposal) if batch.ctx.approvals else ()
        return Begun.of(
            inputs,
            action=ruling.action,
            approvals=used,
            begun_at=now,
        )

    def record_failure(self, asked: Any, where: str, trace_id: str | None) -> None:
        """Record that the guard failed.

        Raises:
            Exception: the log did not accept it.
        """
        if not isinstance(self._log, _RecordsErrors):
            return
        failed_at = self._time_of_failure()
        error = CriticError(asked=asked, where=where, failed_at=failed_at, trace_id=trace_id)
        require_stored(self._log.append_error(error))

    def _time_of_failure(self) -> datetime:
        """Return the time, even if the clock failed."""
        try:
            now = self._clock.now()
            if now.utcoffset() is not None:
                return now
        except Exception:  # noqa: S110 - told by the clock of this machine instead
            pass
        return SystemClock().now()


def _decision_of(
    entry: ToRecord,
    inputs: "BatchInputs",
    decided_at: datetime,
    marks: Marks,
    claims: tuple[str, ...],
) -> Decision:
    """Return an entry as a decision. With a run, it has the hash of its beginning."""
    report = consolidate(
        trace_id=inputs.batch.ctx.trace_id,
        decision_key=inputs.batch.rules.batch_spec.id,
        verify=entry.verdict,
        score=entry.score,
        opening=entry.refused_opening,
        decided_at=decided_at,
    )
    begun = None if entry.ended is None else marks.begun.get(entry.batch.turn)
    facts: dict[str, Any] = {"report": report, "action": entry.action, "answer": entry.answer}
    facts |= {"run": entry.facts, "error": entry.note, "begun": begun}
    return Decision.of(inputs, claims=claims, **facts)


def _error_of_claim(error: AlreadyClaimed) -> HarnessError:
    """Return the error for a session whose claim another process made."""
    if all(claim.startswith(_APPROVAL) for claim in error.claims):
        return error
    if any(claim.startswith(OPENED) for claim in error.claims):
        return WentOnElsewhere("another session has its id in the log: choose a new id")
    return _went_on()


def _went_on() -> WentOnElsewhere:
    return WentOnElsewhere("a record of the log is of this step already: begin a new session")
