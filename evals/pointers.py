"""JSON pointers (RFC 6901) that a manifest holds, and what they lead to.

Rule 1: `/a~1b` is the member `a/b`, `~0` is `~`; the empty pointer is the whole value.
Rule 2: an index is decimal, without a leading zero; `-` leads nowhere.
Rule 3: where `*` is allowed it stands for any member or element of one level.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import Field

_SYNTAX: Final = r"^(/([^~/]|~[01])*)*$"
_INDEX: Final = re.compile(r"0|[1-9][0-9]*")

Pointer = Annotated[str, Field(pattern=_SYNTAX)]
"""A JSON pointer: the empty text, or segments that each begin with a slash."""


def is_pointer(text: str) -> bool:
    """Return whether the text is a JSON pointer."""
    return re.fullmatch(_SYNTAX, text) is not None


@lru_cache(maxsize=4096)
def segments(pointer: str) -> tuple[str, ...]:
    """Return the segments of a pointer, unescaped."""
    parts = pointer.split("/")[1:]
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


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
        elif _INDEX.fullmatch(segment) and len(segment) < 10 and int(segment) < len(value):
            yield value[int(segment)]
