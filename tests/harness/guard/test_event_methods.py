"""Each event is a method with the type of its answer: it does what `handle` does, or raises."""

import asyncio
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.guard import (
    AsyncGuard,
    NoOpenQuestion,
    OutOfPlace,
    RequestedCall,
    SessionReport,
)
from harness.wire import InvalidInput
from tests.support.guarding import ASKS, answers_to, close, desk, guard_of

TOLD: dict[str, tuple[str, ...]] = {
    "open": ("request",),
    "said": ("text",),
    "calls": ("calls",),
    "result": ("id",),
    "answer": ("plan_digest", "yes", "approver"),
    "close": (),
}
"""What each method takes by its place, behind the session."""


def tell(guard: Any, event: dict[str, Any]) -> Any:
    """Tell an event by its method."""
    given = {name: value for name, value in event.items() if name != "event"}
    given |= {"calls": [RequestedCall(**one) for one in given["calls"]]} if "calls" in given else {}
    placed = [given.pop(name) for name in ("session", *TOLD[event["event"]])]
    return getattr(guard, event["event"])(*placed, **given)


def test_a_method_does_what_its_event_does() -> None:
    told, handled = guard_of(desk()), guard_of(desk())
    events = [*ASKS, {"event": "said", "session": "s", "text": "And thanks."}]
    answers = answers_to(handled, events)
    for index, event in enumerate(events):
        answer = tell(told, event)
        assert (None if answer is None else answer.wire()) == answers.get(index)
    question = answers[max(answers)]
    yes = {"plan_digest": question["plan_digest"], "yes": True, "approver": "emma"}
    # The words that came later changed nothing about the open question.
    assert told.answer("s", **yes).action == "allow"
    assert told.status("s") is not None
    assert isinstance(told.close("s"), SessionReport)


def test_the_asynchronous_guard_has_the_same_methods() -> None:
    async def run() -> list[Any]:
        async with AsyncGuard(guard_of(desk())) as guard:
            answers = [await tell(guard, event) for event in ASKS]
            await guard.said(session="s", text="By its name, too.")
            return [*answers, await guard.close(session="s")]

    answers, handled = asyncio.run(run()), guard_of(desk())
    expected = answers_to(handled, [*ASKS, close()])
    assert [one.wire() for one in answers if one is not None] == [*expected.values()]


@pytest.mark.parametrize(
    ("event", "error", "says"),
    [
        ({"event": "said", "session": "t", "text": "x"}, OutOfPlace, "open it first"),
        ({"event": "open", "session": "s", "request": "x"}, OutOfPlace, "is open already"),
        ({"event": "open", "session": "t", "request": 7}, InvalidInput, "/request"),
        ({"event": "calls", "session": "s", "calls": []}, InvalidInput, "/calls"),
        ({"event": "result", "session": "s", "id": "c9"}, OutOfPlace, "no result of call c9"),
        ({"event": "close", "session": "t"}, OutOfPlace, "open it first"),
        ({"event": "open", "session": "t", "request": "x", "again": True}, OutOfPlace, "cannot go"),
    ],
)
def test_what_is_wrong_is_raised(event: Any, error: type[Exception], says: str) -> None:
    guard = guard_of(desk())
    guard.open("s", "Look.")
    before = guard.status("s")
    with pytest.raises(error, match=says):
        tell(guard, event)
    assert guard.status("s") == before


@pytest.mark.parametrize("session", ["s", "t"])
def test_an_answer_to_no_open_question_is_raised(session: str) -> None:
    guard = guard_of(desk())
    guard.open("s", "Look.")
    with pytest.raises(NoOpenQuestion, match="resume the session first"):
        guard.answer(session, "0" * 64, True, "emma")
    answered = answers_to(guard, [{**YES, "session": session}])
    assert "resume the session first" in answered[0]["error"]["message"]


YES = {"event": "answer", "plan_digest": "0" * 64, "yes": True, "approver": "emma"}


def test_a_dict_for_an_event_says_what_to_build_or_call() -> None:
    told: Any = guard_of(desk()).handle({"event": "open"})  # type: ignore[call-overload]
    assert told.error.message == (
        "an event is needed, and this is of type dict: build one, such as OpenEvent(...), call the "
        "method of its name, such as guard.open(...), or give JSON to handle_line"
    )


def test_an_answer_without_its_plan_is_refused() -> None:
    guard = guard_of(desk())
    answers_to(guard, ASKS)
    with pytest.raises(InvalidInput, match="/plan_digest"):
        guard.answer("s", None, True, "emma")
    with pytest.raises(InvalidInput, match="/expires_at"):
        guard.answer("s", "0" * 64, True, "emma", expires_at=None)  # type: ignore[arg-type]


class Broken:
    """A log that takes nothing."""

    def append(self, decision: Any) -> Any:
        raise OSError(f"the disk is full: {type(decision)}")


def test_a_guard_that_fails_allows_nothing() -> None:
    guard = guard_of(desk(), log=Broken())
    guard.open("s", "Look.")
    call = RequestedCall(id="c1", tool="list_mail", args={})
    ruling = guard.calls("s", [call])
    assert not ruling
    assert ruling.critic_error is not None


def test_a_failure_elsewhere_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = guard_of(desk())
    monkeypatch.setattr("harness.guard.course_opening.Session", None)
    with pytest.raises(HarnessError, match="critic_error"):
        guard.open("s", "Look.")
    assert not guard.is_open("s")
