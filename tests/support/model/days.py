"""Where a day was seen: in the request, in a system of record, elsewhere, or nowhere."""

import re
from datetime import date, timedelta
from typing import NamedTuple

from tests.support.model.facts import Json
from tests.support.model.kinds import wide
from tests.support.model.sources import NEAR, Seen, fresh_by, seen_in

MONTHS = [
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
]
WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
NAMED_MONTH = "(?P<month>" + "|".join(f"{name}|{name[:3]}" for name in MONTHS) + ")"
NUMBER = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
YEAR = r"(?:,? (?P<year>\d{4}))?(?!\w)"
SHORT = (
    r"(?<![\d/.-])(?P<{}>\d{{1,2}})(?P<by>[-/.])(?P<{}>\d{{1,2}})(?P=by)(?P<year>\d{{4}})(?![\d/-])"
)
"""Day and month may be taken for each other: it names both days."""
FORMS = (
    r"(?<!\d)(?P<year>\d{4})(?P<by>[-/.])(?P<month>\d{1,2})(?P=by)(?P<day>\d{1,2})(?!\d)",
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)(?!\d)",
    rf"(?<!\w){NAMED_MONTH}[.,]? {NUMBER}{YEAR}",
    rf"(?<!\w){NUMBER}(?: of)? {NAMED_MONTH}{YEAR}",
    SHORT.format("month", "day"),
    SHORT.format("day", "month"),
)


class Day(NamedTuple):
    year: int | None
    month: int
    day: int


def read_days(text: str) -> list[Day]:
    """Return the days that a text spells, each once."""
    found = [one.groupdict() for form in FORMS for one in re.finditer(form, wide(text))]
    days = [
        Day(int(one["year"]) if one["year"] else None, month_of(one["month"]), int(one["day"]))
        for one in found
    ]
    known = [one for one in days if one.month in range(1, 13) and one.day in range(1, 32)]
    return [one for one in dict.fromkeys(known) if one.year != 0]


def month_of(text: str) -> int:
    names = [name[:3] for name in MONTHS]
    return int(text) if text.isdigit() else names.index(text[:3]) + 1


def days_of(p: Json, text: str) -> list[Day]:
    """Return the days of a value, also those that it counts from a system's day."""
    return read_days(text) or relative_days(p, text)


def relative_days(p: Json, text: str) -> list[Day]:
    """Return the days that a text means by `tomorrow` or by a weekday, from each system's day."""
    words = re.findall(r"\w+", wide(text))
    found = []
    for base in system_days(p):
        for after in range(8):
            day = base + timedelta(days=after)
            names = [WEEKDAYS[day.weekday()], *("today", "tomorrow")[after : after + 1]]
            if any(name in words for name in names):
                found.append(Day(day.year, day.month, day.day))
    return list(dict.fromkeys(found))


def system_days(p: Json) -> list[date]:
    """Return the days that stand as a leaf of their own in a system of record."""
    found = []
    for text in system_texts(seen_in(p)):
        if re.match(r"\d{4}-\d\d-\d\d(?:\D.{0,20})?$", text):
            try:
                found.append(date.fromisoformat(text[:10]))
            except ValueError:
                continue
    return found


def day_class(p: Json, day: Day | None) -> str:
    """Return where a day was seen; `other` if that is elsewhere and the request names a day."""
    if day is None:
        return "unread"
    seen = seen_in(p)
    request = texts_of(fresh_by(seen, "user"))
    holds = {
        "request": any(shows(text, day) or day in relative_days(p, text) for text in request),
        "system": any(shows(text, day) for text in system_texts(seen)),
        "field": any(shows(text, day) for text in fields_in(seen)),
        "nowhere": not any(shows(text, day) for text in texts_of(seen)),
        "ambient": not any(shows(text, day) for text in texts_of(near(seen))),
        "other": any(read_days(text) for text in texts_of(by_user(seen))),
    }
    return next((name for name in holds if holds[name]), "elsewhere")


def system_texts(seen: list[Seen]) -> list[str]:
    """Return what systems of record say themselves, without the fields that others fill."""
    leaves = [leaf for one in fresh_by(seen, "system") for leaf in one.leaves]
    return [leaf.text for leaf in leaves if leaf.writer == "system"]


def fields_in(seen: list[Seen]) -> list[str]:
    """Return the fields of fresh records that no untrusted text led to."""
    fresh = [one for one in seen if one.fresh and one.standing != "led"]
    return [leaf.text for one in fresh for leaf in one.leaves if leaf.field]


def near(seen: list[Seen]) -> list[Seen]:
    fresh = [one for one in seen if one.fresh]
    return [one for one in fresh if one.author == "operator" or one.standing in NEAR]


def by_user(seen: list[Seen]) -> list[Seen]:
    """Return the request, expired or not."""
    return [one for one in seen if one.author == "user"]


def texts_of(seen: list[Seen]) -> list[str]:
    return [leaf.text for one in seen for leaf in one.leaves]


def shows(text: str, day: Day) -> bool:
    return any(
        (one.month, one.day) == (day.month, day.day)
        and (None in (one.year, day.year) or one.year == day.year)
        for one in read_days(text)
    )
