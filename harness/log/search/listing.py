"""List what a log holds, from its index.

Rule 1: what is missing is said: a gap stands among the rows, whatever is searched for.
Rule 2: what the index says of a record is believed here; `check_log` compares it. A row without a
        record is left out, and where the index and the records are not of the same numbers, that
        is said.
Rule 3: a few thousand rows are in memory at a time, and no lock is held between them.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple

from evals.escaping import escape_name
from evals.kinds import Fate
from harness.log.log_errors import LogDamaged
from harness.log.search.query import (
    RECORDED,
    Filters,
    SqlCondition,
    count_unlisted,
    extents,
    index_of,
    listed_rows,
)
from harness.log.search.turns import TurnTable, turn_count, unseen_turns
from harness.log.sql import SqlDecisionLog
from harness.log.store import Connection
from harness.log.tables import INDEX
from harness.record import Gap, TurnKey
from harness.record.index_row import IndexRow

_WINDOW = 4000  # numbers that are searched at once

_TYPES = dict(IndexRow.__annotations__)
_OF_INPUTS = ("session", "tenant", "user", "mode", "tool")
"""The filters for what stands in the inputs of a record alone."""


class Listed(NamedTuple):
    """A record: its columns, the number of the record that ends what it began, and its fate.

    The fate is that of its turn.
    """

    row: IndexRow
    ended_by: int | None
    fate: Fate | None = None


class Listing:
    """The columns of the records of one log."""

    def __init__(self, log: SqlDecisionLog) -> None:
        """Take the records that the log has now.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read.
        """
        self._log = log
        with log.begin_reading() as connection:
            records, index = extents(connection)
            self._whole = records.is_whole
            self._paired = self._whole and index == records
            lacking = 0 if self._paired else count_unlisted(connection)
        self._last = records.last or 0
        self._types = set[tuple[type, ...]]()
        # Where records are missing, their rows are too many, and the gaps say so.
        others = index.rows - (records.rows - lacking) if self._whole else 0
        self.problems = (*log.problems, *_differences(lacking, others))
        """What is wrong with the log: its tables, and its index."""

    def turns(self, filters: Filters) -> TurnTable:
        """Return the turns that are asked for.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read.
        """
        with self._log.begin_reading() as connection:
            return TurnTable(connection, self.condition(filters), filters.fates, self._last)

    def names_in(
        self, column: Literal["trace", "session", "of_tenant", "of_user", "tools"]
    ) -> list[str]:
        """Return what a column says, each once."""
        text = f"SELECT DISTINCT {column} FROM {INDEX} WHERE seq <= {self._last:d}"  # noqa: S608
        with self._log.begin_reading() as connection:
            return [name for (name,) in connection.execute(text) if isinstance(name, str)]

    def count_turns(self) -> int:
        """Return how many turns there are, whatever is asked for."""
        with self._log.begin_reading() as connection:
            ((count,),) = connection.execute(turn_count(self._last))
        return int(count)

    def unseen_turns(self, filters: Filters) -> frozenset[TurnKey]:
        """Return the turns that have lost what filters ask for: it was taken out of the log."""
        columns = [one for one in _OF_INPUTS if getattr(filters, one) is not None]
        if not columns:
            return frozenset()
        with self._log.begin_reading() as connection:
            found = connection.execute(unseen_turns(columns, self._last))
            return frozenset(TurnKey(*key) for key in found)

    def rows_of(self, numbers: Iterable[int]) -> dict[int, IndexRow]:
        """Return the columns of these records; leave out those that the index does not have."""
        with self._log.begin_reading() as connection:
            found = index_of(connection, numbers)
        return {seq: self._check_columns(row) for seq, row in found.items()}

    def rows(self, filters: Filters) -> Iterator[Listed | Gap]:
        """Yield the records that are asked for, in order, and every gap between records.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read any further.
        """
        gaps, turns = self.gaps(), None
        gap = next(gaps, None)
        for listed in self._list_rows(self.condition(filters)):
            turns = self.turns(Filters()) if turns is None else turns
            fate = turns.fate_of(listed.row.seq)
            if filters.fates and fate not in filters.fates:
                continue
            while gap is not None and gap.last < listed.row.seq:
                yield gap
                gap = next(gaps, None)
            yield listed._replace(fate=fate)
        while gap is not None:
            yield gap
            gap = next(gaps, None)

    def gaps(self) -> Iterator[Gap]:
        """Yield the gaps between records, in order."""
        if not self._whole:
            yield from self._log.gaps()

    def begin_reading(self) -> AbstractContextManager[Connection]:
        """Begin to read the columns, in a transaction."""
        return self._log.begin_reading()

    def condition(self, filters: Filters) -> SqlCondition:
        """Return what is asked of a row: that it passes the filters, and that it has a record."""
        condition = filters.condition()
        if self._paired:
            return condition
        return condition._replace(text=condition.text + RECORDED)

    @property
    def last(self) -> int:
        """Return the number of the last record when the listing was opened."""
        return self._last

    def _list_rows(self, condition: SqlCondition) -> Iterator[Listed]:
        after = 0
        while after < self._last:
            # Without gaps, a window has so many rows at most. With gaps, nobody waits for a lock.
            upto = min(after + _WINDOW, self._last) if self._whole else self._last
            with self._log.begin_reading() as connection:
                page = listed_rows(connection, condition, after, upto, _WINDOW)
            for *columns, ended_by in page:
                yield Listed(self._check_columns(columns), ended_by)
            after = page[-1][0] if len(page) == _WINDOW else upto

    def _check_columns(self, columns: Sequence[Any]) -> IndexRow:
        kinds = tuple(map(type, columns))
        if kinds not in self._types:
            self._check_types(columns)
            self._types.add(kinds)
        return IndexRow(*columns)

    def _check_types(self, columns: Sequence[Any]) -> None:
        for name, value in zip(IndexRow._fields, columns, strict=True):
            if not isinstance(value, _TYPES[name]):
                raise LogDamaged(
                    f"{self._log.where}: the index is damaged at record {columns[0]}: it says "
                    f"{name} {escape_name(str(value))}: run `critic log verify`"
                )


def _differences(lacking: int, others: int) -> Iterator[str]:
    if lacking:
        records = "1 record is" if lacking == 1 else f"{lacking} records are"
        yield f"{records} not listed, because the index has no row: run `critic log verify`"
    if others:
        rows = "1 row" if others == 1 else f"{others} rows"
        yield f"the index has {rows} without a record: run `critic log verify`"
