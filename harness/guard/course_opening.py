"""Begin a session, and keep its time. Pure."""

from datetime import datetime, timedelta

from critic.session import Session, SessionRules
from harness.guard.course import Course
from harness.guard.course_answers import OutOfPlace
from harness.guard.guard_rules import choose_scope
from harness.guard.session_events import OpenEvent, SessionEvent
from harness.guard.session_time import SessionTime, WrongTime
from harness.policy import Policy


def open_course(
    rules: SessionRules,
    policy: Policy,
    event: OpenEvent,
    now: datetime | None,
    max_skew: timedelta | None,
) -> Course:
    """Return a new session.

    Raises:
        OutOfPlace: its scope names an unknown tool, or its time is wrong.
    """
    session = Session.opened(
        rules,
        event.session,
        event.request,
        system=event.system,
        scope=choose_scope(rules.tools, event.scope, policy.scope),
        tenant_id=event.tenant,
        user_id=event.user,
    )
    start = SessionTime()  # where the event tells no time, the first that comes next does
    time = start if now is None else time_after(event, start, now, max_skew)
    return Course(policy.guard, session, time)


def time_after(
    event: SessionEvent, before: SessionTime, now: datetime, max_skew: timedelta | None
) -> SessionTime:
    """Return the time of a session after an event that arrived at `now`.

    Raises:
        OutOfPlace: the time of the event is wrong.
    """
    try:
        return before.after(event.as_of, now, max_skew)
    except WrongTime as error:
        raise OutOfPlace("/as_of", str(error)) from None
