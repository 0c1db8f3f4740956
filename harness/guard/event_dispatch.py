"""Apply an event to a guarded session: what it makes of it, whatever it is. Pure."""

from datetime import datetime

from harness.guard.course import Answered, Course
from harness.guard.session_events import (
    AnswerEvent,
    CallsEvent,
    CloseEvent,
    ReadyEvent,
    ResultEvent,
    SaidEvent,
    SessionEvent,
    SessionPlanEvent,
)


def apply_event(
    course: Course, event: SessionEvent, as_of: datetime, record: int | None
) -> Answered:
    """Apply any event but `open` to a session.

    Raises:
        OutOfPlace: it is out of order.
    """
    match event:
        case CallsEvent():
            return _take_calls(course, event, as_of)
        case SessionPlanEvent():
            return course.plan(event, as_of)
        case ReadyEvent():
            from harness.guard.call_openings import take_ready  # noqa: PLC0415 - few turns need it

            return take_ready(course, event, as_of)
        case AnswerEvent():
            return _take_answer(course, event, as_of, record)
        case CloseEvent():
            return course.close(event, as_of)
        case SaidEvent() | ResultEvent():
            lapsed = course.expire_question(as_of)
            return lapsed.course.hear(event, as_of).after(lapsed)
        case _:
            raise TypeError(f"not an event of an open session: {type(event).__name__}")


def _take_calls(course: Course, event: CallsEvent, as_of: datetime) -> Answered:
    """Rule on the calls of a turn, or open those that carry out the open plan."""
    if course.session.open_plan is None:
        return course.calls(event, as_of)
    from harness.guard.call_openings import carry_out  # noqa: PLC0415 - for plans only

    course.require_running()
    course.require_new_ids(event)
    free = course.lapse_opening()
    steps = _find_steps(free.course, event, as_of)
    if steps is None:
        return free.course.calls(event, as_of).after(free)
    return carry_out(free, steps, as_of)


def _take_answer(
    course: Course, event: AnswerEvent, as_of: datetime, record: int | None
) -> Answered:
    """Apply the answer to a question about a turn, or about one call of it."""
    if course.question is None or course.question.opening is None:
        return course.answer(event, as_of, record)
    from harness.guard.call_openings import answer_opening  # noqa: PLC0415 - as above

    return answer_opening(course, event, as_of, record)


def _find_steps(
    course: Course, event: CallsEvent, as_of: datetime
) -> list[tuple[str, tuple[int, int]]] | None:
    """Return the ids of calls with the turn and step of the open plan that each carries out.

    None if there is no such plan, or one of them is none of its calls.
    """
    turn, found = course.session.open_plan, list[tuple[str, tuple[int, int]]]()
    if turn is None:
        return None
    from critic.session.waiting_calls import find_step  # noqa: PLC0415 - for plans only

    for call in event.calls:
        taken = {step for _, (_, step) in found}
        step = None
        if not call.waits_for:
            step = find_step(course.session, call, as_of, taken)
        if step is None:
            return None
        found.append((call.id, (turn, step)))
    return found
