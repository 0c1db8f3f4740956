"""All that differs from the start of a session, as a capture sees it."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.loops.code.session_lines import Diff


@dataclass(frozen=True, slots=True)
class Change:
    """All that differs from the start.

    Attributes:
        tree: the id of the tree of all files as they are now.
        paths: the paths that differ.
        places: those of the paths where a symbolic link or a nested repository is or was, which
            may mean a folder.
        diff: the diff.
        lines: the changed lines, as they count towards a limit.
        files: the changed files, as they count towards a limit.
        by_checks: those of the paths that the checks added.
        changed_by_checks: the paths that the last checks changed or removed.
        nested: the paths of nested repositories, whose files are not seen.
        git_changes: the parts of the user's repository itself that differ from the start.
    """

    tree: str
    paths: tuple[bytes, ...]
    places: frozenset[bytes]
    diff: Diff
    lines: int
    files: int
    by_checks: tuple[bytes, ...] = ()
    changed_by_checks: tuple[bytes, ...] = ()
    nested: tuple[bytes, ...] = ()
    git_changes: tuple[str, ...] = ()

    def notes(self) -> tuple[str, ...]:
        """Return what a reviewer must know besides the diff, one line each."""
        nested = (f"not seen: nested repository {name!r}" for name in self.names(self.nested))
        added = (f"added by a check: {name!r}" for name in self.names(self.by_checks))
        return (*nested, *added)

    @staticmethod
    def names(paths: Iterable[bytes]) -> tuple[str, ...]:
        """Return paths as the record has them."""
        return tuple(map(path_text, paths))


def path_text(path: bytes) -> str:
    """Return a path as the record has it."""
    return path.decode("utf-8", "backslashreplace")


def path_chain(path: bytes) -> list[bytes]:
    """Return the folders above a path, from the top, and the path itself."""
    parts = path.rstrip(b"/").split(b"/")
    return [*(b"/".join(parts[:end]) + b"/" for end in range(1, len(parts))), path]
