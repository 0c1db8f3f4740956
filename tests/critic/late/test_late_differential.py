"""Late plans: the engine gives the verdicts and the conditions of the second statement."""

from collections import Counter
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.plan_verdicts import ConditionKind
from tests.support.agreement import ONE_FAILURE, Statements
from tests.support.effort import examples
from tests.support.late_runs import engine_says, late_case, model_says, read_case

LATE = Statements(
    law="of a late plan, and of its openings, the engine says what the second statement says",
    read=read_case,
    engine=engine_says,
    model=model_says,
)


@settings(ONE_FAILURE, max_examples=examples(800))
@given(st.integers(min_value=0, max_value=2**32))
def test_engine_and_model_agree_on_late_plans(seed: int) -> None:
    LATE.require_agreement(read_case(late_case(seed)))


@pytest.mark.parametrize("seed", [43_503, 170_970, 349_899, 376_130])
def test_a_case_that_differed_once_is_agreed_on(seed: int) -> None:
    """One in 120,000: the names of declared fields, and one take that is said twice."""
    LATE.require_agreement(read_case(late_case(seed)))


def test_the_drawn_plans_meet_every_kind_of_condition_and_refusal() -> None:
    """A generator that no longer meets a kind would show nothing about it."""
    met: Counter[str] = Counter()
    for seed in range(400):
        verdict = engine_says(read_case(late_case(seed)))
        met.update(one["kind"] for one in verdict.get("conditions", []))
        met.update(one["kind"] for one in verdict.get("violations", []))
    needed = {*get_args(ConditionKind)} - {"binding"}
    assert met.keys() >= needed | {"loop_guard", "missing_evidence", "violates_decision_spec"}
