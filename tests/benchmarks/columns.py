"""Files of plans that repeat their steps, and what it costs to judge them by columns."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow
import pyarrow.parquet

from critic import Plan, Proposal, RunContext, verify_proposal
from harness.canonical import canonical_bytes
from harness.replay.log_check import LogCheck
from harness.what_if.columns.column_judging import PlanJudge
from harness.what_if.columns.column_reading import PlanFile
from harness.what_if.columns.column_writing import (
    ROWS,
    PlanBatch,
    plan_fields,
    plan_metadata,
    writer_options,
)
from harness.what_if.columns.plan_columns import COLUMNS
from harness.what_if.columns.plan_rows import RowWriter
from harness.what_if.matrix import Matrix
from harness.what_if.plan_answers import ANSWERS
from harness.what_if.recorded_change import Alteration, ChangedInputs
from harness.what_if.rejudging import RecordedPlan, RecordedPlans
from harness.wire import build
from tests.benchmarks import plans
from tests.benchmarks.timing import Cost, of_thread

_BATCH: Final = 50
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


def write_plans(path: Path, count: int, *, contexts: int = 1) -> None:
    """Write a file of plans that differ as wholes, as an export does, and as it judges them.

    Args:
        contexts: how many contexts there are, of which the plans have one after the other.
    """
    rows = [_row(number) for number in range(contexts)]
    _write(path, rows, count, np.zeros(count, np.uint8))
    judge = PlanJudge(Alteration())
    every = [judge.answers(group, group.judged) for group in PlanFile(path).groups()]
    _write(path, rows, count, np.concatenate(every))


def _write(path: Path, rows: list[Any], count: int, answers: Any) -> None:
    lengths, numbers = drawn(count)
    texts = [canonical_bytes(one).decode() for one in proposal(range(STEPS)).plan.steps]
    fields = [pyarrow.field("seq", pyarrow.int64()), *plan_fields()]
    schema = pyarrow.schema(fields).with_metadata(plan_metadata(LogCheck(), None))
    starts = np.concatenate(([0], np.cumsum(lengths)))
    with pyarrow.parquet.ParquetWriter(path, schema, **writer_options()) as writer:
        for first in range(0, count, ROWS):
            ends = starts[first : first + ROWS + 1]
            own, ends = numbers[ends[0] : ends[-1]], ends - ends[0]
            upto = first + len(ends) - 1
            arrays = _in_turn(rows, first, upto)
            arrays["answer"] = _texts(answers[first:upto], [one.text for one in ANSWERS])
            arrays["plan_steps"] = _lists(ends, _texts(own, texts))
            begins, positions = _repeats(ends, own)
            arrays["repeated_calls"] = _lists(begins, pyarrow.array(positions.astype(np.int32)))
            seq = pyarrow.array(np.arange(first, upto) + 1)
            arrays["turn_id"] = seq  # each is of a turn of its own
            writer.write_table(pyarrow.Table.from_arrays([seq, *arrays.values()], schema=schema))


def _row(number: int) -> Any:
    """Return the row of a plan in a context, whose steps are left to be filled in."""
    whole = proposal([0])
    # Sessions have limits of their own.
    budget = {"bucket_tokens": 2**53 - 1 - number} if number else None
    ctx = build(RunContext, whole.ctx.wire() | ({"run_budget": budget} if budget else {}))
    whole = Proposal(ctx=ctx, compiled=whole.compiled, spec=whole.spec, plan=whole.plan)
    one = RecordedPlan(1, 0, None, whole, "digest", verify_proposal(whole))
    return next(RowWriter().rows(RecordedPlans(1, whole.spec.id, (one,))))


def _in_turn(rows: list[Any], first: int, upto: int) -> dict[str, Any]:
    batch = PlanBatch()
    for row in rows:
        batch.add(row)
    once = dict(zip(COLUMNS, batch.arrays(), strict=True))
    turns = pyarrow.array(np.arange(first, upto) % len(rows))
    return {name: one.take(turns) for name, one in once.items()}


def _texts(numbers: Any, texts: list[str]) -> Any:
    codes = pyarrow.array(numbers.astype(np.int32))
    return pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(texts))


def _lists(starts: Any, values: Any) -> Any:
    return pyarrow.ListArray.from_arrays(pyarrow.array(starts.astype(np.int32)), values)


def _repeats(starts: Any, numbers: Any) -> tuple[Any, Any]:
    """Return where the positions of repeated calls begin for each plan, and the positions."""
    plan = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((np.arange(len(numbers)), numbers, plan))
    same = (plan[order][1:] == plan[order][:-1]) & (numbers[order][1:] == numbers[order][:-1])
    at = np.sort(order[1:][same])
    counts = np.bincount(plan[at], minlength=len(starts) - 1)
    return np.concatenate(([0], np.cumsum(counts))), at - starts[plan[at]]


def judging_cost(path: Path) -> Cost:
    """Return the cost of judging all plans of a file that was read. Its context is known."""
    groups, judge = list(PlanFile(path).groups()), PlanJudge(CHANGE)

    def run(_number: int) -> None:
        for group in groups:
            judge.answers(group, group.judged)

    return of_thread(run, lambda batch: [batch])


def reading_cost(path: Path) -> Cost:
    """Return the cost of judging a file as the command does, from opening it to the counts."""

    def run(_number: int) -> None:
        matrix = Matrix()
        for one in PlanJudge(CHANGE, shown=False).compare_file(PlanFile(path)):
            matrix.add(one)

    return of_thread(run, lambda batch: [batch])


def verifying_cost() -> Cost:
    """Return the cost of `verify` of one of the plans, as an envelope, under the change."""
    lengths, numbers = drawn(_BATCH)
    starts = np.concatenate(([0], np.cumsum(lengths))).tolist()
    every = [proposal(numbers[a:b].tolist()) for a, b in pairwise(starts)]
    changed = ChangedInputs(CHANGE)
    made = [changed.proposal(one, "digest") for one in every]
    return of_thread(verify_proposal, lambda _batch: made)
