"""Find what can be replayed under a path: case files and decision logs."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from harness.case_files.case_reading import is_case_file
from harness.errors import HarnessError, escape_text
from harness.log.passwords import without_passwords

# The first bytes of every SQLite file, and the mark of a decision log at byte 68: see
# https://www.sqlite.org/fileformat.html and `harness.log.sqlite.sqlite_schema`. The text of a table
# of a log is on the first page of its file, even if its header was changed.
_SQLITE: Final = b"SQLite format 3\x00"
_MARK: Final = b"Crit"
_MARK_AT: Final = 68
_HEADER: Final = 100
_TABLE: Final = b"CREATE TABLE log_format"
_LARGEST_PAGE: Final = 65536


class NoSource(HarnessError, ValueError):
    """A path has nothing to replay. The message is one line, safe to print."""


def is_log(path: Path) -> bool:
    """Return whether a file is a decision log, or was one before its header was damaged."""
    with path.open("rb") as file:
        start = file.read(_LARGEST_PAGE)
    header, rest = start[:_HEADER], start[_HEADER:]
    marked = header[_MARK_AT : _MARK_AT + len(_MARK)] == _MARK
    # Text may hold "Crit" at that place, or quote the table: only a binary file holds a zero byte.
    return b"\x00" in header and ((header.startswith(_SQLITE) and marked) or _TABLE in rest)


def source_files(paths: Iterable[Path]) -> list[Path]:
    """Return the case files and logs at or below the paths, each once, by name within each path.

    Below a folder, every `*.json` is a case file, and `*.toml` with keys of a case, and names that
    start with a dot are skipped. A
    file that is named itself has to be a case file or a log.

    Raises:
        NoSource: a path is missing or cannot be read, or has nothing to replay.
    """
    sources: dict[Path, Path] = {}
    for path in paths:
        try:
            below = [path] if path.is_file() else list(_files_below(path))
            replayable = [file for file in below if is_case_file(file) or is_log(file)]
        except OSError as error:
            reason = escape_text(error.strerror or type(error).__name__).lower()
            raise NoSource(f"{_show_path(path)}: {reason}") from None
        if not replayable:
            raise NoSource(f"{_show_path(path)}: {_why_no_source(path)}")
        for file in replayable:
            sources.setdefault(file.resolve(), file)
    return list(sources.values())


def _files_below(root: Path) -> Iterator[Path]:
    for path in sorted(root.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            yield from () if path.is_symlink() else _files_below(path)
        elif path.is_file():
            yield path


def _why_no_source(path: Path) -> str:
    if path.is_file():
        return "is neither a case file (*.json, *.toml) nor a decision log"
    return "this folder holds neither a case file (*.json, *.toml) nor a decision log"


def _show_path(path: Path) -> str:
    return escape_text(without_passwords(str(path))[-200:])
