"""Where two JSON values differ, by JSON pointer. Pure."""

from collections.abc import Iterator
from typing import Any

from evals.escaping import pointer
from harness.canonical import canonical_json
from harness.replay.result import Difference

_ABSENT: Any = object()


def differences(recorded: Any, derived: Any) -> tuple[Difference, ...]:
    """Every leaf at which the two differ; members that only one of them has are given whole.

    Neither holds null. Arrays are compared position by position.
    """
    return tuple(_walk((), recorded, derived))


def _walk(path: tuple[str | int, ...], recorded: Any, derived: Any) -> Iterator[Difference]:
    if isinstance(recorded, dict) and isinstance(derived, dict):
        names = sorted({*recorded, *derived})
        pairs = [(name, recorded.get(name, _ABSENT), derived.get(name, _ABSENT)) for name in names]
    elif isinstance(recorded, list) and isinstance(derived, list):
        longest = range(max(len(recorded), len(derived)))
        pairs = [(place, _at(recorded, place), _at(derived, place)) for place in longest]
    else:
        yield from _leaf(path, recorded, derived)
        return
    for part, one, other in pairs:
        yield from _walk((*path, part), one, other)


def _at(items: list[Any], place: int) -> Any:
    return items[place] if place < len(items) else _ABSENT


def _leaf(path: tuple[str | int, ...], recorded: Any, derived: Any) -> Iterator[Difference]:
    sides = {"recorded": recorded, "derived": derived}
    present = {name: value for name, value in sides.items() if value is not _ABSENT}
    # As bytes: to Python, `True` equals `1`.
    if len(present) < 2 or canonical_json(recorded) != canonical_json(derived):
        yield Difference(path=pointer(*path), **present)
