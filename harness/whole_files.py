"""Files that survive a kill: written as a whole or not at all, or appended to by lines.

Rule 1: no name is ever that of half a file. What had the name stays until the new file is whole.
Rule 2: what was written of a file that failed is taken away: the same command can run again.
Rule 3: an error of the disk names the file that was asked for.
Rule 4: a line counts once its line break is there. What follows the last one was never
        acknowledged: a crash cut it short, and it is cut off before more is written.
"""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from typing import IO, Final

from harness.errors import UsageError, escape_text
from harness.locking import has_locks, take_lock

_BINARY: Final = getattr(os, "O_BINARY", 0)  # Windows alone tells texts from bytes
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_BLOCK: Final = 1 << 16
_OF_OWNER: Final = 0o700


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


def replace_file(
    path: Path,
    data: bytes | Iterable[bytes],
    *,
    mode: int = 0o666,
    private: bool = False,
    synced: bool = True,
) -> None:
    """Write a file. What had the name stays until all is written, and its rights stay.

    A link is replaced by the file: give `path.resolve()` to keep it.

    Args:
        path: the name.
        data: the content, at once or in pieces.
        mode: the rights of a file that was not there, without those of the umask.
        private: whether only its owner may read it, whoever could read what had the name.
        synced: whether file and name have to be on the disk when this returns.

    Raises:
        UsageError: the name is that of something else than a file, or of no folder.
        OSError: it cannot be written. Nothing is left behind.
    """
    if path.exists() and not path.is_file():
        raise UsageError(f"{show_path(path)} is not a file: name another one")
    pieces = [data] if isinstance(data, bytes) else data
    written = file_beside(path, "").with_name(f".critic-{secrets.token_hex(8)}")
    with errors_naming(path, written):
        try:
            with _new_file(written, path, mode, _OF_OWNER if private else 0o7777) as file:
                _write_pieces(file, pieces, synced=synced)
            written.replace(path)
        except BaseException:
            written.unlink(missing_ok=True)
            raise
    if synced:
        _sync_folder(path.parent)


def _write_pieces(file: IO[bytes], pieces: Iterable[bytes], *, synced: bool) -> None:
    file.writelines(pieces)
    if synced:
        file.flush()
        os.fsync(file.fileno())


def _new_file(path: Path, like: Path, mode: int, most: int) -> IO[bytes]:
    """Return a new file, with the rights of another one if that is there, of those in `most`."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode & most)
    with suppress(FileNotFoundError):  # before there is anything to read in it
        path.chmod(S_IMODE(like.stat().st_mode) & most)
    return os.fdopen(descriptor, "wb")


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder as durable as its files, where a folder can be synced."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def file_beside(path: Path, suffix: str) -> Path:
    """Return `path` with a suffix to its name.

    Raises:
        UsageError: it names a folder, or is in none.
    """
    if not path.name:
        raise UsageError(f"{show_path(path)} is a folder: name a file")
    if not path.parent.is_dir():
        raise UsageError(f"{show_path(path)}: no such folder: make it, or name another one")
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


class LineFile:
    """A file of lines, which is only appended to. Where there are locks, it has one writer.

    Nothing is written by another process than the one that opened it, or to a file that is not
    the one at the path any more: it would be lost.

    Attributes:
        path: where it is.
        end: the size of its whole lines.
        torn: how many bytes follow them.
    """

    def __init__(self, path: Path, *, exists: bool | None = None) -> None:
        """Open a file. `exists`: it has to be there, or must not; None: it is made if missing.

        Raises:
            BlockingIOError: another process has it open.
            OSError: it cannot be opened, made or read.
        """
        self.path: Final = path.absolute()  # the program may change its folder
        self._process = os.getpid()
        made = not path.exists()
        create = 0 if exists else os.O_CREAT | (0 if exists is None else os.O_EXCL)
        flags = os.O_RDWR | os.O_APPEND | _BINARY | create
        self._file = os.fdopen(os.open(self.path, flags, 0o600), "r+b", buffering=0)
        try:
            if has_locks():
                take_lock(self._file.fileno(), 0)
            size = os.fstat(self._file.fileno()).st_size
            self.end = self._after_last_break(size)
            self.torn = size - self.end
            if made:
                _sync_folder(self.path.parent)
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file, so that another process may write to it."""
        self._file.close()

    def is_empty(self) -> bool:
        """Return whether nothing was written, by whomever."""
        return os.fstat(self._file.fileno()).st_size == 0

    def read(self) -> bytes:
        """Return the whole lines."""
        self._file.seek(0)
        return self._file.readall()[: self.end]

    def cut_torn(self) -> None:
        """Cut off what follows the last whole line, on the disk too.

        Raises:
            OSError: it cannot be written.
        """
        if self.torn:
            self._file.truncate(self.end)
            os.fsync(self._file.fileno())
            self.torn = 0

    def append(self, line: bytes) -> None:
        """Append a line, which has no line break. It is on the disk when this returns.

        Raises:
            OSError: it was not written whole, and nothing of it counts; or the file was deleted,
                replaced or changed, or opened by another process than this.
            ValueError: the file was closed.
        """
        self._require_own()
        self.cut_torn()
        rest = memoryview(line + b"\n")
        self.torn = len(rest)
        while rest:
            rest = rest[self._file.write(rest) :]
        os.fsync(self._file.fileno())
        self._require_own()
        self.end, self.torn = self.end + self.torn, 0

    def _require_own(self) -> None:
        if os.getpid() != self._process:
            raise OSError("another process opened it: open it again in this one")
        ours = os.fstat(self._file.fileno())
        try:
            theirs = self.path.stat()
        except FileNotFoundError:
            raise OSError("it was deleted while it was open: open it again") from None
        if not os.path.samestat(ours, theirs):
            raise OSError("it was replaced while it was open: open it again")
        if ours.st_size < self.end:
            raise OSError("it was cut short while it was open: restore it and open it again")
        if ours.st_size > self.end + self.torn:
            raise OSError("others wrote to it while it was open: open it again")

    def _after_last_break(self, end: int) -> int:
        while end:
            start = max(0, end - _BLOCK)
            self._file.seek(start)
            if (last := (self._file.read(end - start) or b"").rfind(b"\n")) >= 0:
                return start + last + 1
            end = start
        return 0


def _exists(path: Path) -> UsageError:
    return UsageError(f"{show_path(path)} exists: choose another name, or remove it")


def show_path(path: object) -> str:
    """Return the end of a path, safe to print."""
    return escape_text(str(path)[-200:])
