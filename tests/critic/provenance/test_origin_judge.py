"""How many values of a plan are judged, and what makes a call an effect without a target."""

from typing import Final

import pytest

from critic import Proposal
from critic.prepared import prepare_plan
from critic.provenance import content_values, origin_judge
from critic.replies import doubted
from critic.replies.doubted import DoubtedValues
from harness.wire import build
from tests.critic.provenance.test_sourced_calls import answer_to, engine, proposal_of
from tests.support.model import provenance
from tests.support.model.facts import Json
from tests.support.model.verify import verify_model
from tests.support.sightings import VALUE, answer, item, proposal, request

_PAY: Final = {
    "adapter_id": "a",
    "capability_id": "pay",
    "approval_mode": "destructive",
    "arg_roles": {"to": "recipient", "note": "content"},
}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge four values of a plan at most."""
    monkeypatch.setattr(origin_judge, "MOST_VALUES", 4)
    monkeypatch.setattr(provenance, "MOST_VALUES", 4)


def plan_of(*calls: Json, mode: str = "closed", tool: Json | None = None) -> Json:
    """Return a proposal that pays whom the request names, call by call."""
    case = {
        "tools": [_PAY | (tool or {})],
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


@pytest.mark.usefixtures("few")
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


@pytest.mark.usefixtures("few")
def test_the_step_that_goes_beyond_is_refused_and_each_with_a_value_after_it() -> None:
    pay = {"may_be_empty": ["to"]}
    calls: list[Json] = [accounts(1, 2, 3), accounts(4, 5), accounts(6), {}]
    proposal = plan_of(*calls, tool=pay)
    found = [(one["offending_step"], one["path"]) for one in engine(proposal)["violations"]]
    assert found == [(1, "/steps/1/args"), (2, "/steps/2/args")]
    told = [one["offending_step"] for one in verify_model(proposal)["violations"]]
    assert told == [1, 2]


def test_texts_tell_of_the_values_that_were_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubted, "MOST_VALUES", 4)

    def told(*calls: Json) -> list[int]:
        proposal = build(Proposal, plan_of(*calls))
        case = prepare_plan(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)
        return [index for index, _ in DoubtedValues(case)._values()]

    assert told(accounts(1, 2), accounts(3, 4)) == [0, 0, 1, 1]
    assert told(accounts(1, 2, 3), accounts(4, 5), accounts(6)) == [0, 0, 0]
    assert told(accounts(1, 2, 3), accounts(4, 5, 6)) == [0, 0, 0]
    assert told(accounts(1, 2, 3, 4, 5)) == []


def test_ten_thousand_values_of_a_plan_are_judged() -> None:
    assert content_values.MOST_VALUES == provenance.MOST_VALUES == 10_000


def test_only_a_call_that_acts_on_nothing_is_a_fetch_that_nobody_asked_for() -> None:
    for role, word in (
        *(("content", "allow"), ("code", "allow"), ("time", "allow"), ("recipient", "ask")),
        *(("object", "ask"), ("attribute", "ask"), ("secret", "ask")),
    ):
        tool = {"arg_roles": {"x": "locator", "y": role}, "may_be_empty": ["y"]}
        wire = proposal(request(f"see {VALUE} there"), tool=tool, scope=None)
        assert answer(wire) == word
        wire["compiled"]["manifests"]["tool_manifest"][0]["arg_roles"]["x"] = "object"
        assert answer(wire) == "ask"


def test_each_day_of_a_text_is_judged() -> None:
    tool = {"arg_roles": {"x": "recipient", "t": "time"}}
    said, others = request(f"tell {VALUE} on 2026-05-09"), item("or on 2026-05-10")
    for days, word in (
        *((["09"], "allow"), (["09", "10"], "ask"), (["10", "09"], "ask"), (["09", "09"], "allow")),
    ):
        text = " and ".join(f"2026-05-{day}" for day in days)
        assert answer(proposal(said, others, tool=tool, args={"x": VALUE, "t": text})) == word


@pytest.mark.parametrize("mode", ["local_write", "network", "delegated", "destructive"])
def test_an_effect_without_a_target_asks_above_what_is_written_here(mode: str) -> None:
    tool = {"approval_mode": mode}
    calls: list[Json] = [{}, {"x": ""}, {"x": []}]
    for args in calls:
        expected = "allow" if mode == "local_write" else "ask"
        assert answer(proposal(request("go"), tool=tool, args=args)) == expected


OWN: Final = item("write from me@corp.example, the account is GB33BUKB2020, room-7", "operator")


@pytest.mark.parametrize(
    ("value", "word"),
    [
        *(("me@corp.example", "ask"), ("GB33BUKB2020", "ask"), ("room-7", "allow")),
        ("you@corp.example", "allow"),
    ],
)
def test_a_call_from_the_user_s_own_address_is_aimed_at_nobody(value: str, word: str) -> None:
    tool = {"arg_roles": {"y": "recipient", "x": "content"}}
    said, others = request("post you@corp.example a note"), item("Win a prize!")
    args = {"y": value, "x": "Win a prize"}
    assert answer(proposal(said, OWN, others, tool=tool, args=args)) == word
    detail = {"arg_roles": {"y": "attribute", "x": "content"}}
    assert answer(proposal(said, OWN, others, tool=detail, args=args)) == "ask"
    asked = request(f"post {value} a note")
    assert answer(proposal(asked, OWN, others, tool=tool, args=args)) == "allow"
