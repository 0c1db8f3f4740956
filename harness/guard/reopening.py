"""Reopen a closed session: find it, keep what binds it, and begin it again.

Rule 1: everything that binds the session is kept: denials, questions, spending, and sent values.
        Everything that gave it authority is dropped: the user's words, evidence, approved values,
        and what it made.
Rule 2: the numbers of turns continue, so that each is used once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from evals.escaping import escape_name
from harness.guard.course import Course
from harness.guard.course_answers import OutOfPlace
from harness.guard.log_claims import KeepsClaims, id_claim, require_stored
from harness.guard.session_journal import JournalPlace, KeepsSessions, Marks, claim_prefix
from harness.record import CarriedSession, RawRecord, SessionClosedRecord
from harness.record.drafts import session_key
from harness.record.integrity import read_text_of
from harness.wire import InvalidInput, build


@runtime_checkable
class _KeepsCloses(KeepsClaims, KeepsSessions, Protocol):
    """A log that keeps sessions and finds the record of a close."""

    def raw_at(self, numbers: Iterable[int]) -> Sequence[RawRecord]:
        """Return the records with these numbers, unchecked."""
        ...


def find_closed(log: Any, session: str) -> tuple[Marks, SessionClosedRecord]:
    """Return the place of a closed session that may be reopened, and the record of its close.

    Raises:
        OutOfPlace: it cannot be reopened.
        LogError: it cannot be determined.
    """
    if not isinstance(log, _KeepsCloses):
        raise _cannot_reopen(session, "nothing here remembers what was closed, only a log does")
    key = session_key(session)
    last = log.last_claim(claim_prefix(key))
    if last is None:
        is_taken = require_stored(log.claims([id_claim(session)]))
        why = "its close is not in this log" if is_taken else "it was never open here"
        raise _cannot_reopen(session, why)
    closed = _closed_by(require_stored(log.raw_at(require_stored(log.claims([last])).values())))
    if closed is None:
        raise _cannot_reopen(session, "its close was not recorded, or was taken out of the log")
    number = int(last.rpartition(" ")[2])
    return Marks(JournalPlace(key, number), closed.seq), closed


def _closed_by(rows: Iterable[RawRecord]) -> SessionClosedRecord | None:
    """Return the record of a close in a row of a log; None if it is another record, or altered."""
    for raw in rows:
        document = read_text_of(raw)
        if document.own_hash == raw.hash and document.kind == "closed":
            try:
                return build(SessionClosedRecord, dict(document.value))
            except InvalidInput:
                return None
    return None


def carried_of(course: Course) -> CarriedSession:
    """Return what a session keeps if it is closed now and reopened later."""
    session = course.session
    sent, denied = tuple(session.ledger.sent), sorted(key.decode() for key in course.denied)
    return CarriedSession(
        policy_digest=session.rules.digest,
        spent=session.ledger.spent(),
        sent=sent or None,
        asked=course.asked,
        denied=tuple(denied) or None,
        has_halted=course.has_halted,
    )


def next_life(opened: Course, closed: SessionClosedRecord) -> Course:
    """Return a new session that continues a closed one.

    Raises:
        OutOfPlace: it cannot be reopened.
    """
    session, carried = opened.session, closed.carried
    if closed.trace_id != session.trace_id:
        raise _cannot_reopen(session.id, "its last record is of another session")
    if carried is None:
        raise _cannot_reopen(session.id, "what it carries is not there")
    if carried.policy_digest != session.rules.digest:
        raise _cannot_reopen(session.id, "it was closed under another policy")
    if carried.has_halted:
        raise _cannot_reopen(session.id, "it halted at a refusal")
    return carry_over(opened, closed.turns, carried)


def carry_over(opened: Course, turns: int, carried: CarriedSession) -> Course:
    """Return a new session with what an earlier life of it carries, after so many turns."""
    denied = frozenset(key.encode() for key in carried.denied or ())
    again = opened.session.after_life(turns, carried.spent, carried.sent or ())
    return replace(opened, session=again, asked=carried.asked, denied=denied)


def _cannot_reopen(name: str, why: str) -> OutOfPlace:
    """Return the error for a closed session that cannot be reopened."""
    shown = escape_name(name)
    return OutOfPlace("/again", f"session {shown} cannot go on: {why}: choose a new id")
