"""The statements that write, read and search the index of a decision log.

The rules are those of `harness.log.statements`. A list of names is searched by `replace`, which
databases agree on: LIKE minds upper and lower case in one of them and not in the other.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from typing import Any, Final, NamedTuple

from evals.kinds import Fate
from harness.log.statements import rows_with
from harness.log.store import Connection
from harness.log.tables import INDEX
from harness.record.index_row import EPOCH, MICROSECOND, IndexRow, name_column

_KINDS: Final[Mapping[Any, str]] = {
    int: "INTEGER NOT NULL",
    int | None: "BIGINT",
    float | None: "DOUBLE PRECISION",
    str | None: "TEXT",
}

COLUMN_TYPES: Final = {name: _KINDS[kind] for name, kind in IndexRow.__annotations__.items()}
"""The columns of the index with their types in SQL, in their order. `seq` is the key."""

_COLUMNS: Final = ", ".join(COLUMN_TYPES)
_ROWS: Final = f"SELECT {_COLUMNS} FROM {INDEX}"  # noqa: S608
_FROM_TO: Final = f"{_ROWS} WHERE seq BETWEEN :first AND :last ORDER BY seq"
_EXTENTS: Final = [
    f"SELECT count(*), min(seq), max(seq) FROM {table}"  # noqa: S608
    for table in ("records", INDEX)
]
_UNLISTED: Final = (
    "SELECT count(*) FROM records WHERE NOT EXISTS "  # noqa: S608
    f"(SELECT 1 FROM {INDEX} WHERE {INDEX}.seq = records.seq)"
)
_UNRECORDED: Final = (
    f"SELECT seq FROM {INDEX} WHERE NOT EXISTS "  # noqa: S608
    f"(SELECT 1 FROM records WHERE records.seq = {INDEX}.seq) ORDER BY seq LIMIT :most"
)
ENDED_BY: Final = (
    "(SELECT claims.seq FROM claims, records WHERE records.seq = record_index.seq "
    "AND claims.claim = 'begun ' || records.hash)"
)
"""The number of the record that ends what a record began, or settled, in SQL."""
_LISTED: Final = (
    f"SELECT {_COLUMNS}, CASE WHEN status IN ('begun', 'settled') THEN {ENDED_BY} END FROM {INDEX} "  # noqa: S608
    "WHERE seq > :after AND seq <= :upto"
)

RECORDED: Final = f" AND EXISTS (SELECT 1 FROM records WHERE records.seq = {INDEX}.seq)"  # noqa: S608
"""The condition that a row of the index has its record."""


class Extent(NamedTuple):
    """How many rows a table has, and the first and the last of their numbers; None without any."""

    rows: int
    first: int | None
    last: int | None

    @property
    def is_whole(self) -> bool:
        """Return whether the numbers are those from 1 on, without a gap."""
        return self.rows == 0 or (self.first == 1 and self.last == self.rows)


class SqlCondition(NamedTuple):
    """A condition in SQL, which begins with AND where there is one, and its values.

    Attributes:
        text: what is asked of a record; a turn passes where one of its records does.
        values: what stands for its names.
        began: what is asked of the first record of a turn, and of a record alone.
    """

    text: str
    values: Mapping[str, Any]
    began: str = ""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which records are asked for. What is None or empty lets all of them through.

    Attributes:
        status: of the report, or `shadow`: not allowed, and not enforced; or `begun`, `settled`,
            `critic_error`, or `open`: begun, not ended.
        kind: one of the kinds of its violations, or the evaluator that refused the run.
        check: a check that refused.
        tool: a tool that its plan names: ADAPTER/CAPABILITY, or the capability alone.
        mode: the safety mode.
        tenant, user: whom the session or the run was for.
        since, until: its time is at or after the one, and before the other. The time of a turn is
            that of its first record, so that no turn is on both sides of a moment.
        least_cost, most_cost: what the run cost, in micros; what is not known is not within.
        fates: what became of the turn; any of these.
        numbers: the records are among these: those that were found by what they say.
    """

    status: str | None = None
    kind: str | None = None
    check: str | None = None
    tool: str | None = None
    mode: str | None = None
    trace: str | None = None
    session: str | None = None
    tenant: str | None = None
    user: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    least_cost: int | None = None
    most_cost: int | None = None
    fates: frozenset[Fate] = frozenset()
    numbers: frozenset[int] | None = None

    def condition(self) -> SqlCondition:
        """Return what is asked of a row in SQL: all but the fate, which is of a whole turn."""
        given = [name for name in (*_CONDITIONS, *_TIMES) if getattr(self, name) is not None]
        parts = [_CONDITIONS[name] for name in given if name in _CONDITIONS]
        times = [_TIMES[name] for name in given if name in _TIMES]
        if self.status == "open":
            parts[parts.index(_CONDITIONS["status"])] = _OPEN
        values = {f"f_{name}": getattr(self, name) for name in _PLAIN}
        values |= {f"f_{name}": _micros(getattr(self, name)) for name in ("since", "until")}
        values |= {"f_kind": f" {self.kind} ", "f_only_kind": self.kind}
        values["f_check"] = f" {self.check} "
        tool = name_column(self.tool or "")
        values |= {"f_tool": f" {tool} ", "f_capability": f"/{tool} "}
        if self.session is not None:
            values["f_session"] = name_column(self.session)
        if self.numbers is not None:  # NULL: there may be none of them
            parts.append(f"seq IN (NULL{''.join(f', {one}' for one in sorted(self.numbers))})")
        text, began = ("".join(f" AND {one}" for one in some) for some in (parts, times))
        named = {name: one for name, one in values.items() if f":{name}" in text + began}
        return SqlCondition(text, named, began)


_PLAIN: Final = (
    *("status", "mode", "trace", "session", "tenant", "user"),
    *("least_cost", "most_cost"),
)
_CONDITIONS: Final = {
    "status": "status = :f_status",
    "kind": "(replace(kinds, :f_kind, '') <> kinds OR kind = :f_only_kind)",
    "check": "replace(checks, :f_check, '') <> checks",
    "tool": "(replace(tools, :f_tool, '') <> tools OR replace(tools, :f_capability, '') <> tools)",
    "mode": "mode = :f_mode",
    "trace": "trace = :f_trace",
    "session": "session = :f_session",
    "tenant": "of_tenant = :f_tenant",
    "user": "of_user = :f_user",
    "least_cost": "cost_micros >= :f_least_cost",
    "most_cost": "cost_micros <= :f_most_cost",
}
_TIMES: Final = {"since": "at_us >= :f_since", "until": "at_us < :f_until"}
_OPEN: Final = f"status = 'begun' AND NOT EXISTS {ENDED_BY}"


def insert_index(connection: Connection, rows: Iterable[IndexRow]) -> None:
    """Insert the rows of records, in their order. Without rows, no index is needed."""
    given = ({name: one for name, one in row._asdict().items() if one is not None} for row in rows)
    for names, alike in groupby(given, tuple):  # less than half of the columns, of most records
        connection.executemany(_insertion(names), list(alike))


@lru_cache(maxsize=512)
def _insertion(names: tuple[str, ...]) -> str:
    """Return the statement that inserts a row with these columns."""
    values = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {INDEX} ({', '.join(names)}) VALUES ({values})"  # noqa: S608


def stored_index(connection: Connection, first: int, last: int) -> list[tuple[Any, ...]]:
    """Return the rows of these records as they are stored, unchecked, in order."""
    return [tuple(row) for row in connection.execute(_FROM_TO, {"first": first, "last": last})]


def index_of(connection: Connection, numbers: Iterable[int]) -> dict[int, tuple[Any, ...]]:
    """Return the rows of these records as they are stored, unchecked, by their numbers."""
    return {row[0]: tuple(row) for row in rows_with(connection, _ROWS, "seq", numbers)}


def extents(connection: Connection) -> list[Extent]:
    """Return the extents of the table of the records and of the index."""
    return [Extent(*row) for asked in _EXTENTS for row in connection.execute(asked)]


def count_unlisted(connection: Connection) -> int:
    """Return how many records have no row in the index."""
    ((count,),) = connection.execute(_UNLISTED)
    return int(count)


def unrecorded_numbers(connection: Connection, most: int) -> list[Any]:
    """Return the numbers of rows of the index without a record: at most so many, in order."""
    return [seq for (seq,) in connection.execute(_UNRECORDED, {"most": most})]


def listed_rows(
    connection: Connection, condition: SqlCondition, after: int, upto: int, most: int
) -> list[tuple[Any, ...]]:
    """Return rows of the index, each with the number of the record that ends what it began.

    Args:
        condition: which of them.
        after: rows with higher numbers,
        upto: and with no higher one than this.
        most: how many at most.
    """
    bounds = {"after": after, "upto": upto, "most": most}
    statement = f"{_LISTED}{condition.text}{condition.began} ORDER BY seq LIMIT :most"
    return [tuple(row) for row in connection.execute(statement, {**bounds, **condition.values})]


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - EPOCH) // MICROSECOND
