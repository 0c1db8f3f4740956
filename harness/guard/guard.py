"""The guard: sessions with their policy, log, clock and locks. Integrations call this.

Rule 1: an internal failure is a refusal with `critic_error`, or an error. It allows nothing and
        changes nothing.
Rule 2: a decision is recorded before it is returned; calls of unknown tools alone get none.
Rule 3: sessions do not wait for one another. The events of one session run one at a time.
Rule 4: the guard never hands out its own state, and copies its inputs.
Rule 5: a kept session is open in every process that asks for it. An event is one step of its
        journal; if two processes make the same step, one of them starts again.
"""

from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from threading import Lock
from typing import Any, Final, Self

from evals.escaping import escape_name
from harness.errors import HarnessError
from harness.failures import describe_failure
from harness.guard.answer_words import AnswerWords
from harness.guard.command_world import CommandWorld
from harness.guard.course import Answered, Course
from harness.guard.course_answers import NoOpenQuestion, OutOfPlace
from harness.guard.course_opening import open_course, time_after
from harness.guard.event_dispatch import apply_event
from harness.guard.event_faults import event_error
from harness.guard.event_methods import EventMethods
from harness.guard.guard_parts import PathText, clock_from, keeper_of, log_at, policy_at
from harness.guard.guard_rules import require_confirmed, require_known, require_scope
from harness.guard.guard_state import course_of, dump_course, parse_state
from harness.guard.open_sessions import (
    OpenSession,
    OpenWork,
    already_open,
    count_open,
    still_open,
    unknown_session,
)
from harness.guard.permits import CallPermit
from harness.guard.recording import GuardLog, OnDecision, RulingRecorder
from harness.guard.reopening import next_life
from harness.guard.rulings import Answer, Ruling
from harness.guard.session_events import (
    AnswerEvent,
    CallsEvent,
    CloseEvent,
    OpenEvent,
    SessionEvent,
    SessionPlanEvent,
    bytes_of_event,
    event_of,
    require_event_size,
)
from harness.guard.session_journal import JournalReader, KeepsSessions, Marks, ToldEvent
from harness.guard.status import SessionStatus, session_status
from harness.log.journal_rows import JournalMoved
from harness.log.log_errors import LogError
from harness.policy import Policy
from harness.policy.policy_rules import rules_of
from harness.record import AlreadyClaimed
from harness.runtime.ports import Clock, ShellWorld
from harness.single_use import PermitError
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput, detached_copy, parse_json

_MOST_TRIES: Final = 8
"""How often an event is judged again because other processes went on with its session."""


class Guard(EventMethods):
    """Guards any number of sessions under one policy. Thread-safe.

    The caller reports the events of its agent, and makes a call only after it is allowed. The
    caller authenticates approvers: the guard does not check who they are.
    """

    def __init__(
        self,
        policy: Policy | PathText,
        *,
        log: GuardLog | PathText | None = None,
        clock: Clock | None = None,
        on_decision: OnDecision | None = None,
        max_skew: timedelta | None = None,
        sessions: KeepsSessions | None = None,
        strict: bool = False,
        world: ShellWorld | None = None,
    ) -> None:
        """Guard sessions by a policy, or by the one in a file.

        Args:
            log: the log for each ruling before it is returned, or its path or URL.
            sessions: a log or folder that keeps open sessions; others go on with them from there.
            clock: the time of events that have none; by default, the clock of this machine.
            max_skew: the largest difference between an event's time and the clock; by default, any.
            on_decision: gets a copy of each decision first. It may raise, but not call the guard.
            strict: refuse a policy with guesses that nobody has confirmed.
            world: where shell commands run. Without it, those without facts are not understood.

        Raises:
            PolicyError, InvalidPolicy, LogError, OSError, ValueError: an argument is invalid.
        """
        self._clock: Final[Clock] = clock_from(clock)
        self._policy: Final = detached_copy(policy_at(policy))
        self._rules: Final = rules_of(self._policy)
        require_confirmed(self._policy, strict=strict)
        self._max_skew: Final = max_skew
        self._commands = CommandWorld(self._rules, world)
        self._owned: Final = ExitStack()
        parts = log_at(log, self._owned), self._clock, on_decision
        self._recorder: Final = RulingRecorder(*parts, keeper_of(parts[0], sessions))
        self._reader: Final = JournalReader(self._rules, self._policy.guard, self._apply_again)
        self._lock: Final = Lock()
        self._entries: Final[dict[str, OpenSession]] = {}
        self._resumed: Final[dict[str, int]] = {}

    @cached_property
    def _words(self) -> AnswerWords:
        """Adds texts to answers that stop something."""
        return AnswerWords(self._policy)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    def shutdown(self) -> None:
        """Close the log, if this guard opened it by its path or URL."""
        self._owned.close()

    def check_tools(self, names: Iterable[str]) -> None:
        """Check that the policy has the tools of an agent, by the names that the agent uses.

        Raises:
            UnknownTool: it lacks some, so each call of them would be refused.
        """
        require_known(self._rules.tools, names)

    def check_scope(self, scope: Any) -> None:
        """Check that a scope lists tools of the policy. None passes.

        Raises:
            PolicyError: it does not; the message has the nearest names.
        """
        require_scope(self._rules.tools, scope)

    def _answer(self, event: SessionEvent, note: str | None, *, raises: bool) -> Answer:
        return self._answer_bytes(lambda: bytes_of_event(event), None, note, raises=raises)

    def handle_line(self, data: bytes, max_bytes: int = MAX_DOCUMENT_BYTES) -> Answer:
        """Handle one event as a line of JSON. Total, like `handle`."""
        return self._answer_bytes(lambda: data, max_bytes)

    def _answer_bytes(
        self,
        read: Callable[[], bytes],
        max_bytes: int | None,
        note: str | None = None,
        *,
        raises: bool = False,
    ) -> Answer:
        value: Any = None
        event: SessionEvent | None = None
        try:
            data = read()
            value = parse_json(data, len(data) if max_bytes is None else max_bytes)
            require_event_size(value, len(data))
            event = event_of(value)
            return self._take(event, note)
        except (InvalidInput, OutOfPlace) as error:
            if raises:
                raise
            return event_error(value, error)
        except Exception as error:
            return self._answer_failure(value, event, error)

    def _take(self, event: SessionEvent, note: str | None) -> Answer:
        if isinstance(event, OpenEvent):
            self._open(event, note)
            return None
        entry = self._require_entry(event.session, is_answer=isinstance(event, AnswerEvent))
        with entry.lock:
            if entry.is_over:  # it was closed while this event waited
                raise unknown_session(event.session)
            answered = self._take_step(entry, event, note)
            entry.commit(event, answered)
            if isinstance(event, CloseEvent):
                self._forget(event.session, entry)
            else:
                self._recorder.shorten(entry.course, entry.marks)
        return answered.answer

    def _take_step(self, entry: OpenSession, event: SessionEvent, note: str | None) -> Answered:
        """Apply an event to a session, and return the outcome once it is kept.

        If another process continued the session, the event comes after the events there.
        """
        for _ in range(_MOST_TRIES):
            try:
                return self._answer_event(entry, event, note)
            except JournalMoved:
                self._catch_up(event.session, entry)
            except OutOfPlace:  # it may have its place after what happened elsewhere
                if not self._catch_up(event.session, entry):
                    raise
            if entry.is_over:
                raise unknown_session(event.session)
        raise HarnessError("other processes go on with this session all the time: try again")

    def _answer_event(self, entry: OpenSession, event: SessionEvent, note: str | None) -> Answered:
        """Apply an event to a session, and return the outcome once it is recorded."""
        event = self._commands.with_facts(event)
        now = self._clock.now()
        time = time_after(event, entry.course.time, now, self._max_skew)
        course = replace(entry.course, time=time)
        answered = self._words.word(apply_event(course, event, time.at, entry.marks.last))
        self._recorder.record(answered, entry.marks, ToldEvent(event, now, note))
        return answered

    def _open(self, event: OpenEvent, note: str | None) -> None:
        if event.again:
            self._reopen(event, note)
            return
        if event.session in self._entries:
            raise already_open(event.session)
        now = None if event.as_of is None else self._clock.now()
        course = self._opened_course(event, now, self._max_skew)
        marks = self._recorder.begin(event.session)
        if marks is None:
            raise already_open(event.session)
        try:
            self._recorder.keep_opening(ToldEvent(event, now, note), self._rules.digest, marks)
        except JournalMoved:
            raise already_open(event.session) from None
        self._admit(event.session, course, 0, marks)

    def _reopen(self, event: OpenEvent, note: str | None) -> None:
        """Reopen a closed session, of this or another process."""
        if self._current(event.session) is not None:
            raise still_open(event.session)
        marks, closed = self._recorder.find_closed(event.session)
        now = None if event.as_of is None else self._clock.now()
        course = next_life(self._opened_course(event, now, self._max_skew), closed)
        try:
            self._recorder.keep_reopening(course, closed, marks, note)
        except (JournalMoved, AlreadyClaimed):
            raise still_open(event.session) from None
        self._admit(event.session, course, 0, marks)

    def _opened_course(
        self, event: OpenEvent, now: datetime | None, max_skew: timedelta | None = None
    ) -> Course:
        return open_course(self._rules, self._policy, event, now, max_skew)

    def _apply_again(
        self, course: Course | None, event: SessionEvent, now: datetime | None, record: int | None
    ) -> Answered:
        """Apply an event of a journal to a session."""
        if isinstance(event, OpenEvent):
            return Answered(self._opened_course(event, now))
        if course is None or now is None:
            raise OutOfPlace("/event", "a step has no session or no time")
        time = time_after(event, course.time, now, None)
        return apply_event(replace(course, time=time), event, time.at, record)

    def _catch_up(self, name: str, entry: OpenSession) -> bool:
        """Continue a session as other processes left it: it may be over. Hold its lock.

        Return whether another process changed it.

        Raises:
            JournalAltered: its journal does not match its records.
        """
        place = entry.marks.place
        rows = () if place is None else self._recorder.rows_after(place)
        if rows is None:
            self._forget(name, entry)
        elif rows:
            entry.go_on(self._reader.go_on(entry.course, entry.marks, rows))
        return rows is None or bool(rows)

    def _resume_kept(self, name: str) -> OpenSession | None:
        """Continue an open session that this guard does not hold; None if there is none."""
        found = self._recorder.find(name)
        if found is None:
            return None
        marks, kept = found
        course = self._reader.go_on(None, marks, kept)
        while rows := self._recorder.rows_missed(marks):  # made while these were read
            course = self._reader.go_on(course, marks, rows)
        if rows is None:
            return None
        with self._lock:
            return self._entries.setdefault(name, OpenSession(course, 0, marks))

    def _admit(self, name: str, course: Course, revision: int, marks: Marks) -> None:
        with self._lock:
            if name in self._entries:
                raise already_open(name)
            if revision and revision <= self._resumed.get(name, 0):
                raise HarnessError(
                    f"session {escape_name(name)} went on from this state already: go on from there"
                )
            self._resumed.update({name: revision} if revision else {})
            revision = max(revision, self._resumed.get(name, 0))
            self._entries[name] = OpenSession(course, revision, marks)

    def _require_entry(self, name: str, *, is_answer: bool = False) -> OpenSession:
        entry = self._entry_of(name)
        if entry is None:
            if is_answer:
                raise NoOpenQuestion(f"no question is open in session {escape_name(name)}")
            raise unknown_session(name, was_open=self._recorder.was_open(name))
        return entry

    def _entry_of(self, name: str) -> OpenSession | None:
        entry = self._entries.get(name)
        return self._resume_kept(name) if entry is None else entry

    def _current(self, name: str) -> OpenSession | None:
        """Return the current state of a session, of any process; None if it is not open.

        Raises:
            JournalAltered: its journal does not match its records.
        """
        entry = self._entry_of(name)
        if entry is None:
            return None
        with entry.lock:
            if not entry.is_over:  # else another of its id may be open
                self._catch_up(name, entry)
        return None if entry.is_over else entry

    def _forget(self, name: str, entry: OpenSession) -> None:
        entry.end()
        with self._lock:
            self._entries.pop(name, None)

    def _answer_failure(self, value: Any, event: SessionEvent | None, error: Exception) -> Answer:
        """Return the answer after an internal failure. Nothing is allowed or changed."""
        message = describe_failure(error)
        entry = None if event is None else self._entries.get(event.session)
        if event is not None and not isinstance(error, LogError):  # it would fail once more
            self._record_failure(value, message, entry)
        if not isinstance(event, CallsEvent | SessionPlanEvent | AnswerEvent):
            return event_error(value, OutOfPlace("", f"critic_error: {message}"))
        turn = 0 if entry is None else entry.course.session.turn
        turn += isinstance(event, CallsEvent | SessionPlanEvent)
        return Ruling.of_failure(event.session, turn, message)

    def _record_failure(self, value: Any, message: str, entry: OpenSession | None) -> None:
        """Record a failure; of an event that is too large, only its names. Best effort."""
        trace_id = None if entry is None else entry.course.session.trace_id
        for asked in (value, {"event": value["event"], "session": value["session"]}):
            with suppress(Exception):
                self._recorder.record_failure(asked, message, trace_id)
                return

    @property
    def is_shadow(self) -> bool:
        """Whether everything is allowed and nothing is enforced."""
        return self._policy.guard.shadow

    @property
    def keeps_sessions(self) -> bool:
        """Whether open sessions are kept, so that any process can continue them."""
        return self._recorder.keeps_sessions

    @property
    def open_sessions(self) -> int:
        """The number of open sessions that this guard holds."""
        return len(self._entries)

    def open_work(self) -> OpenWork:
        """Return the numbers of open sessions, questions and batches."""
        return count_open(list(self._entries.values()))

    def knows_tool(self, tool: str) -> bool:
        """Return whether the policy has a tool of this name."""
        return tool in self._rules.tools

    def is_open(self, session: str) -> bool:
        """Return whether a session is open, here or in the place that keeps sessions.

        Raises:
            JournalAltered, LogError: it cannot be determined.
        """
        return self._current(session) is not None

    def last_record(self, session: str) -> int | None:
        """Return the number of the last record of an open session; None without one."""
        entry = self._entries.get(session)
        return None if entry is None else entry.marks.last

    def abandon(self, session: str) -> None:
        """Release a session that is no longer used here. Its permits are withdrawn.

        If sessions are kept, it stays open, and its next event continues it.
        """
        entry = self._entries.get(session)
        if entry is None:
            return
        with entry.lock:
            if not entry.is_over:
                self._forget(session, entry)

    def status(self, session: str) -> SessionStatus | None:
        """Return the status of a session; None if it is not open.

        Raises:
            JournalAltered, LogError: it cannot be determined.
        """
        entry = self._current(session)
        return None if entry is None else session_status(entry.course, self._words)

    def permit(self, session: str, call: str) -> CallPermit:
        """Return the permit of an allowed call. Redeem it right before you make the call.

        Only the process that received the ruling has it: a call that another process was allowed
        to make may have run there.

        Raises:
            PermitError: the call was not allowed, has a result, or its session is not open.
            JournalAltered, LogError: it cannot be determined.
        """
        entry = self._current(session)
        permit = entry.permits.get(call) if entry else None
        if permit is None:
            raise PermitError(f"call {escape_name(call)} was not allowed, or has ended")
        return permit

    def note(self, session: str) -> str | None:
        """Return the last note on a session: see `keep_note`.

        Raises:
            OutOfPlace: it is not open.
            JournalAltered, LogError: it cannot be determined.
        """
        marks = self._require_entry(session).marks
        return None if marks.place is None else marks.place.note

    def keep_note(self, session: str, note: str) -> None:
        """Store a text with a session, in its journal. It moves along with the session.

        Raises:
            OutOfPlace: it is not open, or sessions are not kept.
            JournalMoved: another process continued it.
            LogError, OSError: it was not stored.
        """
        entry = self._require_entry(session)
        with entry.lock:
            if entry.is_over:
                raise unknown_session(session)
            self._recorder.keep_note(note, entry.marks)

    def export(self, session: str) -> bytes:
        """Export a session as JSON. It is no longer open here, and its permits are withdrawn.

        Keep it where no agent can write: anyone who changes it can add approvals. Sessions that are
        kept are continued by their ids, and cannot be exported.

        Raises:
            OutOfPlace: it is not open, or sessions are kept.
        """
        entry = self._require_entry(session)
        with entry.lock:
            if entry.is_over:
                raise unknown_session(session)
            if entry.marks.place is not None:
                why = "is stored, and any guard there continues it: nothing is handed over"
                raise OutOfPlace("/session", f"session {escape_name(session)} {why}")
            marks = entry.marks
            data = dump_course(entry.course, entry.revision + 1, marks.last, marks.begun)
            self._forget(session, entry)
        return data

    def resume(self, data: bytes) -> str:
        """Continue an exported session, and return its id.

        Raises:
            InvalidInput: it is not a session, belongs to another policy, or contradicts itself.
            OutOfPlace: it is open here, or another session has used its id.
            HarnessError: this guard has already continued from this state.
        """
        state = parse_state(data)
        course = course_of(self._rules, self._policy.guard, state)
        name = course.session.id
        marks = self._recorder.go_on(name, state)
        if marks is None:
            raise already_open(name)
        try:
            self._recorder.keep_whole(course, marks)
        except JournalMoved:
            raise already_open(name) from None
        self._admit(name, course, state.revision, marks)
        return name
