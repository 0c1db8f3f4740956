"""Faults of either kind of database."""

import sqlite3
from collections.abc import Callable

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
