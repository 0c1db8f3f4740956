"""Where two JSON values differ, by JSON pointer. Pure."""

from collections.abc import Iterator
from typing import Any

from evals.escaping import pointer
from harness.canonical import canonical_json
from harness.replay.result import Difference

_ABSENT: Any = object()


def differences(recorded: Any, derived: Any, above: str = "") -> tuple[Difference, ...]:
    """Return every leaf at which the two differ; a member that only one of them has is given whole.

    Neither value holds null. Arrays are compared position by position. The paths of the
    differences start with the JSON pointer `above`.
    """
    return tuple(_walk(above, recorded, derived))


def _walk(path: str, recorded: Any, derived: Any) -> Iterator[Difference]:
    if isinstance(recorded, dict) and isinstance(derived, dict):
        names = sorted({*recorded, *derived})
        pairs = [(name, recorded.get(name, _ABSENT), derived.get(name, _ABSENT)) for name in names]
    elif isinstance(recorded, list) and isinstance(derived, list):
        positions = range(max(len(recorded), len(derived)))
        pairs = [
            (index, _item_at(recorded, index), _item_at(derived, index)) for index in positions
        ]
    else:
        yield from _leaf(path, recorded, derived)
        return
    for part, one, other in pairs:
        yield from _walk(path + pointer(part), one, other)


def _item_at(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else _ABSENT


def _leaf(path: str, recorded: Any, derived: Any) -> Iterator[Difference]:
    sides = {"recorded": recorded, "derived": derived}
    present = {name: value for name, value in sides.items() if value is not _ABSENT}
    # As bytes: to Python, `True` equals `1`.
    if len(present) < 2 or canonical_json(recorded) != canonical_json(derived):
        yield Difference(path=path, **present)
