"""Where the values of a plan were seen: the sources in the evidence, by writer and standing.

Rule 1: only items with a source and content count, pinned or not.
Rule 2: of several origins of a value the first in the order of `Origin` counts, so that more
        evidence gives more authority; but untrusted text contests a field that says the same.
Rule 3: the narrow form of a value grants. In its wide form alone it is as good as untrusted.
Rule 4: of several items the one with the lowest number is named, in any order of the manifest.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Final

from critic.provenance.argument_nouns import nouns_of_field
from critic.provenance.holders import ItemText, Shown
from critic.provenance.link_signs import has_escapes
from critic.provenance.origins import Limits, Origin, Sighting, Spoken
from critic.provenance.place import Place
from critic.provenance.seen_days import Look, SeenDays
from critic.provenance.seen_items import (
    AMBIENT,
    LED,
    MEMBER_RECORDS,
    OF_RECORD,
    OPERATOR,
    REACHED,
    REQUEST,
    TRUSTED,
    UNLINKED,
    UNREAD,
    RequestWords,
    SeenItems,
)
from critic.provenance.spoken_words import (
    find_folder,
    find_listed,
    find_meant,
    find_mention,
)
from critic.provenance.texts import WIDE
from critic.provenance.value_kinds import Sought, read_value
from evals.manifest import EvidenceItem

_MOST_SEGMENTS: Final = 64
_ACTED_ON: Final = frozenset({"recipient", "object", "secret"})
_UNSPOKEN: Final = Spoken("unseen")


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
        self._designated: dict[ItemText, bool] = {}

    def in_request(self, value: Sought, limits: Limits) -> Spoken:
        """Return what the request says of a value."""
        place = self._places[REQUEST]
        entry, is_meant = find_meant(place, value, limits.role, limits.nouns, self._shown)
        if entry is not None and is_meant and self._is_outside_links(value, limits):
            return Spoken("request", entry.item)
        below, is_whole = self._named_above(value)
        is_deep = is_whole and limits.has_depth
        if below is not None and (is_deep or entry is None):
            return Spoken("request" if is_deep else "host", below.item)
        if value.link is not None and (host := place.says_host(value.link.host, self._shown)):
            is_bare = place.says_link(value.link.host, self._shown) is not None
            return Spoken("host", host.item, is_bare and not value.link.has_query)
        return _UNSPOKEN if entry is None else Spoken("words", entry.item)

    def _is_outside_links(self, value: Sought, limits: Limits) -> bool:
        """Return whether a user said what is meant, and not only a link, or gave it to be read."""
        if value.form == "url" or limits.role not in _ACTED_ON:
            return True
        place = self._places[UNLINKED]
        return find_meant(place, value, limits.role, limits.nouns, self._shown)[1]

    def _named_above(self, value: Sought) -> tuple[ItemText | None, bool]:
        """Return a request that names a page or a folder in which the value lies.

        And whether it names that as a whole, and not as a part of a longer name.
        """
        place = self._places[REQUEST]
        if value.link is not None:
            pages = () if value.link.has_query else value.link.parents()
            found = (place.says_link(page, self._shown) for page in pages)
            page = next(filter(None, found), None)
            return page, page is not None
        parts = value.narrow.split("/")
        if value.form != "path" or has_escapes(value.narrow) or len(parts) > _MOST_SEGMENTS:
            return None, False
        above = ("/".join(parts[:end]) for end in range(len(parts) - 1, 0, -1))
        # A slash by itself, as in "yes / no", names no root.
        folders = (read_value(folder, "path") for folder in above if folder)
        first: ItemText | None = None
        for folder in folders:
            entry, is_whole = find_folder(place, folder, self._shown)
            if is_whole:
                return entry, True
            first = first or entry
        return first, False

    def request_mentions(self, value: Sought) -> EvidenceItem | None:
        """Return a request that holds a value, in whichever characters."""
        entry = self._places[REQUEST].mentions(value, self._shown)
        return None if entry is None else entry.item

    def by_operator(self, value: Sought, limits: Limits) -> tuple[EvidenceItem | None, bool]:
        """Return an item of the operator that holds a value, and whether it means it."""
        place = self._places[OPERATOR]
        entry, is_meant = find_meant(place, value, limits.role, limits.nouns, self._shown)
        return None if entry is None else entry.item, is_meant

    def in_record(self, value: Sought, limits: Limits) -> EvidenceItem | None:
        """Return an item of a system of record that shows a value."""
        whole = value.is_words or value.is_short_number

        def look(place: Place, shown: Shown | None) -> ItemText | None:
            if whole:
                return place.leaf(value, shown)
            entry, is_whole = find_listed(place, value, shown)
            return entry if is_whole else None

        return self.first(OF_RECORD, look, self._before(limits))

    def part_in_record(self, value: Sought, limits: Limits) -> EvidenceItem | None:
        """Return an item of a system of record that shows a value as a part of a longer name."""
        if value.is_words or value.form not in ("path", "text"):
            return None

        def look(place: Place, shown: Shown | None) -> ItemText | None:
            return find_listed(place, value, shown)[0]

        return self.first(OF_RECORD, look, self._before(limits))

    def in_fields(self, value: Sought, limits: Limits) -> Iterator[Sighting]:
        """Yield where a value is a field that a system filled, or in a designated record.

        What a designated record says is given by the user: no field that says it too, and that
        others contest, makes it worth less.
        """
        item = self.first(
            (*TRUSTED, AMBIENT),
            lambda place, shown: place.field(value, shown),
            self._before(limits),
        )
        rival = None if item is None else self._rival(value, limits)
        if item is not None and rival is None:
            yield Sighting("field", item)
        among = self._among_designated(self._before(limits))
        if record := self._places[MEMBER_RECORDS].says(value, among):
            yield Sighting("designated", record.item)
        if rival is not None:
            yield Sighting("contested", item, rival, is_unread=self.unread is rival)

    def in_other_text(self, value: Sought, limits: Limits) -> Iterator[Sighting]:
        """Yield where others show a value: as a party, in what they write, or led to by that."""
        before = self._before(limits)

        def look_at_parties(place: Place, shown: Shown | None) -> ItemText | None:
            return place.party(value, shown)

        def look_at_fields(place: Place, shown: Shown | None) -> ItemText | None:
            return place.field(value, shown) or place.party(value, shown)

        if item := self.first((*TRUSTED, AMBIENT), look_at_parties, before):
            rival = self._rival(value, limits)
            origin: Origin = "contested_party" if rival else "party"
            yield Sighting(
                origin, item, rival, is_unread=rival is not None and self.unread is rival
            )
        for name in TRUSTED:
            if item := self.first((name,), lambda place, shown: place.says(value, shown)):
                yield Sighting(self._origin_of_text(name, value, limits), item)
        if item := self._mention((*TRUSTED, AMBIENT, LED), value, limits):
            yield Sighting("untrusted", item)
        if item := self.first((LED,), look_at_fields, before):
            yield Sighting("led_field", item)

    def _origin_of_text(self, name: str, value: Sought, limits: Limits) -> Origin:
        """Return the origin of a text: a locator that the session put there is no member's."""
        before = self._before(limits) if limits.role == "locator" else None
        if before is None or name not in _IF_ECHOED:
            return _AS_ORIGIN[name]
        earlier = self.first((name,), lambda place, shown: place.says(value, shown), before)
        return _IF_ECHOED[name] if earlier is None else _AS_ORIGIN[name]

    def _rival(self, value: Sought, limits: Limits) -> EvidenceItem | None:
        return self.unread or self._mention((*REACHED, AMBIENT, LED), value, limits)

    @cached_property
    def unread(self) -> EvidenceItem | None:
        """The first item that was not read whole: it may mention anything, expired or not."""
        place = self._places[UNREAD]
        entries = place.shown_entries(self._shown) if len(place) else ()
        found = next(iter(entries), None)
        if found is None and self._expired is not None:
            found = next(iter(place.shown_entries(self._expired)), None)
        return None if found is None else found.item

    def _mention(self, names: Iterable[str], value: Sought, limits: Limits) -> EvidenceItem | None:
        return self.first(
            names, lambda place, shown: find_mention(place, value, limits.nouns, shown)
        )

    def host_in_text(self, host: str) -> Sighting:
        """Return in whose text a host stands, of those that others write."""
        for name in (*TRUSTED, AMBIENT, LED):
            if item := self.first((name,), lambda place, shown: place.mentions_host(host, shown)):
                return Sighting(_AS_ORIGIN[name], item)
        return Sighting("unseen")

    def in_ambient_text(self, wide_text: str) -> EvidenceItem | None:
        """Return an item that nobody asked for in whose text a text stands."""
        return self.first(
            (AMBIENT, LED), lambda place, shown: place.texts(WIDE).entry(wide_text, shown)
        )

    def is_linked(self, value: Sought) -> bool:
        """Return whether the request, or a source that it names or leads to, says a value."""
        return self._says((REQUEST,), value) or self.leads_to(value)

    def leads_to(self, value: Sought) -> bool:
        """Return whether a source that the request names, or that one leads to, says a value."""
        return self._says((OF_RECORD[0], *TRUSTED), value)

    def _says(self, names: Iterable[str], value: Sought) -> bool:
        def look(place: Place, shown: Shown | None) -> ItemText | None:
            found = place.field(value, shown) or place.party(value, shown)
            return found or place.says(value, shown)

        return self.first(names, look) is not None

    def _before(self, limits: Limits) -> Callable[[ItemText], bool] | None:
        """Return what tells whether an item was seen before the session sent a value itself."""
        limit = limits.first_sent
        if limit is None:
            return None

        def was_before(entry: ItemText) -> bool:
            seq = entry.item.source.seq if entry.item.source else None
            return seq is not None and seq < limit

        return was_before

    def _among_designated(self, before: Callable[[ItemText], bool] | None) -> Shown:
        def counts(entry: ItemText) -> bool:
            return self._is_designated(entry) and (before is None or before(entry))

        shown = self._shown or Shown(expired=False)
        return shown._replace(among=counts)

    def _is_designated(self, entry: ItemText) -> bool:
        """Return whether the request names two fields of a record, each by a value of its own."""
        known = self._designated.get(entry)
        if known is None:
            fields, values = set[str](), set[str]()
            for part in self._items.designations[entry]:
                value = read_value(part.text, None)
                limits = Limits("attribute", nouns_of_field(part.field))
                if self.in_request(value, limits).origin == "request":
                    fields.add(part.field)
                    values.add(value.narrow)
            known = self._designated[entry] = len(fields) > 1 and len(values) > 1
        return known

    def first(
        self,
        names: Iterable[str],
        look: Look,
        among: Callable[[ItemText], bool] | None = None,
    ) -> EvidenceItem | None:
        """Return what is found in the first of some places in which anything is."""
        shown = self._shown
        if among is not None:
            shown = (shown or Shown(expired=False))._replace(among=among)
        for name in names:
            found = look(self._places[name], shown)
            if name == LED and self._expired is not None:
                found = self._earlier_entry(found, look)
            if found is not None:
                return found.item
        return None

    def _earlier_entry(self, found: ItemText | None, look: Look) -> ItemText | None:
        """Return the entry with the lowest number: the one found, or one that has expired."""
        others = filter(None, (look(place, self._expired) for place in self._places.values()))
        every = chain(others, (found,) if found else ())
        return min(every, key=lambda one: one.number, default=None)

    @cached_property
    def request_words(self) -> RequestWords:
        """The words of the request."""
        return self._items.request_words(self._shown)

    @cached_property
    def days(self) -> SeenDays:
        """The days that were seen."""
        return SeenDays(self._items, self.first, self._shown, self._expired)


_IF_ECHOED: Final[dict[str, Origin]] = {
    "named_member": "named_public",
    "reached_member": "reached_public",
}
_AS_ORIGIN: Final[dict[str, Origin]] = {
    "named_member": "named_member",
    "named_public": "named_public",
    "named_web": "named_web",
    "reached_member": "reached_member",
    "reached_public": "reached_public",
    "reached_web": "reached_web",
    AMBIENT: "untrusted",
    LED: "untrusted",
}


def both_seen(items: SeenItems, hidden: frozenset[str] = frozenset()) -> tuple[Seen, Seen]:
    """Return what the unexpired items show, and what all of them show: one object if the same.

    What has expired gives no authority, but still contests: a value is worth what both say.
    """
    every = Seen(items, with_expired=True, hidden=hidden)
    if not items.any_expired:
        return every, every
    return Seen(items, with_expired=False, hidden=hidden), every
