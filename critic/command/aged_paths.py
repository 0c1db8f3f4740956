"""Paths of which nothing is known any longer, since a command of the line may have changed them."""

from collections.abc import Iterator

from critic.command.shell_facts import with_parents


class AgedPaths:
    """Paths that aged: what is below them is not known, and of some not what they are.

    To ask costs the depth of a path, however many there are.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._below = set[str]()
        self._themselves = set[str]()
        self._filled = set[str]()
        self._around_filled = set[str]()

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self._below)

    def add(self, path: str, *, itself: bool) -> None:
        """Add a path; `itself`: it may be a link now."""
        self._below.add(path)
        if itself:
            self._themselves.add(path)

    def cover(self, path: str, *, has_pattern: bool) -> bool:
        """Return whether a path goes through what aged; `has_pattern`: it names any in a folder."""
        if has_pattern and self._themselves:
            return True
        return path in self._themselves or not self._below.isdisjoint(_above(path))

    def fill(self, path: str) -> None:
        """Add a folder that may have come with a repository in it, or one below."""
        self._filled.add(path)
        self._around_filled.update(with_parents(path))

    def have_filled(self, path: str) -> bool:
        """Return whether what stands at a path may hold a repository by now."""
        return path in self._around_filled or not self._filled.isdisjoint(with_parents(path))


def _above(path: str) -> Iterator[str]:
    parents = with_parents(path)
    next(parents, None)
    yield from parents
    yield "/"
