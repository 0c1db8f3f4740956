"""The time of a session goes on from what its events tell, and never goes back."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.timestamps import format_time
from harness.guard import Guard
from harness.guard.session_time import SessionTime, WrongTime
from tests.harness.guard.test_expiries import at, orders
from tests.support.guarding import (
    ASKS,
    answers_to,
    call,
    desk,
    guard_of,
    open_,
    policy_of,
    result,
    yes,
)

NOON: Final = datetime(2026, 5, 9, 12, tzinfo=UTC)
HOUR: Final = timedelta(hours=1)
SECOND: Final = timedelta(seconds=1)
OPEN: Final = {"event": "open", "session": "s", "request": "Refund it"}


class Watch:
    """A clock that is moved by hand."""

    def __init__(self, moment: datetime = NOON) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment


def looked(watch: Watch, *, told: datetime | None = NOON) -> Guard:
    """Return a guard whose session has an order that is fresh for a minute."""
    guard = guard_of(orders(), clock=watch)
    opened = OPEN if told is None else at(told, OPEN)
    assert answers_to(guard, [opened, call("look"), result({"id": "o-1"})])[1]["action"] == "allow"
    return guard


def refunds(guard: Guard, moment: datetime | None = None) -> Any:
    event = call("refund", id="r")
    answer = answers_to(guard, [event if moment is None else at(moment, event)])[0]
    return answer.get("action", answer.get("error"))


def test_time_does_not_go_back_to_when_evidence_was_fresh() -> None:
    guard = looked(Watch())
    assert refunds(guard, NOON + HOUR) == "refuse"
    error = refunds(guard, NOON)
    assert error["path"] == "/as_of"
    assert "the session was at 2026-05-09T13:00:00Z already" in error["message"]
    assert refunds(guard) == "refuse"


@pytest.mark.parametrize("told", [None, NOON, NOON - 24 * HOUR])
def test_what_an_event_told_does_not_stand_for_ever(told: datetime | None) -> None:
    watch = Watch()
    guard = looked(watch, told=told)
    watch.moment += SECOND * 59
    assert refunds(guard) == "allow"
    guard = looked(watch, told=told)
    watch.moment += SECOND * 60
    assert refunds(guard) == "refuse"


def test_a_clock_that_goes_back_does_not_take_a_session_along() -> None:
    watch = Watch()
    guard = looked(watch, told=None)
    watch.moment += HOUR
    assert refunds(guard) == "refuse"
    watch.moment = NOON
    assert refunds(guard) == "refuse"


def test_time_goes_on_in_another_process() -> None:
    watch, later = Watch(), Watch(NOON + HOUR)
    data = looked(watch, told=NOON - HOUR).export("s")
    other = guard_of(orders(), clock=later)
    other.resume(data)
    assert refunds(other) == "refuse"
    assert "error" in answers_to(other, [at(NOON - HOUR, call("look", id="x"))])[0]


def test_beside_a_clock_an_event_may_differ_by_a_skew() -> None:
    for by, taken in ((300, True), (-300, True), (301, False), (-301, False)):
        guard = Guard(policy_of(orders()), clock=Watch(), max_skew=timedelta(seconds=300))
        answers = answers_to(guard, [at(NOON + SECOND * by, OPEN)])
        assert (not answers) is taken, by
        assert taken or "more than 300 seconds from the clock" in answers[0]["error"]["message"]


@pytest.mark.parametrize("by", [-HOUR, HOUR])
def test_the_clock_goes_on_from_what_an_event_told(by: timedelta) -> None:
    time = SessionTime().after(NOON + by, NOON)
    for seconds in (5, 7):
        time = time.after(None, NOON + seconds * SECOND)
        assert time.at == NOON + by + seconds * SECOND


TOLD: Final = st.none() | st.integers(-9, 9)


@given(st.lists(st.tuples(TOLD, st.integers(-9, 9)), max_size=9))
def test_time_is_the_last_that_was_told_and_what_the_clock_went_on_since(
    events: list[tuple[int | None, int]],
) -> None:
    """What an event tells, and by how much the clock moves before it."""
    time, clock, told, read, latest = SessionTime(), 0, None, 0, None
    for given_time, moved in events:
        clock += moved
        now = NOON + SECOND * clock
        if given_time is None:
            at_event = clock if told is None else told + max(0, clock - read)
            latest = at_event if latest is None else max(latest, at_event)
            time = time.after(None, now)
        elif latest is not None and given_time < latest:
            with pytest.raises(WrongTime, match="does not go back"):
                time.after(NOON + SECOND * given_time, now)
        else:
            told = latest = given_time
            read = clock
            time = time.after(NOON + SECOND * given_time, now)
        assert latest is None or time.at == NOON + SECOND * latest


def test_each_session_has_a_time_of_its_own() -> None:
    guard = guard_of(orders(), clock=Watch())
    early, late = ({"event": "open", "session": name, "request": "go"} for name in "ab")
    said = {"event": "said", "session": "a", "text": "well"}
    events = [at(NOON + HOUR, late), at(NOON - HOUR, early), at(NOON, said)]
    assert answers_to(guard, events) == {}
    (answer,) = answers_to(guard, [at(NOON, {**said, "session": "b"})]).values()
    assert "time does not go back" in answer["error"]["message"]


def test_without_an_event_there_is_no_time() -> None:
    with pytest.raises(ValueError, match="no event"):
        _ = SessionTime().at


def asks(**guard: Any) -> dict[str, Any]:
    wire = orders()
    wire["guard"] = {**wire["guard"], **guard}
    wire["spec"]["approval_required_from"] = "network"
    return wire


@pytest.mark.parametrize(
    ("guard", "ends"),
    [({}, 60), ({"question_expires_after_s": 30}, 30), ({"question_expires_after_s": 90}, 60)],
)
def test_a_question_expires_with_the_first_evidence_that_it_was_asked_on(
    guard: dict[str, Any], ends: int
) -> None:
    end = NOON + SECOND * ends
    for moment, taken in ((end - SECOND, True), (end, False), (end + 480 * HOUR, False)):
        made, asked = _asked(guard)
        assert asked["expires_at"] == format_time(end)
        said = at(moment, yes(digest=asked["plan_digest"]))
        (answer,) = answers_to(made, [said]).values()
        assert answer.get("action") == ("allow" if taken else None)
        assert taken or "the question has expired" in answer["error"]["message"]
        denied = answers_to(made, [{**said, "yes": False}])[0]
        assert denied.get("action") == (None if taken else "refuse")


def _asked(guard: dict[str, Any]) -> tuple[Guard, Any]:
    """Return a guard that asks about a refund at noon, on an order that is fresh for a minute."""
    wire = asks(max_questions=9, **guard)
    made = guard_of(wire)
    events = [at(NOON, OPEN), call("look"), result({"id": "o-1"}), call("refund", id="r")]
    asked = answers_to(made, events)[3]
    assert asked["action"] == "ask"
    state = made.status("s")
    assert state is not None
    assert state.question is not None
    assert state.question.ruling.expires_at is not None
    return made, asked


def test_a_question_on_nothing_that_expires_does_not() -> None:
    answers = answers_to(guard_of(desk()), [*ASKS, at(NOON + 480 * HOUR, yes())])
    assert "expires_at" not in answers[3]
    assert answers[4]["action"] == "allow"


def test_a_question_expires_in_another_process_too() -> None:
    made, asked = _asked({})
    other = guard_of(asks(max_questions=9))
    other.resume(made.export("s"))
    said = at(NOON + HOUR, yes(digest=asked["plan_digest"]))
    assert "expired" in answers_to(other, [said])[0]["error"]["message"]


def test_the_state_of_a_session_tells_no_time_after_its_last_event() -> None:
    watch = Watch()
    data = looked(watch, told=NOON).export("s").replace(b"2026-05-09T12:00:00Z", b"@", 1)
    later = data.replace(b"@", b"2026-05-09T11:00:00Z")
    with pytest.raises(ValueError, match="after the last event"):
        guard_of(orders()).resume(later)


def test_the_opening_event_has_the_first_time() -> None:
    guard = guard_of(desk())
    assert not answers_to(guard, [open_(as_of="2026-05-09T11:00:00Z")])
    assert "error" in answers_to(guard, [{**call("list_mail"), "as_of": "2026-05-09T10:00:00Z"}])[0]
