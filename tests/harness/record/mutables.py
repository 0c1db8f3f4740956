"""What can be changed in place in a value, wherever in it."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel


def mutables(value: Any) -> dict[int, Any]:
    """Return all objects in a value that can be changed in place, by their ids."""
    found: dict[int, Any] = {}
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list | set | bytearray | BaseModel):
            if id(one) in found:
                continue
            found[id(one)] = one
        waiting += _members(one)
    return found


def _members(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from value
    elif isinstance(value, BaseModel):
        yield from value.__dict__.values()
