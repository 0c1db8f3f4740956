"""Questions are counted since the last yes, and the last one says that it is."""

import json

import pytest

from harness.guard import Guard
from harness.integrations.seam.guarded import AskedCall, GuardedSession
from tests.harness.guard.test_expiries import Log
from tests.support.guarding import answers_to, call, close, desk, guard_of, open_, result, yes

LAST = "this is the last question: until somebody says yes, the answer is no"


def asks(index: int) -> object:
    return call("transfer", id=f"c{index}", iban="iban-4711-22", reason=f"x{index}")


NOTE = [open_(), call("read_note", id="n", name="plan.md"), result("iban-4711-22", id="n")]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_last_question_says_so_and_a_yes_begins_anew(most: int) -> None:
    log = Log()
    guard = guard_of(desk(max_questions=most), log=log)
    answers = answers_to(guard, [*NOTE, *map(asks, range(most))])
    told = [answers[at] for at in range(3, 3 + most)]
    assert [one["action"] for one in told] == ["ask"] * most
    assert [one.get("note") for one in told] == [None] * (most - 1) + [LAST]
    assert {one.error for one in log.decisions if one.action == "ask"} == {None}
    status = guard.status("s")
    assert status is not None
    assert status.question is not None
    assert status.question.ruling.wire() == told[-1]
    digest = told[-1]["plan_digest"]
    again = answers_to(guard, [yes(digest=digest), result("done", id=f"c{most - 1}"), asks(9)])
    assert "note" not in again[0]
    assert again[2]["action"] in ("ask", "allow")
    assert (again[2].get("note") == LAST) == (most == 1 and again[2]["action"] == "ask")


def test_after_the_last_the_answer_is_no() -> None:
    guard = guard_of(desk(max_questions=1))
    answers = answers_to(guard, [*NOTE, asks(1), asks(2), close()])
    assert answers[4]["action"] == "refuse"
    assert answers[4]["note"] == "1 questions were asked already, which is the limit"


def test_a_person_hears_it_from_an_integration() -> None:
    guard: Guard = guard_of(desk(max_questions=1))
    answers_to(guard, NOTE)
    asked = AskedCall("c1", "transfer", json.dumps({"iban": "iban-4711-22", "reason": "x"}))
    for _ in range(2):  # asked for the first time, and once more while the question is open
        ruling = GuardedSession(guard, "s").rule([asked])
        assert ruling.action == "ask"
        assert LAST in ruling.reasons
