"""What holds a key, by the number of its item: an index that is only added to.

Rule 1: the first holder is that with the lowest number, in whichever order they are added.
Rule 2: an item expires, or counts again for an earlier time, without being added anew.
"""

from bisect import insort
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from evals.manifest import EvidenceItem

_K = TypeVar("_K", bound=Hashable)

Number = tuple[int, str]


def number_of(item: EvidenceItem) -> Number:
    """Return a key that sorts numbered ids by their numbers: `call/10` comes after `call/9`."""
    return len(item.id), item.id


class ItemText:
    """What one item says: its texts, in canonical form, as one.

    Where the tokens of the text stand is worked out when it is asked for.
    """

    __slots__ = ("_places", "has_expired", "item", "number", "text", "was_tried")

    def __init__(self, item: EvidenceItem, text: str = "") -> None:
        self.item: Final[EvidenceItem] = item
        self.number: Final[Number] = number_of(item)
        self.text: Final[str] = text
        self.has_expired: bool = False
        self.was_tried: bool = False
        self._places: dict[str, list[int]] | None = None

    def places(self, spans: Callable[[str], Iterable[tuple[str, int]]]) -> dict[str, list[int]]:
        """Return the offsets of each token, where `spans` gives the tokens of a text."""
        if self._places is None:
            self._places = {}
            for token, start in spans(self.text):
                self._places.setdefault(token, []).append(start)
        return self._places


class Shown(NamedTuple):
    """Which entries count: those that have expired or those that have not, but for some items."""

    expired: bool
    hidden: frozenset[str] = frozenset()

    def shows(self, entry: ItemText) -> bool:
        """Return whether an entry counts."""
        return entry.has_expired is self.expired and entry.item.id not in self.hidden


class Holders(Generic[_K]):
    """The entries that hold each key. Adding an entry costs its keys, whatever others hold."""

    __slots__ = ("_of",)

    def __init__(self) -> None:
        # Most keys have one holder, which stands there by itself.
        self._of: dict[_K, ItemText | list[ItemText]] = {}

    def add(self, keys: Iterable[_K], entry: ItemText) -> None:
        """Note that an entry holds some keys."""
        known, number = self._of, entry.number
        new: dict[_K, ItemText | list[ItemText]] = dict.fromkeys(keys, entry)
        for key in known.keys() & new.keys():
            holders = known[key]
            if type(holders) is ItemText:
                new[key] = [holders, entry] if holders.number <= number else [entry, holders]
            else:
                in_order(holders, entry)  # type: ignore[arg-type]
                del new[key]
        known.update(new)

    def of(self, key: _K) -> Sequence[ItemText]:
        """Return all holders of a key, the first first."""
        found = self._of.get(key, ())
        return (found,) if type(found) is ItemText else found  # type: ignore[return-value]

    def first(self, key: _K, shown: Shown | None) -> ItemText | None:
        """Return the first holder of a key that counts: of all, where `shown` is None."""
        return first_of(self.of(key), shown)

    def holds_any(self, shown: Shown | None) -> bool:
        """Return whether an entry that counts holds any key."""
        if shown is None:
            return bool(self._of)
        return any(first_of(self.of(key), shown) is not None for key in self._of)


def first_of(entries: Sequence[ItemText], shown: Shown | None) -> ItemText | None:
    """Return the first of some entries that counts."""
    if shown is None:
        return entries[0] if entries else None
    return next(filter(shown.shows, entries), None)


def in_order(entries: list[ItemText], entry: ItemText) -> None:
    """Add an entry, mostly at the end, so that numbers ascend."""
    if entries and entries[-1].number > entry.number:
        insort(entries, entry, key=lambda one: one.number)
    else:
        entries.append(entry)
