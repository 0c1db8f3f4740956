"""Which calls a no to an open question applies to."""

from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from critic import Refused, Violation
from critic.session import Call
from harness.guard.course_answers import OpenQuestion
from tests.support.guarding import Json, answers_to, call, desk, guard_of, open_

CALLS = tuple(Call(name, "pay", {}) for name in "abc")
PARTS = {3: 0, 4: 2}
"""The calls of the steps after those of all calls, which are things that a command does."""


def question_about(*steps: int | None) -> OpenQuestion:
    def call_at(step: int) -> int:
        return PARTS.get(step, step)

    found = tuple(
        Violation(check="approval", kind="approval_mode_mismatch", reason="r", offending_step=step)
        for step in steps
    )
    batch: Any = SimpleNamespace(calls=CALLS, call_at=call_at)
    return OpenQuestion(batch, Refused.because(found), "0" * 64)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_no_applies_to_the_calls_that_are_asked_about_or_to_all(count: int) -> None:
    """A violation without a step is about the plan as a whole."""
    for steps in combinations((None, 0, 1, 2, 3, 4), count):
        named = {PARTS.get(step, step) for step in steps if step is not None}
        wanted = range(3) if None in steps else sorted(named)
        assert question_about(*steps).doubted == [CALLS[at] for at in wanted], steps


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_no_that_the_agent_asked_for_lasts_for_the_session(
    elsewhere: bool, tmp_path: Path
) -> None:
    log, read = tmp_path / "log", {"name": "plan.md"}
    with guard_of(desk(), log=log) as guard, guard_of(desk(), log=log) as other:
        denied = {"event": "result", "session": "s", "id": "c", "status": "failed"}
        events = [open_(), call("read_note", **read), {**denied, "denied_by": "emma"}]
        answers_to(guard, events)
        asked = [call("read_note", id="d", **read), call("read_note", id="e", name="a.md")]
        again = answers_to(other if elsewhere else guard, asked)
    assert [one["action"] for one in again.values()] == ["refuse", "allow"]
    assert again[0]["reply"] == "read_note not run: a person said no: do not try again."


@pytest.mark.parametrize("denied", ["a.md", "b.md"])
def test_of_two_calls_of_a_turn_the_one_that_somebody_said_no_to_is_denied(denied: str) -> None:
    guard = guard_of(desk())
    asked = [{"id": one, "tool": "read_note", "args": {"name": one}} for one in ("a.md", "b.md")]
    told = {"event": "result", "session": "s", "id": denied, "status": "failed"}
    turn = {"event": "calls", "session": "s", "calls": asked}
    answers_to(guard, [open_(), turn, {**told, "denied_by": "emma"}])
    again = [call("read_note", id=f"again {one}", name=one) for one in ("a.md", "b.md")]
    actions = [one["action"] for one in answers_to(guard, again).values()]
    assert actions == ["refuse" if one == denied else "allow" for one in ("a.md", "b.md")]


@pytest.mark.parametrize("wrong", [{"status": "completed"}, {"sent": {"tool": "x", "args": {}}}])
def test_a_call_that_was_made_was_not_denied(wrong: Json) -> None:
    guard = guard_of(desk())
    told = {"event": "result", "session": "s", "id": "c", "status": "failed", "denied_by": "emma"}
    answers_to(guard, [open_(), call("read_note", name="plan.md")])
    (answer,) = answers_to(guard, [{**told, **wrong}]).values()
    assert "somebody said no to failed" in answer["error"]["message"]
