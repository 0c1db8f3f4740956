"""Search JSON for values in any spelling. Pure.

Rule 1: a text is searched for within texts and names, in upper or lower case, however its
        characters are escaped: JSON within a text, and texts of ours that escape what they quote.
Rule 2: a number is searched for as a number too: 1e3 is 1000 and "1000.0".
Rule 3: where a text was cut ("..."), the beginning of a value is enough: reasons are cut.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final

import orjson

from harness.errors import UsageError

SHORTEST: Final = 4
"""Characters that a value has at least: less is found everywhere."""

_LONG: Final = 8  # characters that a text in a larger value has at least: less is a word
_MOST_TOLD: Final = 64
_NAME: Final = re.compile(r"[a-z_.]+|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z?")

_CUT: Final = "..."
_NUMBER: Final = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_PLAIN: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_DIGEST: Final = re.compile("[0-9a-f]{64}")
_DEEPEST: Final = 8  # JSON within a text within a text ...


class SoughtValues:
    """Values that are searched for.

    Raises:
        UsageError: one of them is too short, or none is given.
    """

    def __init__(self, values: Iterable[str]) -> None:
        """Take them as they are given: each is a text, or a number in any spelling."""
        given = [one.strip() for one in values]
        if any(len(one) < SHORTEST for one in given):
            raise UsageError(
                f"a value needs at least {SHORTEST} characters: a shorter one is in too many texts"
            )
        found = [_number_of(one) for one in given]
        self._numbers: Final = frozenset(one for one in found if one is not None)
        plain = {f"{one.normalize():f}" for one in self._numbers}
        spelled = {_fold(one) for one in given} | {one for one in plain if len(one) >= SHORTEST}
        self._texts: Final = sorted(spelled)
        self._is_digest: Final = any(map(_DIGEST.search, self._texts))

    def may_hold(self, data: bytes) -> bool:
        """Return whether canonical JSON, or a piece of it, may hold one: False is certain."""
        if self._numbers or not data.isascii() or b"\\" in data or b"..." in data:
            return True
        folded = data.lower().decode()
        return any(one in folded for one in self._texts)

    def hold_bytes(self, data: bytes) -> bool:
        """Return whether JSON in bytes holds one of them, or bytes that are no JSON as a text."""
        try:
            value = orjson.loads(data)
        except ValueError:
            value = data.decode("utf-8", "replace")
        return self.hold(value)

    def hold(self, value: Any, *, numbers: bool = True) -> bool:
        """Return whether a JSON value holds one of them, in a text, a name or a number.

        Args:
            value: any JSON value.
            numbers: whether its numbers count.
        """
        return any(self._is_held(one, numbers=numbers) for one in _scalars(value))

    def _is_held(self, one: Any, *, numbers: bool) -> bool:
        if isinstance(one, str):
            return any(map(self._is_in, _spellings(one)))
        if isinstance(one, bool) or one is None or not numbers or not self._numbers:
            return False
        return Decimal(repr(one)) in self._numbers

    def _is_in(self, text: str) -> bool:
        if self._numbers and _number_of(text.strip()) in self._numbers:
            return True
        folded = _fold(text)
        if not self._is_digest:
            folded = _DIGEST.sub("", folded)
        return any(one in folded for one in self._texts) or self._is_cut_in(folded)

    def _is_cut_in(self, text: str) -> bool:
        """Return whether a text was cut within a value that it quotes."""
        *pieces, _ = text.split(_CUT)
        return any(
            piece.endswith(value[:size])
            for piece in pieces
            for value in self._texts
            for size in range(SHORTEST, len(value) + 1)
            if piece.endswith(value[size - 1])
        )


def values_told(value: Any) -> list[str]:
    """Return what to search for once a JSON value was taken out.

    It is the value itself if it is a text or a number, else the long texts in it, but for names in
    small letters, times and digests, which are everywhere.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = repr(value)
    if isinstance(value, str):
        return [value] if len(value.strip()) >= SHORTEST else []
    texts = (one.strip() for one in _scalars(value) if isinstance(one, str))
    found = (one for one in texts if len(one) >= _LONG and not _is_name(one))
    return list(dict.fromkeys(found))[:_MOST_TOLD]


def _is_name(text: str) -> bool:
    return bool(_NAME.fullmatch(text) or _DIGEST.search(text))


def _fold(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def _number_of(text: str) -> Decimal | None:
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def _scalars(value: Any) -> Iterator[Any]:
    """Yield every text, name and number of a JSON value."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list | tuple):
            waiting += one
        else:
            yield one


def _spellings(text: str) -> Iterator[str]:
    """Yield a text, and what it says once its escapes are read, and again."""
    yield text
    for _ in range(_DEEPEST):
        if "\\" not in text:
            return
        text = _join_surrogates(_ESCAPE.sub(_unescape, text))
        yield text


def _unescape(found: re.Match[str]) -> str:
    short, long, plain = found.groups()
    code = int(short or long, 16) if plain is None else -1
    if plain is not None or code > 0x10FFFF:
        return _PLAIN.get(plain or "", plain or "")
    return chr(code)


def _join_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
