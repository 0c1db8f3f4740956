"""Keep sessions without a log: one private file of lines each, in a private folder.

Rule 1: one process at a time reads or writes the file of a session. The operating system releases
        the lock when a process ends, for whatever reason.
Rule 2: a step counts once its line is complete. A killed process leaves the steps before it.
Rule 3: a line has the digest of the one before it, so a removed, moved or edited line is found.
Rule 4: a file that others could have written is rejected: anyone who changes it can add
        approvals.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from harness.errors import HarnessError, escape_text
from harness.guard.session_journal import StepEntry
from harness.locking import lock_file
from harness.log.journal_rows import JournalMoved, JournalRow, JournalStep
from harness.record import Sealed
from harness.whole_files import LineFile, replace_file

_LARGEST: Final = 1 << 30
_MOST_TAILS: Final = 10_000
_OTHERS: Final = 0o077
"""The permissions of the group and of everybody."""


class StateUnusable(HarnessError):
    """The state of a session may have been altered, or another process holds it."""


class SessionFolder:
    """The sessions in a folder, which is created if needed. Processes may share it."""

    def __init__(self, folder: Path, *, wait_s: float = 20.0) -> None:
        """Use a folder, and wait this many seconds for other processes of a session."""
        self._folder: Final = folder
        self._wait_s: Final = wait_s
        self._tails: Final[dict[str, _Tail]] = {}

    @contextmanager
    def hold(self, session: str) -> Iterator[None]:
        """Lock the session with a `session_key` against other processes.

        Raises:
            StateUnusable: the folder is not private, or another process keeps the lock.
            OSError: the folder or the lock cannot be created.
        """
        with self._hold_lock(session, ".hold"):
            yield

    def journal(self, session: str, after: int = 0) -> Sequence[JournalRow]:
        """Return the steps of a session after one, in their order.

        Raises:
            StateUnusable: they may have been altered.
            OSError: they cannot be read.
        """
        with self._hold_lock(session, ".lock"):
            return [row for row in self._read(session) if row.number > after]

    def last_step(self, session: str) -> int:
        """Return the number of the last step of a session; 0 if it is not open.

        Raises:
            StateUnusable, OSError: as for `journal`.
        """
        with self._hold_lock(session, ".lock"):
            return self._tail(session).number

    def append_step(self, entries: Iterable[StepEntry], step: JournalStep) -> Sequence[Sealed]:
        """Store a step. A folder stores no records.

        Raises:
            JournalMoved: another process has made that step.
            StateUnusable: the file may have been altered.
            OSError: it cannot be written.
        """
        assert not tuple(entries)  # noqa: S101 - a guard without a log makes none
        with self._hold_lock(step.session, ".lock"):
            tail = self._tail(step.session)
            if step.number != tail.number + 1:
                raise JournalMoved
            self._write(step, tail)
        return ()

    def last_claim(self, prefix: str) -> None:
        """Return None: without records, nothing is claimed."""

    def _tail(self, session: str) -> "_Tail":
        """Return the end of a file. Lines that this object has read are not read again."""
        known = self._tails.get(session, _NOTHING)
        with suppress(FileNotFoundError):
            found = self._path(session).lstat()
            if (found.st_ino, found.st_size) != (known.inode, known.size):
                self._read(session)
            return self._tails[session]
        self._tails.pop(session, None)
        return _NOTHING

    def _write(self, step: JournalStep, tail: "_Tail") -> None:
        path = self._path(step.session)
        if step.is_end:
            path.unlink(missing_ok=True)
            self._tails.pop(step.session, None)
            return
        is_first = step.is_whole or not tail.number
        line = _line_of(step.number, step.body, b"" if is_first else tail.digest)
        if is_first:
            replace_file(path, line + b"\n", private=True)
        else:
            with closing(LineFile(path, exists=True)) as lines:
                lines.append(line)
        self._note_tail(step.session, step.number, line)

    def _note_tail(self, session: str, number: int, line: bytes) -> None:
        found = self._path(session).lstat()
        self._tails[session] = _Tail(found.st_ino, found.st_size, number, _digest_of(line))
        while len(self._tails) > _MOST_TAILS:
            del self._tails[next(iter(self._tails))]

    def _read(self, session: str) -> list[JournalRow]:
        path = self._path(session)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return []
        with os.fdopen(descriptor, "rb") as file:
            _require_private(os.fstat(descriptor), path, stat.S_ISREG)
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise StateUnusable(f"{_show_path(path)} is larger than 1 GiB")
        rows = _rows_of(data, path)
        if rows:
            self._note_tail(session, rows[-1].number, data.rstrip(b"\n").rpartition(b"\n")[2])
        return rows

    def _path(self, session: str) -> Path:
        return self._folder / f"{session}.jsonl"

    @contextmanager
    def _hold_lock(self, session: str, suffix: str) -> Iterator[None]:
        _make_private(self._folder)
        lock = self._folder / f"{session}{suffix}"
        with ExitStack() as held:
            try:
                descriptor = held.enter_context(lock_file(lock, self._wait_s))
            except BlockingIOError:
                raise StateUnusable(f"another process holds {_show_path(lock)}") from None
            _require_private(os.fstat(descriptor), lock, stat.S_ISREG)
            yield


class _Tail(NamedTuple):
    """The end of a file: its inode, its size, and its last line."""

    inode: int = 0
    size: int = 0
    number: int = 0
    digest: bytes = b""


_NOTHING: Final = _Tail()


def _line_of(number: int, body: bytes, before: bytes) -> bytes:
    """Return a line with its digest, which covers the line before it too."""
    digest = hashlib.sha256(b"%d %s %s" % (number, before, body)).hexdigest()
    return b"%d %s %s" % (number, digest.encode(), body)


def _digest_of(line: bytes) -> bytes:
    return line.split(b" ", 2)[1]


def _rows_of(data: bytes, path: Path) -> list[JournalRow]:
    """Return the rows of a file. Text after its last line break does not count."""
    rows: list[JournalRow] = []
    before = b""
    for line in data.split(b"\n")[:-1]:
        number, _, rest = line.partition(b" ")
        body = rest.partition(b" ")[2]
        is_next = number.isdigit() and (not rows or int(number) == rows[-1].number + 1)
        if not is_next or line != _line_of(int(number), body, before):
            raise StateUnusable(f"{_show_path(path)} was changed, so its session cannot continue")
        rows.append(JournalRow(int(number), None, None, body))
        before = _digest_of(line)
    if not rows:
        raise StateUnusable(f"{_show_path(path)} is damaged, so its session cannot continue")
    return rows


def _make_private(folder: Path) -> None:
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _keep_out_of_git(folder)
    _require_private(folder.lstat(), folder, stat.S_ISDIR)


def _keep_out_of_git(folder: Path) -> None:
    """Write a .gitignore, so that git does not commit the folder with its project."""
    with suppress(FileExistsError):  # another process was faster
        descriptor = os.open(folder / ".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(b"*\n")


def _require_private(
    found: os.stat_result, path: Path, is_right_kind: Callable[[int], bool]
) -> None:
    if not is_right_kind(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & _OTHERS:
        what = "is not this user's alone: remove it, or take the rights of others away"
        raise StateUnusable(f"{_show_path(path)} {what}")


def _show_path(path: Path) -> str:
    return escape_text(str(path))
