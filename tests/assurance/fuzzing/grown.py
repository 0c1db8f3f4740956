"""Documents of a megabyte: one part of a small document, grown until the whole is that long."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import count
from random import Random
from typing import Any, Final

import orjson

from tests.assurance.fuzzing.mutate import spelled

MEGABYTE: Final = 1 << 20
_DEEPEST: Final = 60


def grown(random: Random, document: bytes) -> bytes:
    """Return the JSON document with one of its parts grown to about a megabyte."""
    tree = {"": orjson.loads(document)}
    places = list(_places(tree))
    parent, key = random.choice(places)
    room = MEGABYTE - len(document)
    grow = random.choice(_WAYS)
    parent[key] = grow(random, parent[key], room)
    return spelled(tree[""])


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Return every container in a tree with each of its keys."""
    found, waiting = [], [tree]
    while waiting:
        current = waiting.pop()
        items = current.items() if isinstance(current, dict) else enumerate(current)
        for key, value in items:
            found.append((current, key))
            if isinstance(value, (dict, list)):
                waiting.append(value)
    return found


def _same(_random: Random, value: Any, room: int) -> Any:
    """Repeat the elements of a list, or the value as elements of one."""
    elements = value if isinstance(value, list) and value else [value]
    return elements * (1 + room // (len(spelled(elements)) + 1))


def _numbered(_random: Random, value: Any, room: int) -> Any:
    """Repeat the elements of a list, each text in them with a number of its own."""
    elements = value if isinstance(value, list) and value else [value]
    many = 1 + room // (len(spelled(elements)) + 8 * _texts(elements) + 1)
    numbers = count()
    return [_with_numbers(one, numbers) for _ in range(many) for one in deepcopy(elements)]


def _texts(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_texts, value.values()))
    return sum(map(_texts, value)) if isinstance(value, list) else isinstance(value, str)


def _with_numbers(value: Any, numbers: Iterator[int]) -> Any:
    if isinstance(value, dict):
        return {key: _with_numbers(inner, numbers) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_numbers(inner, numbers) for inner in value]
    return f"{value}_{next(numbers)}" if isinstance(value, str) else value


def _members(_random: Random, value: Any, room: int) -> Any:
    """Return an object of many members: those that it has, and more of the same values."""
    members = value if isinstance(value, dict) and value else {"x": value}
    many = 1 + room // (len(spelled(members)) + 8 * len(members))
    new = {f"{key}{at}": inner for at in range(many) for key, inner in members.items()}
    return {**members, **new}


def _long(random: Random, value: Any, room: int) -> Any:
    """Return a long text: of the value, of one character, or of words that begin alike."""
    text = value if isinstance(value, str) and value else "a"
    between = random.choice(("", " ", ".", "/", "\n", "\u0301", '", "', "](", "0", "@"))
    return (text + between) * (1 + room // len((text + between).encode()))


def _deep(random: Random, value: Any, room: int) -> Any:
    """Return many copies of the value, each within others as deep as is allowed."""
    inner = value
    for level in range(random.choice((2, 20, _DEEPEST))):
        inner = [inner] if level % 2 else {"x": inner}
    return _same(random, [inner], room)


def _numerals(random: Random, _value: Any, room: int) -> Any:
    """Return a list of numbers, or one of as many digits as there is room for."""
    if random.random() < 0.3:
        return int("9" * 4000)
    return _same(random, [random.choice((0, 1, 7.25, -3, 2**53 - 1))], room)


_WAYS: Final[tuple[Callable[[Random, Any, int], Any], ...]] = (
    *(_same, _numbered, _numbered, _members, _long, _long, _deep, _numerals),
)
