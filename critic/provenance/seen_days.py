"""Where days were seen: named, counted from a system's day, or in what others write."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Final

from critic.provenance.day_forms import Day, counted_from, sought_days
from critic.provenance.holders import ItemText, Shown
from critic.provenance.origins import DayOrigin, DaySighting
from critic.provenance.place import Place
from critic.provenance.seen_items import (
    AMBIENT,
    LED,
    OF_RECORD,
    OPERATOR,
    REQUEST,
    TRUSTED,
    SeenItems,
)
from evals.manifest import EvidenceItem

Look = Callable[[Place, Shown | None], ItemText | None]
"""Looks for a value in a place, among the entries that count."""

_Part = tuple[str, bool]
"""The name of a place, and whether its fields are meant, or its texts."""


class SeenDays:
    """The days in the evidence that counts."""

    def __init__(
        self,
        items: SeenItems,
        first: Callable[[Iterable[str], Look], EvidenceItem | None],
        shown: Shown | None,
        expired: Shown | None,
    ) -> None:
        """Look at items as they are now.

        Args:
            first: returns what is found in the first of some places in which anything is.
            shown: which entries count.
            expired: which of those count that have expired, if any do.
        """
        self._items, self._first = items, first
        self._shown, self._expired = shown, expired

    def find(self, day: Day) -> DaySighting:
        """Return where a day was seen, in the order of `DayOrigin`."""
        for origin, parts in _DAY_ORIGINS:
            item = self._first_of(sought_days(day), parts)
            if item is None and origin == "request":
                item = self._first_of(counted_from(day, self._relative), _OF_SYSTEM)
            if item is not None:
                return DaySighting(origin, item)
        return DaySighting("unseen", None)

    def _first_of(self, days: Iterable[Day], parts: Iterable[_Part]) -> EvidenceItem | None:
        parts = tuple(parts)
        found = (self._in_part(day, part) for day in days for part in parts)
        return next(filter(None, found), None)

    def _in_part(self, day: Day, part: _Part) -> EvidenceItem | None:
        name, in_fields = part
        return self._first((name,), lambda place, shown: place.day(day, shown, in_fields=in_fields))

    @cached_property
    def _relative(self) -> frozenset[str]:
        """The words of the request that count from the present day."""
        return frozenset(self._items.request_words(self._shown).relative)

    @cached_property
    def are_requested(self) -> bool:
        """Whether the request, expired or not, names any day."""
        if self._relative or self._items.places[REQUEST].names_any_day(self._shown):
            return True
        expired = self._expired
        return expired is not None and self._items.expired_request_names_a_day(expired)


def _fields_and_texts(*names: str) -> Iterator[_Part]:
    """Yield the fields of each place, and then its texts."""
    return ((name, in_fields) for name in names for in_fields in (True, False))


_OF_SYSTEM: Final = (*_fields_and_texts(*OF_RECORD),)
_DAY_ORIGINS: Final[tuple[tuple[DayOrigin, tuple[_Part, ...]], ...]] = (
    ("request", (*_fields_and_texts(REQUEST),)),
    ("system", _OF_SYSTEM),
    ("field", tuple((name, True) for name in (*TRUSTED, AMBIENT))),
    ("elsewhere", ((OPERATOR, False), *((name, False) for name in TRUSTED))),
    ("untrusted", ((AMBIENT, False), *_fields_and_texts(LED))),
)
