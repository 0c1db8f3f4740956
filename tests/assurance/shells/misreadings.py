"""Slips of the reader of command lines, each of which lines in a real shell have to notice.

`python -m tests.assurance.shells.misreadings NAME` plants one and runs lines. It ends with 0 if one
of them did what was not read from it.
"""

import sys
from importlib import import_module
from typing import Final

from tests.assurance.mutation.overlay import overlay
from tests.assurance.planted.bug import Bug, planted, slip
from tests.support.paths import ROOT

_WALK: Final = "critic/command/line_walk.py"
_MOVES: Final = "critic/command/file_moves.py"

MISREADINGS: Final[tuple[Bug, ...]] = (
    slip(
        "and-after-failure",
        _WALK,
        "what follows && starts where the first command failed",
        'self.walk(right, succeeded if node.joint == "and" else failed, stdin)',
        "self.walk(right, failed, stdin)",
    ),
    slip(
        "group-leads-nowhere",
        _WALK,
        "what follows a group starts where the group began",
        'return ends if node.joint == "group" else (folders, folders)',
        "return folders, folders",
    ),
    slip(
        "not-changes-nothing",
        _WALK,
        "what follows ! cd && starts where cd succeeded",
        "return failed, succeeded",
        "return succeeded, failed",
    ),
    slip(
        "cd-stays",
        _WALK,
        "cd moves nothing",
        "return tuple(dict.fromkeys(moved)), deed.folders",
        "return deed.folders, deed.folders",
    ),
    slip(
        "list-goes-on-in-one-folder",
        _WALK,
        "what follows ; starts where the first command succeeded alone",
        "folders = join_folders(*self.walk(inner, folders, stdin))",
        "folders = self.walk(inner, folders, stdin)[0]",
    ),
    slip(
        "redirection-writes-nothing",
        _WALK,
        "a redirection reads what it writes",
        "                deed.writes.append(path)",
        "                deed.reads.append(path)",
    ),
    slip(
        "copy-into-a-folder",
        _MOVES,
        "what is copied into a folder keeps no name there",
        "                deed.writes.append(walk.below(path, name))\n    deed.writes += target",
        "                walk.below(path, name)\n    deed.writes += target",
    ),
    slip(
        "copy-onto-a-file",
        _MOVES,
        "the target of a copy is read",
        "    deed.writes += target\n    return target",
        "    deed.reads += target\n    return target",
    ),
)


def main(name: str) -> int:
    """Plant a slip, and return whether lines noticed it, as exit status."""
    bug = next(one for one in MISREADINGS if one.name == name)
    overlay(planted(bug, {file: (ROOT / file).read_text("utf-8") for file in bug.files}))
    layer = import_module("tests.assurance.layers.shell")
    return 0 if layer.is_anything_unforeseen() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
