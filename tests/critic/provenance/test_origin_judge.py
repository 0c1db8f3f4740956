"""Plans with more values than are judged: refused, and never judged in part."""

from typing import Any, Final

import pytest

from critic.provenance import origin_judge
from tests.critic.provenance.test_sourced_calls import answer_to, engine, proposal_of
from tests.support.model import provenance
from tests.support.model.facts import Json
from tests.support.model.verify import verify_model

_PAY: Final = {
    "adapter_id": "a",
    "capability_id": "pay",
    "approval_mode": "destructive",
    "arg_roles": {"to": "recipient", "note": "content"},
}


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origin_judge, "MOST_VALUES", 4)
    monkeypatch.setattr(provenance, "MOST_VALUES", 4)


def plan_of(*calls: Json, mode: str = "closed") -> Json:
    """Return a proposal that pays whom the request names, call by call."""
    case = {
        "tools": [_PAY],
        "classes": [],
        "request": "Pay acct-1, acct-2, acct-3, acct-4, acct-5 and acct-6",
        "spec": {"provenance": mode},
        "call": {"tool": "pay", "args": {}},
    }
    proposal = proposal_of(case)
    (step,) = proposal["plan"]["steps"]
    proposal["plan"]["steps"] = [{**step, "args": args} for args in calls]
    return proposal


def accounts(*numbers: int) -> Json:
    return {"to": [f"acct-{number}" for number in numbers]}


@pytest.mark.parametrize("mode", ["closed", "open"])
@pytest.mark.parametrize(
    ("calls", "answer"),
    [
        ([accounts(1, 2, 3, 4)], "allow"),
        ([accounts(1, 2, 3, 4, 5)], "refuse"),
        ([accounts(1, 2), accounts(3, 4)], "allow"),
        ([accounts(1, 2), accounts(3, 4), accounts(5)], "refuse"),
        ([accounts(1, 2, 3) | {"note": "no link, no account"}], "allow"),
        ([accounts(1, 2, 3) | {"note": "a@b.example c@d.example"}], "refuse"),
    ],
)
def test_a_plan_of_too_many_values_is_refused(calls: list[Json], answer: str, mode: str) -> None:
    proposal = plan_of(*calls, mode=mode)
    if answer == "refuse":
        (told,) = engine(proposal)["violations"][-1:]
        where = f"step {len(calls) - 1} has values beyond the 4 of a plan that are judged"
        assert told["reason"] == f"{where}: split the call"
    if "note" not in calls[0] or answer == "refuse":
        assert {answer_to(judge(proposal)) for judge in (engine, verify_model)} == {answer}


def test_the_step_that_goes_beyond_is_refused_and_each_with_a_value_after_it() -> None:
    proposal = plan_of(accounts(1, 2, 3), accounts(4, 5), accounts(6))
    found: Any = [one["offending_step"] for one in engine(proposal)["violations"]]
    assert found == [1, 2]
    told = [one["offending_step"] for one in verify_model(proposal)["violations"]]
    assert told == [1, 2]
