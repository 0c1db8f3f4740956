"""One open session of a guard: its course, its lock, its permits, its place in the log."""

from collections.abc import Iterable
from threading import Lock
from typing import Final, NamedTuple

from critic.session import Call
from evals.escaping import escape_name
from harness.guard.course import Answered, Course
from harness.guard.course_answers import OutOfPlace
from harness.guard.permits import CallPermit, permit_of
from harness.guard.session_events import ResultEvent, SessionEvent
from harness.guard.session_journal import Marks


class OpenWork(NamedTuple):
    """The numbers of open sessions, of those with an open question, and of open batches.

    A batch is open from the ruling that allows it until all its calls have a result.
    """

    sessions: int
    questions: int
    executions: int


class OpenSession:
    """An open session. Change it under its lock only."""

    def __init__(self, course: Course, revision: int, marks: Marks) -> None:
        """Hold a session that was opened here, or continued from another process."""
        self.lock: Final = Lock()
        self.course = course
        self.revision: Final = revision
        self.marks = marks
        self.permits: dict[str, CallPermit] = {}
        self._places: dict[str, tuple[int, int]] = {}
        self.is_over: bool = False

    def commit(self, event: SessionEvent, answered: Answered) -> None:
        """Replace the session after an event, and issue permits for the allowed calls.

        The permit of a finished call is withdrawn. After a halt, all permits are.
        """
        self.course = answered.course
        if answered.course.has_halted:
            self._withdraw_all()
        if isinstance(event, ResultEvent):
            self._withdraw(event.id)
        for batch in (record.batch for record in answered.records if record.begins):
            if not (batch.is_plan or batch.is_late):  # else each call is opened first
                self._issue(batch.calls)
        self._issue(answered.opened)

    def go_on(self, course: Course) -> None:
        """Continue from the state of another process. Calls that finished there have no permit.

        Another call may have the id of one by now: a permit is of one step of one turn.
        """
        self.course = course
        for call in [*self.permits]:
            place = course.session.open_calls.get(call)
            if course.has_halted or place != self._places[call]:
                self._withdraw(call)

    def _issue(self, calls: Iterable[Call]) -> None:
        awaited = self.course.session.open_calls
        for call in calls:
            self.permits[call.id] = permit_of(call)
            self._places[call.id] = awaited[call.id]

    def end(self) -> None:
        """Withdraw all permits: the session is over here."""
        self.is_over = True
        self._withdraw_all()

    def _withdraw_all(self) -> None:
        for call in list(self.permits):
            self._withdraw(call)

    def _withdraw(self, call: str) -> None:
        self._places.pop(call, None)
        permit = self.permits.pop(call, None)
        if permit is not None:
            permit.withdraw()


def count_open(entries: Iterable[OpenSession]) -> OpenWork:
    """Count the open sessions, questions and batches."""
    courses = [entry.course for entry in entries]
    return OpenWork(
        sessions=len(courses),
        questions=sum(course.question is not None for course in courses),
        executions=sum(
            len({turn for turn, _ in course.session.open_calls.values()}) for course in courses
        ),
    )


def unknown_session(name: str, *, was_open: bool = False) -> OutOfPlace:
    """Return the error for an event of a session that is not open."""
    why = "it was closed, or its journal is gone: open one with a new id"
    what = why if was_open else "open it first"
    return OutOfPlace("/session", f"session {escape_name(name)} is not open: {what}")


def already_open(name: str) -> OutOfPlace:
    """Return the error for a session id that is taken."""
    why = "is open already, or was before: choose a new id"
    return OutOfPlace("/session", f"session {escape_name(name)} {why}")


def still_open(name: str) -> OutOfPlace:
    """Return the error for reopening a session that is still open."""
    why = "is open: close it before it is opened again"
    return OutOfPlace("/session", f"session {escape_name(name)} {why}")
