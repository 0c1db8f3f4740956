"""Ratios of CPU time, taken so that neighbours on the machine spoil few of them.

Rule 1: CPU time of this thread, of this process, or of the children; the wall clock only where a
        row says so, since what runs side by side gains nothing else.
Rule 2: the rows take turns, round after round; within a row, the work and what it is compared
        with take turns, batch after batch. A ratio is taken inside one round only, and the figure
        is the median of the rounds.
        A row that takes seconds has fewer rounds.
Rule 3: the garbage collector is off while the clock runs, and inputs are made while it does not.
"""

import gc
import math
import time
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any, Final, Literal, NamedTuple

Cost = Callable[[int], float]
"""CPU nanoseconds for one input, measured over the inputs of the batch of that number."""

Measure = Literal["cpu", "wall", "bytes"]

_MOST_BATCHES: Final = 60
_FEWEST_ROUNDS: Final = 3


class Row(NamedTuple):
    """One line of the table: what `work` costs over what `base` costs. No limit: information.

    `measure` is what both are counted in: nanoseconds, or bytes of memory.
    """

    name: str
    unit: str
    limit: float | None
    work: Cost
    base: Cost
    measure: Measure = "cpu"


class Unbuilt(NamedTuple):
    """A line of the table without a figure. `missing` says why: not built, or not measured."""

    name: str
    unit: str
    limit: float | None
    missing: str


class Effort(NamedTuple):
    """How long to measure.

    `rounds` for each row, and CPU milliseconds for it in each. A row whose rounds would take more
    than `most_seconds` together has fewer of them.
    """

    rounds: int
    milliseconds: float
    most_seconds: float = 20.0


class Figure(NamedTuple):
    """What was measured of a row. `cost` is what one input costs, on this machine."""

    row: Row
    median: float
    low: float
    high: float
    cost: float
    rounds: int

    @property
    def met(self) -> bool | None:
        """Return whether the median keeps the limit; None without a limit."""
        return None if self.row.limit is None else self.median <= self.row.limit


def of_thread(run: Callable[[Any], object], inputs: Callable[[int], Sequence[Any]]) -> Cost:
    """Return the cost of `run(input)` without its result. `inputs` makes a batch, unmeasured."""
    return _by_clock(time.thread_time_ns, run, inputs)


def of_process(run: Callable[[Any], object], inputs: Callable[[int], Sequence[Any]]) -> Cost:
    """Return the same for work that starts threads: all of them count."""
    return _by_clock(time.process_time_ns, run, inputs)


def of_clock(run: Callable[[Any], object], inputs: Callable[[int], Sequence[Any]]) -> Cost:
    """Return the same by the clock on the wall: for work that waits for a disk or a server."""
    return _by_clock(time.perf_counter_ns, run, inputs)


def shared(cost: Cost, count: int) -> Cost:
    """Return the cost of one of the `count` things that each input holds."""
    return lambda batch: cost(batch) / count


def _by_clock(
    clock: Callable[[], int],
    run: Callable[[Any], object],
    inputs: Callable[[int], Sequence[Any]],
) -> Cost:
    def cost(batch: int) -> float:
        items = inputs(batch)
        gc.disable()
        try:
            start = clock()
            for item in items:
                run(item)
            return (clock() - start) / len(items)
        finally:
            gc.enable()

    return cost


def measure(
    rows: Sequence[Row],
    effort: Effort,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> list[Figure]:
    """Measure every row in turn, for as many rounds as `effort` gives."""
    pace = [_pace(row, effort) for row in rows]
    found: list[list[tuple[float, float]]] = [[] for _ in rows]
    for number in progress(range(effort.rounds)):
        for row, (batches, rounds), measured in zip(rows, pace, found, strict=True):
            if number < rounds:
                measured.append(_round(row, batches, number))
    return [_figure(row, measured) for row, measured in zip(rows, found, strict=True)]


def _pace(row: Row, effort: Effort) -> tuple[int, int]:
    """Return how many batches fill a round, and how many rounds there are time for.

    Both follow from the second batch: the first warms up.
    """
    used = waited = 0
    for batch in range(2):
        start, began = time.process_time_ns(), time.perf_counter_ns()
        row.work(batch)
        row.base(batch)
        used, waited = time.process_time_ns() - start, time.perf_counter_ns() - began
    # A process that was started takes its time elsewhere.
    batches = effort.milliseconds * 1e6 / max(used, waited / 4, 1)
    filled = max(1, min(_MOST_BATCHES, math.ceil(batches)))
    affordable = math.floor(effort.most_seconds * 1e9 / max(waited * filled, 1))
    return filled, min(effort.rounds, max(_FEWEST_ROUNDS, affordable))


def _round(row: Row, count: int, number: int) -> tuple[float, float]:
    """Return the cost of work and base of a row for one input in this round."""
    work = base = 0.0
    for batch in range(number * count, (number + 1) * count):
        if batch % 2:
            work += row.work(batch)
            base += row.base(batch)
        else:
            base += row.base(batch)
            work += row.work(batch)
    return work / count, base / count


def _figure(row: Row, measured: Sequence[tuple[float, float]]) -> Figure:
    ratios = [work / base for work, base in measured]
    cost = median(work for work, _ in measured)
    return Figure(row, median(ratios), min(ratios), max(ratios), cost, len(measured))
