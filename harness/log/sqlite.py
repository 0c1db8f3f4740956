"""What is SQLite's own about the decision log: opening the file, locking, triggers, error codes.

Rule 1: nothing here opens the file but SQLite. POSIX drops all locks of a process on a file when
        any of its descriptors for that file is closed (https://www.sqlite.org/howtocorrupt.html).
Rule 2: a connection lasts for one transaction, so none is ever carried across a fork.
Rule 3: with a rollback journal, only synchronous=EXTRA keeps what was acknowledged through a loss
        of power: it also syncs the folder that the journal was deleted from.
"""

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from evals.escaping import escape_name
from harness.log.errors import (
    LogBusy,
    LogDamaged,
    LogError,
    LogFull,
    LogUnavailable,
    LogWriteFailed,
    NotALog,
)

Doing = Literal["open", "read", "append"]
OpenMode = Literal["ro", "rw", "rwc"]

WRITES: Final = "decision_log_writes"
"""The execution option of an engine whose transactions lock the log from their start."""

# "Crit": what `file` and `sqlite3` show as the application of the file.
_APPLICATION_ID: Final = 0x43726974
_SHORTEST: Final = 100  # bytes: the header of every SQLite file

# INSERT OR REPLACE removes rows without firing a DELETE trigger: hence the guards on INSERT.
_TRIGGERS: Final = (
    *(
        f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'the decision log is append-only'); END"
        for table in ("records", "inputs", "log_format")
        for verb in ("UPDATE", "DELETE")
    ),
    "CREATE TRIGGER records_in_order BEFORE INSERT ON records "
    "WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM records) "
    "OR EXISTS (SELECT 1 FROM records WHERE hash = NEW.hash) "
    "BEGIN SELECT RAISE(ABORT, 'the decision log is append-only'); END",
    "CREATE TRIGGER inputs_once BEFORE INSERT ON inputs "
    "WHEN EXISTS (SELECT 1 FROM inputs WHERE digest = NEW.digest) "
    "BEGIN SELECT RAISE(ABORT, 'the decision log is append-only'); END",
)

_DAMAGED: Final = (
    LogDamaged,
    "the file is damaged or cut short: keep it as evidence and restore the log from a copy",
)
_LOCKED: Final = (LogBusy, "others kept it locked for too long: nothing was recorded, try again")
_CLOSED: Final = (
    LogUnavailable,
    "not permitted or not there: check that the file and its folder exist and that this user "
    "may use them",
)
_UNKNOWN: Final = (
    LogUnavailable,
    "the database failed: look its code up at https://www.sqlite.org/rescode.html",
)
# Codes: https://www.sqlite.org/rescode.html. An extended code is looked up before its primary.
_FAULTS: Final[dict[int, tuple[type[LogError], str]]] = {
    sqlite3.SQLITE_ERROR: (NotALog, "it lacks the tables of a decision log: name another file"),
    sqlite3.SQLITE_NOTADB: (NotALog, "it is no decision log: name another file"),
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_FORMAT: _DAMAGED,
    sqlite3.SQLITE_CONSTRAINT: (
        LogDamaged,
        "its tables refuse the record, so they are not as the log made them: check it by replay",
    ),
    sqlite3.SQLITE_FULL: (
        LogFull,
        "no space is left, nothing was acknowledged: free space, reopen the log and look at its "
        "head before appending again",
    ),
    sqlite3.SQLITE_IOERR: (
        LogWriteFailed,
        "the disk failed, nothing was acknowledged: reopen the log and look at its head before "
        "appending again",
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
    """One SQLite file as the place of a decision log."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path.absolute()
        self._timeout = timeout
        self.where = escape_name(str(self._path)[-200:])

    def engine(self, mode: OpenMode) -> Engine:
        """Connections that may read (`ro`), also write (`rw`), also make the file (`rwc`)."""
        engine = create_engine(
            "sqlite+pysqlite://", creator=lambda: self._connect(mode), poolclass=NullPool
        )
        event.listen(engine, "begin", _begin)
        return engine

    def absent(self, create: bool) -> bool:
        """Whether there is no log yet, so that one is to be made.

        Raises:
            NotALog: something stands at the path that can be no log.
            LogUnavailable: there is nothing, and `create` is false.
        """
        try:
            found = self._path.lstat()
        except FileNotFoundError:
            if create and self._path.parent.is_dir():
                return True
            missing = "there is no such folder" if create else "there is no such file"
            raise LogUnavailable(f"{self.where}: {missing}: check the path") from None
        except OSError as error:
            raise self._unreachable(error) from None
        if not stat.S_ISREG(found.st_mode):
            kind = _kind(found.st_mode)
            raise NotALog(f"{self.where}: {kind}, no decision log: name a regular file")
        if found.st_size == 0 and create:
            return True
        if found.st_size < _SHORTEST:
            size = f"{found.st_size} bytes are"
            raise NotALog(f"{self.where}: {size} no decision log: name another file")
        return False

    def protect(self, connection: Connection) -> None:
        """Mark new tables as a decision log's, and forbid to change or remove what is in them."""
        connection.exec_driver_sql(f"PRAGMA application_id = {_APPLICATION_ID}")
        for trigger in _TRIGGERS:
            connection.exec_driver_sql(trigger)

    def check(self, connection: Connection) -> None:
        """Notice a file that ends within its last page, which SQLite reads as if it ended in zeros.

        Raises:
            LogDamaged: the file is shorter than it says.
        """
        pages = int(connection.exec_driver_sql("PRAGMA page_count").scalar_one())
        size = pages * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())
        if (present := self._path.stat().st_size) < size:
            raise LogDamaged(
                f"{self.where}: cut short to {present} of {size} bytes: keep it as evidence and "
                "restore the log from a copy"
            )

    @contextmanager
    def faults(self, doing: Doing) -> Iterator[None]:
        """Turn the database's errors into `LogError`s."""
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise self._fault(doing, cause) from error
        except UnicodeDecodeError as error:
            # SQLite quotes its schema in its messages; where that is no text, the file is rotten.
            raise LogDamaged(
                f"{self.where}: cannot {doing}: the file is damaged: keep it as evidence and "
                "restore the log from a copy"
            ) from error
        except OSError as error:
            raise self._unreachable(error) from error

    def _fault(self, doing: Doing, cause: BaseException | None) -> LogError:
        code = getattr(cause, "sqlite_errorcode", None)
        name = getattr(cause, "sqlite_errorname", type(cause).__name__)
        if code is None:
            return LogUnavailable(f"{self.where}: cannot {doing}: {name}: reopen the log")
        kind, what = _FAULTS.get(code) or _FAULTS.get(code & 0xFF, _UNKNOWN)
        return kind(f"{self.where}: cannot {doing} ({name}): {what}")

    def _unreachable(self, error: OSError) -> LogUnavailable:
        reason = escape_name(error.strerror or type(error).__name__).lower()
        return LogUnavailable(f"{self.where}: {reason}: check the path")

    def _connect(self, mode: OpenMode) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self._path.as_uri()}?mode={mode}",
            uri=True,
            timeout=self._timeout,
            isolation_level=None,  # transactions are begun by `_begin`
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            if mode != "ro":
                connection.execute("PRAGMA journal_mode = DELETE")
                connection.execute("PRAGMA synchronous = EXTRA")
        except sqlite3.Error:
            connection.close()
            raise
        connection.text_factory = _lenient_text
        return connection


def _begin(connection: Connection) -> None:
    # Locking at the start, not at the first write: two who have both read the head would fork it.
    writes = connection.get_execution_options().get(WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _lenient_text(data: bytes) -> str:
    """Damaged text is shown, not raised: replay has to look at it."""
    return data.decode(errors="replace")


def _kind(mode: int) -> str:
    kinds: dict[Any, str] = {
        stat.S_ISDIR: "a folder",
        stat.S_ISLNK: "a symbolic link",
        stat.S_ISFIFO: "a named pipe",
        stat.S_ISSOCK: "a socket",
    }
    return next((name for test, name in kinds.items() if test(mode)), "a special file")
