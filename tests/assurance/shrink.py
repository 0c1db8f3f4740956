"""Shrink a JSON document that shows a problem, by removing parts of it."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

_TRIES = 4000


def smallest(document: Any, shows: Callable[[Any], bool]) -> Any:
    """Return the document without every part that `shows` does not need."""
    tries = 0
    shrunk = True
    while shrunk and tries < _TRIES:
        shrunk = False
        for smaller in _smaller(document):
            tries += 1
            if tries < _TRIES and shows(smaller):
                document, shrunk = smaller, True
                break
    return document


def _smaller(document: Any) -> Iterator[Any]:
    """Yield each copy without one member, one item, or half of a long text; large parts first."""
    for path in sorted(_paths(document), key=len):
        copy = deepcopy(document)
        parent = copy
        for part in path[:-1]:
            parent = parent[part]
        value = parent[path[-1]]
        if isinstance(value, str) and len(value) > 8:
            parent[path[-1]] = value[: len(value) // 2]
            yield deepcopy(copy)
        del parent[path[-1]]
        yield copy


def _paths(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members: Any = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for name, item in members:
        yield (*here, name)
        yield from _paths(item, (*here, name))
