"""Find texts of several tokens in another text, in time that does not grow with it.

Rule 1: up to a thousand of them are looked for one by one, which is fast for as many.
Rule 2: for more, the suffixes of the text are indexed, token by token: then a look-up takes as long
        as what is looked up, and the index as long as the text.
"""

import re
from functools import cached_property
from typing import Final

from evals.tokens import EDGE

_MOST_SCANS: Final = 1000
"""How often the text is read from its beginning: so often takes about as long as to index it."""

# A token between its edges, or a character between tokens.
_SYMBOL: Final = re.compile(rf"{EDGE}[^{EDGE}]*+{EDGE}|[^{EDGE}]")


class Phrases:
    """The phrases of a text, given as `evals.tokens.marked` returns it."""

    def __init__(self, marked: str) -> None:
        self.marked: Final = marked
        self._scans = 0

    def __contains__(self, phrase: str) -> bool:
        """Return whether the text holds the phrase, which is marked, too."""
        if self._scans < _MOST_SCANS:
            self._scans += 1
            return phrase in self.marked
        return phrase in self._suffixes

    @cached_property
    def _suffixes(self) -> "_Suffixes":
        return _Suffixes(self.marked)


class _Suffixes:
    """The suffix automaton of a text (Blumer and others, 1985), over its tokens.

    A node stands for phrases that end at the same places; `_longest` is the length of the longest
    of them, and `_link` leads to the node of the longest end of it that occurs elsewhere, too.
    """

    def __init__(self, marked: str) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._link = [-1]
        self._longest = [0]
        last = 0
        for symbol in _SYMBOL.findall(marked):
            last = self._append(last, symbol)

    def __contains__(self, phrase: str) -> bool:
        node = 0
        for symbol in _SYMBOL.findall(phrase):
            if symbol not in self._next[node]:
                return False
            node = self._next[node][symbol]
        return True

    def _append(self, last: int, symbol: str) -> int:
        """Add a symbol after the node of the whole text so far; return that of the longer one."""
        added = self._node({}, self._longest[last] + 1, 0)
        node = last
        while node != -1 and symbol not in self._next[node]:
            self._next[node][symbol] = added
            node = self._link[node]
        if node != -1:
            self._link[added] = self._split_node(node, symbol)
        return added

    def _split_node(self, node: int, symbol: str) -> int:
        """Return the node of the phrase of `node` with the symbol, split from longer ones."""
        found = self._next[node][symbol]
        length = self._longest[node] + 1
        if self._longest[found] == length:
            return found
        split = self._node(dict(self._next[found]), length, self._link[found])
        while node != -1 and self._next[node].get(symbol) == found:
            self._next[node][symbol] = split
            node = self._link[node]
        self._link[found] = split
        return split

    def _node(self, following: dict[str, int], longest: int, link: int) -> int:
        self._next.append(following)
        self._longest.append(longest)
        self._link.append(link)
        return len(self._next) - 1
