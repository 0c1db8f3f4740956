"""The table for people, and the entries of the file that keeps the figures."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from tests.benchmarks.reasons import REASONS
from tests.benchmarks.timing import Figure, Row, Unbuilt

_HEAD: Final = ("", "limit", "median", "(min..max)", "", "costs", "in units of")
_COSTS: Final = {"cpu": (1000, "us"), "wall": (1000, "us by the clock"), "bytes": (1e6, "MB")}


def table(figures: Iterable[Figure], unbuilt: Iterable[Unbuilt] = ()) -> str:
    """Aligned plain text, one line for each figure, and for each row that cannot be measured."""
    lines = [_HEAD, *map(_cells, figures), *map(_cells_without, unbuilt)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_aligned(line, widths) for line in lines)


def _cells(figure: Figure) -> tuple[str, ...]:
    row = figure.row
    scale, unit = _COSTS[row.measure]
    return (
        row.name,
        _limit(row),
        f"{number(figure.median)}x",
        f"({number(figure.low)}..{number(figure.high)})",
        {None: "", True: "ok", False: "MISSED"}[figure.met],
        f"{number(figure.cost / scale)} {unit}",
        row.unit,
    )


def _cells_without(row: Unbuilt) -> tuple[str, ...]:
    return (row.name, _limit(row), "-", "", "", row.missing, row.unit)


def _limit(row: Row | Unbuilt) -> str:
    return "" if row.limit is None else f"{row.limit:g}x"


def number(value: float) -> str:
    """Return a figure with as many digits as say something."""
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    to_the_left = {0, 3, 4, 6}
    shown = [
        cell.ljust(width) if column in to_the_left else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(shown).rstrip()


def entries(figures: Iterable[Figure], unbuilt: Iterable[Unbuilt]) -> list[dict[str, Any]]:
    """Return the rows as they are kept. What misses its limit has its reason beside it."""
    return [*map(_entry, figures), *map(_entry_without, unbuilt)]


def _entry(figure: Figure) -> dict[str, Any]:
    row = figure.row
    entry = {
        "name": row.name,
        "unit": row.unit,
        "limit": row.limit,
        "figure": round(figure.median, 3),
        "low": round(figure.low, 3),
        "high": round(figure.high, 3),
        "met": figure.met,
        "measure": row.measure,
        "cost": round(figure.cost),
        "rounds": figure.rounds,
    }
    return entry if figure.met is not False else {**entry, **_reason(row)}


def _entry_without(row: Unbuilt) -> dict[str, Any]:
    facts = {"name": row.name, "unit": row.unit, "limit": row.limit, "figure": None, "met": None}
    return {**facts, "missing": row.missing, **_reason(row)}


def _reason(row: Row | Unbuilt) -> dict[str, str]:
    reason = REASONS.get((row.name, row.unit))
    return {} if reason is None else {"reason": reason}


def unexplained(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Return the rows on file that miss their limit, or were not measured, without a reason."""
    return [
        f"{row['name']} ({row['unit']})"
        for row in rows
        if row["limit"] is not None and row["met"] is not True and "reason" not in row
    ]
