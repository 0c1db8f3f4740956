"""What is done in any database when a log is made, and checked when it is opened."""

from harness.log.log_errors import LogDamaged, NotALog
from harness.log.statements import insert_format, stored_formats
from harness.log.store import KEEP_EVIDENCE, Connection, Store
from harness.log.tables import FORMATS, LOG_FORMAT, OLD_FORMAT, UNINDEXED_FORMAT, tables_of


def initialise(store: Store) -> None:
    """Make the tables, unless another process just has."""
    with store.transaction("rwc", writes=True) as connection:
        if not store.table_names(connection):
            store.create(connection)
            insert_format(connection, LOG_FORMAT)


def check_tables(store: Store, connection: Connection) -> int:
    """Check that the tables are there with their keys, and return the format of the log.

    Raises:
        NotALog: it is something else, or a log of another format.
        LogDamaged: a table has lost its key.
    """
    names = store.table_names(connection)
    if FORMATS not in names:
        raise NotALog(f"{store.where}: it lacks the tables of a decision log: choose another place")
    log_format = _format(store, connection)
    if missing := [one for one in tables_of(log_format) if one not in names]:
        raise LogDamaged(f"{store.where}: table {missing[0]} is missing: {KEEP_EVIDENCE}")
    for table, kept in store.keys(connection, log_format).items():
        if not kept:
            raise LogDamaged(
                f"{store.where}: table {table} was made anew without its key: {KEEP_EVIDENCE}"
            )
    return log_format


def _format(store: Store, connection: Connection) -> int:
    formats = stored_formats(connection)
    for known in (OLD_FORMAT, UNINDEXED_FORMAT, LOG_FORMAT):
        if formats == [known]:
            return known
    raise NotALog(
        f"{store.where}: it is in a format that this version cannot read (it reads {OLD_FORMAT} "
        f"to {LOG_FORMAT}): install the version of plan-critic that wrote it"
    )
