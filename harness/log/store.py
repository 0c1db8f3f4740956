"""The port to one kind of database, and what is checked of any when a log is opened."""

from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager
from typing import Final, Literal, Protocol

from sqlalchemy import Connection, Engine, insert, inspect, select

from harness.log.errors import LogDamaged, NotALog
from harness.log.tables import FORMATS, LOG_FORMAT, OLD_FORMAT, tables_of

KEEP_EVIDENCE: Final = "keep the file as evidence and restore the log from a copy"
"""What to do with a damaged log."""


class Store(Protocol):
    """One kind of database: see `harness.log.sqlite`."""

    where: str

    def create(self, connection: Connection) -> None:
        """Make the tables, and forbid to change or remove their rows."""
        ...

    def schema_problems(self, connection: Connection, log_format: int) -> tuple[str, ...]:
        """Return how the tables differ from those of their format."""
        ...

    def schema(self, connection: Connection) -> Hashable:
        """Return the tables as they are stored: while it is equal, so are the problems."""
        ...

    def check(self, connection: Connection) -> None:
        """Check that the database is whole, or raise `LogDamaged`."""
        ...

    def errors(self, doing: Literal["open", "read", "append"]) -> AbstractContextManager[None]:
        """Turn the errors of the database into `LogError`s."""
        ...


def initialise(store: Store, engine: Engine) -> None:
    """Make the tables, unless another process just has."""
    with engine.begin() as connection:
        if inspect(connection).get_table_names():
            return
        store.create(connection)
        connection.execute(insert(FORMATS), {"format": LOG_FORMAT})


def check_tables(connection: Connection, where: str) -> int:
    """Check that the tables are there with their keys, and return the format of the log.

    Raises:
        NotALog: it is something else, or a log of another format.
        LogDamaged: a table has lost its key.
    """
    tables = inspect(connection)
    names = set(tables.get_table_names())
    if FORMATS.name not in names:
        raise NotALog(f"{where}: it lacks the tables of a decision log: choose another file")
    log_format = _format(connection, where)
    for table in tables_of(log_format):
        if table.name not in names:
            raise LogDamaged(f"{where}: table {table.name} is missing: {KEEP_EVIDENCE}")
        keys = [column.name for column in table.primary_key]
        if tables.get_pk_constraint(table.name)["constrained_columns"] != keys:
            raise LogDamaged(
                f"{where}: table {table.name} was made anew without its key: {KEEP_EVIDENCE}"
            )
    return log_format


def _format(connection: Connection, where: str) -> int:
    formats = connection.execute(select(FORMATS.c.format).limit(2)).scalars().all()
    for known in (OLD_FORMAT, LOG_FORMAT):
        if formats == [known]:
            return known
    raise NotALog(
        f"{where}: it is in a format that this version cannot read (it reads {OLD_FORMAT} and "
        f"{LOG_FORMAT}): install the version of plan-critic that wrote it"
    )


def changed_tables(where: str, doing: str, problems: Sequence[str]) -> LogDamaged:
    """Return the error for a log whose tables differ from those that this version makes."""
    more = f", and {len(problems) - 3} more" if len(problems) > 3 else ""
    return LogDamaged(
        f"{where}: cannot {doing}: its tables are not as the log made them "
        f"({'; '.join(problems[:3])}{more}): {KEEP_EVIDENCE}"
    )
