"""The items that were seen, by the place that their writers belong to: an index that only grows.

Rule 1: an item costs what it says, once: when it is first looked at.
Rule 2: the index is as of one moment. Moving on to another costs the items that expire in between,
        and moving back those that then count again.
Rule 3: an item may say something in several places: a field that an outsider fills is not of the
        system of record around it.
Rule 4: an index may go on from another one, which stays as it is: it answers as one of all items.
"""

from bisect import bisect_right
from collections import ChainMap
from collections.abc import Iterable, Iterator, MutableMapping
from datetime import datetime
from typing import Final, NamedTuple

from critic.provenance.day_forms import days_in, relative_days
from critic.provenance.folding import is_read_whole, mask_signs, narrow
from critic.provenance.holders import ItemText, Shown
from critic.provenance.item_parts import FieldTables, ItemPart, ItemParts
from critic.provenance.place import Place
from critic.provenance.tool_words import stems_of
from critic.provenance.unlinked_texts import without_links
from evals.manifest import EvidenceItem, Source

OF_RECORD: Final = ("named system", "other system")
NAMED: Final = ("named_member", "named_public", "named_web")
REACHED: Final = ("reached_member", "reached_public", "reached_web")
TRUSTED: Final = (*NAMED, *REACHED)
AMBIENT, LED = "ambient", "led"
REQUEST, OPERATOR = "request", "operator"
EXPIRED_REQUEST: Final = "expired request"
"""What a user said that expires: it is read as any other text once it has expired."""
MEMBER_RECORDS: Final = "records of members"
"""The records of members once more, each by itself."""
UNLINKED: Final = "request without links"
"""What a user said, without the links in it: whoever made a link chose what it holds."""
UNREAD: Final = "unread"
"""What was not read whole: nobody can tell what it does not mention."""


class RequestWords(NamedTuple):
    """The stems of the words of a request, and its words that count from the present day."""

    stems: set[str]
    relative: set[str]

    def add(self, text: str) -> None:
        """Add those of a narrow text."""
        self.stems.update(stems_of(text))
        self.relative.update(relative_days(text))


class SeenItems:
    """Items with a source, as they were seen."""

    def __init__(
        self, tables: FieldTables | None = None, before: "SeenItems | None" = None
    ) -> None:
        """Start with nothing, or with what another index holds. It is as of a moment of its own.

        Args:
            tables: say who fills which field.
        """
        names = (
            REQUEST,
            OPERATOR,
            *OF_RECORD,
            *TRUSTED,
            AMBIENT,
            LED,
            EXPIRED_REQUEST,
            MEMBER_RECORDS,
            UNLINKED,
            UNREAD,
        )
        self._before: Final = before
        self.places: Final[dict[str, Place]] = {
            name: Place(None if before is None else before.places[name]) for name in names
        }
        self.designations: Final[MutableMapping[ItemText, tuple[ItemPart, ...]]] = (
            {} if before is None else ChainMap({}, before.designations)
        )
        self._tables = tables or FieldTables()
        self._words = RequestWords(set(), set())
        self._expiries: list[datetime] = []
        self._expiring: list[tuple[ItemText, ...]] = []
        self._expired_count = 0
        self._expired_requests: list[ItemText] = []

    @property
    def any_expired(self) -> bool:
        """Whether any item has expired at the moment that the index is as of."""
        is_before = self._before is not None and self._before.any_expired
        return self._expired_count > 0 or is_before

    def add(self, item: EvidenceItem) -> None:
        """Add what an item says. One without a source says nothing."""
        if item.source is None:
            return
        entries = tuple(self._add_entries(item, item.source))
        if item.expires_at is not None:
            at = bisect_right(self._expiries, item.expires_at)
            self._expiries.insert(at, item.expires_at)
            self._expiring.insert(at, entries)
            if at < self._expired_count:
                self._expired_count += 1
                self._mark(entries, has_expired=True)

    def _add_entries(self, item: EvidenceItem, source: Source) -> Iterator[ItemText]:
        """Yield the entries of an item in the places where it stands."""
        found = self._tables.parts_of(item)
        if source.author in ("user", "operator"):
            entry = ItemText(item, [part.text for part in found.parts])
            yield self._add_entry(source.author, entry)
            if source.author == "user":
                yield self._add_entry(UNLINKED, _without_links(entry))
                yield from self._add_words(entry)
            return
        is_short = is_read_whole(part.text for part in found.parts)
        if source.cut or not is_short:
            yield self._add_entry(UNREAD, ItemText(item))
        if not is_short:
            found = _mask(found)
        for name, parts in _by_place(source, found).items():
            yield self._add_entry(name, _entry_of(item, source, parts))
        if source.author == "member" and not source.web:
            yield from self._add_records(item, found)

    def _add_words(self, request: ItemText) -> Iterator[ItemText]:
        """Count the words of a request, or yield what it is once it has expired."""
        if request.item.expires_at is None:
            self._words.add(request.text(narrow))
            return
        later = self._add_entry(EXPIRED_REQUEST, ItemText(request.item, request.texts))
        self._expired_requests.append(later)
        yield later

    def _add_entry(self, name: str, entry: ItemText) -> ItemText:
        self.places[REQUEST if name == "user" else name].add(entry)
        return entry

    def _add_records(self, item: EvidenceItem, found: ItemParts) -> Iterator[ItemText]:
        for record in found.records:
            texts = [part.text for part in record if part.writer == "member"]
            fields = tuple(part for part in record if part.field)
            if len({part.field for part in fields}) > 1:
                entry = self._add_entry(MEMBER_RECORDS, ItemText(item, texts))
                self.designations[entry] = fields
                yield entry

    def move_to(self, as_of: datetime | None) -> None:
        """Move on, or back, to a moment. Without one, all that expires has expired.

        The index before this one is moved by itself.
        """
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
        before, requests = self._before, self.places[REQUEST]
        if before is not None and len(requests) == len(before.places[REQUEST]):
            return before.request_words(shown)
        if before is None and shown is None and not self._expired_requests:
            return self._words
        words = RequestWords(set(), set())
        for entry in requests.shown_entries(shown):
            words.add(entry.text(narrow))
        return words

    def expired_request_names_a_day(self, shown: Shown) -> bool:
        """Return whether any of the requests that count, of those that have expired, names one."""
        if self._before is not None and self._before.expired_request_names_a_day(shown):
            return True
        return any(
            True
            for entry in self._expired_requests
            if shown.shows(entry)
            for _ in days_in(entry.text(narrow))
        )


def _without_links(request: ItemText) -> ItemText:
    return ItemText(request.item, [without_links(text) for text in request.texts])


def _mask(found: ItemParts) -> ItemParts:
    """Return the parts of an item without the characters that stand for many letters."""
    records = [
        [part._replace(text=mask_signs(part.text)) for part in record] for record in found.records
    ]
    parts = [part._replace(text=mask_signs(part.text)) for part in found.parts]
    return ItemParts(parts, records)


def _by_place(source: Source, found: ItemParts) -> dict[str, list[ItemPart]]:
    """Return the parts of an item, by the places in which they stand."""
    places: dict[str, list[ItemPart]] = {}
    for part in found.parts:
        places.setdefault(_place_of(source, part), []).append(part)
    return places


def _entry_of(item: EvidenceItem, source: Source, parts: list[ItemPart]) -> ItemText:
    """Return what some parts of an item say. A field of a member's record is the system's."""
    party = "" if source.author == "member" else "party"
    said = [part for part in parts if not part.field]
    return ItemText(
        item,
        texts=[part.text for part in said],
        elements=frozenset(at for at, part in enumerate(said) if part.is_element),
        fields=[part.text for part in parts if part.field and part.writer != party],
        parties=[part.text for part in parts if part.writer == party],
    )


def _place_of(source: Source, part: ItemPart) -> str:
    """Return the place that a part of an item belongs to."""
    asked_for = source.standing in ("named", "reached")
    if source.author == "system" and part.writer == "system":
        return OF_RECORD[0] if asked_for else OF_RECORD[1]
    if not asked_for:
        return source.standing
    writer = "web" if source.web else "member" if part.writer == "member" else "public"
    return f"{source.standing}_{writer}"
