"""Where a value stands in what was seen: an index of texts, to which texts are only added.

Rule 1: a value stands in a text as a whole, between the boundaries of tokens. A token is words that
        single `.`, `/`, `:`, `@` or `-` join; in the user's own request it is one word, so that a
        value may be part of a longer address there.
Rule 2: a number of three digits or fewer stands only where the text calls it an id.
Rule 3: adding a text costs its length. Looking up a value of one token costs the same in any index.
        A longer one is tried where its rarest token occurs; once that took as many tries as the
        texts are long, in a table of all runs of so many tokens, which reads each text once.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from critic.provenance.holders import Holders, ItemText, Shown, first_of, in_order
from critic.provenance.value_forms import (
    SEPARATORS,
    WORD,
    Day,
    canonical,
    days_in,
    host_of,
    is_short_number,
    spelling,
)
from critic.provenance.windows import Windows
from evals.manifest import EvidenceItem

GAP: Final = "\n\n\n\n\n"
"""Stands between the texts of one item. No value and no pattern reaches across it."""

_NO_WORD: Final = f"(?!\n)[{SEPARATORS}]"
_JOINT: Final = "[./:@-]"


class _Reading(NamedTuple):
    """How texts are read: what a token is, where a value may begin and end, what an id is."""

    token: re.Pattern[str]
    begins: re.Pattern[str]
    ends: re.Pattern[str]
    called_id: re.Pattern[str]


def _compile_reading(token: str, begins: str, ends: str) -> _Reading:
    called_id = rf"(?<!{WORD})ids?+(?!{WORD})(?:{_NO_WORD}){{0,4}}+([0-9]{{1,3}}+){ends}"
    return _Reading(*map(re.compile, (token, begins, ends, called_id)))


_STRICT: Final = _compile_reading(
    rf"{WORD}++(?:{_JOINT}{WORD}++)*+",
    rf"(?<!{WORD})(?<!{WORD}{_JOINT})",
    rf"(?!{WORD}|{_JOINT}{WORD})",
)
_GENEROUS: Final = _compile_reading(rf"{WORD}++", rf"(?<!{WORD})", rf"(?!{WORD})")


def hosts_in(text: str) -> Iterator[str]:
    """Yield the hosts that a canonical text names, those of e-mail addresses not among them."""
    for match in _STRICT.token.finditer(text):
        # A slash at its end tells a host from the name of a file.
        slash = "/" if text.startswith("/", match.end()) else ""
        host = host_of(match[0] + slash)
        if host is not None and text[match.start() - 1 : match.start()] != "@":
            yield host


class Texts:
    """Texts of evidence, each with its item."""

    __slots__ = ("_entries", "_held", "_ids", "_reading", "_tries_left", "_windows")

    def __init__(self, *, generous: bool = False) -> None:
        """Start an empty index. `generous` is for the user's own request."""
        self._reading = _GENEROUS if generous else _STRICT
        self._entries: list[ItemText] = []
        self._held = Holders[str]()
        self._ids = Holders[str]()
        self._tries_left = 0
        self._windows = Windows(*self._reading[:3])

    def __iter__(self) -> Iterator[tuple[str, EvidenceItem]]:
        """Yield each canonical text with its item."""
        return ((entry.text, entry.item) for entry in self._entries)

    def shown_entries(self, shown: Shown | None) -> Iterable[ItemText]:
        """Return the entries that count, in their order."""
        return self._entries if shown is None else filter(shown.shows, self._entries)

    def add(self, item: EvidenceItem, text: str) -> None:
        """Add the canonical text of an item."""
        self.add_entry(ItemText(item, text))

    def add_entry(self, entry: ItemText) -> None:
        """Add what an item says."""
        in_order(self._entries, entry)
        self._tries_left += len(entry.text)
        self._windows.add(entry)
        self._held.add(self._reading.token.findall(entry.text), entry)
        self._ids.add(self._reading.called_id.findall(entry.text), entry)

    def find(self, value: str) -> EvidenceItem | None:
        """Return an item in whose text the spelling of a value stands, the first if several do."""
        entry = self.entry(value)
        return None if entry is None else entry.item

    def entry(self, value: str, shown: Shown | None = None) -> ItemText | None:
        """Return the first entry that counts in whose text the spelling of a value stands."""
        if not value or not self._entries:
            return None
        if is_short_number(value):
            return self._ids.first(value, shown)
        tokens = [(match[0], match.start()) for match in self._reading.token.finditer(value)]
        if not tokens:
            return self._first_standing(self.shown_entries(shown), value, tokens)
        held = min((self._held.entries_of(token, shown) for token, _ in tokens), key=len)
        if not held or tokens[0][0] == value:
            return first_of(held, shown)
        return self._phrase(held, value, tokens, shown)

    def _phrase(
        self,
        held: Sequence[ItemText],
        value: str,
        tokens: list[tuple[str, int]],
        shown: Shown | None,
    ) -> ItemText | None:
        """Find a value of more than one token, whose rarest one these texts hold."""
        possible = held if shown is None else filter(shown.shows, held)
        if self._tries_left > 0:
            return self._first_standing(possible, value, tokens)
        found = self._windows.find(value, shown)
        # A window is found by a number, and another run of tokens may have the same.
        if found is None or found[0].text.startswith(value, found[1]):
            return found and found[0]
        return self._first_standing(possible, value, tokens)

    def _first_standing(
        self, entries: Iterable[ItemText], value: str, tokens: list[tuple[str, int]]
    ) -> ItemText | None:
        for entry in entries:
            self._tries_left -= 1
            if any(
                self._stands(entry.text, value, at) for at in self._candidates(entry, value, tokens)
            ):
                return entry
        return None

    def _candidates(
        self, one: ItemText, value: str, tokens: list[tuple[str, int]]
    ) -> Iterator[int]:
        """Yield the offsets at which the value may stand in a text."""
        if tokens and one.was_tried:
            places = one.places(self._spans)
            known = ((places.get(token, []), within) for token, within in tokens)
            offsets, within = min(known, key=lambda pair: len(pair[0]))
            self._tries_left -= len(offsets)
            yield from (offset - within for offset in offsets)
            return
        # Most texts are tried once, which is not worth a table.
        one.was_tried = True
        at = one.text.find(value)
        while at >= 0:
            yield at
            at = one.text.find(value, at + 1)

    def _spans(self, text: str) -> Iterator[tuple[str, int]]:
        return ((match[0], match.start()) for match in self._reading.token.finditer(text))

    def _stands(self, text: str, value: str, at: int) -> bool:
        return (
            text.startswith(value, at)
            and self._reading.begins.match(text, at) is not None
            and self._reading.ends.match(text, at + len(value)) is not None
        )


class Place:
    """The values in sources of one kind: fields by their spelling, texts, and the days in both."""

    __slots__ = ("_days", "_undated", "fields", "texts")

    def __init__(self, *, generous: bool = False) -> None:
        self.fields = Holders[str]()
        self.texts = Texts(generous=generous)
        self._days = Holders[Day](), Holders[Day]()
        self._undated: list[tuple[ItemText, list[str]]] = []

    def add(
        self,
        item: EvidenceItem,
        fields: list[str | int | float],
        texts: list[str | int | float],
    ) -> ItemText:
        """Add the fields and texts of an item, as they are written."""
        spelled = list(filter(None, map(spelling, fields)))
        entry = ItemText(item, GAP.join(canonical(_write_value(text)) for text in texts))
        self.fields.add(spelled, entry)
        if texts:
            self.texts.add_entry(entry)
        self._undated.append((entry, spelled))
        return entry

    def find(self, value: str, shown: Shown | None) -> ItemText | None:
        """Return the first entry of which the value is a field, or else in whose text it stands."""
        return self.fields.first(value, shown) or self.texts.entry(value, shown)

    @property
    def days(self) -> tuple[Holders[Day], Holders[Day]]:
        """The days that fields name, and those that texts name: looked for when asked for."""
        for entry, fields in self._undated:
            self._days[0].add((day for field in fields for day in days_in(field)), entry)
            self._days[1].add(days_in(entry.text), entry)
        self._undated.clear()
        return self._days


def _write_value(value: str | int | float) -> str:
    return value if type(value) is str else spelling(value)
