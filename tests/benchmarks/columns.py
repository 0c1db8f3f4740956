"""What-if by columns: a million plans that repeat their steps, read from a file and judged."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow
import pyarrow.parquet

from critic import Plan, Proposal, verify
from harness.canonical import canonical_bytes
from harness.columnar.columns import COLUMNS
from harness.columnar.rows import RowWriter
from harness.columnar.writing import ROWS, PlanBatch, plan_fields, plan_metadata, writer_options
from harness.replay.log_check import LogCheck
from harness.what_if.change import Alteration
from harness.what_if.judging import RecordedPlan, RecordedPlans
from tests.benchmarks import plans

PLANS: Final = 1_000_000
STEPS: Final = 200
LONGEST: Final = 12
TOOLS: Final = 1000
CHANGE: Final = Alteration(safety_mode="network", budget={"bucket_tokens": 2000})


def steps() -> list[plans.Json]:
    """Return the steps of all plans: calls of the desk, with other orders each."""
    written = [plans.step(item % len(plans.DESK), item) for item in range(STEPS)]
    return [
        {name: one for name, one in step.items() if name not in ("id", "depends_on")}
        for step in written
    ]


def proposal(numbers: Sequence[int]) -> Proposal:
    """Return the plan of the steps with these numbers."""
    every = steps()
    plan: plans.Json = {
        "steps": [every[number] for number in numbers],
        "declared_outputs": list(plans.OUTPUTS),
        "trace_id": plans.TRACE,
    }
    compiled = plans.compiled(TOOLS, schemas=True)
    ctx = plans.context(LONGEST)
    return Proposal(ctx=ctx, compiled=compiled, spec=plans.spec(), plan=Plan(**plan))


def drawn(count: int, seed: int = 1) -> tuple[Any, Any]:
    """Return the lengths of plans, and the numbers of their steps, one plan after the other."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, LONGEST + 1, count)
    return lengths, rng.integers(0, STEPS, lengths.sum()).astype(np.int32)


def write_plans(path: Path, count: int = PLANS) -> None:
    """Write a file of plans that differ as wholes, as an export does."""
    lengths, numbers = drawn(count)
    row = _row()
    texts = [canonical_bytes(one).decode() for one in proposal(range(STEPS)).plan.steps]
    fields = [pyarrow.field("seq", pyarrow.int64()), *plan_fields()]
    schema = pyarrow.schema(fields).with_metadata(plan_metadata(LogCheck()))
    starts = np.concatenate(([0], np.cumsum(lengths)))
    with pyarrow.parquet.ParquetWriter(path, schema, **writer_options()) as writer:
        for first in range(0, count, ROWS):
            ends = starts[first : first + ROWS + 1]
            own = numbers[ends[0] : ends[-1]]
            arrays = _repeated(row, len(ends) - 1)
            arrays["plan_steps"] = _lists(ends - ends[0], own, texts)
            arrays["repeated_calls"] = _lists_of_numbers(*_repeats(ends - ends[0], own))
            seq = pyarrow.array(np.arange(first, first + len(ends) - 1) + 1)
            writer.write_table(pyarrow.Table.from_arrays([seq, *arrays.values()], schema=schema))


def _row() -> Any:
    """Return the row of a plan whose steps are left to be filled in."""
    whole = proposal([0])
    one = RecordedPlan(1, None, whole, "digest", verify(*_parts(whole)))
    return next(RowWriter().rows(RecordedPlans(1, whole.spec.id, (one,))))


def _parts(one: Proposal) -> tuple[Any, ...]:
    return one.ctx, one.compiled, one.spec, one.plan


def _repeated(row: Any, count: int) -> dict[str, Any]:
    batch = PlanBatch()
    batch.add(row)
    once = dict(zip(COLUMNS, batch.arrays(), strict=True))
    return {name: one.take(pyarrow.array(np.zeros(count, int))) for name, one in once.items()}


def _lists(starts: Any, numbers: Any, texts: list[str]) -> Any:
    values = pyarrow.DictionaryArray.from_arrays(pyarrow.array(numbers), pyarrow.array(texts))
    return pyarrow.ListArray.from_arrays(pyarrow.array(starts.astype(np.int32)), values)


def _lists_of_numbers(starts: Any, numbers: Any) -> Any:
    values = pyarrow.array(numbers.astype(np.int32))
    return pyarrow.ListArray.from_arrays(pyarrow.array(starts.astype(np.int32)), values)


def _repeats(starts: Any, numbers: Any) -> tuple[Any, Any]:
    """Return where the positions of repeated calls begin for each plan, and the positions."""
    plan = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((np.arange(len(numbers)), numbers, plan))
    same = (plan[order][1:] == plan[order][:-1]) & (numbers[order][1:] == numbers[order][:-1])
    at = np.sort(order[1:][same])
    counts = np.bincount(plan[at], minlength=len(starts) - 1)
    return np.concatenate(([0], np.cumsum(counts))), at - starts[plan[at]]
