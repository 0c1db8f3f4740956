"""What a what-if takes by columns, for a million plans of 1 to 12 steps, of 200 distinct ones.

A row is of a thousand plans, over the judging of one of them: so a figure below 4 or so is a rate
of five million plans a second.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tests.benchmarks.timing import Row, Unbuilt, shared

PLANS: Final = 1_000_000
_THOUSANDS: Final = PLANS // 1000
_LIMIT: Final = 4.0
_UNIT: Final = "verify of one of them"
_JUDGED: Final = "what-if by columns, 1,000 plans"
_READ: Final = f"{_JUDGED}, with the file and its context"
_CONTEXTS: Final = {30: 11.0, 300: 56.0}
"""The limits where the plans are of so many contexts: 0.8 and 4 us a plan of 71 us each."""


def what_if_rows(folder: Path) -> list[Row | Unbuilt]:
    """Return the rows, or that they are not measured."""
    if find_spec("numpy") is None or find_spec("pyarrow") is None:
        missing = "pip install 'plan-critic[columnar]'"
        limits = {_JUDGED: _LIMIT, _READ: None}
        limits |= {_in_contexts(count): limit for count, limit in _CONTEXTS.items()}
        return [Unbuilt(name, _UNIT, limit, missing) for name, limit in limits.items()]
    from tests.benchmarks import columns  # noqa: PLC0415 - needs both

    path = folder / "plans.parquet"
    columns.write_plans(path, PLANS)
    one, judged = columns.verifying_cost(), shared(columns.judging_cost(path), _THOUSANDS)
    read = shared(columns.reading_cost(path), _THOUSANDS)
    rows: list[Row | Unbuilt] = [
        Row(_JUDGED, _UNIT, _LIMIT, judged, one),
        Row(_READ, _UNIT, None, read, one),
    ]
    for count, limit in _CONTEXTS.items():
        path = folder / f"plans-{count}.parquet"
        columns.write_plans(path, PLANS, contexts=count)
        cost = shared(columns.reading_cost(path), _THOUSANDS)
        rows.append(Row(_in_contexts(count), _UNIT, limit, cost, one))
    return rows


def _in_contexts(count: int) -> str:
    return f"{_READ.removesuffix(' and its context')}, of {count} contexts"
