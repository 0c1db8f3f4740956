"""Layer `late_plans`: the engine against the second statement, over plans with late values.

Each is verified and opened step by step, by calls that end in any way.
"""

from typing import Final

from tests.assurance.layers.model import LATE, rows_of
from tests.assurance.row import Row

_QUICK: Final = 4_000
_FULL: Final = 1_000_000


def run(*, quick: bool) -> list[Row]:
    """Return the row of late plans."""
    return rows_of({LATE: _QUICK if quick else _FULL})[:1]
