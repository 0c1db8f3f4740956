"""Find confined content in what is about to leave, or has left: args of calls, and outputs.

Rule 1: confined are the strings of eight characters or more in the content of an item, and the
        numbers whose JSON spelling has six digits or more. Shorter ones occur everywhere and say
        nothing about where they came from. Keys of the content are not confined.
Rule 2: a text is found anywhere in a string, in a key, or in the JSON spelling of a number.
        Spelling counts: other letter case, or another Unicode form, is another text.
Rule 3: items count whether or not they are pinned or fresh.
Rule 4: of several items with content in a value, the first of them is named, so that the order of
        the keys in an object changes nothing.
Rule 5: the time is linear in the content and in what is searched, taken together.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from evals.binding import scalars
from evals.canonical_json import canonical_json
from evals.manifest import EvidenceItem

SHORTEST_TEXT: Final = 8
FEWEST_DIGITS: Final = 6

# Up to so many texts are looked for one by one, which is faster, and linear all the same.
_FEW: Final = 32

_WINDOW: Final = 6
"""No confined text is shorter."""

# Stands between texts that are searched as one: no valid string holds a lone surrogate.
_BETWEEN: Final = "\ud800"


def confined_texts(content: Any) -> Iterator[str]:
    """Yield what is confined in the content of an item: strings, and numbers as JSON spells them.

    Absent content is None, and holds nothing.
    """
    for leaf in scalars(content):
        if type(leaf) is str:
            if len(leaf) >= SHORTEST_TEXT:
                yield leaf
        elif type(leaf) is int or type(leaf) is float:
            spelled = _spell_number(leaf)
            if sum(map(str.isdigit, spelled)) >= FEWEST_DIGITS:
                yield spelled


class Confined(Protocol):
    """The confined texts of some evidence, to be looked for."""

    def found_in(self, values: Iterable[Any]) -> list[str | None]:
        """Return, for each JsonValue, the id of the first item with content in it, or None."""
        ...

    def without_text(self) -> list[str]:
        """Return the ids of the items without content to look for, in their order."""
        ...


class ConfinedContent:
    """The confined texts of some evidence, each with the first item that holds it.

    Items can be added later: that costs what they hold.
    """

    def __init__(self, items: Iterable[EvidenceItem] = ()) -> None:
        self._ids: list[str] = []
        self._first: dict[str, int] = {}
        self._without: list[int] = []
        self._unlisted: list[str] = []
        self._by_ends: dict[str, dict[str, list[str]]] = {}
        for item in items:
            self.add(item)

    def add(self, item: EvidenceItem) -> None:
        """Add the confined texts of one more item."""
        position, has_text = len(self._ids), False
        self._ids.append(item.id)
        for text in confined_texts(item.content):
            has_text = True
            if self._first.setdefault(text, position) == position:
                self._unlisted.append(text)
        if not has_text:
            self._without.append(position)

    def __len__(self) -> int:
        return len(self._ids)

    def without_text(self, count: int | None = None) -> list[str]:
        """Return the ids of the items without content to look for, of the first so many."""
        return [self._ids[at] for at in self._without if count is None or at < count]

    def found_in(self, values: Iterable[Any], count: int | None = None) -> list[str | None]:
        """Return, for each JsonValue, the id of the first item with content in it, or None.

        Give all values at once: that is what makes the time linear.

        Args:
            count: look for the content of the first so many items only.
        """
        if not self._first:
            return [None for _ in values]
        searched = [_BETWEEN.join(_spelled_texts(value)) for value in values]
        texts = self._first if len(self._first) <= _FEW else self._possible_texts(searched)
        refs = {
            text: self._ids[at]
            for text in texts
            if (at := self._first[text]) < (len(self) if count is None else count)
        }
        if len(refs) <= _FEW:
            return [next((refs[text] for text in refs if text in one), None) for one in searched]
        return [*map(_Automaton(refs).first_item, searched)]

    def _possible_texts(self, searched: Iterable[str]) -> list[str]:
        """Return the texts whose first and last characters occur: seldom more than really do."""
        for text in self._unlisted:
            lasts = self._by_ends.setdefault(text[:_WINDOW], {})
            lasts.setdefault(text[-_WINDOW:], []).append(text)
        self._unlisted.clear()
        windows = {
            text[start : start + _WINDOW]
            for text in searched
            for start in range(len(text) - _WINDOW + 1)
        }
        found = (
            text
            for first in windows & self._by_ends.keys()
            for last in windows & self._by_ends[first].keys()
            for text in self._by_ends[first][last]
        )
        # In the order of their items, and not in that of a set.
        return sorted(found, key=lambda text: (self._first[text], text))


def _spelled_texts(value: Any) -> Iterator[str]:
    """Yield all that a JsonValue spells: its strings, keys and numbers."""
    open_values = [value]
    while open_values:
        current = open_values.pop()
        kind = type(current)
        if kind is dict:
            yield from current
            open_values.extend(current.values())
        elif kind is list:
            open_values.extend(current)
        elif kind is str:
            yield current
        elif kind is int or kind is float:
            yield _spell_number(current)


def _spell_number(number: int | float) -> str:
    return str(number) if type(number) is int else canonical_json(number).decode()


class _Automaton:
    """Looks for many texts in one pass over another, after Aho and Corasick (1975).

    A node has the position of the first item with a text that ends there, or else their number.
    """

    def __init__(self, refs: Mapping[str, str]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._ids = list(dict.fromkeys(refs.values()))
        self._item = [len(self._ids)]
        self._fallback = [0]
        position = {ref: at for at, ref in enumerate(self._ids)}
        for text, ref in refs.items():
            self._add(text, position[ref])
        self._link()

    def _add(self, text: str, item: int) -> None:
        node = 0
        for char in text:
            following = self._next[node].get(char)
            if following is None:
                following = self._next[node][char] = len(self._next)
                self._next.append({})
                self._item.append(len(self._ids))
                self._fallback.append(0)
            node = following
        self._item[node] = item

    def _link(self) -> None:
        """Set where each node goes on when no text continues: the longest end that begins one."""
        waiting = list(self._next[0].values())
        for node in waiting:  # it grows: nodes come in the order of their depth
            self._item[node] = min(self._item[node], self._item[self._fallback[node]])
            for char, following in self._next[node].items():
                self._fallback[following] = self._next_node(self._fallback[node], char)
                waiting.append(following)

    def _next_node(self, node: int, char: str) -> int:
        while node and char not in self._next[node]:
            node = self._fallback[node]
        return self._next[node].get(char, 0)

    def first_item(self, searched: str) -> str | None:
        """Return the first item with a text that occurs in `searched`, or None."""
        following, fallback, item = self._next, self._fallback, self._item
        node, ended = 0, {len(self._ids)}
        for char in searched:  # as `_next_node` does, without a call for each character
            while node and char not in following[node]:
                node = fallback[node]
            node = following[node].get(char, 0)
            ended.add(item[node])
        first = min(ended)
        return self._ids[first] if first < len(self._ids) else None
