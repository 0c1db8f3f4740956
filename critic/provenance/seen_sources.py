"""Where the values of a plan were seen: the sources in the evidence, by author and standing.

Rule 1: only items with a source and content count, pinned or not.
Rule 2: of several origins of a value the first in the order of `Origin` counts, so that more
        evidence gives more authority; but untrusted text contests a field that says the same.
Rule 3: of several items the one with the lowest number is named, in any order of the
        manifest.
"""

from collections.abc import Callable, Iterable, Iterator, Set
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Final, Literal, NamedTuple, TypeVar

from critic.provenance.holders import ItemText, Shown
from critic.provenance.seen_items import (
    AMBIENT,
    LED,
    OF_RECORD,
    OPERATOR,
    REQUEST,
    SeenItems,
)
from critic.provenance.texts import Place
from critic.provenance.value_forms import Day
from evals.manifest import EvidenceItem, Manifests

Origin = Literal[
    "approved",
    "request",
    "operator",
    "own",
    "system",
    "field",
    "contested",
    "named_member",
    "named_public",
    "named_web",
    "reached_member",
    "reached_public",
    "reached_web",
    "untrusted",
    "led_field",
    "unseen",
]
"""Where a value comes from, in the order in which it counts. `approved`: a person approved it.
`own`: this session made it, or its host is one that the request names. `system`: a system of
record. `field`: a field of a record; `contested` where untrusted or linked text says it as well.
`named_...`: text of a source that the request names, by its author (`web`: a web page).
`reached_...`: text of a source that those lead to. `untrusted`: text of any other source.
`led_field`: a field of a source that only untrusted text led to."""


class Sighting(NamedTuple):
    """The origin of a value, an item that shows it, and the item whose text contests it."""

    origin: Origin
    item: EvidenceItem | None = None
    rival: EvidenceItem | None = None


DayOrigin = Literal["request", "system", "elsewhere", "untrusted", "unseen"]
"""Where a day was seen: in the request, in a system of record, in any other field or text but
untrusted text, only in untrusted text, or nowhere."""


class DaySighting(NamedTuple):
    """The origin of a day, and an item that shows it."""

    origin: DayOrigin
    item: EvidenceItem | None


UNSEEN: Final = Sighting("unseen")

_NAMED: Final[tuple[Origin, ...]] = ("named_member", "named_public", "named_web")
_REACHED: Final[tuple[Origin, ...]] = ("reached_member", "reached_public", "reached_web")
_TRUSTED: Final = (*_NAMED, *_REACHED)

_K = TypeVar("_K")
_Look = Callable[[Place, _K, Shown | None], ItemText | None]
"""Looks for a value in a place, among the entries that count."""


def _look_anywhere(place: Place, value: str, shown: Shown | None) -> ItemText | None:
    return place.find(value, shown)


def _look_in_fields(place: Place, value: str, shown: Shown | None) -> ItemText | None:
    return place.fields.first(value, shown)


def _look_in_text(place: Place, value: str, shown: Shown | None) -> ItemText | None:
    return place.texts.entry(value, shown)


class Seen:
    """The evidence that counts. Looking up a value does not depend on how much there is.

    What has expired is no better than a source that only untrusted text led to, or does not count
    at all.
    """

    def __init__(
        self,
        items: SeenItems,
        *,
        with_expired: bool,
        hidden: frozenset[str] = frozenset(),
    ) -> None:
        """Look at items as they are now.

        Args:
            with_expired: whether what has expired counts, as untrusted.
            hidden: ids of items that do not count.
        """
        self._items, self._places = items, items.places
        all_count = not hidden and not items.any_expired
        self._shown = None if all_count else Shown(expired=False, hidden=hidden)
        self._expired: Shown | None = None
        if with_expired and items.any_expired:
            self._expired = Shown(expired=True, hidden=hidden)

    def sighting(self, value: str) -> Sighting:
        """Return where a spelling was seen. `approved` and `own` are not known here."""
        return next(self._sightings(value), UNSEEN)

    def _sightings(self, value: str) -> Iterator[Sighting]:
        """Yield the sightings of a value, the one that counts first."""
        if item := self._find_first((REQUEST,), value, _look_anywhere):
            yield Sighting("request", item)
        if item := self._find_first((OPERATOR,), value, _look_anywhere):
            yield Sighting("operator", item)
        if item := self._find_first(OF_RECORD, value, _look_anywhere):
            yield Sighting("system", item)
        if item := self._find_first((*_TRUSTED, AMBIENT), value, _look_in_fields):
            rival = self._find_first((*_REACHED, AMBIENT, LED), value, _look_in_text)
            yield Sighting("contested" if rival else "field", item, rival)
        for origin in _TRUSTED:
            if item := self._find_first((origin,), value, _look_in_text):
                yield Sighting(origin, item)
        if item := self._find_first((AMBIENT, LED), value, _look_in_text):
            yield Sighting("untrusted", item)
        if item := self._find_first((LED,), value, _look_in_fields):
            yield Sighting("led_field", item)

    def is_linked(self, value: str) -> bool:
        """Return whether the request, or a source that it names or leads to, says a value."""
        return self._says((REQUEST,), value) or self.leads_to(value)

    def leads_to(self, value: str) -> bool:
        """Return whether a source that the request names, or that one leads to, says a value."""
        return self._says((OF_RECORD[0], *_TRUSTED), value)

    def _says(self, names: Iterable[str], value: str) -> bool:
        return self._find_first(names, value, _look_anywhere) is not None

    def _find_first(self, names: Iterable[str], value: _K, look: _Look[_K]) -> EvidenceItem | None:
        """Return what is found in the first of some places in which anything is."""
        for name in names:
            found = look(self._places[name], value, self._shown)
            if name == LED and self._expired is not None:
                found = self._earlier_entry(found, value, look)
            if found is not None:
                return found.item
        return None

    def _earlier_entry(self, found: ItemText | None, value: _K, look: _Look[_K]) -> ItemText | None:
        """Return the entry with the lowest number: the one found, or one that has expired."""
        places = (place for name, place in self._places.items() if name != REQUEST)
        others = filter(None, (look(place, value, self._expired) for place in places))
        return min(chain(others, (found,) if found else ()), key=_number_of, default=None)

    def day(self, day: Day) -> DaySighting:
        """Return where a day was seen, in the order of `DayOrigin`."""
        for origin, parts in _DAY_ORIGINS:
            for sought in (day, day._replace(year=None)):
                found = (self._find_first((name,), sought, look) for name, look in parts)
                if item := next(filter(None, found), None):
                    return DaySighting(origin, item)
        return DaySighting("unseen", None)

    @cached_property
    def hosts(self) -> Set[str]:
        """Return the hosts that the request names."""
        return self._items.request_words(self._shown).hosts

    @cached_property
    def stems(self) -> Set[str]:
        """Return the stems of the words of the request."""
        return self._items.request_words(self._shown).stems

    @cached_property
    def names_a_day(self) -> bool:
        """Return whether the request, expired or not, names any day."""
        if any(days.holds_any(self._shown) for days in self._places[REQUEST].days):
            return True
        expired = self._expired
        return expired is not None and self._items.expired_request_names_a_day(expired)


def _number_of(entry: ItemText) -> tuple[int, str]:
    return entry.number


def _day_in_fields(place: Place, day: Day, shown: Shown | None) -> ItemText | None:
    return place.days[0].first(day, shown)


def _day_in_text(place: Place, day: Day, shown: Shown | None) -> ItemText | None:
    return place.days[1].first(day, shown)


_Part = tuple[str, _Look[Day]]


def _fields_and_texts(*names: str) -> Iterator[_Part]:
    """Yield the fields of each place, and then its texts."""
    return ((name, look) for name in names for look in (_day_in_fields, _day_in_text))


_DAY_ORIGINS: Final[tuple[tuple[DayOrigin, tuple[_Part, ...]], ...]] = (
    ("request", (*_fields_and_texts(REQUEST),)),
    ("system", (*_fields_and_texts(*OF_RECORD),)),
    ("elsewhere", (*_fields_and_texts(OPERATOR, *_TRUSTED), (AMBIENT, _day_in_fields))),
    ("untrusted", ((AMBIENT, _day_in_text), *_fields_and_texts(LED))),
)


def seen_in(manifests: Manifests, as_of: datetime | None) -> tuple[Seen, Seen]:
    """Return what the unexpired evidence shows, and what all of it shows: one object if the same.

    What has expired gives no authority, but still contests: a value is worth what both say.
    """
    items = SeenItems(manifests.record_fields or ())
    for item in manifests.evidence_manifest:
        items.add(item)
    items.move_to(as_of)
    return both_seen(items)


def both_seen(items: SeenItems, hidden: frozenset[str] = frozenset()) -> tuple[Seen, Seen]:
    """Return what the unexpired items show, and what all of them show: one object if the same."""
    every = Seen(items, with_expired=True, hidden=hidden)
    if not items.any_expired:
        return every, every
    return Seen(items, with_expired=False, hidden=hidden), every
