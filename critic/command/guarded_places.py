"""The files and folders of the guard itself, wherever they are and whatever they are called.

Rule 1: what is one of them, or in one of them, is protected by where it is, in any case of letters.
Rule 2: what is deleted is protected if one of them is in it; a pattern counts as each name that it
        may give.
"""

from collections.abc import Iterable
from typing import Final

from critic.command.deeds import NamedPath
from critic.command.place_names import (
    folded_names,
    is_match,
    is_pattern,
    pattern_parts,
    without_brackets,
)


class GuardedPlaces:
    """Absolute paths, ready to be asked."""

    def __init__(self, paths: Iterable[str]) -> None:
        """Keep the paths."""
        self._places: Final = tuple(folded_names(path) for path in paths)

    def have(self, path: NamedPath) -> bool:
        """Return whether a path is one of the places, or in one of them."""
        if not self._places:
            return False
        spelled = [folded_names(one) for one in path.spellings]
        return any(one[: len(place)] == place for one in spelled for place in self._places)

    def are_in(self, path: NamedPath) -> bool:
        """Return whether one of the places is a path, or in it, or among what its pattern gives."""
        if not self._places:
            return False
        parts = [without_brackets(part) for part in pattern_parts(path.pattern)]
        return any(
            place[: len(one)] == one and _may_give(parts, place[len(one) :])
            for one in (folded_names(spelling) for spelling in path.spellings)
            for place in self._places
        )


def _may_give(pattern: list[str], names: list[str]) -> bool:
    """Return whether a pattern may give the first of the names, or more of them."""
    if "**" in pattern:  # at any depth
        last = pattern[-1]
        return any(is_match(last, name) for name in names)
    return len(pattern) <= len(names) and all(
        is_match(part, name) if is_pattern(part) else part == name
        for part, name in zip(pattern, names, strict=False)
    )
