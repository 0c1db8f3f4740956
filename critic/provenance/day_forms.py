"""The days that a text names, in any of the usual spellings.

Rule 1: a day of which day and month may be taken for each other is both days.
Rule 2: a day that stands in a text without its year is that day of any year, and the other way.
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final, NamedTuple

from critic.provenance.folding import WORD

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_WEEKDAYS: Final = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
)
_MONTH: Final = "(" + "|".join(f"{name[:3]}(?:{name[3:]}|t)?" for name in _MONTHS) + ")"
_YEAR: Final = r"(?:,? (?:of )?([0-9]{4})(?![0-9]))?"
_ISO_DAY: Final = re.compile(r"(?<![0-9])([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?![0-9])")
_COMPACT_DAY: Final = re.compile(r"(?<![0-9])((?:19|20)[0-9]{2})([0-9]{2})([0-9]{2})(?![0-9])")
_SHORT_DAY: Final = re.compile(
    r"(?<![0-9/.-])([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})(?![0-9/-])"
)
_MONTH_DAY: Final = re.compile(
    rf"(?<!{WORD}){_MONTH}[.,]? ([0-9]{{1,2}})(?:st|nd|rd|th)?(?!{WORD}){_YEAR}"
)
_DAY_MONTH: Final = re.compile(
    rf"(?<!{WORD})([0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)?[ -]{_MONTH}(?!{WORD})\.?{_YEAR}"
)
_RELATIVE: Final = re.compile(
    rf"(?<!{WORD})(today|tonight|tomorrow|{'|'.join(_WEEKDAYS)})(?!{WORD})"
)
_LAST_DAY, _LAST_MONTH, _WEEK = 31, 12, 7


class Day(NamedTuple):
    """A day of the calendar. A text that says `May 9` names no year; year 0 stands for any."""

    year: int | None
    month: int
    day: int


def days_in(text: str) -> Iterator[Day]:
    """Yield the days that a text in small letters names."""
    for year, _, month, day in _ISO_DAY.findall(text):
        yield from _days(year, month, day)
    for year, month, day in _COMPACT_DAY.findall(text):
        yield from _days(year, month, day)
    for one, _, other, year in _SHORT_DAY.findall(text):
        yield from _days(year, one, other)
        yield from _days(year, other, one)
    for name, day, year in _MONTH_DAY.findall(text):
        yield from _days(year, _number(name), day)
    for day, name, year in _DAY_MONTH.findall(text):
        yield from _days(year, _number(name), day)


def keys_of(days: Iterator[Day]) -> Iterator[Day]:
    """Yield days as they are looked up: one of a year also as that day of any year."""
    for day in days:
        yield day
        if day.year is not None:
            yield day._replace(year=0)


def sought_days(day: Day) -> tuple[Day, ...]:
    """Return what is looked up for a day: where it names no year, that day of any year."""
    return (day, day._replace(year=0 if day.year is None else None))


def relative_days(text: str) -> frozenset[str]:
    """Return the words of a text in small letters that count from the present day."""
    return frozenset(_RELATIVE.findall(text))


def counted_from(day: Day, words: frozenset[str]) -> Iterator[Day]:
    """Yield the days from which some words count to a day."""
    if not day.year or not words:
        return
    try:
        named = date(day.year, day.month, day.day)
    except ValueError:
        return
    if words & {"today", "tonight"}:
        yield day
    offsets = [1] if "tomorrow" in words else []
    if _WEEKDAYS[named.weekday()] in words:
        offsets = [*range(_WEEK + 1)]
    for offset in offsets:
        if named.toordinal() > offset:
            base = named - timedelta(days=offset)
            yield Day(base.year, base.month, base.day)


def _days(year: str, month: str | int, day: str) -> Iterator[Day]:
    found = Day(int(year) if year else None, int(month), int(day))
    if 1 <= found.month <= _LAST_MONTH and 1 <= found.day <= _LAST_DAY and found.year != 0:
        yield found


def _number(name: str) -> int:
    return next(at for at, month in enumerate(_MONTHS, 1) if month.startswith(name[:3]))
