"""The decision log in PostgreSQL: one schema of a database holds one log.

Rule 1: whoever writes holds a lock of the log from before it reads the head until its commit, and
        each statement sees what was committed before it. So the chain cannot fork.
Rule 2: a commit has returned when it is on the disk of the server, whatever its default is.
Rule 3: a connection that failed is not used again, and none is used in a forked process.
Rule 4: no message holds a password.
"""

import logging
import re
import weakref
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Literal

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from harness.errors import escape_text
from harness.log.idle_connections import IdleConnections
from harness.log.log_errors import LogDamaged, LogUnavailable
from harness.log.postgres.postgres_errors import postgres_error
from harness.log.postgres.postgres_schema import (
    create_tables,
    definition_problems,
    names_of_tables,
    primary_keys,
    stored_definitions,
)
from harness.log.store import KEEP_EVIDENCE, Connection, OpenMode

# Where a program has set up no logging, Python would print what psycopg says of a lost connection.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

_MOST_IDLE: Final = 4  # connections that wait for the next transaction
_CLASS: Final = 0x43726974 << 32  # "Crit": locks of logs, beside those of other programs
_NONE: Final[Mapping[str, Any]] = MappingProxyType({})
_NAMED: Final = re.compile(r"(?<!:):([a-z]\w*)")
_PAGED: Final = " LIMIT :most"

# From here on nothing is found outside the schema, nor in one of a name that comes before.
_PREPARE: Final = """
SELECT n.oid::bigint,
  set_config('search_path', quote_ident(n.nspname) || ', pg_temp', false),
  set_config('quote_all_identifiers', 'off', false),
  set_config('lock_timeout', %(timeout)s, false),
  set_config('synchronous_commit', CASE current_setting('synchronous_commit')
    WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)
FROM pg_catalog.pg_namespace n WHERE n.nspname = (
  SELECT name FROM unnest(current_schemas(false)) WITH ORDINALITY AS path (name, place)
  WHERE left(name, 3) <> 'pg_' ORDER BY place LIMIT 1)
"""
_BEGIN_READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_BEGIN_WRITING: Final = (
    "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_catalog.pg_advisory_xact_lock({0})"
)


class PostgresStore:
    """A schema of a PostgreSQL database that holds a decision log."""

    def __init__(self, url: str, timeout: float) -> None:
        """Take a URL of libpq; the schema is the first that exists of the `search_path`.

        Raises:
            LogUnavailable: the URL cannot be read, or has a password that is not encoded.
        """
        try:
            given = conninfo_to_dict(url)
        except psycopg.Error:  # its message may hold a piece of the password
            raise LogUnavailable(
                "the URL of the log cannot be read: write it as "
                "postgresql://USER@HOST:PORT/DATABASE, with %XX for special characters"
            ) from None
        if _has_bare_sign(url, given):
            raise LogUnavailable(
                "the URL of the log has an @ that may be of its password: percent-encode the "
                "password, with %40 for @ and %2F for /"
            )
        defaults: dict[str, Any] = {
            "connect_timeout": 10,
            "tcp_user_timeout": max(int(timeout * 1000), 1000),
            "application_name": "plan-critic",
        }
        self._given = make_conninfo("", **{**defaults, **given, "client_encoding": "utf-8"})
        self._timeout = timeout
        self._idle = IdleConnections[_Session](_MOST_IDLE)
        self.where: str = _show_place(given)
        weakref.finalize(self, self._idle.close)

    @contextmanager
    def transaction(
        self,
        mode: OpenMode,  # noqa: ARG002 - the rights of the user say what it may do
        *,
        writes: bool = False,
    ) -> Iterator[Connection]:
        """Begin a transaction, and commit it at the end.

        Where it ends in an exception, closing the connection undoes it.
        """
        with self._in_session(writes=writes) as session:
            yield session
            session.commit()

    @contextmanager
    def rehearsal(self) -> Iterator[Connection]:
        """Begin a transaction that is alone in the log, and undo it at the end."""
        with self._in_session(writes=True) as session:
            yield session
            session.rollback()

    @contextmanager
    def _in_session(self, *, writes: bool) -> Iterator["_Session"]:
        session = self._begin_session(writes=writes)
        try:
            yield session
        except BaseException:
            session.close()
            raise
        self._idle.put(session)

    def _begin_session(self, *, writes: bool) -> "_Session":
        """Begin over a connection that waits; a server that was started anew has left it."""
        while (session := self._idle.take()) is not None:
            try:
                session.begin(writes=writes)
            except psycopg.Error:
                has_left = session.has_left
                session.close()
                if not has_left:
                    raise
                continue
            return session
        session = self._connect()
        try:
            session.begin(writes=writes)
        except BaseException:
            session.close()
            raise
        return session

    def _connect(self) -> "_Session":
        connection = psycopg.connect(self._given, autocommit=True)
        try:
            given = {"timeout": str(max(int(self._timeout * 1000), 1))}
            found = connection.execute(_PREPARE, given).fetchone()
        except BaseException:
            connection.close()
            raise
        if found is None:
            connection.close()
            raise LogUnavailable(
                f"{self.where}: no schema of its search path exists: make it with CREATE SCHEMA"
            )
        return _Session(connection, _CLASS | int(found[0]))

    def is_absent(self, create: bool) -> bool:
        """Return whether the log is missing and has to be created."""
        if not create:
            return False
        with self.errors("open"), self.transaction("ro") as connection:
            return not names_of_tables(connection)

    def table_names(self, connection: Connection) -> frozenset[str]:
        """Return the names of the tables of the schema."""
        return names_of_tables(connection)

    def keys(self, connection: Connection) -> Mapping[str, bool]:
        """Return of each table whether it has its key."""
        return primary_keys(connection)

    def create(self, connection: Connection) -> None:
        """Make the tables of a decision log, and forbid to change or remove their rows."""
        create_tables(connection)

    def schema_problems(self, connection: Connection) -> tuple[str, ...]:
        """Return how the tables and triggers differ from those that this version makes."""
        return definition_problems(connection)

    def schema(self, connection: Connection) -> Hashable:
        """Return the tables and triggers as they are stored."""
        return stored_definitions(connection)

    def check(self, connection: Connection) -> None:
        """Do nothing: the server checks its files itself."""

    @contextmanager
    def errors(self, doing: Literal["open", "read", "append"]) -> Iterator[None]:
        """Turn the errors of the database into `LogError`s."""
        try:
            yield
        except psycopg.Error as error:
            raise postgres_error(self.where, doing, error) from error
        except UnicodeDecodeError as error:
            raise LogDamaged(
                f"{self.where}: cannot {doing}: a text is damaged: {KEEP_EVIDENCE}"
            ) from error
        except OSError as error:
            reason = escape_text(error.strerror or type(error).__name__).lower()
            raise LogUnavailable(f"{self.where}: cannot {doing}: {reason}") from error

    def close(self) -> None:
        """Close the connections that wait. What uses the store later opens others."""
        self._idle.close()


class _Session:
    """A connection that takes the statements of `harness.log.statements`."""

    def __init__(self, connection: psycopg.Connection[Any], lock: int) -> None:
        self._connection, self._lock = connection, lock

    def begin(self, *, writes: bool) -> None:
        self._connection.execute(
            _BEGIN_WRITING.format(self._lock).encode() if writes else _BEGIN_READING
        )

    def execute(self, statement: str, parameters: Mapping[str, Any] = _NONE, /) -> Iterable[Any]:
        """Execute a statement. A page comes row by row: who reads it stops when it is large."""
        if statement.endswith(_PAGED):
            return self._connection.cursor().stream(
                _translate_statement(statement), parameters, binary=True
            )
        return self._connection.execute(
            _translate_statement(statement), parameters or None, binary=True
        )

    def executemany(self, statement: str, rows: Sequence[Mapping[str, Any]], /) -> None:
        """Execute a statement once for each row, without waiting for the server in between."""
        if rows:
            with self._connection.cursor() as cursor:
                cursor.executemany(_translate_statement(statement), rows)

    def commit(self) -> None:
        self._connection.commit()

    def rollback(self) -> None:
        self._connection.rollback()

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._connection.close()

    @property
    def has_left(self) -> bool:
        """Return whether the server has ended the connection."""
        return self._connection.closed or self._connection.broken


@lru_cache(maxsize=1024)
def _translate_statement(statement: str) -> bytes:
    """Return a statement as libpq and PostgreSQL take it."""
    return _NAMED.sub(r"%(\1)s", statement).replace(" AS BLOB)", " AS bytea)").encode()


def _has_bare_sign(url: str, given: Mapping[str, Any]) -> bool:
    """Return True where an @ that is not encoded came to the host, the port or the database.

    The first @ ends the password: what follows it would be shown as the place of the log.
    """
    places = (given.get(member) or "" for member in ("host", "port", "dbname"))
    has_user = "user" in given or "password" in given
    return url.count("@") > has_user and any("@" in place for place in places)


def _show_place(given: Mapping[str, Any]) -> str:
    """Return where a log is: user, host, port and database, and nothing else of its URL."""
    user, host, port, name = (given.get(member) for member in ("user", "host", "port", "dbname"))
    place = f"{user}@" if user else ""
    place += f"{host or ''}" + (f":{port}" if port else "")
    return escape_text(f"postgresql://{place}/{name or ''}")
