"""Faults of either kind of database."""

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from tests.harness.log.decisions import LogPlace

Commit = Callable[[Callable[[], None]], object]
"""What happens in place of a commit. It is given the real one."""


def replace_commits(monkeypatch: pytest.MonkeyPatch, commit: Commit) -> None:
    """Let `commit` happen in place of every commit of either kind of database."""

    class Changed(sqlite3.Connection):
        def commit(self) -> None:
            commit(super().commit)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Changed))
    try:
        import psycopg  # noqa: PLC0415 - of an extra
    except ImportError:
        return
    real = psycopg.Connection.commit
    monkeypatch.setattr(
        psycopg.Connection, "commit", lambda connection: commit(lambda: real(connection))
    )


class FailingStatement:
    """SQLite connections of which one statement fails, the commit or one before it."""

    def __init__(self, left: int, code: int, *, after: bool) -> None:
        """Fail after so many statements, with a code, before the statement is done or after."""
        self._left, self._code, self._after = left, code, after
        self.met = self.met_at_commit = False
        self.armed = True
        self._connect: Any = sqlite3.connect

    def connect(self, *args: Any, **options: Any) -> sqlite3.Connection:
        """Connect in place of `sqlite3.connect`."""
        script = self

        class Connection(sqlite3.Connection):
            def execute(self, *given: Any) -> Any:
                return script.step(super().execute, *given)

            def executemany(self, *given: Any) -> Any:
                return script.step(super().executemany, *given)

            def commit(self) -> None:
                script.met_at_commit = script.armed and script.due
                script.step(super().commit)

        made: sqlite3.Connection = self._connect(*args, **options, factory=Connection)
        return made

    @property
    def due(self) -> bool:
        """Return whether the next statement fails."""
        return self._left == 0

    def step(self, real: Any, *given: Any) -> Any:
        """Carry a statement out, or fail at it."""
        if not self.armed:
            return real(*given)
        due, self._left = self.due, self._left - 1
        if not due:
            return real(*given)
        self.met = True
        if self._after:
            real(*given)
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = self._code
        error.sqlite_errorname = f"code {self._code}"
        raise error


def disk_error(place: LogPlace) -> Exception:
    """Return the error of a disk that fails at a sync."""
    if isinstance(place, str):
        from psycopg import errors  # noqa: PLC0415 - of an extra

        return errors.IoError("could not fsync")
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
    error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
    return error


def integrity_errors() -> tuple[type[Exception], ...]:
    """Return what the databases raise for a row that they refuse."""
    try:
        import psycopg  # noqa: PLC0415 - of an extra
    except ImportError:
        return (sqlite3.IntegrityError,)
    return (sqlite3.IntegrityError, psycopg.IntegrityError)
