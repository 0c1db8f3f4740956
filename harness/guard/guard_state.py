"""Export a guarded session as JSON for another process, and read it back.

Keep it where no agent can write: anyone who changes it can add approvals.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from critic.session import Session, SessionRules, SessionState, session_of, state_of
from critic.session.call_batch import Call, RunningBatch
from critic.session.contradictions import ContradictoryState
from critic.session.session_state import BatchState, asked_of, running_state
from evals.context import CallId
from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, OnlyTrue
from evals.json_value import Text
from evals.run import refused_opening
from evals.timestamps import Time
from harness.canonical import canonical_bytes, digest
from harness.guard.course import Course
from harness.guard.course_answers import AskedOpening, open_question
from harness.guard.session_time import SessionTime
from harness.policy import GuardSettings
from harness.record import Digest, RecordedAnswer
from harness.wire import InvalidInput, parse


class BegunState(Envelope):
    """The hash of the record that began a batch with unfinished calls."""

    turn: Count
    hash: Digest


class ToldTime(Envelope):
    """The last time given by an event, and the clock at that moment."""

    as_of: Time
    clock: Time


class RestState(Envelope):
    """A call that comes after the one that is asked about, and its step."""

    id: CallId
    step: Count


class OpeningState(Envelope):
    """A question about a call that was opened last: its batch and step.

    Where the agent carries out a plan, `rest` are the calls that come after it in one event.
    """

    turn: Count
    step: Count
    id: CallId
    rest: Annotated[tuple[RestState, ...], ARRAY] = ()
    carries_out: bool = False


class AnsweredState(Envelope):
    """What became of the question about the last opening of a turn that has not ended."""

    turn: Count
    answer: RecordedAnswer


class GuardState(Envelope):
    """The whole state of one session.

    `as_of` is the time of its last event. `lapsed`: the expiry of the question is recorded.
    `revision` counts the exports of the session, so that a guard continues from each state only
    once. With a log, `mark` is the number of its last record, and `begun` are the beginnings
    without an end.
    """

    session: SessionState
    as_of: Annotated[Time | None, OPTIONAL] = None
    told: Annotated[ToldTime | None, OPTIONAL] = None
    question: Annotated[BatchState | None, OPTIONAL] = None
    opening: Annotated[OpeningState | None, OPTIONAL] = None
    lapsed: Annotated[OnlyTrue | None, OPTIONAL] = None
    asked: Count
    denied: Annotated[tuple[Text, ...], ARRAY]
    answered: Annotated[tuple[AnsweredState, ...] | None, OPTIONAL, ARRAY] = None
    has_halted: bool
    revision: Annotated[Count, Field(ge=1)]
    mark: Annotated[Count | None, OPTIONAL] = None
    begun: Annotated[tuple[BegunState, ...], ARRAY] = ()


def dump_course(course: Course, revision: int, mark: int | None, begun: Mapping[int, str]) -> bytes:
    """Return a session as canonical JSON."""
    return canonical_bytes(state_of_course(course, revision, mark, begun))


def state_of_course(
    course: Course, revision: int, mark: int | None, begun: Mapping[int, str]
) -> GuardState:
    """Return a session as an envelope, with the beginnings without an end, by turn."""
    question = course.question
    opening = None if question is None else question.opening
    asked = None
    if question is not None and opening is None:
        asked = running_state(RunningBatch.of(question.batch, question.verdict))
    return GuardState(
        session=state_of(course.session),
        as_of=course.time.latest,
        told=_told_time(course.time),
        question=asked,
        opening=None if opening is None else _opening_state(opening),
        lapsed=True if question and question.has_lapsed else None,
        asked=course.asked,
        denied=tuple(sorted(key.decode() for key in course.denied)),
        answered=_answered_states(course),
        has_halted=course.has_halted,
        revision=revision,
        mark=mark,
        begun=tuple(BegunState(turn=turn, hash=hash) for turn, hash in begun.items()),
    )


def _answered_states(course: Course) -> tuple[AnsweredState, ...] | None:
    running = (one for one in course.answered.items() if one[0] in course.session.running)
    return tuple(AnsweredState(turn=turn, answer=answer) for turn, answer in running) or None


def _opening_state(asked: AskedOpening) -> OpeningState:
    turn, step = asked.place
    rest = tuple(RestState(id=name, step=at) for name, at in asked.rest)
    name, carries_out = asked.call.id, asked.carries_out
    return OpeningState(turn=turn, step=step, id=name, rest=rest, carries_out=carries_out)


def _told_time(time: SessionTime) -> ToldTime | None:
    if time.told is None or time.read is None:
        return None
    return ToldTime(as_of=time.told, clock=time.read)


def _session_time(state: GuardState) -> SessionTime:
    told = state.told
    if told is None:
        return SessionTime(state.as_of)
    if state.as_of is None or state.as_of < told.as_of:
        raise InvalidInput("/told/as_of", "cannot go on from it: it is after the last event")
    return SessionTime(state.as_of, told.as_of, told.clock)


def parse_state(data: bytes) -> GuardState:
    """Parse an exported session. It may be larger than other documents.

    Raises:
        InvalidInput: it is not a session.
    """
    return parse(GuardState, data, max_bytes=max(len(data), 1))


def course_of(rules: SessionRules, settings: GuardSettings, state: GuardState) -> Course:
    """Return the session that a state describes.

    Raises:
        InvalidInput: it belongs to another policy, or contradicts itself.
    """
    try:
        session = session_of(rules, state.session)
    except ValueError as error:
        raise _refuse_state(error, "/session") from None
    question = None
    if state.question is not None:
        try:
            batch, verdict = asked_of(session, state.question, "/question")
        except ValueError as error:
            raise _refuse_state(error, "") from None
        question = open_question(settings, batch, verdict, digest(batch.plan))
        question = question._replace(has_lapsed=bool(state.lapsed))
    course = Course(
        settings=settings,
        session=session,
        time=_session_time(state),
        question=question,
        asked=state.asked,
        denied=frozenset(key.encode() for key in state.denied),
        has_halted=state.has_halted,
        answered=_answers_of(session, state),
    )
    return course if state.opening is None else _with_question(course, state.opening)


def _answers_of(session: Session, state: GuardState) -> dict[int, RecordedAnswer]:
    """Return what became of the questions about openings, by turn.

    Raises:
        InvalidInput: one is of a turn that does not wait for results, or was not refused.
    """
    answered = dict[int, RecordedAnswer]()
    for at, one in enumerate(state.answered or ()):
        running = session.running.get(one.turn)
        opening = None if running is None else refused_opening(running.openings)
        if opening is None or one.answer.answer == "yes":
            raise InvalidInput(f"/answered/{at}", "cannot go on from it: no opening was refused")
        answered[one.turn] = one.answer
    return answered


def _with_question(course: Course, opening: OpeningState) -> Course:
    """Return a session with the question about a call that was opened.

    Raises:
        InvalidInput: there is another question, or no opening that asks.
    """
    if course.question is not None:
        raise InvalidInput("/opening", "cannot go on from it: two questions are open")
    from harness.guard.call_openings import ask_again  # noqa: PLC0415 - few sessions need it

    rest = tuple((one.id, one.step) for one in opening.rest)
    place, call = (opening.turn, opening.step), Call(opening.id, "", {})
    asked = AskedOpening(place, call, rest, opening.carries_out)
    try:
        return ask_again(course, asked)
    except ValueError as error:
        raise InvalidInput("/opening", f"cannot go on from it: {error}") from None


def _refuse_state(error: ValueError, at: str) -> InvalidInput:
    path = error.path if isinstance(error, ContradictoryState) else ""
    return InvalidInput(f"{at}{path}", f"cannot go on from it: {error}")
