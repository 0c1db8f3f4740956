"""One line of the assurance table."""

from typing import NamedTuple


class Row(NamedTuple):
    """What one layer tried and what came of it.

    `met` is false when anything failed that should not: the command then exits with 1.
    """

    layer: str
    """Short name, such as `engine against model`."""
    tried: int
    unit: str
    """What was counted: cases, laws, lemmas, planted bugs, mutants, faults, ..."""
    held: int
    """How many of those came out as they should."""
    met: bool
    note: str = ""
    """One line: shares, what is left out, what a survivor is. For people; safe ASCII."""
    total: bool = False
    """The row sums up others of its layer, so that it is not counted with them."""


def all_held(layer: str, tried: int, unit: str, failed: int, note: str = "") -> Row:
    """Return a row that is met if something was tried and nothing failed."""
    return Row(layer, tried, unit, tried - failed, tried > 0 and failed == 0, note)
