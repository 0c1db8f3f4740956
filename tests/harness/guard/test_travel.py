"""A session goes on in another process as if nothing had happened, and only once from one state."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.envelope import Envelope
from harness.errors import HarnessError
from harness.guard import EventError, Guard, OutOfPlace, WentOnElsewhere
from harness.log import SqlDecisionLog
from harness.replay import replay
from harness.single_use import PermitError
from harness.wire import InvalidInput
from tests.support.guarding import (
    ASKS,
    answers_to,
    call,
    close,
    desk,
    guard_of,
    open_,
    result,
    streams,
    yes,
)

SAID = {
    "id": "request/1",
    "classification": "request",
    "source": {"author": "user", "standing": "named"},
}
STREAMS = [*streams("desk"), *streams("refunds")]


def moving(make: Callable[[], Guard]) -> Callable[[bytes], Any]:
    """Return what takes in lines, each in another guard than the one before."""
    guards = [make()]

    def handle(line: bytes) -> Any:
        answer = guards[-1].handle_line(line)
        states = _exported(guards[-1], line)
        guards.append(make())
        for state in states:
            guards[-1].resume(state)
        return answer

    return handle


def _exported(guard: Guard, line: bytes) -> list[bytes]:
    try:
        return [guard.export(json.loads(line)["session"])]
    except (ValueError, TypeError, KeyError, OutOfPlace):
        return []


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case["name"])
def test_a_session_that_moves_at_each_event_is_answered_the_same(case: Any) -> None:
    class Moving:
        handle_line = staticmethod(moving(lambda: guard_of(case["policy"])))

    there = answers_to(Moving(), case["events"])  # type: ignore[arg-type]
    assert there == answers_to(guard_of(case["policy"]), case["events"])


def test_a_question_that_lapsed_has_so_wherever_its_session_goes() -> None:
    """That it did is recorded once."""
    policy = desk(question_expires_after_s=10)
    guard, other = guard_of(policy), guard_of(policy)
    times = (f"2026-05-09T12:00:{second:02}Z" for second in (0, 1, 2, 3, 20))
    said = {"event": "said", "session": "s", "text": "hurry"}
    answers_to(guard, [{**one, "as_of": at} for one, at in zip([*ASKS, said], times, strict=True)])
    first = json.loads(guard.export("s"))
    assert first["lapsed"] is True
    other.resume(json.dumps(first).encode())
    assert json.loads(other.export("s")) == {**first, "revision": 2}


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case["name"])
def test_a_state_has_one_form(case: Any) -> None:
    for end in range(1, len(case["events"])):
        guard = guard_of(case["policy"])
        answers_to(guard, case["events"][:end])
        try:
            first = guard.export("d1")
        except OutOfPlace:
            continue
        other = guard_of(case["policy"])
        other.resume(first)
        again = json.loads(other.export("d1"))
        # Nothing is claimed where there is no log.
        assert again == {**json.loads(first), "revision": 2}


def begun(**ports: Any) -> Guard:
    guard = guard_of(desk(), **ports)
    answers_to(guard, ASKS)
    return guard


def test_a_session_that_was_handed_over_is_not_open_here() -> None:
    guard = begun()
    guard.export("s")
    assert isinstance(guard.handle_line(json.dumps(close()).encode()), EventError)
    with pytest.raises(OutOfPlace, match="not open"):
        guard.export("s")


def test_a_guard_goes_on_once_from_one_state() -> None:
    guard = begun()
    state = guard.export("s")
    assert guard.resume(state) == "s"
    with pytest.raises(OutOfPlace, match="open already"):
        guard.resume(state)
    later = guard.export("s")
    with pytest.raises(HarnessError, match="went on from this state already"):
        guard.resume(state)
    assert guard.resume(later) == "s"


def test_a_new_session_of_the_same_id_is_not_taken_for_the_old_one() -> None:
    guard = begun()
    old = guard.export("s")
    guard.resume(old)
    answers_to(guard, [close(), *ASKS])
    new = guard.export("s")
    with pytest.raises(HarnessError, match="already"):
        guard.resume(old)
    guard.resume(new)


def _line(event: Any) -> bytes:
    return json.dumps(event).encode()


def test_a_session_that_is_kept_is_not_handed_over(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        guard = begun(log=log)
        with pytest.raises(OutOfPlace, match="any guard there continues it"):
            guard.export("s")


def test_a_session_from_a_guard_that_keeps_none_is_kept_from_there_on(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        state = begun().export("s")
        guard_of(desk(), log=log).resume(state)
        with pytest.raises(OutOfPlace, match="open already"):
            guard_of(desk(), log=log).resume(state)
        other = guard_of(desk(), log=log)
        assert answers_to(other, [yes(digest=plan_asked_about(state)), close()])[0]["action"]
        with pytest.raises(OutOfPlace, match="or was before"):
            guard_of(desk(), log=log).resume(state)
        assert "tampered" not in {one.status for one in replay(log)}


def plan_asked_about(state: bytes) -> str:
    return str(json.loads(state)["session"]["turns"][-1]["plan_digest"])


def test_a_state_is_of_its_policy_alone() -> None:
    state = begun().export("s")
    with pytest.raises(InvalidInput, match="another policy"):
        guard_of(desk(max_questions=9)).resume(state)


def test_permits_do_not_travel() -> None:
    guard = guard_of(desk())
    answers_to(guard, [open_(), call("list_mail")])
    permit = guard.permit("s", "c")
    other = guard_of(desk())
    other.resume(guard.export("s"))
    with pytest.raises(PermitError):
        permit.redeem("list_mail", {})
    with pytest.raises(PermitError):
        other.permit("s", "c")
    assert other.handle_line(_line(result({}))) is None  # it may have run before


@pytest.mark.parametrize(
    "change",
    [
        {"awaited": [{"id": "c", "turn": 7, "step": 0}]},
        {"turns": []},
        {"policy_digest": "0" * 64},
        {"facts": {"id": "s"}},
        {"texts": -1},
        {"evidence": [{"id": "call/1", "classification": "x"}] * 2},
        *({"evidence": [SAID | said]} for said in ({"content": ["Hello"]}, {"content": 7}, {})),
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_state_that_contradicts_itself_is_refused(change: Any) -> None:
    state = json.loads(begun().export("s"))
    with pytest.raises(InvalidInput):
        guard_of(desk()).resume(_line({**state, "session": {**state["session"], **change}}))


def test_a_question_that_contradicts_itself_is_refused() -> None:
    state = json.loads(begun().export("s"))
    asked, verdict = state["question"], {"ok": True, "reasons": []}
    changes: list[Any] = [{"calls": []}, {"verdict": verdict}]
    for change in changes:
        with pytest.raises(InvalidInput, match="cannot go on"):
            guard_of(desk()).resume(_line({**state, "question": {**asked, **change}}))


def test_what_is_no_state_is_refused() -> None:
    for data in (b"", b"{}", b"[]", b"x"):
        with pytest.raises(InvalidInput):
            guard_of(desk()).resume(data)


def test_the_errors_are_one_family() -> None:
    assert issubclass(WentOnElsewhere, HarnessError)
    assert issubclass(EventError, Envelope)
