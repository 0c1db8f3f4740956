"""Tell what the checks of a gate did to the files from what the actor did."""

from collections.abc import Mapping

Entries = Mapping[bytes, bytes]
"""The files of a moment: of each path its mode and its object, as git writes them."""


class CheckedFiles:
    """The files that the checks of this session added, and those that they changed."""

    def __init__(self, first: Entries) -> None:
        """Start with the files that the session began with."""
        self._first = first
        self._before: Entries | None = None
        self._added: dict[bytes, bytes] = {}

    def begin(self, entries: Entries | None) -> None:
        """Note the files as they are before the checks run; None if they cannot be read."""
        self._before = entries

    def end(self, entries: Entries) -> tuple[bytes, ...]:
        """Remember the files that were added since `begin`; return the others that differ."""
        before, self._before = self._before, None
        if before is None:
            return ()
        differing = {
            path for path in before.keys() | entries.keys() if before.get(path) != entries.get(path)
        }
        added = differing - before.keys() - self._first.keys()
        self._added.update({path: entries[path] for path in added})
        return tuple(sorted(differing - added))

    def left_as_added(self, entries: Entries) -> frozenset[bytes]:
        """Return the paths that the checks added, and that are as the checks left them."""
        added = self._added.items()
        return frozenset(path for path, entry in added if entries.get(path) == entry)
