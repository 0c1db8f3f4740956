"""One life for the id of a session in a log: another would forget what was denied and spent."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.guard import Guard
from harness.guard.log_claims import id_claim
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
    for other, again in {"t": guard, "u": guard_of(desk(), log=log)}.items():
        assert answer_to(again, open_())["error"] == {"path": "/session", "message": TAKEN}
        said = answer_to(again, ASKS[-1])["error"]["message"]
        assert said.startswith("session s is not open: it was closed")
        assert answer_to(again, open_(other)) == {}
    assert log.head() == before
    assert {one.status for one in replay(log)} == {"same"}


def test_of_two_guards_that_open_one_id_the_first_has_it(log: SqlDecisionLog) -> None:
    one, two = guard_of(desk(), log=log), guard_of(desk(), log=log)
    assert answer_to(one, open_()) == {}
    assert answer_to(two, open_())["error"]["message"] == TAKEN
    assert answer_to(two, call("list_mail"))["action"] == "allow"
    assert "is awaited" in answer_to(one, call("list_mail"))["error"]["message"]
    assert [answer_to(one, result("x")), answer_to(two, close())["status"]] == [{}, "completed"]


def test_a_log_without_journals_gives_an_id_to_the_first_to_record(log: SqlDecisionLog) -> None:
    class Plain:
        """Keeps records and claims, and no sessions."""

        append, begin = log.append, log.begin
        head, claims = log.head, log.claims

    one, two = guard_of(desk(), log=Plain()), guard_of(desk(), log=Plain())
    assert [answer_to(guard, open_()) for guard in (one, two)] == [{}, {}]
    assert answer_to(two, call("list_mail"))["action"] == "allow"
    late = answer_to(one, call("list_mail"))
    assert (late["action"], "verdict" in late) == ("refuse", False)
    assert "choose a new id" in late["critic_error"]
    assert answer_to(two, result("x")) == {}


def test_what_is_not_on_record_has_no_life_yet(log: SqlDecisionLog) -> None:
    guard = guard_of(desk(), log=log)
    said = {"event": "said", "session": "s", "text": "x"}
    for _ in range(2):
        assert answers_to(guard, [open_(), said, close()])[2]["status"]
    assert log.head().seq == 0
    without = guard_of(desk())
    for _ in range(2):
        events = [open_(), call("list_mail"), result("x"), close()]
        assert answers_to(without, events)[1]["action"] == "allow"


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


NEAR_IDS = ("s", "S", " s", "s ", "s\n", "ss", "s/", "\u017f", "\u00e9", "e\u0301", "0", "00")


def test_ids_that_are_nearly_equal_are_of_sessions_of_their_own(log: SqlDecisionLog) -> None:
    """Each is closed in its turn, in another guard, and no other one with it."""
    assert len({id_claim(one) for one in NEAR_IDS}) == len(NEAR_IDS)
    guard, other = guard_of(desk(), log=log), guard_of(desk(), log=log)
    for name in NEAR_IDS:
        assert answer_to(guard, open_(name)) == {}, name
        assert answer_to(other, call("list_mail", session=name))["action"] == "allow"
    for number, name in enumerate(NEAR_IDS):
        if number == len(NEAR_IDS) // 2:
            assert [one for one in NEAR_IDS if guard.is_open(one)] == [*NEAR_IDS[number:]]
        assert answer_to(other, close(name))["session"] == name
        assert "error" in answer_to(guard, open_(name))
