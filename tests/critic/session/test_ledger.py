"""What a session spent, did and may do, as its next plan is told."""

from datetime import UTC, datetime
from typing import Any

import pytest

from critic.session.ledger import ApprovedValues, Ledger, MadeCall, made_calls, past_of
from evals.context import ApprovedValue, RunContext, SessionFacts, Spent, SpentCall

NINE, TEN, ELEVEN = (datetime(2026, 5, 9, hour, tzinfo=UTC) for hour in (9, 10, 11))


def value(text: str, end: datetime | None = None) -> ApprovedValue:
    return ApprovedValue(value=text, **({} if end is None else {"expires_at": end}))


@pytest.mark.parametrize(
    ("ends", "at", "is_approved"),
    [
        ([TEN], NINE, True),
        ([TEN], TEN, False),
        ([TEN], None, False),
        ([TEN, ELEVEN], TEN, True),
        ([ELEVEN, TEN], TEN, True),
        ([ELEVEN, TEN], ELEVEN, False),
        ([TEN, None], ELEVEN, True),
        ([None, TEN], ELEVEN, True),
        ([None, TEN], None, True),
    ],
)
def test_a_value_is_approved_until_the_last_of_its_approvals_ends(
    ends: list[datetime | None], at: datetime | None, is_approved: bool
) -> None:
    approved = ApprovedValues(
        [value(text, end) for text, end in zip(["x-1", "X-1 "], ends, strict=False)]
    )
    assert ("x-1" in approved.at(at)) == is_approved
    assert "x-2" not in approved.at(at)


def test_what_was_approved_before_is_noted_once() -> None:
    approved = ApprovedValues([value("x")])
    assert approved.plus([value("x")]) is approved
    assert approved.plus([value("y"), value("x"), value("y")]).values == (value("x"), value("y"))
    ledger = Ledger(approved=approved)
    assert ledger.facts("s", 1) == SessionFacts(id="s", turn=1, approved=(value("x"),))
    assert Ledger().facts("s", 1) == SessionFacts(id="s", turn=1)
    assert Ledger(scope_waived=True).facts("s", 2).scope_waived is True


@pytest.mark.parametrize("prefix", ["", "sha256:"])
def test_what_a_context_says_is_looked_up_by_its_spelling(prefix: str) -> None:
    made = SpentCall(adapter_id="a", capability_id="b", args_digest=prefix + "0" * 64)
    session = SessionFacts(
        id="s", turn=2, hosts=("https://X.example/a",), own=("Y-2",), approved=(value("Z-3", TEN),)
    )
    spent = Spent(steps=1, tokens=1, calls=(made,))
    fields: dict[str, Any] = {"trace_id": "t", "safety_mode": "network", "as_of": NINE}
    past = past_of(RunContext(**fields, spent=spent, session=session))
    assert ("a", "b", "0" * 64) in past.made
    assert ("a", "b", "1" * 64) not in past.made
    assert ["x.example" in past.hosts, "y-2" in past.own, "z-3" in past.approved] == [True] * 3
    assert ["x.example" in past.own, "y-2" in past.approved, "z-3" in past.hosts] == [False] * 3
    nothing = past_of(RunContext(**fields))
    assert not any(key in part for part in nothing for key in ("x.example", "y-2", "z-3"))


def test_what_was_spent_is_told_with_the_calls_that_were_made() -> None:
    assert Ledger(steps=2, tokens=7).spent() == Spent(steps=2, tokens=7)
    call = SpentCall(adapter_id="a", capability_id="b", args_digest="0" * 64)
    made = Ledger(steps=2, tokens=7, made=made_calls([MadeCall(1, 0, call)]))
    assert made.spent() == Spent(steps=2, tokens=7, calls=(call,))
