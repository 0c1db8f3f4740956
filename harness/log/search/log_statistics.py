"""Count the turns of a log: fates, refusals, questions, scores, budgets, what was slow or costly.

Each question is one statement over the columns, so memory does not grow with the log.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from evals.kinds import EVALUATOR_IDS, FATES, Fate
from harness.log.search.listing import Listing
from harness.log.search.query import Filters
from harness.log.search.turns import fate_named, require_facts, turn_groups, turn_rows
from harness.log.tables import INDEX
from harness.record import RecordFacts
from harness.record.fates import REFUSED_FATES

_DAY: Final = 86_400_000_000
"""Microseconds of a day."""

_MOST_GROUPS: Final = 10_000
"""Kinds, tools or days that are counted apart: those with most, or the latest days."""

_LISTED: Final = 5
"""Records among the slowest and the costliest."""

_OF_BUDGET: Final = ("steps", "tokens", "wall_ms", "cost_micros")

# Rounded down for times before 1970 too: division truncates.
_DAY_OF: Final = (
    f"CASE WHEN at_us < 0 THEN -(({_DAY - 1} - at_us) / {_DAY}) ELSE at_us / {_DAY} END"
)
_STATUSES: Final = (
    "SELECT status, count(*), min(at_us), max(at_us) FROM {rows} GROUP BY status ORDER BY status"
)
_TURNS: Final = (
    f"SELECT turn_facts, kind, tool, {_DAY_OF}, count(*) FROM {{rows}} "  # noqa: S608
    f"JOIN {INDEX} ON seq = first_seq GROUP BY turn_facts, kind, tool, {_DAY_OF}"
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
    + f" FROM {{rows}} JOIN {INDEX} ON seq = last_seq"
)
_MOST: Final = (
    "SELECT seq, trace, {column} FROM {rows} AND {column} IS NOT NULL "  # noqa: S608
    "ORDER BY {column} DESC, seq LIMIT " + str(_LISTED)
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
    """The turns of a day, and how many of them were refused. Days are counted from 1970."""

    day: int
    turns: int
    refused: int


class QuestionCounts(NamedTuple):
    """The turns in which a person was asked, and what became of that: the rest are open."""

    asked: int
    yes: int
    no: int
    lapsed: int


class Statistics(NamedTuple):
    """The counts: of records by their status, and of turns. Times are in microseconds since 1970.

    `kinds`, `tools` and `days` are of the turns whose fate is `refused` or `asked_no`, by their
    first record.
    """

    statuses: Mapping[str, int]
    first_us: int | None
    last_us: int | None
    fates: Mapping[Fate, int]
    questions: QuestionCounts
    kinds: Mapping[str | None, int]
    tools: Mapping[str | None, int]
    days: tuple[DayCount, ...]
    scores: Mapping[str, Score]
    budgets: Mapping[str, Spending]
    slowest: tuple[Most, ...]
    costliest: tuple[Most, ...]

    @property
    def records(self) -> int:
        """Return how many records were counted."""
        return sum(self.statuses.values())

    @property
    def turns(self) -> int:
        """Return how many turns were counted."""
        return sum(self.fates.values())

    @property
    def refused(self) -> int:
        """Return how many turns were refused."""
        return sum(count for name, count in self.fates.items() if name in REFUSED_FATES)


def log_statistics(listing: Listing, filters: Filters) -> Statistics:
    """Count the turns of a log that are asked for.

    Raises:
        harness.log.log_errors.LogError: the columns cannot be read.
    """
    condition = listing.condition(filters)
    turns_wanted = turn_groups(condition, filters.fates)
    is_whole = filters == Filters()
    of_these = f"{turn_rows(condition, filters.fates)} WHERE 1 = 1"
    of_records = f"{INDEX} WHERE seq <= :last{condition.text}" if is_whole else of_these

    def query_rows(statement: str, source: str, column: str = "") -> list[tuple[Any, ...]]:
        text = statement.format(rows=source, column=column)
        with listing.begin_reading() as connection:
            rows = connection.execute(text, {"last": listing.last, **condition.values})
            return [tuple(row) for row in rows]

    statuses = query_rows(_STATUSES, of_records)
    times = [time for row in statuses for time in row[2:] if time is not None]
    turns = _Turns(query_rows(_TURNS, turns_wanted))
    return Statistics(
        statuses={str(status): count for status, count, *_ in statuses},
        first_us=min(times, default=None),
        last_us=max(times, default=None),
        fates=turns.fates(),
        questions=turns.questions(),
        kinds=turns.refused_by(1),
        tools=turns.refused_by(2),
        days=turns.days(),
        scores=_scores(query_rows(_SCORES, of_records)[0]),
        budgets=_budgets(query_rows(_BUDGETS, turns_wanted)[0]),
        slowest=tuple(Most(*row) for row in query_rows(_MOST, of_records, "wall_ms")),
        costliest=tuple(Most(*row) for row in query_rows(_MOST, of_records, "cost_micros")),
    )


class _Turns:
    """The turns of a log in groups: of the same facts, kind, tool and day."""

    def __init__(self, groups: list[tuple[Any, ...]]) -> None:
        self._groups = [(require_facts(group[0]), *group[1:]) for group in groups]

    def fates(self) -> dict[Fate, int]:
        """Return how many turns have each fate, in the order of `FATES`."""
        counts = Counter[Fate]()
        for facts, *_, count in self._groups:
            counts[fate_named(facts)] += count
        return {name: counts[name] for name in FATES if counts[name]}

    def questions(self) -> QuestionCounts:
        """Return what became of the questions."""
        asked = [(facts, n) for facts, *_, n in self._groups if facts & RecordFacts.ASKED]
        yes, no = (
            sum(n for facts, n in asked if facts & one) for one in (RecordFacts.YES, RecordFacts.NO)
        )
        lapsed = sum(n for facts, n in asked if facts & _UNANSWERED == RecordFacts.LAPSED)
        return QuestionCounts(sum(n for _, n in asked), yes, no, lapsed)

    def refused_by(self, column: int) -> dict[str | None, int]:
        """Return how many refused turns have each value of a column, those with most first."""
        counts = Counter[str | None]()
        for group in self._groups:
            counts[group[column]] += group[-1] if fate_named(group[0]) in REFUSED_FATES else 0
        order = sorted(counts, key=lambda name: (-counts[name], name is not None, name or ""))
        return {name: counts[name] for name in order[:_MOST_GROUPS] if counts[name]}

    def days(self) -> tuple[DayCount, ...]:
        """Return the latest days, in order."""
        turns, refused = Counter[int](), Counter[int]()
        for facts, *_, day, count in self._groups:
            if day is not None:
                turns[day] += count
                refused[day] += count if fate_named(facts) in REFUSED_FATES else 0
        return tuple(
            DayCount(day, turns[day], refused[day]) for day in sorted(turns)[-_MOST_GROUPS:]
        )


_UNANSWERED: Final = RecordFacts.YES | RecordFacts.NO | RecordFacts.LAPSED


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
