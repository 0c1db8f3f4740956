"""The port to one kind of database, and what is checked of any when a log is opened."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Final, Literal, Protocol

from sqlalchemy import Connection, Engine, insert, inspect, select

from harness.log.errors import LogDamaged, NotALog
from harness.log.tables import FORMATS, LOG_FORMAT, METADATA

KEEP_EVIDENCE: Final = "keep the file as evidence and restore the log from a copy"
"""What to do with a damaged log."""


class Store(Protocol):
    """One kind of database: see `harness.log.sqlite`."""

    where: str

    def create(self, connection: Connection) -> None:
        """Make the tables, and forbid to change or remove their rows."""
        ...

    def schema_problems(self, connection: Connection) -> tuple[str, ...]:
        """Return how the tables differ from those that `create` makes."""
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


def check_tables(connection: Connection, where: str) -> None:
    """Check that the tables are there with their keys, and the format is this version's.

    Raises:
        NotALog: it is something else, or a log of another format.
        LogDamaged: a table has lost its key.
    """
    tables = inspect(connection)
    if not set(METADATA.tables) <= set(tables.get_table_names()):
        raise NotALog(f"{where}: it lacks the tables of a decision log: choose another file")
    for table in METADATA.tables.values():
        keys = [column.name for column in table.primary_key]
        if tables.get_pk_constraint(table.name)["constrained_columns"] != keys:
            raise LogDamaged(
                f"{where}: table {table.name} was made anew without its key: {KEEP_EVIDENCE}"
            )
    formats = connection.execute(select(FORMATS.c.format)).scalars().all()
    if formats != [LOG_FORMAT]:
        raise NotALog(
            f"{where}: it is in a format that this version cannot read (it reads {LOG_FORMAT}): "
            "install the version of plan-critic that wrote it"
        )


def changed_tables(where: str, doing: str, problems: Sequence[str]) -> LogDamaged:
    """Return the error for a log whose tables differ from those that this version makes."""
    more = f", and {len(problems) - 3} more" if len(problems) > 3 else ""
    return LogDamaged(
        f"{where}: cannot {doing}: its tables are not as the log made them "
        f"({'; '.join(problems[:3])}{more}): {KEEP_EVIDENCE}"
    )
