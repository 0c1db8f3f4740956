"""A score is a share: a number from 0 to 1, also where it comes from Python and not from JSON."""

from typing import Any

import pytest

from evals.verdict import EvaluatorVerdict
from tests.support.examples import refused_at


def scored(score: Any) -> dict[str, Any]:
    return {
        "evaluator_id": "cost",
        "evaluator_version": "1",
        "score": score,
        "status": "pass",
        "findings": [],
        "trace_id": "t",
    }


@pytest.mark.parametrize("score", [0, 1, 0.0, 0.5, 1.0, 5e-324])
def test_a_number_from_0_to_1_is_a_share(score: float) -> None:
    verdict = EvaluatorVerdict(**scored(score))
    assert type(verdict.score) is float
    assert verdict.score == score


# Neither below 0 nor above 1 is NaN, and no JSON document holds one.
@pytest.mark.parametrize(
    "score",
    [float("nan"), float("inf"), -float("inf"), -0.1, -1, 1.0000000000000002, 2, True, "1", None],
)
def test_anything_else_is_none(score: Any) -> None:
    assert refused_at(EvaluatorVerdict, scored(score)).path == "/score"
