"""Decide whether a piece of evidence backs a value: the content must hold it as a whole.

Rule 1: in JSON content a value backs itself when it equals a leaf. Numbers are compared as
        numbers; a number, a string, a boolean and null never equal one another.
Rule 2: in text a value backs itself when it stands there at token boundaries; a value that is
        no string is looked for by its canonical JSON spelling.
Rule 3: a token is a run of the characters an identifier may hold, less the punctuation at its
        ends. So `pay_88` is not backed by `pay_8861`, `500` not by `24,500`, `24'500` or `-500`,
        `8861` not by `****8861`, and `bank.example` not by `bank.example.evil`.
"""

import re
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final

from evals.canonical import canonical_json

# Every character is part of a token but for ASCII space and punctuation and the spaces,
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

# Marks where a token begins and ends, and what stands between two texts. Lone surrogates, which no
# valid JSON string can hold.
_EDGE: Final = "\ud800"
_GAP: Final = "\ud801"


def _marked(text: str) -> str:
    return _TOKEN.sub(rf"{_EDGE}\g<0>{_EDGE}", text)


def _leaf_key(value: Any) -> Hashable:
    """Equal exactly for leaves that are the same JSON value (1 and 1.0 are; 1 and true are not)."""
    return value if type(value) is str else (type(value) is bool, value)


def scalars(value: Any) -> Iterator[Any]:
    """Every value in a JsonValue that is no object and no array. Object keys are no values."""
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
    """Every string in a JsonValue, object keys among them."""
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
        known = () if content is None else scalars(content)
        self._leaves = frozenset(map(_leaf_key, known))

    @classmethod
    def of_all(cls, backings: Sequence["ContentIndex"]) -> "ContentIndex":
        """What backs a value that one of these does."""
        joined = cls(None)
        joined._texts = frozenset().union(*(one._texts for one in backings))
        joined._marked = _GAP.join(one._marked for one in backings)
        joined._tokens = frozenset().union(*(one._tokens for one in backings))
        joined._leaves = frozenset().union(*(one._leaves for one in backings))
        return joined

    @property
    def size(self) -> int:
        """How many entries the index has."""
        return len(self._leaves) + len(self._tokens)

    def backs(self, value: Any) -> bool:
        """Whether the scalar `value` stands in one of the contents."""
        if _leaf_key(value) in self._leaves:
            return True
        if not self._texts:
            return False
        spelled = value if type(value) is str else canonical_json(value).decode()
        if spelled in self._tokens:
            return True
        marked = _marked(spelled)
        return marked in self._marked if marked != spelled else spelled in self._texts


def unbacked(values: Sequence[Any], backings: Sequence[ContentIndex]) -> Iterator[Any]:
    """Those of the scalars that none of the backings backs."""
    # Many values against many pieces: one index of all is made sooner than each is asked for each.
    if len(backings) > 1 and len(values) * len(backings) > sum(one.size for one in backings):
        backings = [ContentIndex.of_all(backings)]
    return (value for value in values if not any(one.backs(value) for one in backings))
