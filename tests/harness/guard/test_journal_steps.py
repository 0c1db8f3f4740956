"""A step of a journal is trusted for its event alone: each change of what it says else is found."""

import json
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Final

import pytest

from harness.canonical import canonical_json
from harness.clock import FixedClock
from harness.guard import Guard, JournalAltered, OpenEvent, SaidEvent
from harness.guard.session_journal import JournalPlace, is_whole, step_claim
from harness.log.journal_rows import JournalMoved, JournalRow, JournalStep
from harness.record.drafts import session_key
from tests.harness.guard.test_late_calls import VALUES
from tests.harness.guard.test_late_travel import CARRIED, STREAMS
from tests.harness.guard.test_session_time import Watch
from tests.support.guarding import (
    ASKS,
    NOON,
    Json,
    answers_to,
    call,
    desk,
    guard_of,
    open_,
    yes,
)
from tests.support.late_refund import late_policy

KEY: Final = session_key("s")


class Memory:
    """Keeps journals in lists, so that a test can change their rows."""

    def __init__(self) -> None:
        self.rows: dict[str, list[JournalRow]] = {}

    def append_step(self, entries: Iterable[Any], step: JournalStep) -> Sequence[Any]:
        assert not [*entries]
        if step.number != self.last_step(step.session) + 1:
            raise JournalMoved
        rows = self.rows.setdefault(step.session, [])
        if step.is_end or step.is_whole:
            rows.clear()
        if not step.is_end:
            rows.append(JournalRow(step.number, None, None, step.body))
        return ()

    def journal(self, session: str, after: int = 0) -> Sequence[JournalRow]:
        return [one for one in self.rows.get(session, ()) if one.number > after]

    def last_step(self, session: str) -> int:
        rows = self.rows.get(session)
        return rows[-1].number if rows else 0

    def last_claim(self, _prefix: str) -> None:
        pass


def desk_guard(kept: Memory) -> Guard:
    return guard_of(desk(), sessions=kept)


def late_guard(kept: Memory) -> Guard:
    return Guard(late_policy(VALUES), clock=FixedClock(NOON), sessions=kept)


WAYS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "turns": (desk_guard, [*ASKS, {**yes(), "yes": False}, call("list_mail", id="m")]),
    "openings": (late_guard, STREAMS["a no counts"][1][:8]),
    "a plan": (late_guard, CARRIED),
}


def kept_of(way: str) -> tuple[Memory, list[JournalRow]]:
    """Return a place with the journal of a session, and its rows."""
    make, events = WAYS[way]
    kept = Memory()
    answers_to(make(kept), events)
    rows = kept.rows[KEY]
    assert len(rows) == len(events)
    assert make(kept).status("s") is not None
    return kept, rows


def changed(row: JournalRow, **members: Any) -> JournalRow:
    """Return a row whose body has other members; None takes one out."""
    body = {**json.loads(row.body), **members}
    return row._replace(body=canonical_json({k: v for k, v in body.items() if v is not None}))


def refused(way: str, rows: list[JournalRow], words: str) -> None:
    kept = Memory()
    kept.rows[KEY] = rows
    with pytest.raises(JournalAltered, match=words):
        WAYS[way][0](kept).status("s")


@pytest.mark.parametrize("way", WAYS)
def test_what_a_step_says_was_ruled_is_what_its_event_is_ruled_again(way: str) -> None:
    _, rows = kept_of(way)
    ruled = [json.loads(row.body).get("action") for row in rows]
    assert {"allow", "ask", None} <= {*ruled}
    for at, was in enumerate(ruled):
        for other in {None, "allow", "ask", "refuse"} - {was}:
            edited = [*rows[:at], changed(rows[at], action=other), *rows[at + 1 :]]
            refused(way, edited, f"says {other}, and these rules say {was}")


@pytest.mark.parametrize("way", WAYS)
def test_each_step_is_of_its_policy_and_its_place(way: str) -> None:
    _, rows = kept_of(way)
    digest = json.loads(rows[0].body)["policy"]
    near = (digest[:-1] + ("0" if digest[-1] != "0" else "1"), digest[:12], digest.upper())
    for at, row in enumerate(rows):
        edited = [*rows[:at], changed(row, policy=near[at % len(near)]), *rows[at + 1 :]]
        refused(way, edited, "it is of another policy")
        same, after = row._replace(number=row.number), rows[at + 1 :]
        refused(way, [*rows[:at], same, same, *after], "a step is missing")
        if after:
            refused(way, [*rows[:at], *after], "a step is missing|of another|no session")
    other_id = [changed(rows[0], event={**json.loads(rows[0].body)["event"], "session": "S"})]
    refused(way, other_id, "it is of another session")


def test_a_step_that_is_no_event_is_not_passed_over() -> None:
    _, rows = kept_of("turns")
    event = json.loads(rows[1].body)["event"]
    for bad in ({**event, "calls": []}, {**event, "event": "open", "request": "x"}, {"a": 1}):
        refused("turns", [rows[0], changed(rows[1], event=bad), *rows[2:]], "cannot go on with")


def test_a_note_is_the_last_that_was_given_wherever_it_is_read() -> None:
    kept = Memory()
    guards = [desk_guard(kept) for _ in range(3)]
    said = SaidEvent(session="s", text="more")
    assert guards[0].handle(OpenEvent(session="s", request="x"), note="a") is None
    told, last = [None, "b", None, "c", "a", None], "a"
    for number, note in enumerate(told):
        assert guards[number % 3].handle(said, note=note) is None
        last = note or last
        assert desk_guard(kept).note("s") == last
        assert guards[number % 3].note("s") == last


def test_time_that_was_told_far_from_the_clock_goes_on_where_clocks_are_compared() -> None:
    kept, watch = Memory(), Watch()
    early = {**open_(), "as_of": "2026-05-09T11:00:00Z"}
    said = {"event": "said", "session": "s", "text": "x", "as_of": "2026-05-09T11:00:01Z"}
    answers_to(guard_of(desk(), sessions=kept, clock=watch), [early, said])
    watch.moment += timedelta(hours=2)
    other = guard_of(desk(), sessions=kept, clock=watch, max_skew=timedelta(seconds=1))
    assert answers_to(other, [call("list_mail")])[0]["action"] == "allow"
    told = {**call("list_mail", id="m"), "as_of": "2026-05-09T13:30:00Z"}
    assert "from the clock" in answers_to(other, [told])[0]["error"]["message"]


def test_claims_of_steps_are_in_the_order_of_their_numbers() -> None:
    steps = [JournalStep(KEY, number, b"", None) for number in (1, 9, 10, 11, 99, 100, 10**9)]
    claims = [step_claim(one) for one in steps]
    assert sorted(claims) == claims
    for number, claim in enumerate(claims):
        for at, step in enumerate(steps):
            place = JournalPlace(KEY, step.number)
            assert is_whole(place, claim) is (number <= at)
    assert is_whole(JournalPlace(KEY), None)
    for odd in ("x", "1.0", "-1", ""):
        assert not is_whole(JournalPlace(KEY, 10**9), f"step {KEY} {odd}")


def test_a_place_counts_what_came_since_the_last_whole_session() -> None:
    place, size, whole = JournalPlace(KEY), 0, 0
    for number, (added, is_all) in enumerate([(7, False), (9, False), (5, True), (8, False)]):
        place.advance(number, added, is_whole=is_all, note=None)
        size, whole = (0, added) if is_all else (size + added, whole)
        assert (place.number, place.size, place.whole) == (number, size, whole)


@pytest.mark.parametrize("way", WAYS)
def test_a_last_step_that_cannot_be_read_is_not_left_out(way: str) -> None:
    """It may be a no: whoever goes on without it has forgotten that."""
    _, rows = kept_of(way)
    event = json.loads(rows[-1].body)["event"]
    known: Json = {"session": "s", "event": "said", "text": "x"}
    for bad in (
        {**event, "x": 1},
        {**known, "as_of": "2026-05-09T11:00:00Z"},
        {**known, "text": 1},
    ):
        refused(way, [*rows[:-1], changed(rows[-1], event=bad)], "cannot go on with")
