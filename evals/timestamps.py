"""Times: RFC 3339 with a zone on the wire, an aware datetime in UTC in Python."""

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any, Final

from pydantic_core import PydanticCustomError

from evals.field import CustomType

# RFC 3339 section 5.6, `T` and `Z` in either case; finer than a microsecond only as zeros.
# Parsed here and not by `datetime.fromisoformat`, which accepts more with every Python version.
_RFC3339: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6})0*)?(?:[Zz]|([+-])(\d\d):(\d\d))",
    re.ASCII,
)
_EXPECTED: Final = "not an RFC 3339 time with a zone, such as 2026-05-09T09:30:00Z"
# Valid RFC 3339, but a datetime has no second 60, and one instant must have one spelling.
_LEAP_SECOND: Final = (
    "a leap second cannot be kept: write the second before it for an expiry, "
    "the second after it for as_of"
)


def parse_time(text: str) -> datetime:
    """Return the instant that an RFC 3339 time names, in UTC.

    Raises:
        ValueError: not RFC 3339, no zone, finer than a microsecond, outside years 1 to 9999, or a
            leap second.
    """
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise ValueError(_EXPECTED)
    *parts, fraction, sign, hours, minutes = match.groups(default="0")
    year, month, day, hour, minute, second = map(int, parts)
    if int(hours) > 23 or int(minutes) > 59:
        raise ValueError(_EXPECTED)
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    zone = timezone(-offset if sign == "-" else offset)
    micros = int(fraction.ljust(6, "0"))
    try:
        whole = datetime(year, month, day, hour, minute, min(second, 59), micros, zone)
        moment = whole.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(_EXPECTED) from None
    if second > 59:
        raise ValueError(_LEAP_SECOND if second == 60 and _ends_a_month(moment) else _EXPECTED)
    return moment


def _ends_a_month(moment: datetime) -> bool:
    """Whether this is the last minute of a month in UTC, where leap seconds are."""
    last_day = moment.day == monthrange(moment.year, moment.month)[1]
    return last_day and (moment.hour, moment.minute) == (23, 59)


def format_time(moment: datetime) -> str:
    """Return RFC 3339 in UTC with `Z`, and a fraction only if there is one: one spelling each."""
    text = moment.astimezone(UTC).isoformat().removesuffix("+00:00")
    return (text.rstrip("0") if "." in text else text) + "Z"


def is_unexpired(expires_at: datetime | None, as_of: datetime | None) -> bool:
    """Return whether something still holds at `as_of`. What expires does not hold without it."""
    return expires_at is None or (as_of is not None and as_of < expires_at)


def _check(value: Any) -> datetime:
    if type(value) is datetime and value.tzinfo is UTC and not value.fold:
        return value
    spelled = value.isoformat() if type(value) is datetime else value
    try:
        return parse_time(spelled)
    except TypeError:
        raise PydanticCustomError("time", _EXPECTED) from None
    except ValueError as error:
        raise PydanticCustomError("time", "{expected}", {"expected": str(error)}) from None


Time = Annotated[
    datetime, CustomType(_check, {"type": "string", "format": "date-time"}, dump=format_time)
]
"""An instant, to the microsecond."""
