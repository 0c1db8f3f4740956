"""A call of a tool that the policy lacks is answered by itself, and takes nothing with it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.integrations.seam.guarded import AskedCall, GuardedSession
from tests.harness.guard.test_expiries import Log
from tests.support.guarding import ASKS, answers_to, desk, guard_of, open_, result, yes

SAYS = 'There is no tool "{}". The tools are read_note, list_mail, make_note, shred and transfer.'
MAIL = {"id": "m", "tool": "list_mail", "args": {}}


def batch(*calls: Any) -> Any:
    return {"event": "calls", "session": "s", "calls": [*calls]}


def unknown(tool: str, id: str = "u") -> Any:
    return {"id": id, "tool": tool, "args": {"name": "x"}}


@pytest.mark.parametrize("order", [1, -1])
def test_the_rest_of_its_batch_is_judged_without_it(order: int) -> None:
    log = Log()
    calls = [MAIL, unknown("get_webpage")][::order]
    answer = answers_to(guard_of(desk(), log=log), [open_(), batch(*calls)])[1]
    said = SAYS.format("get_webpage")
    assert answer["action"] == "allow"
    assert answer["unknown"] == [{"id": "u", "tool": "get_webpage", "say": said}]
    assert len(log.decisions[0].proposal.plan.steps) == 1
    alone = answers_to(guard_of(desk()), [open_(), batch(MAIL)])[1]
    assert answer["reply"] == said
    assert {**answer, "unknown": None, "reply": None} == {**alone, "unknown": None, "reply": None}


@pytest.mark.parametrize("halts", ["answer", "halt"])
def test_a_batch_of_nothing_else_has_no_plan_and_changes_nothing(halts: str) -> None:
    log = Log()
    guard = guard_of(desk(on_refusal=halts), log=log)
    answers = answers_to(guard, [open_(), batch(unknown("a"), unknown("b", "v")), batch(MAIL)])
    assert {*answers[1]} == {"session", "turn", "action", "unknown", "reply"}
    assert (answers[1]["action"], answers[1]["turn"], len(answers[1]["unknown"])) == (
        "refuse",
        0,
        2,
    )
    assert (answers[2]["action"], answers[2]["turn"]) == ("allow", 1)
    assert len(log.decisions) == 1


def test_an_open_question_lapses_with_it_and_takes_a_no_alone() -> None:
    log = Log()
    events = [*ASKS, batch(unknown("a")), batch(unknown("b")), yes(digest="$FOR:3")]
    no = {**yes(digest="$FOR:3"), "yes": False}
    answers = answers_to(guard_of(desk(), log=log), [*events, no])
    assert [answers[at]["action"] for at in (3, 4, 5)] == ["ask", "refuse", "refuse"]
    assert "has expired" in answers[6]["error"]["message"]
    assert answers[7]["action"] == "refuse"
    told = [one.answer.answer for one in log.decisions if one.answer]
    assert told == ["lapsed", "no"]


def test_a_result_of_one_is_an_error() -> None:
    answers = answers_to(
        guard_of(desk()), [open_(), batch(MAIL, unknown("a")), result("iban-9", id="u")]
    )
    assert answers[2]["error"]["path"] == "/id"


@given(st.text(max_size=300), st.sampled_from(["", "transfer"]))
def test_any_text_of_256_characters_is_a_name(text: str, start: str) -> None:
    name = start + text
    if name in {"read_note", "list_mail", "make_note", "shred", "transfer"}:
        return
    guard = guard_of(desk())
    line = json.dumps(batch(unknown(name))).encode()
    answers_to(guard, [open_()])
    answer: Any = guard.handle_line(line)
    wire = answer.wire()
    if not 0 < len(name) <= 256 or any("\ud800" <= one <= "\udfff" for one in name):
        assert "error" in wire
    else:
        assert wire["action"] == "refuse"
        assert wire["unknown"][0]["tool"] == name
        assert wire["unknown"][0]["say"].isprintable()


def test_of_many_tools_some_are_listed() -> None:
    wire = desk()
    wire["tool"] += [
        {"adapter_id": "x", "capability_id": f"t{number}", "approval_mode": "read_only"}
        for number in range(100)
    ]
    answer = answers_to(guard_of(wire), [open_(), batch(unknown("a"))])[1]
    assert answer["unknown"][0]["say"].endswith("t0, t1, t2 and 97 more.")


def test_a_shadow_lets_a_tool_run_that_the_policy_lacks() -> None:
    answers = answers_to(guard_of(desk(shadow=True)), [open_(), batch(MAIL, unknown("not_yet"))])
    assert answers[1]["action"] == "allow"
    assert "unknown" not in answers[1]


def test_a_seam_answers_it_and_makes_the_rest() -> None:
    session = GuardedSession(guard_of(desk()), "s")
    session.began("Look")
    asked = [AskedCall("u", "no such tool", {}), AskedCall("m", "list_mail", {})]
    assert session.rule(asked)
    against = session.start(asked[0])
    assert (against.action, against.kind) == ("refuse", "unknown_tool")
    assert against.reasons == (SAYS.format("no such tool"),)
    assert session.start(asked[1]).args == {}
    alone = session.rule([AskedCall("v", "other", {})])
    assert (alone.action, alone.reasons) == ("refuse", (SAYS.format("other"),))


def test_a_seam_asks_about_the_rest() -> None:
    session = GuardedSession(guard_of(desk()), "s")
    answers_to(session.guard, ASKS[:3])
    asked = [
        AskedCall("u", "no_such_tool", {}),
        AskedCall("p", "transfer", {"iban": "iban-4711-22", "reason": "x"}),
    ]
    assert session.rule(asked).action == "ask"
    assert session.rule(asked).action == "ask", "it is the same question"
    assert [*session.waiting] == ["p"]
    assert session.question is not None
    assert session.question.ruling.turn == 2
