"""What was made of a plan, against what verify says of it and what a person answered: all of it."""

from itertools import product
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from evals.kinds import AnswerKind, RecordedAction
from evals.plan_verdicts import Refused, Verified, Violation
from harness.record import RecordedAnswer
from harness.record.actions import action_problem

ANSWERS = get_args(AnswerKind)


def verdict_of(said: str) -> Verified | Refused:
    """Return a verdict: `ok`, `asks` where an approval would clear it, or `no`."""
    if said == "ok":
        return Verified(reasons=("x",))
    found = Violation(check="evidence", kind="missing_evidence", reason="x")
    if said == "asks":
        found = Violation(
            check="approval", kind="approval_mode_mismatch", reason="x", approvable=True
        )
    return Refused.because((found,))


def answer_of(answer: str | None) -> RecordedAnswer | None:
    if answer is None:
        return None
    approver = {} if answer == "lapsed" else {"approver": "ada"}
    return RecordedAnswer(answer=answer, **approver)  # type: ignore[arg-type]


def may_be(action: str, answer: str | None, said: str) -> bool:
    """Return whether the contract has such a record, case by case."""
    if answer is None:
        return {
            "allow": said == "ok",
            "shadow": said != "ok",
            "ask": said == "asks",
            "refuse": True,
        }[action]
    if answer != "yes":
        return said == "asks" and action == "refuse"
    return action == ("allow" if said == "ok" else "refuse")


@pytest.mark.parametrize("said", ["ok", "asks", "no"])
def test_an_action_goes_with_its_verdict_and_its_answer_or_is_named(said: str) -> None:
    verdict = verdict_of(said)
    assert (verdict.ok, isinstance(verdict, Refused) and verdict.approvable) == (
        said == "ok",
        said == "asks",
    )
    for action, answer in product(get_args(RecordedAction), (None, *ANSWERS)):
        problem = action_problem(action, answer_of(answer), verdict)
        assert (problem is None) == may_be(action, answer, said), (action, answer)


@pytest.mark.parametrize("approver", [None, "ada"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_who_answered_is_named_unless_nobody_did(answer: Any, approver: str | None) -> None:
    if (approver is None) == (answer == "lapsed"):
        assert RecordedAnswer(answer=answer, approver=approver).approver == approver
        return
    with pytest.raises(ValidationError, match="a yes and a no have an approver"):
        RecordedAnswer(answer=answer, approver=approver)


@pytest.mark.parametrize("opened", ["asks", "no"])
@pytest.mark.parametrize("said", ["ok", "asks", "no"])
def test_after_a_refused_opening_an_answer_is_about_that_where_the_plan_passed(
    said: str, opened: str
) -> None:
    """A shadow goes on after it. A yes has opened the step: it leaves no refusal behind."""
    for action, answer in product(get_args(RecordedAction), (None, *ANSWERS)):
        told = action_problem(
            action, answer_of(answer), verdict_of(said), opening=verdict_of(opened)
        )
        may = may_be(action, answer, said)
        if said == "ok" and answer in ("no", "lapsed"):
            may = action == "allow" and opened == "asks"
        if said == "ok" and answer is None:
            may = may or action == "shadow"
        assert (told is None) == may, (action, answer)
