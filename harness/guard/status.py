"""The status of an open session: whether it has halted, and its open question."""

from collections.abc import Iterator
from typing import NamedTuple

from critic.session import Call
from critic.session.call_batch import RunningBatch
from evals.json_value import detach_json
from evals.plan import ToolStep
from harness.guard.answer_words import AnswerWords
from harness.guard.course import Course
from harness.guard.course_answers import OpenQuestion
from harness.guard.rulings import Question, Ruling
from harness.guard.session_events import RequestedCall


class PendingQuestion(NamedTuple):
    """An open question.

    Attributes:
        ruling: the ruling that asks, as it was returned.
        calls: the calls of its turn, in order.
        doubted: the ids of the calls that a no denies for the rest of the session.
    """

    ruling: Ruling
    calls: tuple[RequestedCall, ...]
    doubted: frozenset[str]

    @property
    def plan_digest(self) -> str:
        """The digest that an answer must name."""
        return str(self.ruling.plan_digest)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions to the person."""
        return self.ruling.questions or ()


class SessionStatus(NamedTuple):
    """The status of a session.

    Attributes:
        turn: the number of turns so far.
        has_halted: it halted at a refusal; only `close` is possible.
        question: the open question, if any.
        awaited: the ids of the allowed calls without a result.
        waiting: the ids of the allowed calls that wait to be opened.
        ready: those of them that wait for no other call any more.
    """

    turn: int
    has_halted: bool
    question: PendingQuestion | None
    awaited: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()
    ready: frozenset[str] = frozenset()


def session_status(course: Course, words: AnswerWords) -> SessionStatus:
    """Return the status of a session. It shares no state with the guard."""
    question = course.question
    pending = None if question is None else _pending_question(course, question, words)
    awaited = frozenset(course.session.open_calls)
    running = [one for one in course.session.running.values() if one.waits and not one.is_plan]
    waiting = frozenset(name for one in running for name in one.waiting_ids)
    ready = frozenset(name for one in running for name in _ready_ids(one))
    return SessionStatus(course.session.turn, course.has_halted, pending, awaited, waiting, ready)


def _ready_ids(running: RunningBatch) -> Iterator[str]:
    """Yield the ids of the calls that wait for no other call any more."""
    ended = {running.plan.steps[call.step].id for call in running.ended}
    for step in running.waiting:
        planned = running.plan.steps[step]
        assert isinstance(planned, ToolStep)  # noqa: S101 - the plan of a batch has no others
        taken = (take.step for take in planned.takes or ())
        if {*taken, *(planned.evidence_steps or ())} <= ended:
            yield running.calls[step].id


def _pending_question(
    course: Course, question: OpenQuestion, words: AnswerWords
) -> PendingQuestion:
    batch = question.batch
    ruling = Ruling(
        session=course.session.id,
        turn=batch.turn,
        action="ask",
        verdict=question.verdict,
        plan_digest=question.plan_digest,
        expires_at=question.expires_at,
        note=course.question_note,
    )
    asked = question.opening
    calls = tuple(map(_requested_call, batch.calls if asked is None else [asked.call]))
    if asked is not None and asked.opened is not None:
        ruling = words.word_opening(ruling, asked.opened, course)
    else:
        ruling = words.word_ruling(ruling, batch, course)
    return PendingQuestion(ruling, calls, frozenset(call.id for call in question.doubted))


def _requested_call(call: Call) -> RequestedCall:
    return RequestedCall(id=call.id, tool=call.tool, args=detach_json(dict(call.args)))
