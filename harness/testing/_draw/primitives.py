"""Small draws: options in order of simplicity, and fields that may be absent.

Hypothesis shrinks towards the first option, so each list of options starts with what a person
would write first.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from hypothesis import strategies as st

Json = dict[str, Any]
_T = TypeVar("_T")

ABSENT: Final[Any] = object()
"""The option to leave a field out."""


def pick(draw: st.DrawFn, options: Sequence[_T]) -> _T:
    """Return one of the options; shrink towards the first."""
    # A single option is drawn too: otherwise shrinking would prefer shorter lists of options.
    return options[draw(st.integers(0, len(options) - 1))]


def chance(draw: st.DrawFn) -> bool:
    """Return true or false; shrink towards false."""
    return draw(st.booleans())


def pick_some(draw: st.DrawFn, options: Sequence[_T]) -> list[_T]:
    """Return some of the options in their order, each at most once; shrink towards none."""
    return [option for option in options if chance(draw)]


def fields(draw: st.DrawFn, table: Mapping[str, Sequence[Any]]) -> Json:
    """Return one option for each field of the table, without the fields that drew `ABSENT`."""
    drawn = {name: pick(draw, options) for name, options in table.items()}
    return {name: value for name, value in drawn.items() if value is not ABSENT}
