"""Drawing in small steps: options in order of simplicity, and fields that may be left out.

Hypothesis shrinks towards the first option, so each list of options starts with what a person
would write first.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from hypothesis import strategies as st

Json = dict[str, Any]
T = TypeVar("T")

ABSENT: Final[Any] = object()
"""An option that leaves its field out."""


def pick(draw: st.DrawFn, options: Sequence[T]) -> T:
    """One of the options. The first one is the simplest."""
    # Drawn even where there is only one, so that fewer options are no reason to shrink there.
    return options[draw(st.integers(0, len(options) - 1))]


def chance(draw: st.DrawFn) -> bool:
    """True or false; false is the simpler."""
    return draw(st.booleans())


def some(draw: st.DrawFn, options: Sequence[T]) -> list[T]:
    """Some of the options in their order, each at most once. None of them is the simplest."""
    return [option for option in options if chance(draw)]


def fields(draw: st.DrawFn, table: Mapping[str, Sequence[Any]]) -> Json:
    """One option for each field of the table, without those that drew `ABSENT`."""
    drawn = {name: pick(draw, options) for name, options in table.items()}
    return {name: value for name, value in drawn.items() if value is not ABSENT}
