"""Ratios of CPU time, taken so that neighbours on the machine spoil few of them.

Rule 1: CPU time of this thread (or of the children), never the wall clock.
Rule 2: the rows take turns, round after round; within a row, the work and what it is compared
        with take turns, batch after batch. A ratio is taken inside one round only, and the figure
        is the median of the rounds.
Rule 3: the garbage collector is off while the clock runs, and inputs are made while it does not.
"""

import gc
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

Cost = Callable[[int], float]
"""CPU nanoseconds for one input, measured over the inputs of the batch of that number."""

_MOST_BATCHES = 60


class Row(NamedTuple):
    """One line of the table: what `work` costs over what `base` costs. No limit: information."""

    name: str
    unit: str
    limit: float | None
    work: Cost
    base: Cost


class Effort(NamedTuple):
    """How long to measure: the number of rounds, and CPU milliseconds for each row in each."""

    rounds: int
    milliseconds: float


class Figure(NamedTuple):
    """What was measured of a row. `microseconds` are CPU time for one input, on this machine."""

    row: Row
    median: float
    low: float
    high: float
    microseconds: float

    @property
    def met(self) -> bool | None:
        """Return whether the median keeps the limit; None without a limit."""
        return None if self.row.limit is None else self.median <= self.row.limit


def of_thread(run: Callable[[Any], object], inputs: Callable[[int], Sequence[Any]]) -> Cost:
    """Return the cost of `run(input)` without its result. `inputs` makes a batch, unmeasured."""

    def cost(batch: int) -> float:
        items = inputs(batch)
        gc.disable()
        try:
            start = time.thread_time_ns()
            for item in items:
                run(item)
            return (time.thread_time_ns() - start) / len(items)
        finally:
            gc.enable()

    return cost


def measure(
    rows: Sequence[Row],
    effort: Effort,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> list[Figure]:
    """Measure every row in turn, for as many rounds as `effort` gives."""
    batches = [_batches(row, effort.milliseconds * 1e6) for row in rows]
    rounds = [list(_round(rows, batches, number)) for number in progress(range(effort.rounds))]
    return [
        _figure(row, measured)
        for row, measured in zip(rows, zip(*rounds, strict=True), strict=True)
    ]


def _batches(row: Row, wanted_ns: float) -> int:
    """Return how many batches fill a round, by the time of the second: the first warms up."""
    used = 0
    for batch in range(2):
        start = time.thread_time_ns()
        row.work(batch)
        row.base(batch)
        used = time.thread_time_ns() - start
    return max(1, min(_MOST_BATCHES, math.ceil(wanted_ns / max(used, 1))))


def _round(
    rows: Sequence[Row], batches: Sequence[int], number: int
) -> Iterator[tuple[float, float]]:
    """Yield the cost of work and base of each row for one input in this round."""
    for row, count in zip(rows, batches, strict=True):
        work = base = 0.0
        for batch in range(number * count, (number + 1) * count):
            if batch % 2:
                work += row.work(batch)
                base += row.base(batch)
            else:
                base += row.base(batch)
                work += row.work(batch)
        yield work / count, base / count


def _figure(row: Row, measured: Sequence[tuple[float, float]]) -> Figure:
    ratios = [work / base for work, base in measured]
    micros = median(work for work, _ in measured) / 1000
    return Figure(row, median(ratios), min(ratios), max(ratios), micros)
