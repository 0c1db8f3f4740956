"""Which commands of a line data may come from: through pipes, `$(...)`, variables and files.

Rule 1: a command reaches what it reads from, and what that reads from, and so on.
Rule 2: a file connects each command that reads it, or a folder around it, with each one that writes
        it, whichever is first: commands may run beside one another.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Final

from critic.command.deeds import Deed, NamedPath
from critic.command.shell_facts import with_parents


class DataEdges:
    """The commands of a line, and from where each takes data."""

    def __init__(self, deeds: list[Deed]) -> None:
        """Keep the commands; nothing is computed until it is asked for."""
        self._deeds: Final = deeds

    def reach(self, number: int) -> set[int]:
        """Return the numbers of the commands whose data may get to one, itself among them."""
        reached, waiting = set[int](), [number]
        while waiting:
            one = waiting.pop()
            if one not in reached:
                reached.add(one)
                waiting += self._deeds[one].sources
                waiting += self._writers_of(self._deeds[one])
        return reached

    def _writers_of(self, deed: Deed) -> Iterator[int]:
        for path in _spellings([*deed.reads, *deed.scripts]):
            yield from self._written_below.get(path, ())
            for one in with_parents(path):
                yield from self._written_at.get(one, ())

    @cached_property
    def _written_at(self) -> dict[str, set[int]]:
        """The commands that write a path, or any names below it."""
        found: dict[str, set[int]] = {}
        for number, deed in enumerate(self._deeds):
            for path in _spellings([*deed.writes, *deed.into]):
                found.setdefault(path, set()).add(number)
        return found

    @cached_property
    def _written_below(self) -> dict[str, set[int]]:
        """The commands that write something below a folder."""
        found: dict[str, set[int]] = {}
        for path, numbers in self._written_at.items():
            for parent in with_parents(path):
                found.setdefault(parent, set()).update(numbers)
        return found


def _spellings(paths: list[NamedPath]) -> set[str]:
    return {one for path in paths for one in path.spellings}
