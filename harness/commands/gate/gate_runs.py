"""Finished runs in files, for `critic gate`: JSON, JSON Lines, or a folder of both."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from critic import Run
from harness.commands.documents import InputDocument, read_lines, read_whole
from harness.errors import UsageError, escape_text
from harness.wire import InvalidInput, parse

_SUFFIXES: Final = (".json", ".jsonl")


def run_files(name: str) -> list[Path] | None:
    """Return the files with runs that a name stands for; None if it is that of a log.

    Raises:
        UsageError: it is a folder without any.
        OSError: the folder cannot be read.
    """
    path = Path(name)
    if "://" in name or not (path.is_dir() or path.suffix in _SUFFIXES):
        return None
    if not path.is_dir():
        return [path]
    found = sorted(one for one in path.iterdir() if one.suffix in _SUFFIXES and one.is_file())
    if not found:
        raise UsageError(f"{escape_text(name)}: the folder holds no runs (*.json, *.jsonl)")
    return found


def runs_in(files: list[Path]) -> Iterator[Run]:
    """Yield the runs in files.

    Raises:
        UsageError: one cannot be read, or is not a Run.
    """
    for document in _documents(files):
        try:
            yield document.parse_with(lambda data: parse(Run, data))
        except InvalidInput as error:
            raise UsageError(f"{document.source}: not a Run: {error}") from None


def _documents(files: list[Path]) -> Iterator[InputDocument]:
    for file in files:
        if file.suffix == ".jsonl":
            yield from read_lines(str(file))
        else:
            yield read_whole(str(file))
