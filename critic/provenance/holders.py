"""The items that hold a key, by their number: an index that is only added to.

Rule 1: the first holder is that with the lowest number, in whichever order they are added.
Rule 2: what has expired is kept apart, so that a lookup goes through nothing that does not count
        but hidden items. An item that expires, or counts again for an earlier time, costs its keys.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

from evals.manifest import EvidenceItem

_K = TypeVar("_K", bound=Hashable)

Number = tuple[int, str]

TextForm = Callable[[str], str]
"""Makes a form of a text: it is one function for each form."""

NameSpans = dict[int, tuple[list[int], list[int]]]
"""Where names stand in a text, by what makes them names: the starts and the ends."""

GAP: Final = "\n\n\n\n\n"
"""Stands between the texts of one item. No value and no pattern reaches across it."""


def number_of(item: EvidenceItem) -> Number:
    """Return a key that sorts numbered ids by their numbers: `call/10` comes after `call/9`."""
    return len(item.id), item.id


class ItemText:
    """What an item says: fields of a record, by whom they count, and texts, all as written.

    A form of the texts, and where its tokens stand, is worked out when it is asked for.
    """

    __slots__ = (
        "_forms",
        "_held_by",
        "_names",
        "_places",
        "elements",
        "fields",
        "has_expired",
        "item",
        "number",
        "parties",
        "texts",
        "tried",
    )

    def __init__(
        self,
        item: EvidenceItem,
        texts: Sequence[str] = (),
        fields: Sequence[str] = (),
        parties: Sequence[str] = (),
        elements: frozenset[int] = frozenset(),
    ) -> None:
        """Say which of the texts, by their positions, are elements of a list."""
        self.item: Final[EvidenceItem] = item
        self.number: Final[Number] = number_of(item)
        self.texts: Final = texts
        self.fields: Final = fields
        self.parties: Final = parties
        self.elements: Final = elements
        self.has_expired: bool = False
        self.tried: Final = set[TextForm]()
        self._forms: dict[TextForm, str] = {}
        self._places: dict[TextForm, dict[str, list[int]]] = {}
        self._names: dict[tuple[TextForm, FindNames], NameSpans] = {}
        self._held_by: dict[Holders[Any], tuple[Any, ...]] = {}

    def text(self, form: TextForm) -> str:
        """Return all texts in a form, as one."""
        if form not in self._forms:
            self._forms[form] = GAP.join(map(form, self.texts))
        return self._forms[form]

    def names(self, form: TextForm, find: "FindNames") -> NameSpans:
        """Return where names stand in a form of the texts, where `find` finds them."""
        key = form, find
        if key not in self._names:
            self._names[key] = find(self, form)
        return self._names[key]

    def note(self, holders: "Holders[_K]", keys: tuple[_K, ...]) -> None:
        """Note that these holders, to which it was added, are to hear when the entry expires."""
        if self.item.expires_at is not None:
            self._held_by[holders] = keys

    def forget(self, holders: "Holders[_K]") -> None:
        """Note that these holders are used no more."""
        self._held_by.pop(holders, None)

    def mark(self, *, has_expired: bool) -> None:
        """Note that the entry has expired, or counts again."""
        self.has_expired = has_expired
        for holders, keys in self._held_by.items():
            holders.move(keys, self)

    def places(
        self, form: TextForm, spans: Callable[[str], Iterable[tuple[str, int]]]
    ) -> dict[str, list[int]]:
        """Return the offsets of each token in a form, where `spans` gives the tokens of a text."""
        if form not in self._places:
            found = self._places[form] = {}
            for token, start in spans(self.text(form)):
                found.setdefault(token, []).append(start)
        return self._places[form]


FindNames = Callable[[ItemText, TextForm], NameSpans]


class Shown(NamedTuple):
    """Which entries count: those that have expired or those that have not, but for some items.

    Attributes:
        among: where it is there, an entry counts only if this is true of it.
    """

    expired: bool
    hidden: frozenset[str] = frozenset()
    among: Callable[[ItemText], bool] | None = None

    def shows(self, entry: ItemText) -> bool:
        """Return whether an entry counts."""
        is_shown = entry.has_expired is self.expired and entry.item.id not in self.hidden
        return is_shown and (self.among is None or self.among(entry))


_Of = dict[_K, ItemText | list[ItemText]]


class Holders(Generic[_K]):
    """The entries that hold each key. The cost of adding an entry is that of its keys."""

    __slots__ = ("_of",)

    def __init__(self) -> None:
        # Those that have not expired, and those that have. Most keys have one holder, which stands
        # there by itself.
        self._of: tuple[_Of[_K], _Of[_K]] = {}, {}

    def add(self, keys: Iterable[_K], entry: ItemText) -> None:
        """Note that an entry holds some keys."""
        new: _Of[_K] = dict.fromkeys(keys, entry)
        entry.note(self, tuple(new))
        self._add(new, entry)

    def _add(self, new: _Of[_K], entry: ItemText) -> None:
        known, number = self._of[entry.has_expired], entry.number
        for key in known.keys() & new.keys():
            holders = known[key]
            if type(holders) is ItemText:
                new[key] = [holders, entry] if holders.number <= number else [entry, holders]
            else:
                in_order(holders, entry)  # type: ignore[arg-type]
                del new[key]
        known.update(new)

    def move(self, keys: Iterable[_K], entry: ItemText) -> None:
        """Note that an entry, which holds some keys, has expired, or counts again."""
        known = self._of[not entry.has_expired]
        new: _Of[_K] = dict.fromkeys(keys, entry)
        for key in new:
            holders = known[key]
            if isinstance(holders, list):
                at = bisect_left(holders, entry.number, key=lambda one: one.number)
                del holders[holders.index(entry, at)]
            else:
                del known[key]
        self._add(new, entry)

    def entries_of(self, key: _K, shown: Shown | None) -> Sequence[ItemText]:
        """Return the holders of a key that expired, or that did not, the first first.

        Hidden ones are among them. Where `shown` is None, those that did not expire are asked for.
        """
        found = self._side(shown).get(key, ())
        return (found,) if type(found) is ItemText else found  # type: ignore[return-value]

    def _side(self, shown: Shown | None) -> _Of[_K]:
        return self._of[shown is not None and shown.expired]

    def first(self, key: _K, shown: Shown | None) -> ItemText | None:
        """Return the first holder of a key that counts: all that did not expire do with None."""
        return first_of(self.entries_of(key, shown), shown)

    def holds_any(self, shown: Shown | None) -> bool:
        """Return whether an entry that counts holds any key."""
        return any(
            first_of(self.entries_of(key, shown), shown) is not None for key in self._side(shown)
        )


def first_of(entries: Sequence[ItemText], shown: Shown | None) -> ItemText | None:
    """Return the first of some entries that counts."""
    if shown is None:
        return entries[0] if entries else None
    return next(filter(shown.shows, entries), None)


def earlier_of(entry: ItemText | None, other: ItemText | None) -> ItemText | None:
    """Return the one with the lower number of two entries that may be there."""
    if entry is None or other is None:
        return other if entry is None else entry
    return entry if entry.number <= other.number else other


def in_order(entries: list[ItemText], entry: ItemText) -> None:
    """Add an entry, mostly at the end, so that numbers ascend."""
    if entries and entries[-1].number > entry.number:
        insort(entries, entry, key=lambda one: one.number)
    else:
        entries.append(entry)
