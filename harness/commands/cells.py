"""CSV that no spreadsheet can mistake for a formula."""

import csv
import sys
from collections.abc import Iterable
from typing import Final

from evals.escaping import escape_line

_FORMULA: Final = ("=", "+", "-", "@")
_INERT: Final = "'"
"""What a spreadsheet takes as: the rest is text."""


def write_cells(cells: Iterable[object]) -> None:
    """Print a row. Texts are escaped for terminals, and what looks like a formula becomes text."""
    csv.writer(sys.stdout, lineterminator="\n").writerow([_cell(cell) for cell in cells])


def _cell(value: object) -> object:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    text = escape_line(str(value))
    return f"{_INERT}{text}" if text.lstrip(" '\"").startswith(_FORMULA) else text
