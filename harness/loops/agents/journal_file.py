"""A journal in a file: one line an entry, synced before it counts.

Rule 1: a line counts once its line break is there. What follows the last line break was never
        acknowledged: a crash cut it short. It is left out, reported in `note`, and cut off before
        more is written.
Rule 2: one process writes at a time, where the system has such locks. Threads of it may share.
Rule 3: nothing is written to a file that is no longer the one at the path: it would be lost.
"""

import os
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Final, Self

from harness.errors import escape_text
from harness.loops.agents.journal import JournalError

try:
    import fcntl
except ImportError:  # not on Windows: there, keeping to one writer is left to the caller
    fcntl = None  # type: ignore[assignment]


class JournalUnavailable(JournalError):
    """The file cannot be opened, read or written, is gone, or another process writes to it."""


class FileStore:
    """The lines of one file, which is made if it is not there. Close it, or use it in `with`."""

    def __init__(self, path: Path) -> None:
        """Open the file and read it.

        Raises:
            JournalUnavailable: it cannot be opened or read, or has another writer.
        """
        self.lock: Final = RLock()
        self._path = path = path.absolute()  # the program may change its folder
        self._process = os.getpid()
        try:
            new = not path.exists()
            self._file = path.open("a+b", buffering=0)
        except OSError as error:
            raise self._unavailable("opened", error) from None
        try:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.seek(0)
            data = self._file.read()
            if new:
                _sync_folder(path.parent)
        except OSError as error:
            self._file.close()
            raise self._unavailable("read", error) from None
        self._end = data.rfind(b"\n") + 1
        self._cut = len(data) - self._end
        self._lines = data[: self._end].split(b"\n")[:-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, so that another process may write to it."""
        self._file.close()

    def lines(self, start: int = 0) -> list[bytes]:
        """Return the whole lines from number `start` on: those read at first, and those since."""
        return self._lines[start:]

    def note(self) -> str | None:
        """Return that the last line was cut short, if it was."""
        if not self._cut:
            return None
        return (
            f"line {len(self._lines) + 1} of {escape_text(str(self._path))} was cut short and is "
            f"left out ({self._cut} bytes): its call is made again"
        )

    def append(self, line: bytes) -> None:
        """Keep one more line: on the disk when this returns.

        Raises:
            JournalUnavailable: it could not be written and synced whole, and nothing of it counts;
                or the file was deleted, replaced or cut, or opened by another process than this.
        """
        with self.lock:
            try:
                self._require_same_file()
                self._file.truncate(self._end)
                data = memoryview(line + b"\n")
                while data:
                    data = data[self._file.write(data) :]
                os.fsync(self._file.fileno())
            except (OSError, ValueError) as error:
                raise self._unavailable("written", error) from None
            self._end += len(line) + 1
            self._lines.append(line)
            self._cut = 0

    def _require_same_file(self) -> None:
        """Check that the open file is still the one at the path, with all that was written.

        Raises:
            OSError: it is not.
        """
        if os.getpid() != self._process:
            raise OSError("another process opened it: open the journal again in this one")
        ours = os.fstat(self._file.fileno())
        try:
            theirs = self._path.stat()
        except FileNotFoundError:
            raise OSError("it was deleted while it was open: open the journal again") from None
        if not os.path.samestat(ours, theirs):
            raise OSError("it was replaced while it was open: open the journal again")
        if ours.st_size < self._end:
            raise OSError("it was cut short while it was open: restore it and open it again")

    def _unavailable(self, what: str, error: Exception) -> JournalUnavailable:
        if isinstance(error, BlockingIOError):
            why = "another process is writing to it"
        else:
            why = escape_text(getattr(error, "strerror", None) or str(error))
        return JournalUnavailable(f"{escape_text(str(self._path))} cannot be {what}: {why}")


def _sync_folder(folder: Path) -> None:
    """Make the file's name as durable as its lines, where folders can be synced."""
    if fcntl is None:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
