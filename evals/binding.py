"""Decide whether a piece of evidence backs a value: the content must hold it as a whole.

Rule 1: in JSON content a value backs itself when it equals a leaf. Numbers are compared as
        numbers; a number, a string, a boolean and null never equal one another.
Rule 2: in text a value backs itself when it appears between token boundaries; a value that is
        not a string is looked for in its canonical JSON spelling.
Rule 3: a token is a run of the characters of an identifier, without punctuation at its ends.
        So `pay_88` is not backed by `pay_8861`, `500` not by `24,500`, `24'500` or `-500`,
        `8861` not by `****8861`, and `bank.example` not by `bank.example.evil`.
"""

import re
from collections.abc import Hashable, Iterator, Sequence
from itertools import filterfalse
from typing import Any, Final

from evals.canonical import canonical_json

# Every character is part of a token, except ASCII space and punctuation and the spaces,
# punctuation and currency signs listed here. Spelled out, because the Unicode tables of Python
# differ between versions; zero-width and direction marks stay in the token, where they spoil it.
_SEPARATORS: Final = (
    "\x00-/:-@\\[-^`{-\xa9\xab\xac\xae-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    "\u2000-\u200a\u2010-\u2029\u202f-\u203e\u2041-\u2053\u2055-\u205f\u20a0-\u20cf\u2190-\u22ff"
    "\u3000-\u3004\u3008-\u3020\u3030\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3e\uff40\uff5b-\uff65"
)
_WORD: Final = f"[^{_SEPARATORS}]++"
# Signs, hyphens, and the dashes that are printed for a minus.
_SIGNS: Final = "-+.\u2010-\u2013\u2212\uff0b\uff0d"
# Three or more of these beside a digit mask other digits. (Two asterisks make text bold.)
_MASK: Final = "[*\xb7\u2022\u2026\u2217]"
# Possessive throughout, and signs and masks only from the first one on, so that it runs in linear
# time.
_TOKEN: Final = re.compile(
    rf"(?:(?<![{_SIGNS}])[{_SIGNS}]++(?=\d)|(?<!{_MASK}){_MASK}{{3,}}+(?=\d))?{_WORD}"
    rf"(?:[.:/#@+=~-]++{_WORD}|(?<=\d)[,'\u2019](?=\d){_WORD}|(?<=\d){_MASK}{{3,}}+(?:{_WORD})?)*+"
)

# Marks where a token begins and ends, and what separates two texts. Lone surrogates, which no
# valid JSON string can hold.
_EDGE: Final = "\ud800"
_GAP: Final = "\ud801"


def _marked(text: str) -> str:
    return _TOKEN.sub(rf"{_EDGE}\g<0>{_EDGE}", text)


def _leaf_key(value: Any) -> Hashable:
    """Return a key that is equal exactly for equal JSON values: 1 and 1.0, but not 1 and true."""
    return value if type(value) is str else (type(value) is bool, value)


def scalars(value: Any) -> Iterator[Any]:
    """Yield every value in a JsonValue that is not an object or an array. Keys are not values."""
    open_values = [value]
    while open_values:
        current = open_values.pop()
        if type(current) is dict:
            open_values.extend(current.values())
        elif type(current) is list:
            open_values.extend(current)
        else:
            yield current


def strings(value: Any) -> Iterator[str]:
    """Yield every string in a JsonValue, including object keys."""
    open_values = [value]
    while open_values:
        current = open_values.pop()
        if type(current) is dict:
            yield from current
            open_values.extend(current.values())
        elif type(current) is list:
            open_values.extend(current)
        elif type(current) is str:
            yield current


class ContentIndex:
    """Contents of evidence, indexed once for look-ups in constant time."""

    __slots__ = ("_leaves", "_marked", "_texts", "_tokens")

    def __init__(self, content: Any) -> None:
        is_text = type(content) is str
        self._texts = frozenset([content] if is_text else ())
        self._marked = _marked(content) if is_text else ""
        self._tokens = frozenset(_TOKEN.findall(content) if is_text else ())
        # Absent content is None, as null is; neither has a leaf that could back anything.
        leaves = () if content is None else scalars(content)
        self._leaves = frozenset(map(_leaf_key, leaves))

    @classmethod
    def of_all(cls, backings: Sequence["ContentIndex"]) -> "ContentIndex":
        """Return an index that backs each value that one of these backs."""
        joined = cls(None)
        joined._texts = frozenset().union(*(index._texts for index in backings))
        joined._marked = _GAP.join(index._marked for index in backings)
        joined._tokens = frozenset().union(*(index._tokens for index in backings))
        joined._leaves = frozenset().union(*(index._leaves for index in backings))
        return joined

    @property
    def size(self) -> int:
        """Return how many entries the index has."""
        return len(self._leaves) + len(self._tokens)

    def backs(self, value: Any) -> bool:
        """Return whether the scalar `value` is in one of the contents."""
        if _leaf_key(value) in self._leaves:
            return True
        if not self._texts:
            return False
        spelled = value if type(value) is str else canonical_json(value).decode()
        if spelled in self._tokens:
            return True
        marked = _marked(spelled)
        return marked in self._marked if marked != spelled else spelled in self._texts


def unbacked(values: Sequence[Any], backings: Sequence[ContentIndex]) -> Sequence[Any]:
    """Return those scalars that none of the indexes backs."""
    # For many values and many indexes, joining the indexes first is faster.
    if len(backings) > 1 and len(values) * len(backings) > sum(index.size for index in backings):
        backings = [ContentIndex.of_all(backings)]
    for index in backings:
        values = [*filterfalse(index.backs, values)]
    return values
