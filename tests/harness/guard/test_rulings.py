"""The answers of a guard in an `if`, and what a failure of it says."""

from typing import Any

import pytest

from critic import Verified
from harness.guard import EventError, EventFault, Guard, OpeningRuling, Ruling
from harness.guard.rulings import FAILED
from tests.harness.guard.test_failures import FailingLog, raises
from tests.support.guarding import ASKS, Json, answers_to, call, desk, guard_of, result, yes

PASSED = Verified(reasons=(), caveats=())


@pytest.mark.parametrize("action", ["allow", "ask", "refuse"])
def test_a_ruling_is_true_only_if_all_may_run(action: Any) -> None:
    known: Json = {"session": "s", "turn": 1, "action": action, "verdict": PASSED}
    assert bool(Ruling(**known)) is (action == "allow")
    assert bool(OpeningRuling(**known, id="c", plan_digest="0" * 64)) is (action == "allow")


def test_an_error_and_a_failure_are_false() -> None:
    assert not EventError(session="s", error=EventFault(path="", message="x"))
    failed = Ruling.of_failure("s", 3, "no disk")
    assert not failed
    assert (failed.turn, failed.critic_error, failed.reply) == (3, "no disk", FAILED)


PLAN: Json = {
    "event": "plan",
    "session": "s",
    "steps": [{"id": "x", "tool": "list_mail", "args": {}}],
}


@pytest.mark.parametrize(
    ("event", "turn"), [(call("list_mail", id="m"), 3), (PLAN, 3), (yes(), 2)], ids=str
)
def test_a_failure_names_the_turn_that_it_would_have_been(event: Json, turn: int) -> None:
    log = FailingLog(raises(OSError("no disk")))
    guard: Guard = guard_of(desk(), log=log)
    digest = answers_to(guard, ASKS)[3]["plan_digest"]
    log.fails = True
    named = {**event, "plan_digest": digest} if "plan_digest" in event else event
    (failed,) = answers_to(guard, [named]).values()
    assert (failed["action"], failed["turn"], failed["reply"]) == ("refuse", turn, FAILED)
    log.fails = False
    (again,) = answers_to(guard, [named]).values()
    assert (again["action"], again["turn"]) == ("allow", turn)
    assert "error" in answers_to(guard, [result("x", id="none")])[0]
