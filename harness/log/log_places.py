"""Where a log is: in a file of SQLite, or in PostgreSQL, named by a URL."""

import os
import re
from pathlib import Path
from typing import Final

from harness.errors import escape_text
from harness.log.log_errors import LogUnavailable, NotALog
from harness.log.sqlite.sqlite_store import SqliteStore
from harness.log.store import Store

_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_AS_PATH: Final = re.compile(r"postgres(ql)?(\+psycopg)?:/")  # what a path makes of a URL
_POSTGRES: Final = frozenset({"postgresql", "postgresql+psycopg", "postgres"})


def is_url(place: str | os.PathLike[str]) -> bool:
    """Return whether a log is named by a URL, and not by the path of a file."""
    return isinstance(place, str) and _URL.match(place) is not None


def store_at(place: str | os.PathLike[str], timeout: float) -> Store:
    """Return the store of the log at a path or URL. Nothing is opened. `timeout` is in seconds.

    Raises:
        NotALog: the URL is one of another database.
        LogUnavailable: the URL cannot be read, or the library for it is not installed.
    """
    found = _URL.match(place) if isinstance(place, str) else None
    if found is None:
        if _AS_PATH.match(os.fspath(place)):
            raise LogUnavailable("the URL of a log is a text and not a path: give it as a str")
        return SqliteStore(Path(place), timeout)
    if found[1].lower() not in _POSTGRES:
        raise NotALog(
            f"{escape_text(found[1])}: logs are kept in files and in PostgreSQL: name a path, or "
            "postgresql://USER@HOST:PORT/DATABASE"
        )
    try:
        from harness.log.postgres.postgres_store import PostgresStore  # noqa: PLC0415 - an extra of its own
    except ImportError:
        raise LogUnavailable(
            "a log in PostgreSQL needs one more library: pip install 'plan-critic[postgres]'"
        ) from None
    return PostgresStore(f"postgresql{str(place)[found.end(1) :]}", timeout)
