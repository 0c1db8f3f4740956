"""One life for the id of a session in a log: another would forget what was denied and spent."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.guard import Guard, WentOnElsewhere
from harness.log import SqlDecisionLog
from harness.replay import replay
from tests.support.guarding import (
    ASKS,
    Json,
    answers_to,
    call,
    close,
    desk,
    guard_of,
    open_,
    result,
    yes,
)

SHREDS = [open_(request="shred old.pdf"), call("list_mail"), result("x")]
TAKEN = "session s is open already, or was before: choose a new id"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqlDecisionLog]:
    with SqlDecisionLog.open(tmp_path / "log.db") as opened:
        yield opened


def answer_to(guard: Guard, event: Json) -> Json:
    return answers_to(guard, [event]).get(0, {})


def test_an_id_that_is_on_record_is_not_opened_again(log: SqlDecisionLog) -> None:
    events = [*ASKS, yes(yes=False), close()]
    guard = guard_of(desk(), log=log)
    answers_to(guard, events)
    before = log.head()
    for again in (guard, guard_of(desk(), log=log)):
        assert answer_to(again, open_())["error"] == {"path": "/session", "message": TAKEN}
        assert "is not open" in answer_to(again, ASKS[-1])["error"]["message"]
        assert answer_to(again, open_("t")) == {}
    assert log.head() == before
    assert {one.status for one in replay(log)} == {"same"}


def test_of_two_guards_that_open_one_id_the_first_to_record_has_it(log: SqlDecisionLog) -> None:
    one, two = guard_of(desk(), log=log), guard_of(desk(), log=log)
    assert [answer_to(guard, open_()) for guard in (one, two)] == [{}, {}]
    assert answer_to(two, call("list_mail"))["action"] == "allow"
    late = answer_to(one, call("list_mail"))
    assert (late["action"], "verdict" in late) == ("refuse", False)
    assert "choose a new id" in late["critic_error"]
    assert answer_to(two, result("x")) == {}
    with pytest.raises(WentOnElsewhere):
        guard_of(desk(), log=log).resume(one.export("s"))


def test_what_is_not_on_record_has_no_life_yet(log: SqlDecisionLog) -> None:
    guard = guard_of(desk(), log=log)
    said = {"event": "said", "session": "s", "text": "x"}
    for _ in range(2):
        assert answers_to(guard, [open_(), said, close()])[2]["status"]
    assert log.head().seq == 0
    without = guard_of(desk())
    for _ in range(2):
        assert answers_to(without, [*SHREDS, close()])[1]["action"] == "allow"


def test_the_claim_goes_along_with_a_session_that_has_no_record(log: SqlDecisionLog) -> None:
    first, other = guard_of(desk(), log=log), guard_of(desk(), log=log)
    answer_to(first, open_())
    second = guard_of(desk(), log=log)
    second.resume(first.export("s"))
    answer_to(other, open_())
    assert answer_to(second, call("list_mail"))["action"] == "allow"
    assert answer_to(other, call("list_mail"))["action"] == "refuse"
    assert answer_to(first, open_())["error"]["message"] == TAKEN


def test_a_session_from_a_guard_without_a_log_claims_its_id(log: SqlDecisionLog) -> None:
    states = []
    for _ in range(2):
        guard = guard_of(desk())
        answers_to(guard, SHREDS)
        states.append(guard.export("s"))
    here = guard_of(desk(), log=log)
    here.resume(states[0])
    assert answer_to(here, call("list_mail", id="d"))["action"] == "allow"
    answer_to(here, close())
    assert answer_to(here, open_())["error"]["message"] == TAKEN
    with pytest.raises(WentOnElsewhere):
        guard_of(desk(), log=log).resume(states[1])


@pytest.mark.parametrize("name", ["\x00\n", "é\U0001f600", "x" * 256, "opened "])
def test_any_id_is_claimed(log: SqlDecisionLog, name: str) -> None:
    guard = guard_of(desk(), log=log)
    answers_to(guard, [open_(name), call("list_mail", name), close(name)])
    assert "choose a new id" in answer_to(guard, open_(name))["error"]["message"]
    assert {one.status for one in replay(log)} == {"same"}


def test_a_log_that_cannot_be_asked_lets_nothing_be_opened() -> None:
    class Broken:
        def append(self, _decision: Any) -> Any:
            raise AssertionError("nothing is to be recorded")

        def head(self) -> Any:
            return None

        def claims(self, _claims: Any) -> Any:
            raise OSError("no disk")

    class Later(Broken):
        async def claims(self, _claims: Any) -> Any:
            return {}

    for log in (Broken(), Later()):
        guard = guard_of(desk(), log=log)
        assert answer_to(guard, open_())["error"]["message"].startswith("critic_error: ")
        assert not guard.is_open("s")
