"""JSON documents with one value changed: where values are, and what may stand in their place."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

from evals.json_value import SAFE_INTEGER

Path = tuple[str | int, ...]
"""Keys and positions, outermost first."""

GONE: Final = object()
"""In the place of a value: the value is left out."""
_OTHERS: Final[tuple[Any, ...]] = (
    *(GONE, 0, 1, 2, 3, 99, SAFE_INTEGER, 0.5, "x", "s", "c", "user/1", "user/9", "call/1"),
    *("call/9", "ask", "allow", "0" * 64, "2026-05-09T13:00:00Z", True, [], {}),
)


def path_of(pointer: str) -> Path:
    """Return the path of a JSON pointer without escapes."""
    return tuple(int(key) if key.isdigit() else key for key in pointer.split("/")[1:])


def paths_in(value: Any, at: Path = ()) -> Iterator[Path]:
    """Yield the path of each value in a document, but for the document itself."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*at, key)
        if isinstance(inner, dict | list):
            yield from paths_in(inner, (*at, key))


def kinds_of_places(value: Any) -> list[list[Path]]:
    """Return the paths in a document: those that differ in positions only, in one list."""
    kinds: dict[Path, list[Path]] = {}
    for path in paths_in(value):
        kinds.setdefault(tuple(key for key in path if type(key) is str), []).append(path)
    return [*kinds.values()]


def value_at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def altered(document: Any, path: Path, new: Any) -> Any:
    """Return a copy of a document with another value at a path."""
    copy = deepcopy(document)
    inner = value_at(copy, path[:-1])
    if new is GONE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return copy


def others_than(value: Any) -> list[Any]:
    """Return what may stand in the place of a value: what is near it, and values of any kind."""
    near: list[Any] = []
    if isinstance(value, list):
        near = [value * 2, value[::-1], value[1:], value[:-1]]
    elif type(value) is int:
        near = [value + 1, value - 1]
    return [one for one in (*near, *_OTHERS) if one != value]


def wrong_types(value: Any) -> tuple[Any, ...]:
    """Return values of other types than that of `value`, the nearest types first."""
    if isinstance(value, bool):
        return (str(value).lower(), int(value), [value], {})
    if isinstance(value, int):
        return (str(value), float(value), [value], True, {}, -1, 2**53)
    if isinstance(value, str):
        return ([value], {"": value}, 1, 1.5, True, [])
    if isinstance(value, list):
        return ("x", 1, True, {}, [1.5], [[]], [None])
    return ("x", 1, [], True, [value])
