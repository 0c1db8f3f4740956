"""Where a value stands in what was seen: an index of texts, to which texts are only added.

Rule 1: a value stands in a text as a whole, between the boundaries of tokens. A token is words that
        single `.`, `/`, `:`, `@` or `-` join; in the user's own request it is one word, so that a
        value may be part of a longer address there.
Rule 2: a number of three digits or fewer stands only where the text calls it an id.
Rule 3: adding a text costs its length. Looking up a value of one token costs the same in any index.
        A longer one is tried where its rarest token occurs; once that took as many tries as the
        texts are long, in a table of all runs of so many tokens.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from critic.provenance.values import (
    SEPARATORS,
    WORD,
    canonical,
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


def _reading(token: str, begins: str, ends: str) -> _Reading:
    called_id = rf"(?<!{WORD})ids?+(?!{WORD})(?:{_NO_WORD}){{0,4}}+([0-9]{{1,3}}+){ends}"
    return _Reading(*map(re.compile, (token, begins, ends, called_id)))


_STRICT: Final = _reading(
    rf"{WORD}++(?:{_JOINT}{WORD}++)*+",
    rf"(?<!{WORD})(?<!{WORD}{_JOINT})",
    rf"(?!{WORD}|{_JOINT}{WORD})",
)
_GENEROUS: Final = _reading(rf"{WORD}++", rf"(?<!{WORD})", rf"(?!{WORD})")


def hosts_in(text: str) -> Iterator[str]:
    """Yield the hosts that a canonical text names, those of e-mail addresses not among them."""
    for match in _STRICT.token.finditer(text):
        # A slash at its end tells a host from the name of a file.
        slash = "/" if text.startswith("/", match.end()) else ""
        host = host_of(match[0] + slash)
        if host is not None and text[match.start() - 1 : match.start()] != "@":
            yield host


class _Text:
    """The text of one item. Where its tokens stand is worked out when it is first asked for."""

    __slots__ = ("_places", "item", "text")

    def __init__(self, item: EvidenceItem, text: str) -> None:
        self.item, self.text = item, text
        self._places: dict[str, list[int]] | None = None

    def places(self, token: re.Pattern[str]) -> dict[str, list[int]]:
        """Return the offsets of each token."""
        if self._places is None:
            self._places = {}
            for match in token.finditer(self.text):
                self._places.setdefault(match[0], []).append(match.start())
        return self._places


class Texts:
    """Texts of evidence, each with its item."""

    __slots__ = ("_held", "_ids", "_reading", "_texts", "_tries_left", "_windows")

    def __init__(self, *, generous: bool = False) -> None:
        """Start an empty index. `generous` is for the user's own request."""
        self._reading = _GENEROUS if generous else _STRICT
        self._texts: list[_Text] = []
        self._held: dict[str, list[_Text]] = {}
        self._ids: dict[str, EvidenceItem] = {}
        self._tries_left = 0
        self._windows: Windows | None = None

    def __iter__(self) -> Iterator[tuple[str, EvidenceItem]]:
        """Yield each canonical text with its item."""
        return ((one.text, one.item) for one in self._texts)

    def add(self, item: EvidenceItem, text: str) -> None:
        """Add the canonical text of an item."""
        added = _Text(item, text)
        self._texts.append(added)
        self._tries_left += len(text)
        self._windows = None
        for token in set(self._reading.token.findall(text)):
            self._held.setdefault(token, []).append(added)
        for number in self._reading.called_id.findall(text):
            self._ids.setdefault(number, item)

    def find(self, value: str) -> EvidenceItem | None:
        """Return an item in whose text the spelling of a value stands, the first if several do."""
        if not value or not self._texts:
            return None
        if is_short_number(value):
            return self._ids.get(value)
        tokens = [(match[0], match.start()) for match in self._reading.token.finditer(value)]
        if not tokens:
            return self._first(self._texts, value, tokens)
        held = min((self._held.get(token, []) for token, _ in tokens), key=len)
        if not held or tokens[0][0] == value:
            return held[0].item if held else None
        return self._phrase(held, value, tokens)

    def _phrase(
        self, held: list[_Text], value: str, tokens: list[tuple[str, int]]
    ) -> EvidenceItem | None:
        """Find a value of more than one token, whose rarest one these texts hold."""
        if self._tries_left > 0:
            return self._first(held, value, tokens)
        at = self._window(value)
        if at is None or self._texts[at[0]].text.startswith(value, at[1]):
            return at and self._texts[at[0]].item
        return self._first(held, value, tokens)

    def _first(
        self, texts: list[_Text], value: str, tokens: list[tuple[str, int]]
    ) -> EvidenceItem | None:
        for one in texts:
            self._tries_left -= 1
            if any(
                self._stands(one.text, value, at) for at in self._candidates(one, value, tokens)
            ):
                return one.item
        return None

    def _candidates(self, one: _Text, value: str, tokens: list[tuple[str, int]]) -> Iterator[int]:
        """Yield the offsets at which the value may stand in a text."""
        if tokens:
            places = one.places(self._reading.token)
            known = ((places.get(token, []), within) for token, within in tokens)
            offsets, within = min(known, key=lambda pair: len(pair[0]))
            self._tries_left -= len(offsets)
            yield from (offset - within for offset in offsets)
            return
        at = one.text.find(value)
        while at >= 0:
            yield at
            at = one.text.find(value, at + 1)

    def _window(self, value: str) -> tuple[int, int] | None:
        """Return the text and the offset of the first run of tokens with the number of a value's.

        None if there is no such run; another run may have the same number.
        """
        if self._windows is None:
            texts = [one.text for one in self._texts]
            self._windows = Windows(texts, *self._reading[:3])
        return self._windows.find(value)

    def _stands(self, text: str, value: str, at: int) -> bool:
        return (
            text.startswith(value, at)
            and self._reading.begins.match(text, at) is not None
            and self._reading.ends.match(text, at + len(value)) is not None
        )


class Place:
    """What sources of one kind say: fields by their spelling, and texts."""

    __slots__ = ("fields", "texts")

    def __init__(self, *, generous: bool = False) -> None:
        self.fields: dict[str, EvidenceItem] = {}
        self.texts = Texts(generous=generous)

    def add(
        self,
        item: EvidenceItem,
        fields: list[str | int | float],
        texts: list[str | int | float],
    ) -> None:
        """Add the fields and texts of an item, as they are written."""
        for field in fields:
            self.fields.setdefault(spelling(field), item)
        self.fields.pop("", None)
        if texts:
            self.texts.add(item, GAP.join(canonical(_written(text)) for text in texts))

    def find(self, value: str) -> EvidenceItem | None:
        """Return an item of which the value is a field, or in whose text it stands."""
        return self.fields.get(value) or self.texts.find(value)


def _written(value: str | int | float) -> str:
    return value if type(value) is str else spelling(value)
