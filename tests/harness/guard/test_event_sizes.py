"""What a person or a model writes is at most a megabyte; what a tool returns may be more."""

import json
from typing import Any

import pytest

from harness.guard import EventError, OpenEvent, Ruling, parse_event
from harness.guard.session_events import MAX_SPOKEN_BYTES
from harness.wire import InvalidInput
from tests.support.guarding import answers_to, call, desk, guard_of, open_, result

LONG = "x" * MAX_SPOKEN_BYTES


def line(event: Any, size: int | None = None) -> bytes:
    """Return an event as a line, of so many bytes."""
    data = json.dumps(event).encode()
    return data if size is None else data + b" " * (size - len(data))


@pytest.mark.parametrize(
    "event",
    [
        open_("t", request=LONG),
        open_("t", system=LONG),
        {"event": "said", "session": "s", "text": LONG},
        call("read_file", id="long", path=LONG),
    ],
    ids=["request", "system", "said", "calls"],
)
def test_what_is_written_over_the_limit_is_refused_and_changes_nothing(event: Any) -> None:
    guard = guard_of(desk())
    guard.handle_line(line(open_()))
    before = guard.status("s")
    answer = guard.handle_line(line(event))
    assert isinstance(answer, EventError)
    assert "over the limit of 1048576 bytes for" in answer.error.message
    assert not guard.is_open("t")
    assert guard.status("s") == before
    with pytest.raises(InvalidInput, match="over the limit"):
        parse_event(line(event))


def test_the_limit_is_the_last_size_that_passes() -> None:
    guard = guard_of(desk())
    assert guard.handle_line(line(open_(), MAX_SPOKEN_BYTES)) is None
    asked = call("read_file", path="plan.md")
    assert isinstance(guard.handle_line(line(asked, MAX_SPOKEN_BYTES + 1)), EventError)
    assert isinstance(guard.handle_line(line(asked, MAX_SPOKEN_BYTES)), Ruling)


def test_arguments_hold_so_many_values_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.guard.session_events._MOST_VALUES", 1_000)
    guard = guard_of(desk())
    guard.handle_line(line(open_()))
    # The event, its three members, the call, its three members and the list are nine.
    for at, empty in enumerate(([], {}, 0, "a")):
        for many, kind in ((991, Ruling), (992, EventError)):
            asked = call("list_mail", id=f"c{at}", x=[empty] * many)
            assert type(guard.handle_line(line(asked))) is kind


def test_an_event_that_is_built_has_the_limit_too() -> None:
    guard = guard_of(desk())
    assert isinstance(guard.handle(OpenEvent(session="s", request=LONG)), EventError)
    assert not guard.is_open("s")


def test_a_result_may_be_longer() -> None:
    guard = guard_of(desk())
    guard.handle_line(line(open_()))
    ruling = guard.handle_line(line(call("list_mail")))
    assert isinstance(ruling, Ruling)
    assert ruling.action == "allow"
    assert guard.handle_line(line(result("word " * MAX_SPOKEN_BYTES))) is None


@pytest.mark.parametrize("status", ["completed", "failed", "timed_out", "unknown"])
@pytest.mark.parametrize("told", [{}, {"error": "it broke"}])
def test_a_cut_result_is_evidence_however_its_call_ended(status: str, told: dict[str, str]) -> None:
    guard = guard_of(desk())
    ended = {"event": "result", "session": "s", "id": "c", "status": status, **told}
    answers_to(guard, [open_(), call("read_note", name="plan.md"), {**ended, "cut": True}])
    assert b'"cut":true' in guard.export("s")
