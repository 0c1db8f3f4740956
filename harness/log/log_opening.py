"""Make a log in any database, and check it when it is opened."""

from typing import Any

from harness.log.log_errors import LogDamaged, NotALog
from harness.log.statements import insert_format, stored_formats
from harness.log.store import KEEP_EVIDENCE, Connection, Store
from harness.log.tables import FORMATS, LOG_FORMAT, LOG_TABLES


def initialise(store: Store) -> None:
    """Make the tables, unless another process just has."""
    with store.transaction("rwc", writes=True) as connection:
        if not store.table_names(connection):
            store.create(connection)
            insert_format(connection, LOG_FORMAT)


def check_tables(store: Store, connection: Connection) -> None:
    """Check that the log is of the format of this version, and has its tables with their keys.

    Raises:
        NotALog: it is something else, or a log of another format.
        LogDamaged: a table has lost its key.
    """
    names = store.table_names(connection)
    if FORMATS not in names:
        raise NotALog(f"{store.where}: it lacks the tables of a decision log: choose another place")
    _check_format(store, connection)
    if missing := [log_table for log_table in LOG_TABLES if log_table not in names]:
        raise LogDamaged(f"{store.where}: table {missing[0]} is missing: {KEEP_EVIDENCE}")
    for table, kept in store.keys(connection).items():
        if not kept:
            raise LogDamaged(
                f"{store.where}: table {table} was recreated without its key: {KEEP_EVIDENCE}"
            )


def _check_format(store: Store, connection: Connection) -> None:
    formats = stored_formats(connection)
    if formats != [LOG_FORMAT]:
        found = f"format {formats[0]}" if _is_number(formats) else "no format that can be read"
        raise NotALog(
            f"{store.where}: it is a decision log of {found}, and this version reads format "
            f"{LOG_FORMAT} alone: use the version of plan-critic that wrote it, or begin a new log"
        )


def _is_number(formats: list[Any]) -> bool:
    return len(formats) == 1 and type(formats[0]) is int
