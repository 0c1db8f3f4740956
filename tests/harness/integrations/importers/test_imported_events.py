"""What was recorded, in any order, gives the events that a second statement of the rule gives."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.integrations.importers.imported_events import session_events
from harness.integrations.importers.transcript import (
    LeftOut,
    Recorded,
    RecordedBatch,
    RecordedCall,
    RecordedResult,
    RecordedText,
)
from harness.wire import InvalidInput
from tests.support.effort import examples

Json = dict[str, Any]

WORDS = st.sampled_from(["Go", "Hurry", "", "You are a clerk."])
OUTPUTS = st.sampled_from([None, "", "paid", {"id": "1"}, ["a"], False, 0])
ERRORS = st.sampled_from(["", "no such id"])
NAMES = st.sampled_from("abcd")
results = st.builds(lambda name, output: RecordedResult("r", name, output), NAMES, OUTPUTS)
failures = st.builds(lambda name, why: RecordedResult("r", name, error=why), NAMES, ERRORS)
ANY_TIME = st.one_of(
    st.builds(RecordedText, WORDS, st.booleans()),
    results,
    failures,
    st.builds(LeftOut, st.sampled_from(["a part", "a line"])),
)


@st.composite
def recordings(draw: st.DrawFn) -> list[Recorded]:
    """Draw what was recorded: each call has an id of its own, and ends once, twice or never."""
    found: list[Recorded] = []
    waiting = list("abcd")
    while waiting:
        found += draw(st.lists(ANY_TIME, max_size=3))
        count = draw(st.integers(1, 2))
        calls, waiting = waiting[:count], waiting[count:]
        found.append(RecordedBatch(tuple(RecordedCall("c", one, "look", {}) for one in calls)))
    return [*found, *draw(st.lists(ANY_TIME, max_size=4))]


def expected(recorded: Sequence[Recorded], request: str | None) -> tuple[list[Json], Counter[str]]:
    """Return the events and what they leave out, by looking at the whole of what was recorded."""
    firsts = [
        at
        for at, one in enumerate(recorded)
        if isinstance(one, RecordedBatch) or (isinstance(one, RecordedText) and not one.is_system)
    ]
    first = firsts[0] if firsts else len(recorded)
    left = Counter(one.what for one in recorded if isinstance(one, LeftOut))
    prompts = [
        (at, one.text)
        for at, one in enumerate(recorded)
        if isinstance(one, RecordedText) and one.is_system
    ]
    system = next((text for at, text in prompts if at < first), None)
    others = sum(text != system for _, text in prompts)
    if others:
        left["a later system prompt"] = others
    opener = recorded[first] if firsts else None
    words = opener.text if isinstance(opener, RecordedText) else request
    if words is None:
        left["the request: there are no words of the user before the first call"] = 1
    events: list[Json] = [
        {"event": "open", "request": words or "", **({} if system is None else {"system": system})}
    ]
    open_calls = set[str]()
    for at, one in enumerate(recorded):
        if isinstance(one, RecordedText) and not one.is_system and at != first:
            events.append({"event": "said", "text": one.text})
        elif isinstance(one, RecordedBatch):
            asked = [{"id": call.id, "tool": call.tool, "args": call.args} for call in one.calls]
            events.append({"event": "calls", "calls": asked})
            open_calls |= {call.id for call in one.calls}
        elif isinstance(one, RecordedResult) and one.id not in open_calls:
            left["a result of a call that is not there, or has ended"] += 1
        elif isinstance(one, RecordedResult):
            open_calls.remove(one.id)
            status = "completed" if one.error is None else "failed"
            told = {"output": one.output, "error": one.error}
            known = {name: value for name, value in told.items() if value is not None}
            events.append({"event": "result", "id": one.id, "status": status, **known})
    if open_calls:
        left["how a call ended"] = len(open_calls)
    return [{**one, "session": "s"} for one in events], left


CALLS: list[Recorded] = [
    RecordedBatch((RecordedCall("c", "a", "look", {}), RecordedCall("c", "b", "look", {}))),
    RecordedBatch((RecordedCall("c", "c", "look", {}),)),
]


@example(recorded=[RecordedText("Go"), RecordedText("late", is_system=True)], request=None)
@example(
    recorded=[*CALLS, RecordedResult("r", "a", "x"), RecordedResult("r", "a", "y")], request=""
)
@example(recorded=[*CALLS, RecordedResult("r", "b", None, "")], request="Go")
@settings(max_examples=examples(200))
@given(recorded=recordings(), request=st.sampled_from([None, "", "Go"]))
def test_what_was_recorded_gives_its_events_and_says_what_they_leave_out(
    recorded: list[Recorded], request: str | None
) -> None:
    made = session_events("s", recorded, request)
    events, left = expected(recorded, request)
    assert [one.wire() for one in made.events] == events
    counted = {f"{what}" + ("" if n == 1 else f" ({n} times)") for what, n in left.items()}
    assert {one.removeprefix("session s: left out: ") for one in made.notes} == counted


@pytest.mark.parametrize("first", [RecordedText("Go"), CALLS[0], RecordedText("x", is_system=True)])
def test_whom_a_session_was_for_is_told_however_it_opens(first: Recorded) -> None:
    whom = {"user": "ada", "tenant": "acme"}
    opened = session_events("s", [first], None, whom).events[0].wire()
    assert {name: opened[name] for name in whom} == whom
    with pytest.raises(InvalidInput):
        session_events("s", [first], None, {"user": "Ada Ray"})
