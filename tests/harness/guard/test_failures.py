"""Whatever fails inside the guard is never an allow, and leaves the session as it was."""

import asyncio
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from harness.clock import FixedClock
from harness.errors import HarnessError
from harness.guard import EventError, Guard, Ruling, SessionReport
from harness.guard import course as course_module
from harness.log import SqlDecisionLog
from harness.record import Begun, Decision, DecisionRecord
from harness.single_use import PermitError
from tests.harness.console import Critic
from tests.support.guarding import (
    ASKS,
    NOON,
    answers_to,
    call,
    close,
    desk,
    guard_of,
    open_,
    result,
    yes,
)


class Failing:
    """A port that works until it is told to fail."""

    def __init__(self, failure: Callable[[], Any]) -> None:
        self.failure, self.fails = failure, False


class FailingLog(Failing):
    kept = 0

    def append(self, _decision: Decision) -> Any:
        if self.fails:
            return self.failure()
        self.kept += 1
        return DecisionStandIn(self.kept)


class DecisionStandIn:
    def __init__(self, seq: int) -> None:
        self.seq = seq


class FailingClock(Failing):
    def now(self) -> Any:
        return self.failure() if self.fails else NOON


def raises(error: BaseException) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


async def later() -> DecisionRecord:
    raise AssertionError("nobody awaits it")


class NoText(Exception):
    def __str__(self) -> str:
        raise RuntimeError


LOG_FAILURES = {
    "it raises": raises(OSError("disk\x1b[31m")),
    "it raises its own error": raises(HarnessError("the log is full")),
    "its error cannot be shown": raises(NoText()),
    "it runs out of memory": raises(MemoryError()),
    "it recurses": raises(RecursionError()),
    "it is asynchronous": later,
    "it returns nothing": lambda: None,
}


class LogWithoutBeginnings(FailingLog):
    """Keeps decisions, and fails where an execution begins."""

    def append(self, _decision: Decision) -> Any:
        self.kept += 1
        return DecisionStandIn(self.kept)

    def begin(self, _begun: Begun) -> Any:
        return self.failure() if self.fails else BegunStandIn()


class BegunStandIn:
    hash = "0" * 64


CLOCK_FAILURES = {
    "it raises": raises(OSError("no clock")),
    "it has no zone": lambda: datetime(2026, 5, 9, 12),
    "it returns a number": lambda: 1.5,
    "it returns nothing": lambda: None,
}

EVENTS = {
    "calls": call("list_mail", id="m"),
    "a refused call": call("transfer", id="t", iban="iban-9", reason="x"),
    "answer": yes(),
    "a no": {**yes(), "yes": False},
    "result": result({}, id="r"),
    "close": close(),
}


def prepared(**ports: Any) -> tuple[Guard, dict[int, Any]]:
    """Return a guard whose session has an open question and a call whose result is awaited."""
    guard = guard_of(desk(), **ports)
    events = [ASKS[0], call("list_mail", id="r"), *ASKS[1:]]
    return guard, answers_to(guard, events)


def given_to(guard: Guard, event: Any, answers: dict[int, Any]) -> Any:
    digest = max(answers.items())[1]["plan_digest"]
    wire = {**event, "plan_digest": digest} if "plan_digest" in event else event
    return guard.handle_line(json.dumps(wire).encode())


def allows_nothing(answer: Any) -> bool:
    if isinstance(answer, Ruling):
        return answer.action == "refuse" and answer.verdict is None and bool(answer.critic_error)
    return isinstance(answer, EventError) and answer.error.message.startswith("critic_error: ")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("failure", LOG_FAILURES)
def test_a_log_that_fails_allows_nothing_and_changes_nothing(event: str, failure: str) -> None:
    log = FailingLog(LOG_FAILURES[failure])
    guard, answers = prepared(log=log)
    log.fails = True
    answer = given_to(guard, EVENTS[event], answers)
    assert allows_nothing(answer), answer
    assert answer.model_dump_json().isascii()
    log.fails = False
    again = given_to(guard, EVENTS[event], answers)
    assert again == given_to(*_fresh(event))


@pytest.mark.parametrize("event", ["calls", "answer"])
@pytest.mark.parametrize("failure", LOG_FAILURES)
def test_what_cannot_begin_on_record_is_not_allowed(event: str, failure: str) -> None:
    log = LogWithoutBeginnings(LOG_FAILURES[failure])
    guard, answers = prepared(log=log)
    log.fails = True
    assert allows_nothing(given_to(guard, EVENTS[event], answers))
    with pytest.raises(PermitError):
        guard.permit("s", "m" if event == "calls" else "c")
    log.fails = False
    assert given_to(guard, EVENTS[event], answers).action == "allow"


@pytest.mark.parametrize("event", EVENTS)
def test_who_is_shown_decisions_and_fails_lets_nothing_through(event: str) -> None:
    watch = Failing(raises(OSError()))
    guard, answers = prepared(on_decision=lambda _: watch.failure() if watch.fails else None)
    watch.fails = True
    assert allows_nothing(given_to(guard, EVENTS[event], answers))
    watch.fails = False
    assert given_to(guard, EVENTS[event], answers) == given_to(*_fresh(event))


def _fresh(event: str) -> tuple[Guard, Any, dict[int, Any]]:
    guard, answers = prepared(log=FailingLog(raises(OSError())))
    return guard, EVENTS[event], answers


@pytest.mark.one_in(4)
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("failure", CLOCK_FAILURES)
def test_a_clock_that_fails_allows_nothing_and_changes_nothing(event: str, failure: str) -> None:
    clock = FailingClock(CLOCK_FAILURES[failure])
    log = FailingLog(raises(OSError()))
    guard, answers = prepared(clock=clock, log=log)
    clock.fails = True
    answer = given_to(guard, EVENTS[event], answers)
    assert allows_nothing(answer), answer
    clock.fails = False
    assert given_to(guard, EVENTS[event], answers) == given_to(*_fresh(event))


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("name", ["verify_batch", "digest"])
def test_a_core_that_fails_allows_nothing(
    name: str, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard, answers = prepared()
    monkeypatch.setattr(course_module, name, raises(ZeroDivisionError("x")))
    answer = given_to(guard, EVENTS[event], answers)
    assert not isinstance(answer, Ruling) or answer.action == "refuse"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(), asyncio.CancelledError()])
def test_an_interruption_passes_and_changes_nothing(error: BaseException) -> None:
    log = FailingLog(raises(error))
    guard, answers = prepared(log=log)
    log.fails = True
    with pytest.raises(type(error)):
        given_to(guard, EVENTS["answer"], answers)
    log.fails = False
    assert given_to(guard, EVENTS["answer"], answers).action == "allow"


def test_a_failure_at_the_opening_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = guard_of(desk())
    with monkeypatch.context() as patch:
        patch.setattr("harness.guard.course_opening.Session.opened", raises(ValueError("x")))
        assert allows_nothing(guard.handle_line(json.dumps(open_()).encode()))
    assert isinstance(guard.handle_line(json.dumps(EVENTS["calls"]).encode()), EventError)


def test_what_is_not_an_event_is_an_error_not_an_exception() -> None:
    guard = guard_of(desk())
    things: list[Any] = [None, {}, "x", Ruling, b"{}"]
    for thing in things:
        assert isinstance(guard.handle(thing), EventError)
        assert isinstance(guard.handle_line(thing), EventError)


def test_a_real_log_that_was_closed_allows_nothing(tmp_path: Path) -> None:
    log = SqlDecisionLog.open(tmp_path / "log.db")
    guard, answers = prepared(log=log)
    log.close()
    assert allows_nothing(given_to(guard, EVENTS["calls"], answers))


def test_a_clock_that_fails_allows_nothing_whatever_the_events_tell() -> None:
    clock = FailingClock(raises(OSError()))
    clock.fails = True
    guard = guard_of(desk(), clock=clock)
    at = {"as_of": "2026-05-09T12:00:00Z"}
    opened, called, closed = answers_to(
        guard, [open_(**at), {**call("list_mail"), **at}, close()]
    ).values()
    assert "critic_error" in opened["error"]["message"]
    assert "error" in called
    assert "error" in closed


@pytest.mark.parametrize("policy", ["", "x = ", "[guard]\nsafety_mode = 'all'", None])
def test_without_a_policy_the_command_answers_nothing(
    critic: Critic, tmp_path: Path, policy: str | None
) -> None:
    path = tmp_path / "critic.toml"
    if policy is not None:
        path.write_text(policy)
    said = critic("guard", "--policy", path, stdin=json.dumps(open_()).encode())
    assert (said.status, said.out) == (2, "")
    assert said.err.count("\n") == 1


def test_a_report_is_an_answer_too() -> None:
    guard = guard_of(desk(), clock=FixedClock(NOON))
    guard.handle_line(json.dumps(open_()).encode())
    assert isinstance(guard.handle_line(json.dumps(close()).encode()), SessionReport)
