"""What a person and a model are told of a ruling, and of the values that are yet to come."""

from typing import Any, Final

import pytest

from critic.replies.model_texts import BARE
from critic.session.call_batch import CallTake
from harness.guard.late_value_texts import _Words
from harness.policy.policy_rules import rules_of
from tests.harness.guard.test_late_calls import VALUES
from tests.harness.guard.test_late_travel import ASKED
from tests.support.guarding import (
    ASKS,
    Json,
    answers_to,
    call,
    desk,
    guard_of,
    open_,
    policy_of,
    result,
)
from tests.support.late_refund import late_policy

ANYBODY, OTHERS, SYSTEM = (
    *("which anybody can write", "which others write"),
    "which a system of record writes",
)
READ: Final[Json] = {"adapter_id": "desk", "approval_mode": "read_only"}
MORE: Final[list[Json]] = [
    {**READ, "capability_id": "plain"},
    {
        **READ,
        "capability_id": "inbox",
        "yields": "mail",
        "result": {"author": "member", "format": "json"},
    },
]
FIELDS: Final = {"name": "mail", "fields": {"id": "system", "sender": "party"}}


@pytest.mark.parametrize(
    ("source", "at", "writer"),
    [
        *(("plain", "", ANYBODY), ("plain", "/id", ANYBODY), ("list_mail", "/id", ANYBODY)),
        *(("make_note", "", OTHERS), ("shred", "", SYSTEM), ("transfer", "/id", SYSTEM)),
        *(("inbox", "/0/id", SYSTEM), ("inbox", "/0/sender", OTHERS), ("inbox", "/id", SYSTEM)),
        *(("inbox", "/x/id", OTHERS), ("inbox", "/0/body", OTHERS), ("inbox", "", OTHERS)),
    ],
)
def test_a_value_to_come_is_told_to_be_of_whoever_is_believed_least(
    source: str, at: str, writer: str
) -> None:
    wire = desk()
    late = {"spec": {**wire["spec"], "late": "sources"}, "class": [FIELDS]}
    rules = rules_of(policy_of({**wire, **late, "tool": [*wire["tool"], *MORE]}))
    words = _Words(rules, rules.tools["transfer"].told)
    assert words._writer(CallTake("/iban", "c", at), source) == writer


def last(wire: Json, events: list[Any]) -> Json:
    answers = answers_to(guard_of(wire), events)
    return answers[max(answers)]


def test_a_model_is_told_to_wait_only_where_a_person_is_asked() -> None:
    waits = "waiting for a person"
    asked, nobody = last(desk(), ASKS), last(desk(on_ask="refuse"), ASKS)
    assert (asked["action"], nobody["action"]) == ("ask", "refuse")
    assert waits in asked["reply"]
    assert waits not in nobody["reply"]
    assert [one["say"] for one in nobody["verdict"]["violations"]] == [nobody["reply"]]


def test_a_silent_policy_tells_a_model_nothing_of_any_call() -> None:
    calls = [call("transfer", iban="iban-9", reason="x"), call("unheard_of", id="u")]
    both = {**calls[0], "calls": [one["calls"][0] for one in calls]}
    told, loud = (last(desk(**how), [open_(), both]) for how in ({"say": "none"}, {}))
    assert told["reply"] == BARE
    assert {one["say"] for one in told["unknown"]} == {BARE}
    assert {one.get("say", BARE) for one in told["verdict"]["violations"]} == {BARE}
    assert loud["reply"].count("\n") >= 1
    assert BARE not in {one["say"] for one in loud["unknown"]}


def test_a_repeated_call_is_told_to_be_that_of_its_own_tool() -> None:
    wire = desk()
    (shred,) = (one for one in wire["tool"] if one["capability_id"] == "shred")
    tools = [*wire["tool"], {**shred, "capability_id": "burn"}]
    events = [{**open_(request="Shred and burn the note old-note"), "scope": ["shred", "burn"]}]
    for name, tool in (("a", "burn"), ("b", "shred")):
        events += [call(tool, id=name, name="old-note"), result("gone", id=name)]
    told = last({**wire, "tool": tools}, [*events, call("shred", id="c", name="old-note")])
    (say,) = (one["say"] for one in told["verdict"]["violations"])
    assert told["action"] == "ask"
    assert "turn 2" in say
    assert "turn 1" not in say


def test_a_refusal_is_told_of_its_own_calls_and_not_of_the_question_before() -> None:
    told = last(desk(), [*ASKS, call("shred", id="d", name="x")])
    assert told["action"] == "refuse"
    assert "shred" in told["reply"]
    assert "transfer" not in str(told)


def test_a_person_is_asked_about_an_opening_in_words_and_told_why_beside() -> None:
    wire = late_policy(VALUES).wire()
    asked = last(wire, ASKED)
    assert asked["action"] == "ask"
    (question,) = asked["questions"]
    assert question["ask"].endswith("Go on?")
    assert question["reason"] == asked["verdict"]["violations"][0]["reason"] != question["ask"]
