"""Where a rationale is cut: to the very character."""

from datetime import UTC, datetime
from typing import get_args

import pytest

from critic import (
    EvaluatorVerdict,
    Finding,
    Refused,
    Scorecard,
    Scores,
    ScoreVerdict,
    Verified,
    Violation,
    consolidate,
)
from critic.consolidate import LONGEST_RATIONALE
from evals.kinds import EvaluatorId

NOON = datetime(2026, 5, 9, 12, tzinfo=UTC)
EVALUATORS: tuple[EvaluatorId, ...] = get_args(EvaluatorId)


def rationale(*messages: str) -> str:
    """Return the rationale of a run whose policy failed with these messages."""
    failed = tuple(Finding(severity="error", message=message) for message in messages)
    judged: dict[str, EvaluatorVerdict] = {
        name: EvaluatorVerdict(
            evaluator_id=name,
            evaluator_version="1",
            score=0.0 if name == "policy" else 1.0,
            status="fail" if name == "policy" else "pass",
            findings=failed if name == "policy" else (),
            trace_id="t",
        )
        for name in EVALUATORS
    }
    card = Scorecard(run_id="r", trace_id="t", scores=Scores(**judged))
    report = consolidate(
        trace_id="t",
        decision_key="d",
        verify=Verified(reasons=("ok",)),
        score=ScoreVerdict(ok=False, scorecard=card),
        decided_at=NOON,
    )
    return report.rationale


@pytest.mark.parametrize("spare", [-1, 0, 1])
def test_a_part_that_just_fits_is_kept_whole(spare: int) -> None:
    longest = LONGEST_RATIONALE - len("; ")
    room = longest - len(", and 2 more") - len("policy fail: ")
    first = "x" * (room - spare)
    said = rationale(first, "y" * 400)
    if spare >= 0:
        assert said == f"policy fail: {first}, and 1 more"
    else:
        assert said == f"policy fail: {first[:room]}, and 1 more"
    assert len(said) <= longest


@pytest.mark.parametrize("spare", [-1, 0, 1])
def test_a_second_part_is_kept_where_it_just_fits(spare: int) -> None:
    longest = LONGEST_RATIONALE - len("; ")
    room = longest - len(", and 3 more") - len("policy fail: ")
    second = "y" * (room - len("x, ") - spare)
    said = rationale("x", second, "z" * 400)
    kept = f"x, {second}, and 1 more" if spare >= 0 else "x, and 2 more"
    assert said == f"policy fail: {kept}"


def test_the_first_of_many_long_parts_is_shown() -> None:
    assert rationale("x" * 600, "y" * 600, "z").startswith("policy fail: xxx")


def test_a_short_second_part_is_not_shown_before_a_long_first() -> None:
    said = rationale("x" * 600, "y")
    assert "y" not in said.removeprefix("policy")
    assert said.endswith("x, and 1 more")


@pytest.mark.parametrize("length", [430, 440, 450, 460, 470, 500])
def test_a_refusal_of_one_long_reason_is_cut(length: int) -> None:
    reason = "x" * length
    one = Violation(check="evidence", kind="missing_evidence", reason=reason)
    report = consolidate(
        trace_id="t", decision_key="d", verify=Refused.because((one,)), decided_at=NOON
    )
    lead = "verify failed: missing_evidence — "
    whole = f"{lead}{reason}"
    room = LONGEST_RATIONALE - len("; and 1 more")
    expected = whole if len(whole) <= LONGEST_RATIONALE else whole[:room]
    assert report.rationale == expected
