"""Read the turns of a log for its tables: all of them, or those that have become more.

Rule 1: a turn is read as a whole, from all its records, each of which has the hash that the log
        claims for it; what has not is named, and the rest of its turn is told.
Rule 2: a few turns are in memory at a time.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from evals.kinds import Fate
from harness.audit.tables.table_columns import Row, TableName
from harness.audit.tables.table_rows import (
    NO_CONTEXT,
    ContextFacts,
    ReadRecord,
    context_facts,
    rows_of_turn,
)
from harness.log.search.listing import Listing
from harness.log.search.query import ENDED_BY, SqlCondition
from harness.log.search.turns import TurnTable
from harness.log.sql import SqlDecisionLog
from harness.record.index_row import IndexRow
from harness.record.parts import whole_of
from harness.replay.index_check import IndexedReader, RowRead
from harness.wire import InvalidInput, parse_json

_TURNS: Final = 64
"""Turns that are read together."""

_CHANGED: Final = (
    f" AND (seq > :f_after OR (status IN ('begun', 'settled') AND {ENDED_BY} > :f_after))"
)


def changed_after(seq: int) -> SqlCondition:
    """Return what is asked of a row: that its turn has become more after a record."""
    return SqlCondition(_CHANGED, {"f_after": seq}) if seq else SqlCondition("", {})


class TurnTables:
    """The rows of the turns of a log that are asked for, as they were at one of its records."""

    def __init__(
        self, log: SqlDecisionLog, condition: SqlCondition, fates: frozenset[Fate], upto: int
    ) -> None:
        """Take a log, which of its turns are asked for, and the last record to read.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read.
        """
        listing = Listing(log)
        self._listing, self._reader, self._log = listing, IndexedReader(log), log
        self._upto = upto
        with listing.begin_reading() as connection:
            self._turns = TurnTable(connection, condition, fates, upto)

    def __len__(self) -> int:
        return len(self._turns)

    def rows(self) -> Iterator[dict[TableName, list[Row]]]:
        """Yield the rows of each turn.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read any further.
        """
        turns = self._turns.turns()
        while page := list(islice(turns, _TURNS)):
            inputs = _Inputs()
            numbers = sorted(number for turn in page for number in turn.records)
            index = self._listing.rows_of(numbers)
            read = {one.row.seq: one for one in self._read(numbers, index, inputs)}
            for turn in page:
                if found := [read[number] for number in turn.records if number in read]:
                    known = turn.as_recorded(one.row.facts for one in found)
                    yield rows_of_turn(known, found, inputs.context_of(found[-1]), self._upto)

    def _read(
        self, numbers: list[int], index: dict[int, IndexRow], inputs: "_Inputs"
    ) -> Iterator[ReadRecord]:
        for one in self._reader.read(numbers):
            row = one.row or index.get(one.document.raw.seq)
            if row is not None and not one.problem:
                yield inputs.read(row, one)

    def problems(self) -> list[str]:
        """Return what is wrong with the log, its index, and the records that were read."""
        gaps = [gap.text() for gap in self._listing.gaps()]
        return [*self._listing.problems, *gaps, *self._reader.problems()]


class _Inputs:
    """The inputs of a few records, each parsed once."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._contexts: dict[str, ContextFacts | None] = {}

    def read(self, row: IndexRow, one: RowRead) -> ReadRecord:
        digests = one.document.digests
        values = {name: self._value(name, one) for name in ("ctx", "plan") if name in digests}
        if (digest := digests.get("compiled")) is not None and digest not in self._contexts:
            compiled = _parse_input("compiled", one)
            self._contexts[digest] = None if compiled is None else context_facts(compiled)
        hidden = {name for name, value in values.items() if value is None}
        hidden |= {name for name, value in one.document.value.items() if value is None}
        hidden |= {"compiled"} if digest is not None and self._contexts[digest] is None else set()
        ctx, plan, own_hash = values.get("ctx"), values.get("plan"), one.document.raw.hash
        return ReadRecord(row, own_hash, one.document.value, ctx, plan, frozenset(hidden))

    def _value(self, name: str, one: RowRead) -> Any:
        digest = one.document.digests[name]
        if digest not in self._values:
            self._values[digest] = _parse_input(name, one)
        return self._values[digest]

    def context_of(self, record: ReadRecord) -> ContextFacts:
        """Return what the context of a record says."""
        named = record.wire.get("inputs")
        digest = named.get("compiled") if isinstance(named, dict) else None
        return self._contexts.get(str(digest)) or NO_CONTEXT


def _parse_input(name: str, one: RowRead) -> Any:
    """Return an input as JSON; None if it is not what was recorded, or not there."""
    digest, bodies = one.document.digests[name], one.page.bodies
    read = one.page.inputs.read(name, digest, bodies, parsed=False)
    if read.tampered or read.incomplete or read.redacted:
        return None
    data = whole_of(bodies[digest], bodies).data
    try:
        return None if data is None else parse_json(data, len(data))
    except InvalidInput:
        return None
