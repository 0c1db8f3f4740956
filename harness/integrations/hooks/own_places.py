"""The files and folders of a hook itself, which no call of the agent may write.

Its policy says what is refused, its state what was allowed, its log what happened: an agent that
could write one of them would be its own judge.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from harness.integrations.hooks.protected_paths import has_protected_name
from harness.log.log_places import is_url

_DATABASE_FILES: Final = ("", "-wal", "-shm", "-journal")
"""The endings of the files of one log."""


def places_of_guard(folder: Path, files: Iterable[Path], log: str | None) -> tuple[str, ...]:
    """Return what a hook reads and writes that no protected name covers, as it is found and leads.

    Args:
        folder: where the hook runs.
        files: files and folders that it reads and writes.
        log: where the decision log is.
    """
    places = [folder / one for one in files]
    if log is not None and not is_url(log):
        places += [folder / f"{log}{ending}" for ending in _DATABASE_FILES]
    found = {
        one: None
        for place in places
        for one in (f"{os.path.realpath(place.parent)}/{place.name}", os.path.realpath(place))
        if not has_protected_name(one)
    }
    return tuple(found)
