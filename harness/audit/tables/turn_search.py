"""Find the turns of a log by what no column of its index has: their records are read for it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from evals.kinds import ApprovalMode
from harness.audit.tables.table_columns import Row, TableName
from harness.audit.tables.table_rows import scalar_texts
from harness.audit.tables.turn_tables import TurnTables
from harness.errors import UsageError
from harness.log.search.query import Filters
from harness.log.sql import SqlDecisionLog
from harness.record import TurnKey
from harness.record.index_row import name_column
from harness.wire import parse_json

MOST: Final = 100_000
"""Records that a search may find: a statement has to name them."""

_Rows = Mapping[TableName, list[Row]]


@dataclass(frozen=True, slots=True)
class Content:
    """What is asked of a turn. What is None lets all of them through; all of it has to hold.

    Attributes:
        value: an argument of a call, or of what its command does, is this text or number.
        over: a number among the arguments of a call is above this.
        approver: this person answered a question about it, or approved it.
        evidence: a step pinned this item, or an argument stands in it.
        tier: a call is of this tier.
    """

    value: str | None = None
    over: float | None = None
    approver: str | None = None
    evidence: str | None = None
    tier: ApprovalMode | None = None

    def holds(self, rows: _Rows) -> bool:
        """Return whether a turn with these rows is asked for: value, over and tier of one call."""
        calls = any(self._of_call(one, rows["effects"]) for one in rows["calls"])
        asks_calls = self.value is not None or self.over is not None or self.tier is not None
        return (
            (calls or not asks_calls)
            and (self.approver is None or self.approver in _approvers(rows))
            and (self.evidence is None or self.evidence in _used_items(rows))
        )

    def _of_call(self, call: Row, effects: Iterable[Row]) -> bool:
        return (
            (self.tier is None or call["tier"] == self.tier)
            and (self.over is None or any(one > self.over for _, one in call["amounts"]))
            and (self.value is None or self._has_value(call, effects))
        )

    def _has_value(self, call: Row, effects: Iterable[Row]) -> bool:
        parts = (one for one in effects if call["planned"] and one["step"] == call["step"])
        return any(one == self.value for row in (call, *parts) for one in _arg_texts(row)) or any(
            one == _number(self.value) for _, one in call["amounts"]
        )


def _arg_texts(row: Row) -> Iterable[str]:
    return scalar_texts(parse_json(row["args"].encode())) if row["args"] else ()


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _approvers(rows: _Rows) -> set[str]:
    return {one["approver"] for one in rows["answers"] if one["approver"] is not None}


def _used_items(rows: _Rows) -> set[str]:
    return {one["item"] for one in rows["evidence"] if one["use"] != "known"}


@dataclass(slots=True)
class _Seen:
    """The names that turns have, for whoever misspelt one."""

    approvers: set[str] = field(default_factory=set)
    items: set[str] = field(default_factory=set)

    def add(self, rows: _Rows) -> None:
        self.approvers |= _approvers(rows)
        self.items |= _used_items(rows)


class FoundTurns(NamedTuple):
    """The records of the turns that were found, the names that stand there, and what is wrong.

    `unseen` are the turns that were read and have values taken out.
    """

    numbers: frozenset[int]
    approvers: Iterable[str]
    items: Iterable[str]
    problems: tuple[str, ...]
    unseen: frozenset[TurnKey]


def find_turns(log: SqlDecisionLog, filters: Filters, content: Content) -> FoundTurns:
    """Find the turns that pass filters and have this content.

    Raises:
        UsageError: they have more records than a search may find.
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    tables = TurnTables(log, filters.condition(), filters.fates, log.head().seq)
    numbers, seen, unseen = set[int](), _Seen(), set[TurnKey]()
    for rows in tables.rows():
        seen.add(rows)
        unseen |= {_key_of(*rows["turns"])} if rows["turns"][0]["taken_out"] else set()
        if content.holds(rows):
            numbers.update(rows["turns"][0]["records"])
        if len(numbers) > MOST:
            raise UsageError(
                f"over {MOST} records match: ask tables of the log with `critic log query`"
            )
    problems = tuple(tables.problems())
    given = seen.approvers, seen.items, problems
    return FoundTurns(frozenset(numbers), *given, frozenset(unseen))


def _key_of(turn: Row) -> TurnKey:
    trace = turn["trace"]
    return TurnKey(None if trace is None else name_column(trace), turn["turn"], turn["plan"])
