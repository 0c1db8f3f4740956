"""Refusals by kind over time, as the boxes of a small chart. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from harness.audit.report.page_words import REFUSAL_WORDS

WIDTH: Final = 720
HEIGHT: Final = 200
_LEFT, _TOP, _BOTTOM = 36, 10, 24
_MOST: Final = 48
"""Spans of time, at most."""
_MONDAY: Final = datetime(1, 1, 1, tzinfo=UTC)
_UNITS: Final = (
    (3600, "hour"),
    (6 * 3600, "6 hours"),
    (86400, "day"),
    (7 * 86400, "week"),
    (28 * 86400, "4 weeks"),
    (364 * 86400, "52 weeks"),
)


class Box(NamedTuple):
    """One box of a bar, in units of the picture."""

    kind: str
    x: float
    y: float
    width: float
    height: float


class ChartSpan(NamedTuple):
    """The refusals of one span of time."""

    label: str
    kinds: Counter[str]
    decided: int
    boxes: tuple[Box, ...]


class Tick(NamedTuple):
    """A mark of an axis: where it is, and what it says."""

    at: float
    text: str


class Chart(NamedTuple):
    """The chart, and its numbers for a table."""

    unit: str
    spans: tuple[ChartSpan, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


def chart_of(refusals: Sequence[tuple[datetime, str]], decided: Iterable[datetime]) -> Chart | None:
    """Return the chart, or None where there is nothing to compare: fewer than two spans."""
    if not refusals:
        return None
    seconds = [_seconds(one) for one in decided]
    first, last = min(seconds), max(seconds)
    size, unit = _unit(last - first)
    start, end = first // size, last // size
    if start == end:
        return None
    kinds: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for at, kind in refusals:
        kinds[_seconds(at) // size - start][kind] += 1
    totals = Counter(one // size - start for one in seconds)
    highest = max(one.total() for one in kinds.values())
    width = (WIDTH - _LEFT) / (end - start + 1)
    spans = tuple(
        ChartSpan(
            _label((start + n) * size, size),
            kinds[n],
            totals[n],
            _boxes(kinds[n], n, width, highest),
        )
        for n in range(end - start + 1)
    )
    step = -(-len(spans) // 6)
    across = tuple(
        Tick(_LEFT + width * (n + 0.5), spans[n].label) for n in range(0, len(spans), step)
    )
    return Chart(unit, spans, across, _scale(highest))


def _seconds(moment: datetime) -> int:
    return (moment - _MONDAY) // timedelta(seconds=1)


def _unit(seconds: int) -> tuple[int, str]:
    for size, unit in _UNITS:
        if seconds // size < _MOST - 1:
            return size, unit
    years = seconds // (364 * 86400 * (_MOST - 2)) + 1
    return 364 * 86400 * years, f"{52 * years} weeks"


def _label(seconds: int, size: int) -> str:
    start = _MONDAY + timedelta(seconds=seconds)
    # `strftime` writes the year 1 as `1`.
    return start.isoformat()[: 10 if size >= 86400 else 16].replace("T", " ")


def _boxes(kinds: Counter[str], number: int, width: float, highest: int) -> tuple[Box, ...]:
    tall = (HEIGHT - _TOP - _BOTTOM) / highest
    wide, x, y = min(width * 0.8, 40.0), _LEFT + width * number, float(HEIGHT - _BOTTOM)
    x += (width - wide) / 2
    boxes = []
    for kind in REFUSAL_WORDS:
        if count := kinds[kind]:
            y -= count * tall
            boxes.append(
                Box(kind, round(x, 2), round(y, 2), round(wide, 2), round(count * tall, 2))
            )
    return tuple(boxes)


def _scale(highest: int) -> tuple[Tick, ...]:
    tall, floor = HEIGHT - _TOP - _BOTTOM, HEIGHT - _BOTTOM
    values = (0, highest) if highest % 2 else (0, highest // 2, highest)
    return tuple(Tick(floor - tall * value / highest, str(value)) for value in values)
