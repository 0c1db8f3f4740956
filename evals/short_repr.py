"""What `repr` shows of an envelope: what is small whole, and of what is long how much there is.

A debugger and `asyncio.run` print a value unasked: what that costs must not grow with the value.
Types are told by `type`, since `isinstance` would read a context that has not been read.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any, Final, TypeAlias

from pydantic import BaseModel

ReprArgs: TypeAlias = Iterable[tuple[str | None, Any]]
_MOST: Final = 200  # values in an array or an object that is shown whole, itself included
_PER_VALUE: Final = 20  # characters of text that count as one value
_START: Final = 60  # characters that are shown of text that is too long


class Told(str):
    """Words that stand in a `repr` as they are, without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def count_in_words(count: int, noun: str, plural: str = "") -> Told:
    """Return a number of things in words."""
    return Told(f"{count:,} {noun if count == 1 else plural or noun + 's'}")


def shorten_value(value: Any) -> Any:
    """Return the value of a field, or words for it where it is too long to be shown whole."""
    kind = type(value)
    if not issubclass(kind, str | tuple | list | dict) or _is_small(value):
        return value
    if issubclass(kind, str):
        return Told(f"{value[:_START]!r}... ({len(value):,} characters)")
    return Told(f"<{count_in_words(len(value), 'entry', 'entries')}>")


def _is_small(value: Any) -> bool:
    """Return whether a value may be shown whole. A long value is not walked to its end."""
    left, waiting = _MOST - 1, [value]
    while waiting:
        current = waiting.pop()
        inner = _inner(current)
        left -= sum(map(len, inner))
        if issubclass(type(current), str):
            left -= len(current) // _PER_VALUE
        if left < 0:
            return False
        waiting += chain.from_iterable(inner)
    return True


def _inner(value: Any) -> Sequence[Collection[Any]]:
    kind = type(value)
    if issubclass(kind, dict):
        return value.keys(), value.values()
    if issubclass(kind, tuple | list):
        return (value,)
    fields = object.__getattribute__(value, "__dict__") if issubclass(kind, BaseModel) else {}
    return ([field for field in fields.values() if field is not None],)
