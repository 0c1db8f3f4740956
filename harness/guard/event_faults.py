"""The errors that answer invalid events."""

from typing import Any, Final

from harness.guard.course_answers import OutOfPlace
from harness.guard.rulings import EventError, EventFault
from harness.wire import InvalidInput

_LONGEST_ID: Final = 256


def event_error(value: Any, error: InvalidInput | OutOfPlace) -> EventError:
    """Return an error, with the session if the input names one."""
    named = value.get("session") if isinstance(value, dict) else None
    session = named if isinstance(named, str) and 0 < len(named) <= _LONGEST_ID else None
    message = error.message if isinstance(error, InvalidInput) else str(error)
    return EventError(session=session, error=EventFault(path=error.path, message=message))
