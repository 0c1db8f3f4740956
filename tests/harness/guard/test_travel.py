"""A session goes on in another process as if nothing had happened, and only once from one state."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.envelope import Envelope
from harness.errors import HarnessError
from harness.guard import EventError, Guard, OutOfPlace, Ruling, WentOnElsewhere
from harness.log import SqlDecisionLog
from harness.record import CriticErrorRecord
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


def test_of_two_that_go_on_from_one_state_the_log_refuses_the_second(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        state = begun(log=log).export("s")
        one, two = guard_of(desk(), log=log), guard_of(desk(), log=log)
        one.resume(state)
        two.resume(state)
        answers_to(guard_of(desk(), log=log), [open_("else"), call("list_mail", "else")])
        digest = json.loads(state)["session"]["turns"][-1]["plan_digest"]
        said = [guard.handle_line(_line(yes(digest=digest))) for guard in (one, two)]
        assert isinstance(said[0], Ruling)
        assert said[0].action == "allow"
        assert isinstance(said[1], Ruling)
        assert said[1].action == "refuse"
        assert "went on elsewhere" in (said[1].critic_error or "")
        assert one.handle_line(_line(result({}))) is None
        again = two.handle_line(_line(call("list_mail")))
        assert isinstance(again, Ruling)
        assert again.critic_error
        three = guard_of(desk(), log=log)
        with pytest.raises(WentOnElsewhere, match="at record"):
            three.resume(state)
        errors = [one for one in log.entries() if isinstance(one, CriticErrorRecord)]
        assert len(errors) == 2


def test_a_state_is_claimed_with_those_that_it_came_from(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        first = begun(log=log).export("s")
        one, two = guard_of(desk(), log=log), guard_of(desk(), log=log)
        one.resume(first)
        second = one.export("s")
        two.resume(second)
        other = guard_of(desk(), log=log)
        other.resume(first)
        assert other.handle_line(_line(call("list_mail")))
        ruling = two.handle_line(_line(call("list_mail")))
        assert isinstance(ruling, Ruling)
        assert ruling.critic_error


def test_a_batch_that_began_in_one_process_ends_in_another(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        guard = guard_of(desk(), log=log)
        answers_to(guard, [open_(), call("list_mail")])
        other = guard_of(desk(), log=log)
        other.resume(guard.export("s"))
        answers_to(other, [result("x"), close()])
        assert {one.status for one in replay(log)} == {"same"}


def _line(event: Any) -> bytes:
    return json.dumps(event).encode()


def test_a_log_that_cannot_be_read_lets_nobody_go_on() -> None:
    class Blind:
        def append(self, _decision: Any) -> Any:
            return type("Record", (), {"seq": 1})

    state = begun(log=Blind()).export("s")
    with pytest.raises(HarnessError, match="cannot show"):
        guard_of(desk(), log=Blind()).resume(state)


def test_a_failed_record_of_our_own_is_not_taken_for_another_process(tmp_path: Path) -> None:
    class Stumbling:
        """Cannot record a beginning the first time."""

        def __init__(self, log: SqlDecisionLog) -> None:
            self.append, self.head, self.claims = log.append, log.head, log.claims
            self.log, self.fails = log, 1

        def begin(self, begun: Any) -> Any:
            if self.fails:
                self.fails -= 1
                raise OSError
            return self.log.begin(begun)

    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        state = begun(log=log).export("s")
        guard = guard_of(desk(), log=Stumbling(log))
        guard.resume(state)
        first = guard.handle_line(_line(call("list_mail")))
        assert isinstance(first, Ruling)
        assert first.critic_error
        second = guard.handle_line(_line(call("list_mail")))
        assert isinstance(second, Ruling)
        assert second.action == "allow"


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
