"""Where the values of a plan were seen: the sources in the evidence, by author and standing.

Rule 1: only items with a source and content count, pinned or not.
Rule 2: of several origins of a value the first in the order of `Origin` counts, so that more
        evidence gives more authority; but untrusted text contests a field that says the same.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Final, Literal, NamedTuple

from critic.provenance.texts import Place, hosts_in
from critic.provenance.values import Content, Day, content_of, days_in, leaves, spelling
from critic.provenance.words import stems_of
from evals.manifest import EvidenceItem, Manifests, Source
from evals.timestamps import unexpired

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

_OF_RECORD: Final = ("named system", "other system")
_NAMED: Final[tuple[Origin, ...]] = ("named_member", "named_public", "named_web")
_REACHED: Final[tuple[Origin, ...]] = ("reached_member", "reached_public", "reached_web")
_TRUSTED: Final = (*_NAMED, *_REACHED)
_AMBIENT, _LED = "ambient", "led"
_REQUEST, _OPERATOR = "request", "operator"


def _place_of(source: Source) -> str:
    """Return the place that a source belongs to."""
    asked_for = source.standing in ("named", "reached")
    if source.author == "user":
        return _REQUEST
    if source.author == "operator":
        return _OPERATOR
    if source.author == "system":
        return _OF_RECORD[0] if asked_for else _OF_RECORD[1]
    if not asked_for:
        return source.standing
    return f"{source.standing}_{'web' if source.web else source.author}"


class Seen:
    """What was seen, as far as it is added. Looking up a value does not depend on how much."""

    def __init__(self, record_fields: Iterable[str] = ()) -> None:
        """Start with nothing. `record_fields` are the keys of fields in structured results."""
        names = (_OPERATOR, *_OF_RECORD, *_TRUSTED, _AMBIENT, _LED)
        self._places = {_REQUEST: Place(generous=True), **{name: Place() for name in names}}
        self._record_fields = frozenset(record_fields)
        self._expired_request: list[str] = []

    def add(self, item: EvidenceItem, *, has_expired: bool = False) -> None:
        """Add what an item says. One without a source or without content says nothing.

        What has expired is no better than a source that only untrusted text led to. A day that an
        expired request names still contests other days.
        """
        if item.source is None:
            return
        place = _LED if has_expired else _place_of(item.source)
        fields, texts = self._content(item, item.source)
        self._places[place].add(item, fields, texts)
        if has_expired and item.source.author == "user":
            self._expired_request += map(spelling, texts)

    def _content(self, item: EvidenceItem, source: Source) -> Content:
        """Return fields and texts of a result; what user and operator say is text as a whole."""
        if source.author in ("user", "operator"):
            return Content([], list(leaves(item.content)))
        return content_of(item.content, self._record_fields)

    def sighting(self, value: str) -> Sighting:
        """Return where a spelling was seen. `approved` and `own` are not known here."""
        return next(self._sightings(value), UNSEEN)

    def _sightings(self, value: str) -> Iterator[Sighting]:
        """Yield the sightings of a value, the one that counts first."""
        places = self._places
        if item := places[_REQUEST].find(value):
            yield Sighting("request", item)
        if item := places[_OPERATOR].find(value):
            yield Sighting("operator", item)
        if item := self._first(_OF_RECORD, value):
            yield Sighting("system", item)
        if item := self._field((*_TRUSTED, _AMBIENT), value):
            rival = self._text((*_REACHED, _AMBIENT, _LED), value)
            yield Sighting("contested" if rival else "field", item, rival)
        for origin in _TRUSTED:
            if item := places[origin].texts.find(value):
                yield Sighting(origin, item)
        if item := self._text((_AMBIENT, _LED), value):
            yield Sighting("untrusted", item)
        if item := places[_LED].fields.get(value):
            yield Sighting("led_field", item)

    def is_linked(self, value: str) -> bool:
        """Return whether the request, or a source that it names or leads to, says a value."""
        return self._places[_REQUEST].find(value) is not None or self.leads_to(value)

    def leads_to(self, value: str) -> bool:
        """Return whether a source that the request names, or that one leads to, says a value."""
        return self._first((_OF_RECORD[0], *_TRUSTED), value) is not None

    def _first(self, names: Iterable[str], value: str) -> EvidenceItem | None:
        return next(filter(None, (self._places[name].find(value) for name in names)), None)

    def _field(self, names: Iterable[str], value: str) -> EvidenceItem | None:
        return next(filter(None, (self._places[name].fields.get(value) for name in names)), None)

    def _text(self, names: Iterable[str], value: str) -> EvidenceItem | None:
        return next(filter(None, (self._places[name].texts.find(value) for name in names)), None)

    def day(self, day: Day) -> DaySighting:
        """Return where a day was seen, in the order of `DayOrigin`."""
        for origin, named in self._days.items():
            if item := named.get(day) or named.get(day._replace(year=None)):
                return DaySighting(origin, item)
        return DaySighting("unseen", None)

    @cached_property
    def hosts(self) -> frozenset[str]:
        """Return the hosts that the request names."""
        return frozenset(chain.from_iterable(map(hosts_in, self._request)))

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return the stems of the words of the request."""
        return frozenset(chain.from_iterable(map(stems_of, self._request)))

    @cached_property
    def names_a_day(self) -> bool:
        """Return whether the request, expired or not, names any day."""
        if self._days["request"]:
            return True
        return any(True for text in self._expired_request for _ in days_in(text))

    @property
    def _request(self) -> Iterator[str]:
        return (text for text, _ in self._places[_REQUEST].texts)

    @cached_property
    def _days(self) -> dict[DayOrigin, dict[Day, EvidenceItem]]:
        places = self._places
        elsewhere = [*self._said(_OPERATOR, *_TRUSTED), *places[_AMBIENT].fields.items()]
        untrusted = [*places[_AMBIENT].texts, *self._said(_LED)]
        return {
            "request": _days_of(self._said(_REQUEST)),
            "system": _days_of(self._said(*_OF_RECORD)),
            "elsewhere": _days_of(elsewhere),
            "untrusted": _days_of(untrusted),
        }

    def _said(self, *names: str) -> Iterator[tuple[str, EvidenceItem]]:
        """Yield all that sources of these places say, fields and texts, each with its item."""
        for name in names:
            yield from self._places[name].fields.items()
            yield from self._places[name].texts


def _days_of(said: Iterable[tuple[str, EvidenceItem]]) -> dict[Day, EvidenceItem]:
    days: dict[Day, EvidenceItem] = {}
    for text, item in said:
        for day in days_in(text):
            days.setdefault(day, item)
    return days


def seen_in(manifests: Manifests, as_of: datetime | None) -> tuple[Seen, Seen]:
    """Return what the unexpired evidence shows, and what all of it shows: one object if the same.

    What has expired gives no authority, but still contests: a value is worth what both say.
    """
    # In one order, whatever that of the manifest, since reasons name the first item of several.
    # `call/10` comes after `call/9`.
    items = sorted(filter(_is_sourced, manifests.evidence_manifest), key=_number)
    expired = {item.id for item in items if not unexpired(item.expires_at, as_of)}
    fresh, every = Seen(manifests.record_fields or ()), Seen(manifests.record_fields or ())
    for item in items:
        if item.id not in expired:
            fresh.add(item)
    if not expired:
        return fresh, fresh
    for item in items:
        every.add(item, has_expired=item.id in expired)
    return fresh, every


def _is_sourced(item: EvidenceItem) -> bool:
    return item.source is not None


def _number(item: EvidenceItem) -> tuple[int, str]:
    """Return a key that sorts numbered ids by their numbers."""
    return len(item.id), item.id
