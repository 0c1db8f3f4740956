"""Write a file as a whole, or not at all: no name is ever that of half a file.

Rule 1: what was written of a file that failed is taken away: the same command can run again.
Rule 2: an error of the disk names the file that was asked for.
"""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import UsageError, escape_text


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield an empty file to write what gets the name `path` at the end. Nothing is replaced.

    A process that is killed leaves it behind, under `path` with `.partial`.

    Raises:
        UsageError: one of both names exists, or cannot be that of a file.
        OSError: it cannot be written. Nothing is left behind.
    """
    partial = file_beside(path, ".partial")
    for one in (path, partial):
        if os.path.lexists(one):
            raise _exists(one)
    with errors_naming(path, partial):
        try:
            partial.touch(exist_ok=False)
        except FileExistsError:  # another process has just begun
            raise _exists(partial) from None
        try:
            yield partial
            os.link(partial, path)  # unlike a rename, it never replaces a file
        except FileExistsError:
            raise _exists(path) from None
        finally:
            partial.unlink(missing_ok=True)


def write_whole(path: Path, pieces: Iterable[str], *, synced: bool = True) -> None:
    """Write text under a name. What had the name stays until all of the text is written.

    Args:
        path: the name.
        pieces: the text.
        synced: whether the text has to be on the disk before it gets the name.

    Raises:
        UsageError: the name is that of something else than a file, or of no folder.
        OSError: it cannot be written. Nothing is left behind.
    """
    if path.exists() and not path.is_file():
        raise UsageError(f"{_shown(path)} is not a file: name another one")
    written = file_beside(path, "").with_name(f".{path.name[:100]}.{secrets.token_hex(8)}")
    with errors_naming(path, written):
        try:
            _write(written, pieces, synced=synced)
            written.replace(path)
        except BaseException:
            written.unlink(missing_ok=True)
            raise


def _write(path: Path, pieces: Iterable[str], *, synced: bool) -> None:
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.writelines(pieces)
        file.flush()
        if synced:
            os.fsync(file.fileno())


def file_beside(path: Path, suffix: str) -> Path:
    """Return `path` with a suffix to its name.

    Raises:
        UsageError: it names a folder, or is in none.
    """
    if not path.name:
        raise UsageError(f"{_shown(path)} is a folder: name a file")
    if not path.parent.is_dir():
        raise UsageError(f"{_shown(path)}: no such folder: make it, or name another one")
    return path.with_name(f"{path.name}{suffix}")


@contextmanager
def errors_naming(path: Path, written: Path | None = None) -> Iterator[None]:
    """Let an error of the disk name `path`, and not nothing, or what is written in its place."""
    try:
        yield
    except OSError as error:
        if error.filename is None or Path(error.filename) == written:
            error.filename, error.filename2 = str(path), None
        raise


def _exists(path: Path) -> UsageError:
    return UsageError(f"{_shown(path)} exists: choose another name, or remove it")


def _shown(path: Path) -> str:
    return escape_text(str(path)[-200:])
