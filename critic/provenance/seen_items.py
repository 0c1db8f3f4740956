"""The items that were seen, by the place that their source belongs to: an index that only grows.

Rule 1: an item costs what it says, once: when it is added.
Rule 2: the index is as of one moment. Moving on to another costs the items that expire in between,
        and moving back those that then count again.
"""

from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from critic.provenance.holders import ItemText, Shown
from critic.provenance.texts import Place, hosts_in
from critic.provenance.tool_words import stems_of
from critic.provenance.value_forms import content_of, days_in, leaves
from evals.manifest import EvidenceItem, Source

OF_RECORD: Final = ("named system", "other system")
TRUSTED: Final = (
    *("named_member", "named_public", "named_web"),
    *("reached_member", "reached_public", "reached_web"),
)
AMBIENT, LED = "ambient", "led"
REQUEST, OPERATOR = "request", "operator"
EXPIRED_REQUEST: Final = "expired request"
"""What a user said that expires: it is read as any other text once it has expired."""


class RequestWords(NamedTuple):
    """The hosts that a request names, and the stems of its words."""

    hosts: set[str]
    stems: set[str]

    def add(self, text: str) -> None:
        """Add those of a canonical text."""
        self.hosts.update(hosts_in(text))
        self.stems.update(stems_of(text))


class SeenItems:
    """Items with a source, as they were seen."""

    def __init__(self, record_fields: Iterable[str] = ()) -> None:
        """Start with nothing. `record_fields` are the keys of fields in structured results."""
        names = (OPERATOR, *OF_RECORD, *TRUSTED, AMBIENT, LED, EXPIRED_REQUEST)
        self.places = {REQUEST: Place(generous=True), **{name: Place() for name in names}}
        self._record_fields = frozenset(record_fields)
        self._words = RequestWords(set(), set())
        self._expiries: list[datetime] = []
        self._expiring: list[tuple[ItemText, ...]] = []
        self._expired_count = 0
        self._expired_requests: list[ItemText] = []

    @property
    def any_expired(self) -> bool:
        """Whether any item has expired at the moment that the index is as of."""
        return self._expired_count > 0

    def add(self, item: EvidenceItem) -> None:
        """Add what an item says. One without a source says nothing."""
        if item.source is None:
            return
        entries = self._add_entries(item, item.source)
        if item.expires_at is not None:
            at = bisect_right(self._expiries, item.expires_at)
            self._expiries.insert(at, item.expires_at)
            self._expiring.insert(at, entries)
            if at < self._expired_count:
                self._expired_count += 1
                self._mark(entries, has_expired=True)

    def _add_entries(self, item: EvidenceItem, source: Source) -> tuple[ItemText, ...]:
        """Return the entries of an item in the places where it stands."""
        if source.author not in ("user", "operator"):
            content = content_of(item.content, self._record_fields)
            return (self.places[_place_of(source)].add(item, content.fields, content.texts),)
        # What user and operator say is text as a whole.
        texts = list(leaves(item.content))
        entry = self.places[_place_of(source)].add(item, [], texts)
        if source.author == "operator":
            return (entry,)
        if item.expires_at is None:
            self._words.add(entry.text)
            return (entry,)
        later = self.places[EXPIRED_REQUEST].add(item, [], texts)
        self._expired_requests.append(later)
        return entry, later

    def move_to(self, as_of: datetime | None) -> None:
        """Move on, or back, to a moment. Without one, all that expires has expired."""
        before, count = self._expired_count, len(self._expiries)
        if as_of is not None:
            count = bisect_right(self._expiries, as_of)
        for entries in self._expiring[before:count]:
            self._mark(entries, has_expired=True)
        for entries in self._expiring[count:before]:
            self._mark(entries, has_expired=False)
        self._expired_count = count

    def _mark(self, entries: Iterable[ItemText], *, has_expired: bool) -> None:
        for entry in entries:
            entry.mark(has_expired=has_expired)

    def request_words(self, shown: Shown | None) -> RequestWords:
        """Return the words of those requests that count."""
        if shown is None and not self._expired_requests:
            return self._words
        words = RequestWords(set(), set())
        for entry in self.places[REQUEST].texts.shown_entries(shown):
            words.add(entry.text)
        return words

    def expired_request_names_a_day(self, shown: Shown) -> bool:
        """Return whether any of the requests that count, of those that have expired, names one."""
        return any(
            True
            for entry in self._expired_requests
            if shown.shows(entry)
            for _ in days_in(entry.text)
        )


def _place_of(source: Source) -> str:
    """Return the place that a source belongs to."""
    asked_for = source.standing in ("named", "reached")
    if source.author == "user":
        return REQUEST
    if source.author == "operator":
        return OPERATOR
    if source.author == "system":
        return OF_RECORD[0] if asked_for else OF_RECORD[1]
    if not asked_for:
        return source.standing
    return f"{source.standing}_{'web' if source.web else source.author}"
