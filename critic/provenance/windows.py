"""Find values of many frequent words in many texts, at a cost that is linear in both together.

Rule 1: a window is a run of tokens, with as many characters around it as a value has around its
        own. A table of all windows of one shape takes one pass over the texts.
Rule 2: a table is found by a number for each window that rolls on from one to the next. Two
        windows may share a number, so whoever asks compares the texts.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_PRIME: Final = 2**61 - 1
_BASE: Final = 911_382_323

_Key = tuple[int, str, str, str]


class _Shape(NamedTuple):
    """How many tokens there are, and how many characters before and after them."""

    tokens: int
    before: int
    after: int


class _Line:
    """A text: where its tokens begin and end, and the rolled numbers of all before each."""

    __slots__ = ("ends", "rolled", "starts", "text")

    def __init__(self, text: str, token: re.Pattern[str], units: dict[str, int]) -> None:
        spans = [match.span() for match in token.finditer(text)]
        self.text = text
        self.starts = [start for start, _ in spans]
        self.ends = [end for _, end in spans]
        self.rolled = [0]
        for start, following in zip(self.starts, self.starts[1:], strict=False):
            unit = units.setdefault(text[start:following], len(units) + 1)
            self.rolled.append((self.rolled[-1] * _BASE + unit) % _PRIME)


class Windows:
    """The windows of some texts. Each shape is worked out when it is first asked for."""

    def __init__(
        self,
        texts: list[str],
        token: re.Pattern[str],
        begins: re.Pattern[str],
        ends: re.Pattern[str],
    ) -> None:
        """Read the texts. `begins` and `ends` match where a value may begin and end."""
        self._token, self._begins, self._ends = token, begins, ends
        self._units: dict[str, int] = {}
        self._lines = [_Line(text, token, self._units) for text in texts]
        self._tables: dict[_Shape, dict[_Key, tuple[int, int]]] = {}

    def find(self, value: str) -> tuple[int, int] | None:
        """Return the text and the offset where a value first stands, as far as numbers say.

        The value holds a token.
        """
        line = _Line(value, self._token, self._units)
        shape = _Shape(len(line.starts), line.starts[0], len(value) - line.ends[-1])
        if shape not in self._tables:
            self._tables[shape] = self._table(shape)
        key, _, _ = next(_windows(line, shape))
        return self._tables[shape].get(key)

    def _table(self, shape: _Shape) -> dict[_Key, tuple[int, int]]:
        table: dict[_Key, tuple[int, int]] = {}
        for at, line in enumerate(self._lines):
            for key, start, end in _windows(line, shape):
                if self._begins.match(line.text, start) and self._ends.match(line.text, end):
                    table.setdefault(key, (at, start))
        return table


def _windows(line: _Line, shape: _Shape) -> Iterator[tuple[_Key, int, int]]:
    """Yield every window of a shape in a text: its key, its start and its end."""
    text, rolled, more = line.text, line.rolled, shape.tokens - 1
    power = pow(_BASE, more, _PRIME)
    for first in range(len(line.starts) - more):
        last = first + more
        start, end = line.starts[first], line.ends[last]
        if start < shape.before or end + shape.after > len(text):
            continue
        number = (rolled[last] - rolled[first] * power) % _PRIME
        before, after = text[start - shape.before : start], text[end : end + shape.after]
        key = number, text[line.starts[last] : end], before, after
        yield key, start - shape.before, end + shape.after
