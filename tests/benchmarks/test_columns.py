"""The file of plans is as it is named, and its plans are judged as `verify` judges them."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from critic import verify_proposal
from harness.what_if.columns.column_judging import PlanJudge
from harness.what_if.columns.column_reading import PlanFile
from harness.what_if.plan_answers import ANSWERS, answer_entry
from harness.what_if.recorded_change import ChangedInputs
from tests.benchmarks import columns

PLANS = 300


@pytest.mark.slow
def test_the_plans_of_the_file_are_judged_as_verify_does(tmp_path: Path) -> None:
    columns.write_plans(tmp_path / "plans.parquet", PLANS)
    (group,) = PlanFile(tmp_path / "plans.parquet").groups()
    after = PlanJudge(columns.CHANGE).answers(group, group.judged)
    lengths, numbers = columns.drawn(PLANS)
    starts = np.concatenate(([0], np.cumsum(lengths))).tolist()
    changed = ChangedInputs(columns.CHANGE)
    for at, (start, end) in enumerate(pairwise(starts)):
        one = columns.proposal(numbers[start:end].tolist())
        assert ANSWERS[group.before[at]] == answer_entry(verify_proposal(one))
        would_be = changed.proposal(one, "digest")
        assert not isinstance(would_be, tuple)
        assert ANSWERS[after[at]] == answer_entry(verify_proposal(would_be))


def test_plans_have_up_to_twelve_of_two_hundred_steps() -> None:
    lengths, numbers = columns.drawn(10_000)
    assert {*lengths.tolist()} == {*range(1, columns.LONGEST + 1)}
    assert {*numbers.tolist()} == {*range(columns.STEPS)}
    assert len({str(step) for step in columns.steps()}) == columns.STEPS == 200
