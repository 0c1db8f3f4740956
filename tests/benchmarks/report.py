"""The table for people, and the file that keeps the figures."""

import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import orjson

from tests.benchmarks.timing import Effort, Figure

_VERSIONS = ("orjson", "pydantic", "pydantic_core", "jiter", "jsonschema_rs")
_HEAD = ("", "limit", "median", "(min..max)", "", "us", "in units of")


def table(figures: Iterable[Figure]) -> str:
    """Aligned plain text, one line for each figure."""
    lines = [_HEAD, *map(_cells, figures)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_aligned(line, widths) for line in lines)


def _cells(figure: Figure) -> tuple[str, ...]:
    row = figure.row
    return (
        row.name,
        "" if row.limit is None else f"{row.limit:g}x",
        f"{_number(figure.median)}x",
        f"({_number(figure.low)}..{_number(figure.high)})",
        {None: "", True: "ok", False: "MISSED"}[figure.met],
        _number(figure.microseconds),
        row.unit,
    )


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    to_the_left = {0, 3, 4, 6}
    shown = [
        cell.ljust(width) if column in to_the_left else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(shown).rstrip()


def document(figures: Iterable[Figure], skipped: Sequence[str], effort: Effort) -> bytes:
    """Return the figures as JSON, with what they depend on; nothing names the machine."""
    content: dict[str, Any] = {
        "environment": {
            "date": datetime.now(UTC).date().isoformat(),
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            "system": platform.system(),
            "machine": platform.machine(),
            **{name: _version(name) for name in _VERSIONS},
        },
        "rounds": effort.rounds,
        "rows": [_entry(figure) for figure in figures],
        "skipped": list(skipped),
    }
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"


def _entry(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.row.name,
        "unit": figure.row.unit,
        "limit": figure.row.limit,
        "median": round(figure.median, 3),
        "min": round(figure.low, 3),
        "max": round(figure.high, 3),
        "met": figure.met,
        "microseconds": round(figure.microseconds, 2),
    }
