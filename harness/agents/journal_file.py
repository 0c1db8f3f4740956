"""A journal in a file: one line an entry, synced before it counts.

Rule 1: a line counts once its line break is there. What follows the last line break was never
        acknowledged: a crash cut it short. It is left out, said so, and cut off before more is
        written.
Rule 2: one writer at a time, where the system knows such locks.
"""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

from evals.escaping import escape_name
from harness.agents.journal import JournalError

try:
    import fcntl
except ImportError:  # not on Windows: there, keeping to one writer is left to the caller
    fcntl = None  # type: ignore[assignment]


class JournalUnavailable(JournalError):
    """The file cannot be opened, read or written, or somebody else writes to it."""


class FileStore:
    """The lines of one file, which is made if it is not there. Close it, or use it in `with`."""

    def __init__(self, path: Path) -> None:
        """Open the file and read it.

        Raises:
            JournalUnavailable: it cannot be opened or read, or has another writer.
        """
        self._path = path
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
        """Let go of the file."""
        self._file.close()

    def lines(self) -> list[bytes]:
        """The whole lines that the file held when it was opened, and those since."""
        return [*self._lines]

    def note(self) -> str | None:
        """That the last line was cut short, if it was."""
        if not self._cut:
            return None
        return (
            f"line {len(self._lines) + 1} of {escape_name(str(self._path))} was cut short and is "
            f"left out ({self._cut} bytes): its call is made again"
        )

    def append(self, line: bytes) -> None:
        """Keep one more line: on the disk when this returns.

        Raises:
            JournalUnavailable: it could not be written and synced whole; nothing of it counts.
        """
        try:
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

    def _unavailable(self, what: str, error: Exception) -> JournalUnavailable:
        if isinstance(error, BlockingIOError):
            why = "another process is writing to it"
        else:
            why = escape_name(getattr(error, "strerror", None) or str(error))
        return JournalUnavailable(f"{escape_name(str(self._path))} cannot be {what}: {why}")


def _sync_folder(folder: Path) -> None:
    """Make the file's name as durable as its lines, where folders can be synced."""
    if fcntl is None:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
