"""The schema of a log in SQLite: what this version writes, and how a file differs from it.

Rule 1: the whole text counts, not the names. A trigger of the right name may delete what is
        appended, and a view, an index or a column that is not ours may hide or change it.
Rule 2: the statistics that ANALYZE and PRAGMA optimize keep are not a difference. SQLite reads
        them to choose an index, and refuses to put a trigger, an index or a column on them.
"""

import re
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, create_engine

from evals.escaping import escape_name
from harness.log.tables import LOG_FORMAT, METADATA, OLD_FORMAT, tables_of

_APPLICATION_ID: Final = 0x43726974
"""The mark in the header of the file, "Crit": `file` and `sqlite3` show it."""

# INSERT OR REPLACE removes rows without firing a DELETE trigger: hence the guards on INSERT.
_GUARDED: Final = ("records", "inputs", "log_format", "claims")
_TRIGGERS: Final = (
    *(
        f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'the decision log is append-only'); END"
        for table in _GUARDED
        for verb in ("UPDATE", "DELETE")
    ),
    "CREATE TRIGGER records_in_order BEFORE INSERT ON records "
    "WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM records) "
    "OR EXISTS (SELECT 1 FROM records WHERE hash = NEW.hash) "
    "BEGIN SELECT RAISE(ABORT, 'the decision log is append-only'); END",
    "CREATE TRIGGER inputs_once BEFORE INSERT ON inputs "
    "WHEN EXISTS (SELECT 1 FROM inputs WHERE digest = NEW.digest) "
    "BEGIN SELECT RAISE(ABORT, 'the decision log is append-only'); END",
    "CREATE TRIGGER claims_once BEFORE INSERT ON claims "
    "WHEN EXISTS (SELECT 1 FROM claims WHERE claim = NEW.claim) "
    "BEGIN SELECT RAISE(ABORT, 'the decision log is append-only'); END",
)

_SCHEMA: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master"
_APPLICATION: Final = "SELECT 'mark', application_id, '', '' FROM pragma_application_id"

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


def create_schema(connection: Connection, log_format: int = LOG_FORMAT) -> None:
    """Make the tables of a format, mark the file, and forbid to change or remove rows."""
    METADATA.create_all(connection, tables=tables_of(log_format))
    connection.exec_driver_sql(f"PRAGMA application_id = {_APPLICATION_ID}")
    for trigger in _TRIGGERS:
        if log_format != OLD_FORMAT or "ON claims" not in trigger:
            connection.exec_driver_sql(trigger)


def stored_schema(connection: Connection) -> frozenset[tuple[Any, ...]]:
    """Return the schema as it is stored, and the mark of the file: all that can be a problem."""
    rows = connection.exec_driver_sql(f"{_SCHEMA} UNION ALL {_APPLICATION}")
    return frozenset(map(tuple, rows))


def schema_problems(connection: Connection, log_format: int = LOG_FORMAT) -> tuple[str, ...]:
    """Return how the schema differs from the one of its format, a phrase each."""
    stored, expected = _objects(connection), _expected(log_format)
    problems = [f"{item} is unexpected" for item in sorted(stored.keys() - expected.keys())]
    problems += [f"{item} is missing" for item in sorted(expected.keys() - stored.keys())]
    problems += [
        f"{item} was changed"
        for item in sorted(expected.keys() & stored.keys())
        if stored[item] != expected[item]
    ]
    mark = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
    if mark != _APPLICATION_ID:
        problems.append("the mark of a decision log in the header of the file was changed")
    return tuple(problems)


@cache
def _expected(log_format: int) -> dict[_Object, tuple[str, str]]:
    engine = create_engine("sqlite://")
    try:
        with engine.begin() as connection:
            create_schema(connection, log_format)
            return _objects(connection)
    finally:
        engine.dispose()


def _objects(connection: Connection) -> dict[_Object, tuple[str, str]]:
    """Return the table and the text of every object, without those of statistics.

    SQLite refuses a file with a name twice.
    """
    rows = connection.exec_driver_sql(_SCHEMA)
    objects = {
        _Object(str(kind), str(name)): (str(table), _normalised(str(sql)))
        for kind, name, table, sql in rows
    }
    return {item: text for item, text in objects.items() if _STATISTICS.get(item) != text}


def _normalised(sql: str) -> str:
    """Return the text with the white space that SQL does not need taken out."""
    return _AROUND.sub(r"\1", _SPACE.sub(" ", sql)).strip(" ")
