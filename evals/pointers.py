"""JSON pointers (RFC 6901) that a manifest holds, and what they lead to.

Rule 1: `/a~1b` is the member `a/b`, `~0` is `~`; the empty pointer is the whole value.
Rule 2: an index is decimal, without a leading zero; `-` leads nowhere.
Rule 3: where `*` is allowed it stands for any member or element of one level.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Annotated, Any, Final

from pydantic_core import PydanticCustomError, PydanticKnownError

from evals.field import CustomType

_SYNTAX: Final = r"^(/([^~/]|~[01])*)*$"
_INNER: Final = r"^(/([^~/]|~[01])*)+$"
_INDEX: Final = re.compile(r"0|[1-9][0-9]*")

_EXPECTED: Final = "not a JSON pointer: begin each part with a slash, write ~1 for / and ~0 for ~"


def is_pointer(text: str) -> bool:
    """Return whether the text is a JSON pointer."""
    return re.fullmatch(_SYNTAX, text) is not None


def _check(value: Any) -> str:
    if type(value) is not str:
        raise PydanticKnownError("string_type")
    if not is_pointer(value):
        raise PydanticCustomError("json_pointer", _EXPECTED)
    # Keys with a lone surrogate do not exist: such text is not valid in any field.
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise PydanticKnownError("string_unicode")
    return value


Pointer = Annotated[str, CustomType(_check, {"type": "string", "pattern": _SYNTAX})]
"""A JSON pointer: the empty text, or segments that each begin with a slash."""


def _check_inner(value: Any) -> str:
    text = _check(value)
    if not text:
        raise PydanticCustomError("json_pointer", "the empty pointer is the whole: name a part")
    return text


InnerPointer = Annotated[str, CustomType(_check_inner, {"type": "string", "pattern": _INNER})]
"""A JSON pointer to a part of a value, never the whole."""


def segments(pointer: str) -> tuple[str, ...]:
    """Return the segments of a pointer, unescaped."""
    return _short(pointer) if len(pointer) <= _SHORT else _segments(pointer)


def _segments(pointer: str) -> tuple[str, ...]:
    parts = pointer.split("/")[1:]
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


_short = lru_cache(maxsize=4096)(_segments)
_SHORT: Final = 256
"""Characters: what was made of longer pointers is not kept."""


def value_at(value: Any, pointer: str) -> list[Any]:
    """Return what the pointer leads to, in a list of one; nothing in an empty list."""
    return list(values_at(value, pointer, wildcard=False))


def values_at(value: Any, pointer: str, *, wildcard: bool) -> Iterator[Any]:
    """Yield what the pointer leads to in a JsonValue: nothing, one value, or with `*` several.

    Args:
        wildcard: whether the segment `*` stands for any member or element of its level. Without
            it, `*` is the member of that name.
    """
    found = [value]
    for segment in segments(pointer):
        found = [inner for outer in found for inner in _step(outer, segment, wildcard=wildcard)]
    yield from found


def _step(value: Any, segment: str, *, wildcard: bool) -> Iterator[Any]:
    if type(value) is dict:
        if wildcard and segment == "*":
            yield from value.values()
        elif segment in value:
            yield value[segment]
    elif type(value) is list:
        if wildcard and segment == "*":
            yield from value
        elif (index := array_index(segment)) is not None and index < len(value):
            yield value[index]


def array_index(segment: str) -> int | None:
    """Return the position that a segment names in an array; None where it names none."""
    # No array is longer than nine digits can say.
    return int(segment) if len(segment) < 10 and _INDEX.fullmatch(segment) else None


class Places:
    """The values at which one or more pointers arrive; `*` is any member or element of its level.

    What lies below is looked up once and kept, so that pointers that begin alike share the way, and
    many of them cost little more than the values that they reach.
    """

    __slots__ = ("_below", "_named", "values")

    def __init__(self, values: Sequence[Any]) -> None:
        self.values: Final[Sequence[Any]] = values
        self._below: dict[str, Places] = {}
        self._named: dict[str | int, list[Any]] | None = None

    def at(self, pointer: str) -> "Places":
        """Return the places that the pointer leads to from here."""
        place = self
        for segment in segments(pointer):
            if segment not in place._below:
                place._below[segment] = Places(place._find_values(segment))
            place = place._below[segment]
        return place

    def _find_values(self, segment: str) -> list[Any]:
        if segment == "*" or len(self.values) < 2:
            steps = (_step(value, segment, wildcard=True) for value in self.values)
            return list(chain.from_iterable(steps))
        if self._named is None:
            self._named = _index_members(self.values)
        index = array_index(segment)
        elements = [] if index is None else self._named.get(index, [])
        return [*self._named.get(segment, ()), *elements]


def _index_members(values: Sequence[Any]) -> dict[str | int, list[Any]]:
    """Return the members of all objects by name, and the elements of all arrays by index."""
    found: dict[str | int, list[Any]] = {}
    for value in values:
        if type(value) is dict:
            for name, member in value.items():
                found.setdefault(name, []).append(member)
        elif type(value) is list:
            for index, element in enumerate(value):
                found.setdefault(index, []).append(element)
    return found
