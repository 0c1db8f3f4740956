"""Count what a log holds: refusals, scores, budgets, what was slow or costly, what was asked.

Each question is one statement over the columns, so memory does not grow with the log.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from evals.kinds import EVALUATOR_IDS
from harness.log.search.listing import Listing
from harness.log.search.query import Filters
from harness.log.tables import INDEX
from harness.record import RecordFacts

_DAY: Final = 86_400_000_000
"""Microseconds of a day."""

_MOST_GROUPS: Final = 10_000
"""Kinds, tools or days that are counted apart: those with most, or the latest days."""

_LISTED: Final = 5
"""Records among the slowest and the costliest."""

_OF_BUDGET: Final = ("steps", "tokens", "wall_ms", "cost_micros")
_REFUSED: Final = "status = 'refused_by_critic'"
# Rounded down for times before 1970 too: division truncates.
_DAY_OF: Final = (
    f"CASE WHEN at_us < 0 THEN -(({_DAY - 1} - at_us) / {_DAY}) ELSE at_us / {_DAY} END"
)
_STATUSES: Final = (
    "SELECT status, count(*), min(at_us), max(at_us) FROM {rows} GROUP BY status ORDER BY status"
)
_GROUPS: Final = (
    "SELECT {column}, count(*) AS many FROM {rows} AND " + _REFUSED + " "  # noqa: S608
    "GROUP BY {column} ORDER BY many DESC, {column} IS NOT NULL, {column} LIMIT "
    + str(_MOST_GROUPS)
)
_DAYS: Final = (
    "SELECT " + _DAY_OF + " AS day, count(*), sum(CASE WHEN " + _REFUSED + " THEN 1 ELSE 0 END) "
    "FROM {rows} AND at_us IS NOT NULL AND status NOT IN ('begun', 'critic_error') "
    "GROUP BY " + _DAY_OF + " ORDER BY day DESC LIMIT " + str(_MOST_GROUPS)
)
_SCORES: Final = (
    "SELECT "  # noqa: S608
    + ", ".join(
        f"count(score_{one}), avg(score_{one}), min(score_{one}), "
        f"sum(CASE WHEN status_{one} = 'warn' THEN 1 ELSE 0 END), "
        f"sum(CASE WHEN status_{one} = 'fail' THEN 1 ELSE 0 END)"
        for one in EVALUATOR_IDS
    )
    + " FROM {rows}"
)
_BUDGETS: Final = (
    "SELECT "  # noqa: S608
    + ", ".join(
        f"sum(CASE WHEN {one} IS NOT NULL AND max_{one} IS NOT NULL THEN 1 ELSE 0 END), "
        f"sum(CASE WHEN {one} > max_{one} THEN 1 ELSE 0 END), "
        f"max(CASE WHEN max_{one} > 0 THEN CAST({one} AS DOUBLE PRECISION) / max_{one} END), "
        f"sum(CAST({one} AS DOUBLE PRECISION))"
        for one in _OF_BUDGET
    )
    + " FROM {rows} AND status <> 'begun'"
)
_MOST: Final = (
    "SELECT seq, trace, {column} FROM {rows} AND {column} IS NOT NULL "  # noqa: S608
    "ORDER BY {column} DESC, seq LIMIT " + str(_LISTED)
)
_QUESTION: Final = int(RecordFacts.ASKED)
_ANSWER: Final = int(RecordFacts.YES | RecordFacts.NO)
_ASKED: Final = (
    f"SELECT count(*), coalesce(sum(answered), 0) FROM (SELECT max(facts & {_QUESTION}) AS wanted, "  # noqa: S608
    f"max(CASE WHEN facts & {_ANSWER} > 0 THEN 1 ELSE 0 END) AS answered FROM {{rows}} "
    "GROUP BY trace, turn, plan) AS turns WHERE wanted > 0"
)


class Score(NamedTuple):
    """The scores that an evaluator gave: how many, their mean and least, warnings and failures."""

    scored: int
    mean: float | None
    least: float | None
    warned: int
    failed: int


class Spending(NamedTuple):
    """How decisions kept a limit: `share` is the largest part of its limit that one of them used.

    `measured` are those with a limit and a measure, `over` those that were over it. `total` is what
    all of them used, with a limit or without.
    """

    measured: int
    over: int
    share: float | None
    total: float


class Most(NamedTuple):
    """A record that took long or cost much."""

    seq: int
    trace: str | None
    amount: int


class DayCount(NamedTuple):
    """The decisions of a day, and how many of them were refusals. Days are counted from 1970."""

    day: int
    decided: int
    refused: int


class Statistics(NamedTuple):
    """The counts. Times are in microseconds since 1970.

    `asked` are the plans that were refused where an approval would let them through; of these,
    `answered` are those that a later record has an approval of.
    """

    statuses: Mapping[str, int]
    first_us: int | None
    last_us: int | None
    kinds: Mapping[str | None, int]
    tools: Mapping[str | None, int]
    days: tuple[DayCount, ...]
    scores: Mapping[str, Score]
    budgets: Mapping[str, Spending]
    slowest: tuple[Most, ...]
    costliest: tuple[Most, ...]
    asked: int
    answered: int

    @property
    def records(self) -> int:
        """Return how many records were counted."""
        return sum(self.statuses.values())


def log_statistics(listing: Listing, filters: Filters) -> Statistics:
    """Count the records of a log that are asked for.

    Raises:
        harness.log.log_errors.LogError: the columns cannot be read.
    """
    condition, values = listing.condition(filters)
    source = f"{INDEX} WHERE seq <= :last{condition}"

    def query_rows(statement: str, column: str = "") -> list[tuple[Any, ...]]:
        text = statement.format(rows=source, column=column)
        with listing.begin_reading() as connection:
            rows = connection.execute(text, {"last": listing.last, **values})
            return [tuple(row) for row in rows]

    statuses = query_rows(_STATUSES)
    times = [time for row in statuses for time in row[2:] if time is not None]
    ((wanted, answered),) = query_rows(_ASKED)
    return Statistics(
        statuses={str(status): count for status, count, *_ in statuses},
        first_us=min(times, default=None),
        last_us=max(times, default=None),
        kinds=dict(query_rows(_GROUPS, "kind")),
        tools=dict(query_rows(_GROUPS, "tool")),
        days=tuple(DayCount(*row) for row in reversed(query_rows(_DAYS))),
        scores=_scores(query_rows(_SCORES)[0]),
        budgets=_budgets(query_rows(_BUDGETS)[0]),
        slowest=tuple(Most(*row) for row in query_rows(_MOST, "wall_ms")),
        costliest=tuple(Most(*row) for row in query_rows(_MOST, "cost_micros")),
        asked=wanted,
        answered=int(answered),
    )


def _scores(row: tuple[Any, ...]) -> dict[str, Score]:
    scores: dict[str, Score] = {}
    for at, name in enumerate(EVALUATOR_IDS):
        count, mean, least, warned, failed = row[5 * at : 5 * at + 5]
        scores[name] = Score(count, _float(mean), _float(least), warned or 0, failed or 0)
    return scores


def _budgets(row: tuple[Any, ...]) -> dict[str, Spending]:
    budgets = {}
    for at, name in enumerate(_OF_BUDGET):
        measured, over, share, total = row[4 * at : 4 * at + 4]
        budgets[name] = Spending(measured or 0, over or 0, _float(share), _float(total) or 0.0)
    return budgets


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
