"""The port to one kind of database, and what is checked of any when a log is opened."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Literal, Protocol

from harness.log.log_errors import LogDamaged

KEEP_EVIDENCE: Final = "keep it as evidence and restore the log from a copy"
"""What to do with a damaged log."""

OpenMode = Literal["ro", "rw", "rwc"]
"""What a connection may do: read (`ro`), also write (`rw`), also make the database (`rwc`)."""


class Connection(Protocol):
    """A connection to a database, in a transaction of its own."""

    def execute(self, statement: str, parameters: Mapping[str, Any] = ..., /) -> Iterable[Any]:
        """Execute a statement, and return its rows."""
        ...

    def executemany(self, statement: str, rows: Sequence[Mapping[str, Any]], /) -> object:
        """Execute a statement once for each row of parameters."""
        ...


class Store(Protocol):
    """One kind of database: see the modules `sqlite_store` and `postgres_store`."""

    where: str

    def transaction(
        self, mode: OpenMode, *, writes: bool = False
    ) -> AbstractContextManager[Connection]:
        """Begin a transaction, and commit it at the end. One that `writes` is alone in the log."""
        ...

    def rehearsal(self) -> AbstractContextManager[Connection]:
        """Begin a transaction that is alone in the log, and undo it at the end.

        What is inserted in it takes its room at once.
        """
        ...

    def is_absent(self, create: bool) -> bool:
        """Return whether the log is missing and has to be created.

        Raises:
            LogError: what is there cannot be a log, or nothing is there and `create` is false.
        """
        ...

    def table_names(self, connection: Connection) -> frozenset[str]:
        """Return the names of the tables, without those of the database itself."""
        ...

    def keys(self, connection: Connection) -> Mapping[str, bool]:
        """Return of each table whether it has its key."""
        ...

    def create(self, connection: Connection) -> None:
        """Make the tables, and forbid to change or remove their rows."""
        ...

    def schema_problems(self, connection: Connection) -> tuple[str, ...]:
        """Return how the tables differ from those that this version makes."""
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

    def close(self) -> None:
        """Let go of what is kept between transactions."""
        ...


def changed_tables(where: str, doing: str, problems: Sequence[str]) -> LogDamaged:
    """Return the error for a log whose tables differ from those that this version makes."""
    more = f", and {len(problems) - 3} more" if len(problems) > 3 else ""
    return LogDamaged(
        f"{where}: cannot {doing}: its tables are not as the log made them "
        f"({'; '.join(problems[:3])}{more}): {KEEP_EVIDENCE}"
    )
