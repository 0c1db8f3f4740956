"""A planted bug, and how it is put into a source text.

Rule 1: `old` appears exactly once in its file, so that a bug keeps its place while lines move.
Rule 2: a planted bug still parses: it is a slip, no vandalism.
"""

import ast
from collections.abc import Mapping
from typing import Final, NamedTuple

HOLES: Final = {
    "any_class": "evidence of any class accepted through operator precedence",
    "forged_ref": "forged refs whose text names the class",
    "omitted": "requirements the plan simply omits",
    "step_kind": "step kinds that skip the surface and the approval check",
    "unknown_mode": "unknown or missing modes that compare as not greater",
    "token_count": "negative, NaN or string token counts",
    "joined_key": "joined-key collisions",
    "duplicate": "first-duplicate-wins manifests",
    "clock": "a clock inside a pure function",
    "foreign_run": "a run of another plan scored under this trace",
}
"""The holes of the seed's code, each of which is planted anew at least once."""


class Edit(NamedTuple):
    """`old` becomes `new` in a file, given by its path from the root."""

    file: str
    old: str
    new: str


class Bug(NamedTuple):
    """One small bug, mostly a single edit."""

    name: str
    breaks: str
    """What goes wrong, on one line."""
    edits: tuple[Edit, ...]
    hole: str = ""
    """The hole of the seed that this one opens again (a key of `HOLES`), or empty."""

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files it changes."""
        return tuple(dict.fromkeys(edit.file for edit in self.edits))


def slip(name: str, file: str, breaks: str, old: str, new: str, *, hole: str = "") -> Bug:
    """Return a bug of a single edit."""
    return Bug(name, breaks, (Edit(file, old, new),), hole)


class Misplanted(ValueError):
    """The bug has no such place in the source as it is today."""


def planted(bug: Bug, sources: Mapping[str, str]) -> dict[str, str]:
    """Return the changed files by path. `sources` holds the files it is planted in.

    Raises:
        Misplanted: an `old` does not appear exactly once, or nothing changes.
        SyntaxError: the changed text does not parse.
    """
    changed: dict[str, str] = {}
    for file, old, new in bug.edits:
        text = changed.get(file, sources[file])
        if (count := text.count(old)) != 1:
            raise Misplanted(f"{bug.name}: its old text appears {count} times in {file}")
        if old == new:
            raise Misplanted(f"{bug.name}: changes nothing in {file}")
        changed[file] = text.replace(old, new)
    for text in changed.values():
        ast.parse(text)
    return changed
