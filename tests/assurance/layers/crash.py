"""The decision log under kills, cut files, full and failing disks, rivals and flipped bits.

What every row holds against: no acknowledged record is lost, the chain is one, replay says same
for all that was recorded, and what is missing or altered is said, never a crash and never `same`.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.assurance.crash.cuts import cut_journals, cuts, cuts_beside_a_journal
from tests.assurance.crash.disk import failing_disk
from tests.assurance.crash.flips import flips, flips_of_the_file
from tests.assurance.crash.forks import forks
from tests.assurance.crash.kills import kills
from tests.assurance.crash.room import full_disk, killed_at_writes, short_writes
from tests.assurance.row import Row

_PARTS: Final[tuple[Callable[..., Row], ...]] = (
    kills,
    cuts,
    cuts_beside_a_journal,
    cut_journals,
    short_writes,
    killed_at_writes,
    full_disk,
    failing_disk,
    forks,
    flips,
    flips_of_the_file,
)


def run(*, quick: bool) -> list[Row]:
    """Return a row for each part, each in a separate folder."""
    rows = []
    for part in _PARTS:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(part(Path(folder), quick=quick))
    return rows
