"""What can be replayed under a path: case files and decision logs."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from evals.escaping import escape_name

# The first bytes of every SQLite file, and the mark of a decision log at byte 68: see
# https://www.sqlite.org/fileformat.html and `harness.log.sqlite`.
_SQLITE: Final = b"SQLite format 3\x00"
_MARK: Final = b"Crit"
_MARK_AT: Final = 68


class NoSource(ValueError):
    """There is nothing to replay at a path. One line, safe to print."""


def is_log(path: Path) -> bool:
    """Whether a file is a decision log, going by its header."""
    with path.open("rb") as file:
        header = file.read(100)
    return header.startswith(_SQLITE) and header[_MARK_AT : _MARK_AT + 4] == _MARK


def source_files(paths: Iterable[Path]) -> list[Path]:
    """The case files and logs at or below the paths, each once, by name within each path.

    Below a folder, every `*.json` counts as a case file; names that start with a dot are passed
    over. A file that is named itself has to be one or the other.

    Raises:
        NoSource: a path is missing or cannot be read, or has nothing to replay.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        try:
            below = [path] if path.is_file() else list(_below(path))
            known = [one for one in below if one.suffix == ".json" or is_log(one)]
        except OSError as error:
            reason = escape_name(error.strerror or type(error).__name__).lower()
            raise NoSource(f"{_shown(path)}: {reason}") from None
        if not known:
            raise NoSource(f"{_shown(path)}: {_why(path)}")
        for one in known:
            found.setdefault(one.resolve(), one)
    return list(found.values())


def _below(root: Path) -> Iterator[Path]:
    for path in sorted(root.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            yield from () if path.is_symlink() else _below(path)
        elif path.is_file():
            yield path


def _why(path: Path) -> str:
    if path.is_file():
        return "is neither a case file (*.json) nor a decision log"
    return "there is no case file (*.json) and no decision log in this folder"


def _shown(path: Path) -> str:
    return escape_name(str(path)[-200:])
