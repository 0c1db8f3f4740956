"""The decision log in SQLite: opening the file, locking, error codes.

Rule 1: only SQLite opens the file. POSIX drops all locks of a process on a file when any of its
        descriptors for that file is closed (https://www.sqlite.org/howtocorrupt.html).
Rule 2: the connection of an append is kept for the next one, in the same process, as long as the
        same file is at the path. It remembers nothing of the file: what an append is decided by is
        read anew. Any other connection lasts for one transaction.
Rule 3: with a rollback journal, only synchronous=EXTRA keeps acknowledged records through a loss
        of power: it also syncs the folder that the journal was deleted from.
"""

import sqlite3
import stat
import weakref
from collections.abc import Hashable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from harness.errors import escape_text
from harness.log.idle_connections import IdleConnections
from harness.log.log_errors import (
    IN_DOUBT,
    LogBusy,
    LogDamaged,
    LogError,
    LogFull,
    LogUnavailable,
    LogWriteFailed,
    NotALog,
)
from harness.log.sqlite.sqlite_schema import (
    computed_column,
    create_schema,
    kept_keys,
    schema_problems,
    stored_schema,
)
from harness.log.store import KEEP_EVIDENCE, Connection, OpenMode

Doing = Literal["open", "read", "append"]

_PAGES: Final = "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size"
_TABLES: Final = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"

# Locks at the start, not at the first write: two writers that read one head would fork it.
_BEGIN_WRITING: Final = "BEGIN IMMEDIATE"

_LONGEST: Final = 40 * 1024 * 1024  # bytes of one value: more than any document, with its record
_SHORTEST: Final = 100  # bytes: the header of every SQLite file

_DAMAGED: Final = (LogDamaged, f"the file is damaged or cut short: {KEEP_EVIDENCE}")
_LOCKED: Final = (LogBusy, "it was locked for too long: nothing was recorded, try again")
_CLOSED: Final = (
    LogUnavailable,
    "it is missing or not permitted: check that the file and its folder exist and that this user "
    "may use them",
)
_UNKNOWN: Final = (
    LogUnavailable,
    "the database failed: look its code up at https://www.sqlite.org/rescode.html",
)
# Codes: https://www.sqlite.org/rescode.html. An extended code is looked up before its primary.
_ERRORS: Final[dict[int, tuple[type[LogError], str]]] = {
    sqlite3.SQLITE_ERROR: (NotALog, "it lacks the tables of a decision log: choose another file"),
    sqlite3.SQLITE_NOTADB: (NotALog, "it is not a decision log: choose another file"),
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_TOOBIG: (LogDamaged, f"a value is larger than any document: {KEEP_EVIDENCE}"),
    sqlite3.SQLITE_FORMAT: _DAMAGED,
    sqlite3.SQLITE_CONSTRAINT: (
        LogDamaged,
        "its tables refuse the record, so they were changed: replay the log to see what is wrong",
    ),
    sqlite3.SQLITE_FULL: (
        LogFull,
        "no space is left, nothing was acknowledged: free space, and append again",
    ),
    sqlite3.SQLITE_IOERR: (
        LogWriteFailed,
        f"the disk failed, {IN_DOUBT}",
    ),
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: _CLOSED,
    sqlite3.SQLITE_PERM: _CLOSED,
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_READONLY_ROLLBACK: (
        LogUnavailable,
        "a writer was stopped in the middle of a write: open the log for appending once, which "
        "undoes that write",
    ),
}


class SqliteStore:
    """One SQLite file that holds a decision log."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path.absolute()
        self._timeout = timeout
        self._idle = IdleConnections[_Opened](most=1)  # the appends of a log take turns
        self.where: str = escape_text(str(self._path)[-200:])
        weakref.finalize(self, self._idle.close)

    @contextmanager
    def transaction(self, mode: OpenMode, *, writes: bool = False) -> Iterator[sqlite3.Connection]:
        """Begin a transaction, and commit it at the end.

        Where it ends in an exception, closing the connection undoes it.
        """
        keeps = writes and mode == "rw"
        opened = (self._begin_again() if keeps else None) or self._begin_anew(mode, writes)
        try:
            yield opened.connection
            opened.connection.commit()
        except BaseException:
            opened.close()
            raise
        # Compared once more: the file may have been replaced while the connection was made.
        if keeps and opened.file is not None and opened.file == self._file_at_path():
            self._idle.put(opened)
        else:
            opened.close()

    def _begin_again(self) -> "_Opened | None":
        """Begin over the connection that was kept, if it is one to the file as it is now."""
        opened = self._idle.take()
        if opened is None:
            return None
        connection = opened.connection
        try:
            if opened.file == self._file_at_path():
                connection.execute("PRAGMA shrink_memory")  # pages are read from the file again
                connection.execute(_BEGIN_WRITING)
                # What another program sets is in the file, and would hold for this connection.
                if [*connection.execute("PRAGMA journal_mode")] == [("delete",)]:
                    return opened
        except BaseException:
            opened.close()
            raise
        opened.close()
        return None

    def _begin_anew(self, mode: OpenMode, writes: bool) -> "_Opened":
        opened = _Opened(self._file_at_path(), self._connect(mode))
        try:
            opened.connection.execute(_BEGIN_WRITING if writes else "BEGIN")
        except BaseException:
            opened.close()
            raise
        return opened

    def _file_at_path(self) -> tuple[int, ...] | None:
        """Return which file is at the path, and who may use it; None if that cannot be told."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_gid

    @contextmanager
    def rehearsal(self) -> Iterator[sqlite3.Connection]:
        """Begin a transaction that is alone in the log, writes to its file at once, and is undone.

        SQLite would keep in memory what is inserted, and meet a full disk at the commit.
        """
        with closing(self._connect("rw")) as connection:
            connection.execute("PRAGMA cache_size = 1")  # page
            connection.execute(_BEGIN_WRITING)
            yield connection
            connection.rollback()

    def table_names(self, connection: Connection) -> frozenset[str]:
        """Return the names of the tables, without those of SQLite."""
        return frozenset(str(name) for (name,) in connection.execute(_TABLES))

    def keys(self, connection: Connection) -> Mapping[str, bool]:
        """Return of each table of a format whether it has its key."""
        return kept_keys(connection)

    def is_absent(self, create: bool) -> bool:
        """Return whether the log is missing and has to be created.

        Raises:
            NotALog: what is at the path cannot be a log.
            LogUnavailable: nothing is at the path, and `create` is false.
        """
        try:
            status = self._path.lstat()
        except FileNotFoundError:
            if create and self._path.parent.is_dir():
                return True
            missing = "no such folder" if create else "no such file"
            raise LogUnavailable(f"{self.where}: {missing}: check the path") from None
        except OSError as error:
            raise self._unreachable(error) from None
        if not stat.S_ISREG(status.st_mode):
            kind = _file_kind(status.st_mode)
            raise NotALog(f"{self.where}: {kind}, not a decision log: choose a regular file")
        if status.st_size == 0 and create:
            return True
        if status.st_size < _SHORTEST:
            size = f"{status.st_size} bytes are"
            raise NotALog(f"{self.where}: {size} not a decision log: choose another file")
        return False

    def create(self, connection: Connection) -> None:
        """Make the tables of a decision log, and forbid to change or remove their rows."""
        create_schema(connection)

    def schema_problems(self, connection: Connection) -> tuple[str, ...]:
        """Return how the tables and triggers differ from those of their format."""
        return schema_problems(connection)

    def schema(self, connection: Any) -> Hashable:
        """Return the tables and triggers as they are stored."""
        connection.text_factory = bytes  # four times as fast, and a damaged text stays what it is
        try:
            return stored_schema(connection)
        finally:
            connection.text_factory = _lenient_text

    def check(self, connection: Connection) -> None:
        """Check that the file is whole: SQLite reads a cut last page as if it ended in zeros.

        Raises:
            LogDamaged: the file is shorter than it says, or computes what it should store.
        """
        ((pages, size_of_page),) = connection.execute(_PAGES)
        size = pages * size_of_page
        if (present := self._path.stat().st_size) < size:
            raise LogDamaged(
                f"{self.where}: cut short to {present} of {size} bytes: {KEEP_EVIDENCE}"
            )
        if (column := computed_column(connection)) is not None:
            raise LogDamaged(
                f"{self.where}: the column {column} is computed, not stored, so the file was "
                f"changed: {KEEP_EVIDENCE}"
            )

    def close(self) -> None:
        """Close the connection that is kept. What uses the store later opens others."""
        self._idle.close()

    @contextmanager
    def errors(self, doing: Doing) -> Iterator[None]:
        """Turn the errors of the database into `LogError`s."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._log_error(doing, error) from error
        except UnicodeDecodeError as error:
            # SQLite quotes its schema in its messages. If that is not text, the file is damaged.
            raise LogDamaged(
                f"{self.where}: cannot {doing}: the file is damaged: {KEEP_EVIDENCE}"
            ) from error
        except OSError as error:
            raise self._unreachable(error) from error

    def _log_error(self, doing: Doing, cause: sqlite3.Error) -> LogError:
        code = getattr(cause, "sqlite_errorcode", None)
        name = getattr(cause, "sqlite_errorname", type(cause).__name__)
        if code is None:
            return LogUnavailable(f"{self.where}: cannot {doing}: {name}: reopen the log")
        kind, what = _ERRORS.get(code) or _ERRORS.get(code & 0xFF, _UNKNOWN)
        return kind(f"{self.where}: cannot {doing} ({name}): {what}")

    def _unreachable(self, error: OSError) -> LogUnavailable:
        reason = escape_text(error.strerror or type(error).__name__).lower()
        return LogUnavailable(f"{self.where}: {reason}: check the path")

    def _connect(self, mode: OpenMode) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self._path.as_uri()}?mode={mode}",
            uri=True,
            timeout=self._timeout,
            isolation_level=None,  # transactions are begun by `transaction`
            check_same_thread=False,
        )
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            connection.execute("PRAGMA trusted_schema = OFF")
            if mode != "ro":
                connection.execute("PRAGMA journal_mode = DELETE")
                connection.execute("PRAGMA synchronous = EXTRA")
        except sqlite3.Error:
            connection.close()
            raise
        connection.text_factory = _lenient_text
        return connection


class _Opened(NamedTuple):
    """A connection, and the file that was at the path before it was made."""

    file: tuple[int, ...] | None
    connection: sqlite3.Connection

    def close(self) -> None:
        self.connection.close()


_lenient_text: Final = partial(str, encoding="utf-8", errors="replace")
"""Decodes damaged text instead of raising: replay has to look at it."""


def _file_kind(mode: int) -> str:
    kinds: dict[Any, str] = {
        stat.S_ISDIR: "a folder",
        stat.S_ISLNK: "a symbolic link",
        stat.S_ISFIFO: "a named pipe",
        stat.S_ISSOCK: "a socket",
    }
    return next((name for test, name in kinds.items() if test(mode)), "a special file")
