"""List what a log holds: from its index, or from its records where the index does not have them.

Rule 1: what is missing is said: a gap stands among the rows, whatever is searched for.
Rule 2: an index with other numbers than 1 to the last record is not used. What it says of a record
        is believed here; `check_log` compares it.
Rule 3: a few thousand rows are in memory at a time, and no lock is held between them.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import lru_cache
from typing import Any, NamedTuple

from evals.escaping import escape_name
from harness.log.log_errors import LogDamaged
from harness.log.search.query import (
    COLUMN_TYPES,
    Filters,
    extent,
    insert_index,
    listed_rows,
)
from harness.log.sql import SqlDecisionLog
from harness.log.store import Connection
from harness.log.tables import INDEX
from harness.record import BegunRecord, Gap
from harness.record.drafts import begun_claim
from harness.record.index_row import IndexRow, index_row
from harness.wire import InvalidInput, parse_json

_WINDOW = 4000  # numbers that are searched at once
_BATCH = 500  # records whose columns are written at once
_INPUTS = 256  # inputs that are kept parsed

_TYPES = dict(IndexRow.__annotations__)
_TABLES = (
    f"CREATE TABLE {INDEX} ("
    + ", ".join(f"{name} {kind}" for name, kind in COLUMN_TYPES.items())
    + ", PRIMARY KEY (seq))",
    "CREATE TABLE records (seq INTEGER PRIMARY KEY, hash TEXT)",
    "CREATE TABLE claims (claim TEXT PRIMARY KEY, seq INTEGER)",
)
_INSERT_BEGUN = "INSERT INTO records (seq, hash) VALUES (:seq, :hash)"
_INSERT_CLAIM = "INSERT OR REPLACE INTO claims (claim, seq) VALUES (:claim, :seq)"


class Listed(NamedTuple):
    """A record: its columns, and the number of the record that ends what it began, if one does."""

    row: IndexRow
    ended_by: int | None


class Listing:
    """The columns of the records of one log."""

    def __init__(
        self,
        log: SqlDecisionLog,
        reading: Callable[[], AbstractContextManager[Connection]],
        last: int,
        problems: tuple[str, ...],
        *,
        whole: bool,
    ) -> None:
        """Use `open_listing` instead."""
        self._log, self._reading, self._last, self._whole = log, reading, last, whole
        self._sound = set[tuple[type, ...]]()
        self.problems = problems
        """What is wrong with the log: its tables, and its index."""

    def rows(self, filters: Filters) -> Iterator[Listed | Gap]:
        """Yield the records that are asked for, in order, and every gap between records.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read any further.
        """
        gaps = self.gaps()
        gap = next(gaps, None)
        for one in self._listed(filters):
            while gap is not None and gap.last < one.row.seq:
                yield gap
                gap = next(gaps, None)
            yield one
        while gap is not None:
            yield gap
            gap = next(gaps, None)

    def gaps(self) -> Iterator[Gap]:
        """Yield the gaps between records, in order."""
        if not self._whole:
            yield from self._log.gaps()

    def reading(self) -> AbstractContextManager[Connection]:
        """Begin to read the columns, in a transaction."""
        return self._reading()

    @property
    def last(self) -> int:
        """Return the number of the last record when the listing was opened."""
        return self._last

    def _listed(self, filters: Filters) -> Iterator[Listed]:
        after = 0
        while after < self._last:
            # Without gaps, a window has so many rows at most. With gaps, nobody waits for a lock.
            upto = min(after + _WINDOW, self._last) if self._whole else self._last
            with self._reading() as connection:
                page = listed_rows(connection, filters, after, upto, _WINDOW)
            for *columns, ended_by in page:
                yield Listed(self._checked(columns), ended_by)
            after = page[-1][0] if len(page) == _WINDOW else upto

    def _checked(self, columns: Sequence[Any]) -> IndexRow:
        kinds = tuple(map(type, columns))
        if kinds not in self._sound:
            self._check_types(columns)
            self._sound.add(kinds)
        return IndexRow(*columns)

    def _check_types(self, columns: Sequence[Any]) -> None:
        for name, value in zip(IndexRow._fields, columns, strict=True):
            if not isinstance(value, _TYPES[name]):
                raise LogDamaged(
                    f"{self._log.where}: the index is damaged at record {columns[0]}: it says "
                    f"{name} {escape_name(str(value))}: run `critic log verify`"
                )


@contextmanager
def open_listing(log: SqlDecisionLog) -> Iterator[Listing]:
    """Yield the listing of a log, of the records that it has now.

    A log without an index, or with one that has other rows, is read once as a whole, into a
    temporary database.

    Raises:
        harness.log.log_errors.LogError: the log, or a record that has to be read, cannot be read.
    """
    problems = log.problems
    with log.reading() as connection:
        records = extent(connection, "records")
        index = extent(connection, INDEX) if log.has_index else None
    whole, last = records.is_whole, records.last or 0
    if whole and index == records:
        yield Listing(log, log.reading, last, problems, whole=True)
        return
    if whole and index is not None:  # where records are missing, the gaps say so
        problems = (*problems, "its index has other rows than records: the records were read")
    with closing(sqlite3.connect("", isolation_level=None)) as columns:
        _fill(columns, log)
        yield Listing(log, lambda: nullcontext(columns), last, problems, whole=whole)


def _fill(connection: sqlite3.Connection, log: SqlDecisionLog) -> None:
    """Derive the columns of every record of a log."""
    parsed = lru_cache(_INPUTS)(lambda digest: _parsed(log, digest))
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute("BEGIN")
    connection.executemany(_INSERT_CLAIM, _claims(log))
    rows: list[IndexRow] = []
    for record in log.entries():
        inputs = getattr(record, "inputs", None)
        ctx, plan = (parsed(getattr(inputs, name)) if inputs else None for name in ("ctx", "plan"))
        rows.append(index_row(record, ctx, plan, record.seq))
        if isinstance(record, BegunRecord):
            connection.execute(_INSERT_BEGUN, {"seq": record.seq, "hash": record.hash})
        if len(rows) == _BATCH:
            insert_index(connection, rows)
            rows.clear()
    insert_index(connection, rows)
    connection.execute("COMMIT")


def _claims(log: SqlDecisionLog) -> Iterator[dict[str, Any]]:
    begun = begun_claim("")
    for claim, seq in log.all_claims():
        if claim.startswith(begun):
            yield {"claim": claim, "seq": seq}


def _parsed(log: SqlDecisionLog, digest: str) -> Any:
    data = log.input(digest)
    try:
        return None if data is None else parse_json(data, len(data))
    except InvalidInput:
        return None
