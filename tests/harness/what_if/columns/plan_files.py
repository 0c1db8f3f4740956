"""Plans in a file, judged by columns, and the same plans judged one by one."""

from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow
import pyarrow.parquet

from critic import Proposal, verify_proposal
from harness.canonical import digest
from harness.replay.log_check import LogCheck
from harness.what_if.columns.column_judging import PlanJudge
from harness.what_if.columns.column_reading import PlanFile
from harness.what_if.columns.column_writing import (
    PlanBatch,
    plan_fields,
    plan_metadata,
    writer_options,
)
from harness.what_if.columns.kernel import UNKNOWN
from harness.what_if.columns.plan_rows import RowWriter
from harness.what_if.matrix import LeftOutTally, Matrix, TurnTally
from harness.what_if.plan_answers import ANSWERS, answer_entry
from harness.what_if.recorded_change import Alteration, ChangedInputs
from harness.what_if.rejudging import (
    Compared,
    JudgedPlan,
    RecordedPlan,
    RecordedPlans,
    compared_plans,
    turn_id,
)


def recorded(proposals: Iterable[Proposal]) -> list[RecordedPlans]:
    """Return records of proposals, numbered from 1, as a log would have them."""
    return [
        RecordedPlans(seq, one.spec.id, (_plan(seq, one),))
        for seq, one in enumerate(proposals, start=1)
    ]


def _plan(seq: int, proposal: Proposal) -> RecordedPlan:
    turn = turn_id(proposal.ctx, digest(proposal.plan))
    judged = digest(proposal.compiled), verify_proposal(proposal)
    return RecordedPlan(seq, turn, None, proposal, *judged)


def write_plans(path: Path, records: Iterable[RecordedPlans]) -> None:
    """Write records as an export does, without the columns of the index."""
    fields = [pyarrow.field("seq", pyarrow.int64()), *plan_fields()]
    schema = pyarrow.schema(fields).with_metadata(plan_metadata(LogCheck(), None))
    rows, numbers, batch = RowWriter(), list[int](), PlanBatch()
    with pyarrow.parquet.ParquetWriter(path, schema, **writer_options()) as writer:

        def flush() -> None:
            arrays = [pyarrow.array(numbers, pyarrow.int64()), *batch.arrays()]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))

        for record in records:
            for row in rows.rows(record):
                numbers.append(record.seq)
                batch.add(row)
            if batch.is_full:
                flush()
                numbers, batch = [], PlanBatch()
        if numbers:
            flush()


class Difference(NamedTuple):
    """A plan on which the columns and the rules differ, by their answers."""

    seq: int
    by_columns: str
    by_rules: str


class Agreement(NamedTuple):
    """How many plans the columns judged, how many they left to the rules, and where they differ."""

    by_columns: int
    left: int
    differences: list[Difference]


def agreement(
    path: Path, one_by_one: Sequence[Compared], change: Alteration, key: str | None = None
) -> Agreement:
    """Compare the answers of the columns with those of the rules, plan by plan."""
    judge, expected = PlanJudge(change, key), iter(one_by_one)
    known, left, differences = 0, 0, list[Difference]()
    for group in PlanFile(path).groups():
        codes = judge.answers(group, np.ones(len(group), np.bool_))
        for seq, code in zip(group.seq.tolist(), codes.tolist(), strict=True):
            one = next(expected)
            known, left = known + (code != UNKNOWN), left + (code == UNKNOWN)
            told = answer_entry(one.after).text if isinstance(one, JudgedPlan) else "not judged"
            if code != UNKNOWN and ANSWERS[code].text != told:
                differences.append(Difference(seq, ANSWERS[code].text, told))
    return Agreement(known, left, differences)


def judged_one_by_one(records: Iterable[RecordedPlans], change: Alteration) -> list[Compared]:
    """Return what the rules say of each plan."""
    changed = ChangedInputs(change)
    return [one for record in records for one in compared_plans(record, changed)]


def check_file(path: Path, one_by_one: Sequence[Compared], change: Alteration) -> None:
    """Check that a file is judged as its plans are: the same is shown, and the same counted."""
    expected = Matrix()
    for one in one_by_one:
        expected.add(one)
    shown = [
        one
        for one in one_by_one
        if not isinstance(one, JudgedPlan) or one.direction != "unchanged" or one.drifted
    ]
    for is_shown in (True, False):
        matrix, found = Matrix(), list[Compared]()
        for each in PlanJudge(change, shown=is_shown).compare_file(PlanFile(path)):
            matrix.add(each)
            if not isinstance(each, TurnTally | LeftOutTally):
                found.append(each)
        assert matrix.wire() == expected.wire()
        if is_shown:
            changed = [
                one
                for one in found
                if not isinstance(one, JudgedPlan) or one.direction != "unchanged" or one.drifted
            ]
            assert changed == shown


_numbers = count()


def checked(folder: Path, proposals: Iterable[Proposal], change: Alteration) -> Agreement:
    """Write proposals as records, check the file as a whole, and return how it agrees."""
    path, records = folder / f"{next(_numbers)}.parquet", recorded(proposals)
    write_plans(path, records)
    one_by_one = judged_one_by_one(records, change)
    check_file(path, one_by_one, change)
    found = agreement(path, one_by_one, change)
    path.unlink()
    return found
