"""The only source of randomness of the generators: a function that picks one of some options.

Hypothesis drives it where a failure should shrink, and a seed where speed and counts matter; what
is drawn is the same code.
"""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.support.generate.alphabet import ABSENT, Table
from tests.support.model.facts import Json

Pick = Callable[[Sequence[Any]], Any]
"""Draws one of the options; the first is the simplest."""


def chance(seed: int) -> Random:
    """Return the random source of that seed."""
    return Random(seed)  # noqa: S311 - chance, not a secret


def seeded(seed: int) -> Pick:
    """Return the pick of that seed."""
    drawn = chance(seed).random
    return lambda options: options[int(drawn() * len(options))]


@cache
def _below(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)


def drawn_by(draw: st.DrawFn) -> Pick:
    """Return the pick that Hypothesis drives, and shrinks towards first options."""
    return lambda options: options[draw(_below(len(options)))]


def record(pick: Pick, table: Table) -> Json:
    """Draw one option for each field of the table; `ABSENT` leaves the field out."""
    drawn = {name: pick(options) for name, options in table.items()}
    return {name: value for name, value in drawn.items() if value is not ABSENT}


def optional(name: str, value: Any) -> Json:
    """Return the field with its value, or nothing where that is `ABSENT`."""
    return {} if value is ABSENT else {name: value}
