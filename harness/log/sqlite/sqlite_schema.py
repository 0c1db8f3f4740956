"""The schema of a log in SQLite: what this version writes, and how a file differs from it.

Rule 1: the whole text counts, not the names. A trigger of the right name may delete what is
        appended, and a view, an index or a column that is not ours may hide or change it.
Rule 2: the statistics that ANALYZE and PRAGMA optimize keep are not a difference. SQLite reads
        them to choose an index, and refuses to put a trigger, an index or a column on them.
"""

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from typing import Any, Final, NamedTuple

from evals.escaping import escape_name
from harness.log.search.query import COLUMN_TYPES
from harness.log.store import Connection
from harness.log.tables import APPEND_ONLY, INDEX, JOURNAL, LOG_TABLES

_APPLICATION_ID: Final = 0x43726974
"""The mark in the header of the file, "Crit": `file` and `sqlite3` show it."""

# SQLite keeps the key of a table in order only if its type is spelled INTEGER.
_DEFINITIONS: Final = {
    "log_format": "CREATE TABLE log_format (format INTEGER NOT NULL, PRIMARY KEY (format))",
    "inputs": "CREATE TABLE inputs (digest VARCHAR(64) NOT NULL, body BLOB NOT NULL, "
    "PRIMARY KEY (digest))",
    "records": "CREATE TABLE records (seq INTEGER NOT NULL, hash VARCHAR(64) NOT NULL, "
    "body BLOB NOT NULL, PRIMARY KEY (seq), UNIQUE (hash))",
    "claims": "CREATE TABLE claims (claim VARCHAR(1000) NOT NULL, seq INTEGER NOT NULL, "
    "PRIMARY KEY (claim)) WITHOUT ROWID",
    INDEX: f"CREATE TABLE {INDEX} ("
    + ", ".join(f"{name} {kind}" for name, kind in COLUMN_TYPES.items())
    + ", PRIMARY KEY (seq))",
    JOURNAL: f"CREATE TABLE {JOURNAL} (session VARCHAR(64) NOT NULL, number INTEGER NOT NULL, "
    "seq INTEGER, begun VARCHAR(64), body BLOB NOT NULL, PRIMARY KEY (session, number))",
}

_REFUSED: Final = "BEGIN SELECT RAISE(ABORT, 'the decision log is append-only'); END"
# INSERT OR REPLACE removes rows without firing a DELETE trigger: hence the guards on INSERT.
_IN_ORDER: Final = {
    "records": (
        "in_order",
        "NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM records) "
        "OR EXISTS (SELECT 1 FROM records WHERE hash = NEW.hash)",
    ),
    "inputs": ("once", "EXISTS (SELECT 1 FROM inputs WHERE digest = NEW.digest)"),
    "claims": ("once", "EXISTS (SELECT 1 FROM claims WHERE claim = NEW.claim)"),
    INDEX: ("in_order", "NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM record_index)"),
}
"""What an insert must not do: the end of the name of a trigger, and its condition."""

_TRIGGERS: Final = (
    *(
        f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} {_REFUSED}"
        for table in APPEND_ONLY
        for verb in ("UPDATE", "DELETE")
    ),
    *(
        f"CREATE TRIGGER {table}_{name} BEFORE INSERT ON {table} WHEN {when} {_REFUSED}"
        for table, (name, when) in _IN_ORDER.items()
    ),
)

_SCHEMA: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master"
_APPLICATION: Final = "SELECT 'mark', application_id, '', '' FROM pragma_application_id"
_COLUMNS: Final = (
    "SELECT tables.name, columns.name, columns.hidden, tables.sql LIKE 'CREATE VIRTUAL%' "
    "FROM sqlite_master AS tables, pragma_table_xinfo(tables.name) AS columns "
    "WHERE tables.type = 'table'"
)
_KEY: Final = "SELECT name FROM pragma_table_info(:name) WHERE pk > 0 ORDER BY pk"

# White space as SQLite knows it: to SQLite, any other kind is a part of a name.
_SPACE: Final = re.compile(r"[ \t\n\f\r]+")
_AROUND: Final = re.compile(r" ?([(),;]) ?")


class _Object(NamedTuple):
    """A table, index, trigger or view, as its kind and name say."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{escape_name(self.kind)} {escape_name(self.name)}"


# As SQLite itself writes them; the second only where it was compiled to (SQLITE_ENABLE_STAT4).
_STATISTICS: Final = {
    _Object("table", name): (name, f"CREATE TABLE {name}({columns})")
    for name, columns in (
        ("sqlite_stat1", "tbl,idx,stat"),
        ("sqlite_stat4", "tbl,idx,neq,nlt,ndlt,sample"),
    )
}


def create_schema(connection: Connection) -> None:
    """Make the tables, mark the file, and forbid to change or remove rows."""
    for table in LOG_TABLES:
        connection.execute(_DEFINITIONS[table])
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    for trigger in _TRIGGERS:
        connection.execute(trigger)


def stored_schema(connection: Connection) -> frozenset[tuple[Any, ...]]:
    """Return the schema as it is stored, and the mark of the file: all that can be a problem."""
    rows = connection.execute(f"{_SCHEMA} UNION ALL {_APPLICATION}")
    return frozenset(map(tuple, rows))


def kept_keys(connection: Connection) -> dict[str, bool]:
    """Return of each table whether it has its key."""
    expected = _expected_schema().keys
    return {name: _key_columns(connection, name) == key for name, key in expected.items()}


def computed_column(connection: Connection) -> str | None:
    """Return a column of a log that this file does not store, but works out when it is read.

    A few kilobytes of file can hold gigabytes of such values.
    """
    ours = _expected_schema().columns
    for table, name, hidden, is_virtual in connection.execute(_COLUMNS):
        if (table, name) in ours and (hidden or is_virtual):
            return f"{table}.{name}"
    return None


def schema_problems(connection: Connection) -> tuple[str, ...]:
    """Return how the schema differs from the one that this version makes, a phrase each."""
    stored, expected = _schema_objects(connection), _expected_schema().objects
    problems = [f"{item} is unexpected" for item in sorted(stored.keys() - expected.keys())]
    problems += [f"{item} is missing" for item in sorted(expected.keys() - stored.keys())]
    problems += [
        f"{item} was changed"
        for item in sorted(expected.keys() & stored.keys())
        if stored[item] != expected[item]
    ]
    if [*connection.execute("PRAGMA application_id")] != [(_APPLICATION_ID,)]:
        problems.append("the mark of a decision log in the header of the file was changed")
    return tuple(problems)


class _Schema(NamedTuple):
    objects: Mapping[_Object, tuple[str, str]]
    keys: Mapping[str, tuple[str, ...]]
    columns: frozenset[tuple[str, str]]


@cache
def _expected_schema() -> _Schema:
    with closing(sqlite3.connect(":memory:")) as connection:
        create_schema(connection)
        keys = {table: _key_columns(connection, table) for table in LOG_TABLES}
        columns = frozenset((table, name) for table, name, *_ in connection.execute(_COLUMNS))
        return _Schema(_schema_objects(connection), keys, columns)


def _key_columns(connection: Connection, table: str) -> tuple[str, ...]:
    return tuple(name for (name,) in connection.execute(_KEY, {"name": table}))


def _schema_objects(connection: Connection) -> dict[_Object, tuple[str, str]]:
    """Return the table and the text of every object, without those of statistics.

    SQLite refuses a file with a name twice.
    """
    rows = connection.execute(_SCHEMA)
    objects = {
        _Object(str(kind), str(name)): (str(table), _normalise_sql(str(sql)))
        for kind, name, table, sql in rows
    }
    return {item: text for item, text in objects.items() if _STATISTICS.get(item) != text}


def _normalise_sql(sql: str) -> str:
    """Return the text with the white space that SQL does not need taken out."""
    return _AROUND.sub(r"\1", _SPACE.sub(" ", sql)).strip(" ")
