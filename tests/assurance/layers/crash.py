"""The decision log under kills, cut files, full and failing disks, rivals and flipped bits.

What every row holds against: no acknowledged record is lost, the chain is one, replay says same
for all that was recorded, and what is missing or altered is said, never a crash and never `same`.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.assurance.crash.cuts import cut_journals, cuts, cuts_beside_a_journal
from tests.assurance.crash.disk import failing_disk
from tests.assurance.crash.flips import flips, flips_of_the_file
from tests.assurance.crash.forks import forks
from tests.assurance.crash.instances import killed_instances
from tests.assurance.crash.kills import kills
from tests.assurance.crash.room import full_disk, killed_at_writes, short_writes
from tests.assurance.crash.server import killed_servers, killed_writers_of_a_server
from tests.assurance.crash.sessions import killed_sessions
from tests.assurance.row import Row
from tests.support.postgres import NoServer, postgres_server

_PARTS: Final[tuple[Callable[..., Row], ...]] = (
    kills,
    cuts,
    cuts_beside_a_journal,
    cut_journals,
    short_writes,
    killed_at_writes,
    full_disk,
    failing_disk,
    killed_sessions,
    forks,
    flips,
    flips_of_the_file,
)
_ON_A_SERVER: Final[tuple[Callable[..., Row], ...]] = (
    killed_writers_of_a_server,
    killed_servers,
    killed_instances,
)


def run(*, quick: bool) -> list[Row]:
    """Return a row for each part, each in a separate folder."""
    rows = []
    for part in _PARTS:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(part(Path(folder), quick=quick))
    return rows + _on_a_server(quick=quick)


def _on_a_server(*, quick: bool) -> list[Row]:
    """Return the rows of a log in PostgreSQL; none where no server can be had."""
    try:
        with postgres_server(syncs=True) as server:
            return [part(server, quick=quick) for part in _ON_A_SERVER]
    except NoServer as reason:
        if os.environ.get("CI"):
            raise
        sys.stderr.write(f"crash: left out what needs a PostgreSQL server: {reason}\n")
        return []
