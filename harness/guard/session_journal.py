"""The journal of a session: everything that a process needs to continue it. Pure.

Each event that changes a session is one step, appended with its records before it is answered. A
process that continues the session applies the events again, in order, and gets the same session,
because the outcome of an event depends on nothing else. A step may hold the whole session instead,
so that readers can start there. For example:

    1  {"clock":"2026-05-09T12:00:00Z","event":{"event":"open",...},"policy":"..."}
    2  {"action":"allow","clock":"...","event":{"calls":[...],...}}    and records 7 and 8
    3  {"clock":"...","event":{"event":"result",...}}                  and record 9

Rule 1: a step is trusted for the event, not for the outcome: rulings are made again. If one is
        different, the journal belongs to other rules, and nobody continues from it.
Rule 2: a step with records claims its number. A journal that lacks a claimed step was cut, or an
        older one was put back.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, Protocol, runtime_checkable

from critic.session import Action, Batch, SessionRules
from evals.envelope import OPTIONAL, Envelope, Identifier
from evals.json_value import JsonObject, Text
from evals.timestamps import Time
from harness.canonical import canonical_bytes, canonical_json
from harness.guard.course import Answered, Course
from harness.guard.course_answers import OutOfPlace, ToRecord
from harness.guard.guard_state import GuardState, course_of, state_of_course
from harness.guard.rulings import OpeningRuling, Ruling
from harness.guard.session_events import SessionEvent, event_of
from harness.log.journal_rows import JournalRow, JournalStep
from harness.policy import GuardSettings
from harness.record import Begun, Decision, Sealed, SessionClosed, SessionReopened
from harness.record.drafts import session_key
from harness.wire import InvalidInput, parse

if TYPE_CHECKING:
    from harness.guard.session_inputs import BatchInputs

_SMALLEST: Final = 1 << 16
"""Bytes of events that nobody minds to take in again."""
_STEP: Final = "step "
"""How the claim of a step begins."""
_LARGEST: Final = 1 << 30


class JournalAltered(OutOfPlace):
    """The journal of a session does not match its records, or belongs to other rules."""

    def __init__(self, why: str) -> None:
        what = f"cannot go on with this session from its journal: {why}: begin a new session"
        super().__init__("/session", what)


StepEntry = Decision | Begun | SessionClosed | SessionReopened
"""What a step of a session records."""


@runtime_checkable
class KeepsSessions(Protocol):
    """A place that keeps open sessions: a log or a folder."""

    def append_step(self, entries: Iterable[StepEntry], step: JournalStep) -> Sequence[Sealed]:
        """Store a step with its records: all or nothing.

        Raises:
            JournalMoved: another process has made that step.
        """
        ...

    def journal(self, session: str, after: int = 0) -> Sequence[JournalRow]:
        """Return the steps of a session after one, in their order."""
        ...

    def last_step(self, session: str) -> int:
        """Return the number of the last step of a session; 0 if it is not open."""
        ...

    def last_claim(self, prefix: str) -> str | None:
        """Return the last claim of a record with a prefix, in the order of bytes."""
        ...


class _Body(Envelope):
    """The body of a step: an event, a note of the caller, or the whole session (`state`)."""

    event: Annotated[JsonObject | None, OPTIONAL] = None
    clock: Annotated[Time | None, OPTIONAL] = None
    action: Annotated[Action | None, OPTIONAL] = None
    policy: Annotated[Identifier | None, OPTIONAL] = None
    state: Annotated[GuardState | None, OPTIONAL] = None
    note: Annotated[Text | None, OPTIONAL] = None


@dataclass(slots=True)
class JournalPlace:
    """The place of a session in its journal.

    Attributes:
        session: the key of its id.
        number: the number of its last step.
        size: the bytes of the steps since the last whole session.
        whole: the bytes of that step.
        note: the last note of the caller.
    """

    session: str
    number: int = 0
    size: int = 0
    whole: int = 0
    note: str | None = None

    def step(self, body: bytes, seq: int | None, **kind: bool) -> JournalStep:
        """Return the next step."""
        return JournalStep(self.session, self.number + 1, body, seq, **kind)

    def advance(self, number: int, size: int, *, is_whole: bool, note: str | None) -> None:
        """Advance by a stored step."""
        self.note = self.note if note is None else note
        self.number = number
        self.size = 0 if is_whole else self.size + size
        self.whole = size if is_whole else self.whole

    @property
    def is_long(self) -> bool:
        """Whether the next step should hold the whole session: the events take twice its size."""
        return self.size > max(_SMALLEST, self.whole)


@dataclass(slots=True)
class Marks:
    """The place of a session in the log and in its journal.

    Attributes:
        place: the end of its journal; None without a journal.
        last: the number of its last record; None before the first.
        claims: the claims on its id, while it has no record.
        begun: the hashes of the beginnings of batches with unfinished calls, by turn.
        inputs: the inputs of those of these batches that this process ruled on.
    """

    place: JournalPlace | None = None
    last: int | None = None
    claims: tuple[str, ...] = ()
    begun: dict[int, str] = field(default_factory=dict)
    inputs: "dict[int, BatchInputs]" = field(default_factory=dict)

    def inputs_of(self, batch: Batch) -> "BatchInputs":
        """Return the inputs that a batch was ruled on with."""
        from harness.guard.session_inputs import (  # noqa: PLC0415 - only what records needs it
            BatchInputs,
        )

        return self.inputs.get(batch.turn) or BatchInputs(batch)

    def note_ends(self, records: Iterable[ToRecord], begun: str | None) -> None:
        """Update which batches have begun, after the records of a step."""
        for record in records:
            if record.ended is not None:
                self.begun.pop(record.batch.turn, None)
                self.inputs.pop(record.batch.turn, None)
            elif record.begins and begun is not None:
                self.begun[record.batch.turn] = begun


def step_claim(step: JournalStep) -> str:
    """Return the claim of the first record of a step."""
    return f"{claim_prefix(step.session)}{step.number:016}"


def claim_prefix(session: str) -> str:
    """Return the prefix of the claims of a session's steps."""
    return f"{_STEP}{session} "


class ToldEvent(NamedTuple):
    """An event, the time of the clock, and the caller's note on the session."""

    event: SessionEvent
    clock: datetime | None
    note: str | None = None


def event_body(told: ToldEvent, action: Action | None = None, policy: str | None = None) -> bytes:
    """Return the body of a step: an event and its ruling.

    `policy` is the digest of the rules, with the event that opens a session.
    """
    given: dict[str, Any] = {"clock": told.clock, "note": told.note}
    given |= {"action": action, "policy": policy}
    body = _Body(**{name: one for name, one in given.items() if one is not None})
    return canonical_json({**body.wire(), "event": told.event.wire()})  # checked when it came in


def note_body(note: str) -> bytes:
    """Return the body of a step with a note of the caller."""
    return canonical_bytes(_Body(note=note))


def state_body(course: Course, begun: dict[int, str], note: str | None) -> bytes:
    """Return the body of a step with a whole session."""
    known: dict[str, Any] = {} if note is None else {"note": note}
    return canonical_bytes(_Body(state=state_of_course(course, 1, None, begun), **known))


Apply = Callable[[Course | None, SessionEvent, datetime | None, int | None], Answered]
"""What an event makes of a session, told the clock and the number of its last record."""


class JournalReader:
    """Continues sessions from their journals."""

    def __init__(self, rules: SessionRules, settings: GuardSettings, apply: Apply) -> None:
        """Continue under a policy; `apply` applies an event to a session."""
        self._rules: Final = rules
        self._settings: Final = settings
        self._apply: Final = apply

    def go_on(self, course: Course | None, marks: Marks, rows: Sequence[JournalRow]) -> Course:
        """Apply the next steps, and return the session with its `marks`.

        Raises:
            JournalAltered: they are not valid steps, or belong to another policy or other rules.
        """
        for row in rows:
            try:
                course = self._take_step(course, marks, row)
            except JournalAltered:
                raise
            except (InvalidInput, OutOfPlace, ValueError) as error:
                raise JournalAltered(str(error)) from None
        if course is None:
            raise JournalAltered("its first step is missing")
        return course

    def _take_step(self, course: Course | None, marks: Marks, row: JournalRow) -> Course | None:
        body, place = parse(_Body, row.body, max_bytes=_LARGEST), marks.place
        assert place is not None  # noqa: S101 - who has no journal reads none
        if body.state is not None:
            course = course_of(self._rules, self._settings, body.state)
            marks.begun = {one.turn: one.hash for one in body.state.begun}
        elif row.number != place.number + 1:
            raise JournalAltered("a step is missing")
        elif body.event is not None:
            course = self._take_event(course, marks, body, row)
        if course is not None and session_key(course.session.id) != place.session:
            raise JournalAltered("it is of another session")
        place.advance(row.number, len(row.body), is_whole=body.state is not None, note=body.note)
        if row.seq is not None:
            marks.last, marks.claims = row.seq, ()
        return course

    def _take_event(
        self, course: Course | None, marks: Marks, body: _Body, row: JournalRow
    ) -> Course:
        if body.policy not in (None, self._rules.digest):
            raise JournalAltered("it is of another policy")
        answered = self._apply(course, event_of(body.event), body.clock, marks.last)
        answer = answered.answer
        ruled = answer.action if isinstance(answer, Ruling | OpeningRuling) else None
        if ruled != body.action:
            raise JournalAltered(f"it says {body.action}, and these rules say {ruled}")
        marks.note_ends(answered.records, row.begun)
        return answered.course


def is_whole(place: JournalPlace, last_claim: str | None) -> bool:
    """Return whether a journal has every step that a record claims."""
    if last_claim is None:
        return True
    claimed = last_claim.rpartition(" ")[2]
    return claimed.isdecimal() and int(claimed) <= place.number
