"""A journal in a file: one line an entry, synced before it counts.

Rule 1: what a crash cut short is left out, reported in `note`, and cut off before more is written.
Rule 2: one process writes at a time, where the system has such locks. Threads of it may share.
"""

from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Final, Self

from harness.errors import escape_text
from harness.loops.agents.journal import JournalError
from harness.whole_files import LineFile


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
        self._path: Final = path
        try:
            self._file = LineFile(path)
        except OSError as error:
            raise self._unavailable("opened", error) from None
        try:
            self._lines = self._file.read().split(b"\n")[:-1]
        except OSError as error:
            self._file.close()
            raise self._unavailable("read", error) from None

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
        if not self._file.torn:
            return None
        return (
            f"line {len(self._lines) + 1} of {escape_text(str(self._path))} was cut short and is "
            f"left out ({self._file.torn} bytes): its call is made again"
        )

    def append(self, line: bytes) -> None:
        """Keep one more line: on the disk when this returns.

        Raises:
            JournalUnavailable: it could not be written and synced whole, and nothing of it counts;
                or the file was deleted, replaced or cut, or opened by another process than this.
        """
        with self.lock:
            try:
                self._file.append(line)
            except (OSError, ValueError) as error:
                raise self._unavailable("written", error) from None
            self._lines.append(line)

    def _unavailable(self, what: str, error: Exception) -> JournalUnavailable:
        if isinstance(error, BlockingIOError):
            why = "another process is writing to it"
        else:
            why = escape_text(getattr(error, "strerror", None) or str(error))
        return JournalUnavailable(f"{escape_text(str(self._path))} cannot be {what}: {why}")
