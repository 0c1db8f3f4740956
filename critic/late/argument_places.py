"""Places in the arguments of a step that values are put into.

Rule 1: a place is free if its parent is an object without that member, or an array of just that
        length. A value that was put there is no parent.
"""

from typing import Any, Final

from evals.pointers import array_index, segments

ArgPath = tuple[str | int, ...]
"""Names of members and positions of elements, outermost first."""

VALUE_TO_COME: Final = object()
"""Stands for a value that is not there yet: nothing can be put into it."""


def free_place(args: Any, arg: str) -> ArgPath | None:
    """Return the path of a free place in arguments; None where the place is not free.

    Args:
        arg: a JSON pointer, in which `*` is a plain name.
    """
    *way, last = segments(arg)
    path: list[str | int] = []
    parent = args
    for segment in way:
        key = _key_in(parent, segment)
        if key is None:
            return None
        path.append(key)
        parent = parent[key]
    if type(parent) is dict and last not in parent:
        return (*path, last)
    if type(parent) is list and array_index(last) == len(parent):
        return (*path, len(parent))
    return None


def put_at_path(args: Any, path: ArgPath, value: Any) -> None:
    """Put a value at a place that is free, or in the place of another value."""
    for key in path[:-1]:
        args = args[key]
    if type(args) is list and path[-1] == len(args):
        args.append(value)
    else:
        args[path[-1]] = value


def _key_in(parent: Any, segment: str) -> str | int | None:
    """Return what a segment names in an object or array, if there is such a part."""
    if type(parent) is dict:
        return segment if segment in parent else None
    if type(parent) is list:
        index = array_index(segment)
        return index if index is not None and index < len(parent) else None
    return None
