"""Find values of many frequent words in many texts, at a cost that is linear in both together.

Rule 1: a window is a run of tokens, with as many characters around it as a value has around its
        own. A table of all windows of one shape takes one pass over the texts, and goes on
        where it stopped when there are more.
Rule 2: a long value is looked for by its beginning and its end first, in tables that it shares with
        values of other lengths. Most values that do not stand there have a part that does not.
Rule 3: a table is found by a number for each window that rolls on from one to the next. Two
        windows may share a number, so the caller compares the texts.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from critic.provenance.boundaries import ScriptPattern
from critic.provenance.holders import Holders, ItemText, Shown, TextForm

_PRIME: Final = 2**61 - 1
_BASE: Final = 911_382_323

_KEPT: Final = 8
"""How many tables are kept when a text is added, those asked for last: each may be as large as
the texts."""

_WORTH: Final = 1_000
"""How many values of one shape are looked for by reading the texts before tables are made: that
costs as much."""

_MOST_SHAPES: Final = 2
"""For how many shapes of whole values tables are made: no call has so many values of more."""

_Key = tuple[int, str, str, str]


class _Shape(NamedTuple):
    """How many tokens there are, and how many characters before and after them.

    `is_whole`: whether it is of values, which begin and end only where a value may.
    """

    tokens: int
    before: int
    after: int
    is_whole: bool


class _Line:
    """A text: where its tokens begin and end, and the rolled numbers of all before each."""

    __slots__ = ("ends", "rolled", "starts", "text")

    def __init__(self, text: str, token: ScriptPattern, units: dict[str, int]) -> None:
        spans = [match.span() for match in token.of(text).finditer(text)]
        self.text = text
        self.starts = [start for start, _ in spans]
        self.ends = [end for _, end in spans]
        self.rolled = [0]
        for start, following in zip(self.starts, self.starts[1:], strict=False):
            unit = units.setdefault(text[start:following], len(units) + 1)
            self.rolled.append((self.rolled[-1] * _BASE + unit) % _PRIME)


class _Table:
    """The windows of one shape in the first texts: which texts have each, and where first."""

    __slots__ = ("held", "read", "starts")

    def __init__(self) -> None:
        self.held = Holders[_Key]()
        self.starts: dict[ItemText, dict[_Key, int]] = {}
        self.read = 0


class Windows:
    """The windows of texts. Those of a shape are worked out when it is asked for."""

    def __init__(
        self,
        form: TextForm,
        token: ScriptPattern,
        begins: ScriptPattern,
        ends: ScriptPattern,
    ) -> None:
        """Start without texts. `begins` and `ends` match where a value may begin and end."""
        self._form, self._token, self._begins, self._ends = form, token, begins, ends
        self._units: dict[str, int] = {}
        self._entries: list[ItemText] = []
        self._lines: list[_Line] = []
        self._tables: dict[_Shape, _Table] = {}
        self._asked: dict[_Shape, int] = {}
        self._often: set[_Shape] = set()

    def add(self, entry: ItemText) -> None:
        """Add what an item says. It is read at the next lookup."""
        self._entries.append(entry)
        for shape in [*self._tables][:-_KEPT]:
            table = self._tables.pop(shape)
            for start in table.starts:
                start.forget(table.held)

    def is_worth_a_table(self, value: str, tokens: list[tuple[str, int]]) -> bool:
        """Return whether so many values of this shape were looked for that tables cost less."""
        last, at = tokens[-1]
        shape = _Shape(len(tokens), tokens[0][1], len(value) - at - len(last), is_whole=True)
        self._asked[shape] = asked = self._asked.get(shape, 0) + 1
        if asked > _WORTH and len(self._often) < _MOST_SHAPES:
            self._often.add(shape)
        return shape in self._often

    def find(self, value: str, shown: Shown | None) -> tuple[ItemText, int] | None:
        """Return the first entry that counts where a value stands, as far as numbers say.

        The value holds a token. Its offset in the text is returned as well.
        """
        found = None
        for part in (*self._split_value(value), value):
            found = self._first_window(part, shown, is_whole=part is value)
            # No text before the first that holds a part of the value holds the value.
            if found is None or self._stands(value, *found):
                break
        return found

    def _split_value(self, value: str) -> tuple[str, str]:
        """Return the beginning and the end of a value, of as many tokens as a power of two."""
        spans = [match.span() for match in self._token.of(value).finditer(value)]
        tokens = 1 << (len(spans).bit_length() - 1)
        return value[: spans[tokens - 1][1]], value[spans[-tokens][0] :]

    def _stands(self, value: str, entry: ItemText, at: int) -> bool:
        text = entry.text(self._form)
        ends = self._ends.of(text).match(text, at + len(value))
        begins = self._begins.of(text).match(text, at)
        return text.startswith(value, at) and begins is not None and ends is not None

    def _first_window(
        self, value: str, shown: Shown | None, *, is_whole: bool
    ) -> tuple[ItemText, int] | None:
        line = _Line(value, self._token, self._units)
        shape = _Shape(len(line.starts), line.starts[0], len(value) - line.ends[-1], is_whole)
        key, _, _ = next(_windows(line, shape))
        table = self._table(shape)
        found = table.held.first(key, shown)
        return None if found is None else (found, table.starts[found][key])

    def _table(self, shape: _Shape) -> _Table:
        """Return the table of a shape, after it has read the texts that it has not read yet."""
        for entry in self._entries[len(self._lines) :]:
            self._lines.append(_Line(entry.text(self._form), self._token, self._units))
        known = self._tables.pop(shape, None)
        table = self._tables[shape] = known or _Table()
        for at in range(table.read, len(self._lines)):
            entry, starts = self._entries[at], self._starts(self._lines[at], shape)
            table.held.add(starts, entry)
            table.starts[entry] = starts
        table.read = len(self._lines)
        return table

    def _starts(self, line: _Line, shape: _Shape) -> dict[_Key, int]:
        """Return where each window of a text stands first, of those that a value may be."""
        starts: dict[_Key, int] = {}
        begins, ends = self._begins.of(line.text), self._ends.of(line.text)
        for key, start, end in _windows(line, shape):
            if key not in starts and (
                not shape.is_whole
                or (begins.match(line.text, start) and ends.match(line.text, end))
            ):
                starts[key] = start
        return starts


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
