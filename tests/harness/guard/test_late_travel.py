"""Sessions whose calls wait for one another: the same in any process, with the permits they name.

Each stream is told by its rulings, so that what all ways have in common is seen to be right, too.
"""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from harness.guard import Guard, Ruling, session_journal
from harness.log import SqlDecisionLog
from harness.record import BegunRecord
from harness.replay import replay
from harness.wire import build
from tests.harness.guard.test_late_calls import (
    PAY,
    PLAN,
    READS,
    SAID,
    TURN,
    VALUES,
    answer,
    calls,
    close,
    guard_of,
    opened,
    read_both,
    ready,
    result,
)
from tests.support.guarding import Json, answers_to
from tests.support.late_refund import ORDER, SENT, WINDOW

ASKED: Final = [opened(), TURN, *read_both(), ready("c")]
SOON: Final = {"question_expires_after_s": 30}
LATER: Final = "2026-05-09T12:01:00Z"
LOOK: Final = {**READS[0], "id": "d", "args": {"id": "ord_9"}}
"""Another call of a plan, which comes after the one that is asked about."""
MADE: Final = {"id": "p", "tool": "issue_refund", "args": SENT}
CARRIED: Final = [
    *(opened(), {**PLAN, "steps": [*READS, PAY, LOOK, {**LOOK, "id": "e"}]}),
    *(calls(*READS), result("a", ORDER), result("b", WINDOW)),
    calls(MADE, {**LOOK, "id": "q"}, {**LOOK, "id": "r"}),
]
"""An agent carries out its plan, and a person is asked about the first of three calls."""
BAD: Final = {"payment": {"id": "pay_8861", "amount_inr": 50001}}

STREAMS: Final[dict[str, tuple[Json, list[Json], str]]] = {
    "a yes": ({}, [*ASKED, answer(), result("c", {"ok": True}), close()], "aaa?a."),
    "a no counts": (
        {},
        [*ASKED, answer(False), TURN, *read_both(), ready("c"), answer(), close()],
        "aaa?raaarx.",
    ),
    "a yes to three calls": (
        {},
        [*CARRIED, answer(), result("r", ORDER), result("p", {}), result("q", ORDER), close()],
        "aa?a.",
    ),
    "a no to three calls": (
        {},
        [*CARRIED, answer(False), calls(MADE), calls({**LOOK, "id": "s"}), close()],
        "aa?rra.",
    ),
    "a question that expires with a word": (
        SOON,
        [*ASKED, {**SAID, "as_of": LATER}, answer(), answer(False), close()],
        "aaa?xx.",
    ),
    "a question that expires with its answer": (
        SOON,
        [*ASKED, {**answer(), "as_of": LATER}, answer(False), TURN, close()],
        "aaa?xxa.",
    ),
    "a no comes late": (SOON, [*ASKED, {**answer(False), "as_of": LATER}, close()], "aaa?r."),
    "a yes that expires": (
        {},
        [*ASKED, answer(expires_at="2026-05-09T12:00:00Z"), answer(), close()],
        "aaa?xa.",
    ),
    "a no while a read still runs": (
        {},
        [
            *(opened(), {**TURN, "calls": [*TURN["calls"], {**READS[0], "id": "d"}]}),
            *(ready("d"), *read_both(), ready("c"), answer(False), result("d", ORDER), close()),
        ],
        "aaaa?r.",
    ),
    "a plan that ends while it asks": (
        {},
        [*CARRIED, SAID, answer(), calls({**LOOK, "id": "q"}), close()],
        "aa?xa.",
    ),
    "another plan while it asks": (
        {},
        [*CARRIED, {**PLAN, "steps": READS}, answer(), calls(READS[0]), close()],
        "aa?axa.",
    ),
    "another call while it asks": (
        {},
        [*CARRIED, calls({**LOOK, "id": "z", "args": {"id": "ord_10"}}), answer(), close()],
        "aa?ax.",
    ),
    "a further call of the plan while it asks": (
        {},
        [*CARRIED, calls({**LOOK, "id": "z"}), answer(), close()],
        "aa?ax.",
    ),
    "a further call of the turn while it asks": (
        {},
        [
            *(opened(), {**TURN, "calls": [*TURN["calls"], {**READS[0], "id": "d"}]}),
            *(*read_both(), ready("c"), ready("d"), answer(), ready("d"), close()),
        ],
        "aaa?xaa.",
    ),
    "a halt at an opening": (
        {"on_refusal": "halt"},
        [opened(), TURN, *read_both(BAD), ready("c"), TURN, SAID, ready("c"), close()],
        "aaarxxx.",
    ),
    "a halt at a no": (
        {"on_refusal": "halt"},
        [*ASKED, answer(False), calls(READS[0]), close()],
        "aaa?rx.",
    ),
    "a plain plan": (
        {},
        [
            *(opened(), {**PLAN, "steps": [*READS, LOOK]}),
            *(calls({**READS[1], "id": "k"}, {**READS[0], "id": "l"}), result("l", ORDER)),
            *(calls({**LOOK, "id": "k"}), calls(LOOK), result("k", WINDOW), close()),
        ],
        "aaxa.",
    ),
    "an id that is awaited": (
        {},
        [
            opened(),
            PLAN,
            calls(READS[0]),
            calls({**READS[1], "id": "a"}),
            result("a", ORDER),
            close(),
        ],
        "aax.",
    ),
    "two turns that wait": (
        {},
        [opened(), TURN, calls({**LOOK, "id": "x"}), ready("a"), calls(READS[0]), close()],
        "aaxx.",
    ),
}
"""For each its settings, its events, and its answers, a letter each: see `told_by`."""


def told_by(answers: dict[int, Json]) -> str:
    """Return the rulings of a session, a letter each."""
    letters = {"allow": "a", "refuse": "r", "ask": "?", None: "."}
    return "".join(
        "x" if "error" in one else letters[one.get("action")] for _, one in sorted(answers.items())
    )


class Through:
    """Takes in each event in the guard that it is given for it."""

    def __init__(self, next_guard: Callable[[], Guard]) -> None:
        self._next = next_guard

    def handle_line(self, data: bytes) -> Any:
        return self._next().handle_line(data)


def made(name: str, **ports: Any) -> Guard:
    return guard_of(VALUES, ports.get("log"), **STREAMS[name][0])


def answers_of(name: str, next_guard: Callable[[], Guard]) -> dict[int, Json]:
    guard: Any = Through(next_guard)
    return answers_to(guard, STREAMS[name][1])


@pytest.mark.parametrize("name", STREAMS)
def test_each_call_is_ruled_on_as_it_should_be(name: str) -> None:
    guard = made(name)
    assert told_by(answers_of(name, lambda: guard)) == STREAMS[name][2]


@pytest.mark.parametrize("agrees", [True, False])
@pytest.mark.parametrize("left", range(3))
def test_an_answer_is_of_all_the_calls_with_which_a_plan_was_carried_out(
    left: int, agrees: bool
) -> None:
    """Whoever asked with calls is told of them as a whole, however many were left."""
    looks = [{**LOOK, "id": f"d{number}"} for number in range(left)]
    events = [opened(), {**PLAN, "steps": [*READS, PAY, *looks]}, calls(*READS)]
    events += [result("a", ORDER), result("b", WINDOW), calls(MADE, *looks), answer(agrees)]
    guard = guard_of(VALUES)
    *_, asked, said = answers_to(guard, events).values()
    assert asked["action"] == "ask"
    assert isinstance(build(Ruling, said), Ruling)
    status = guard.status("s")
    assert status is not None
    assert sorted(status.awaited) == sorted(["p", *(one["id"] for one in looks)] if agrees else [])


def test_no_call_of_a_plan_is_made_that_a_person_said_no_to() -> None:
    """Though the plan itself was allowed, as it is here without that no."""
    asks = {"approval_required_from": "read_only"}
    others, planned = guard_of(asks), guard_of(asks)
    answers_to(others, [opened(), calls(READS[1]), answer(False)])
    answers_to(planned, [opened(), {**PLAN, "steps": READS}, answer()])
    denied, state = (json.loads(one.export("s")) for one in (others, planned))
    for given, actions in ((state, ["allow", "allow"]), (denied, ["allow", "refuse"])):
        guard = guard_of(asks)
        guard.resume(json.dumps({**state, "denied": given["denied"]}).encode())
        answers = answers_to(guard, [*map(calls, READS)])
        assert [one["action"] for one in answers.values()] == actions


@pytest.mark.parametrize("name", STREAMS)
def test_a_session_is_handed_over_between_any_two_events(name: str) -> None:
    guards = [made(name)]
    whole = answers_of(name, lambda: guards[0])
    guards = [made(name)]

    def another() -> Guard:
        if guards[-1].is_open("s"):
            data = guards[-1].export("s")
            guards.append(made(name))
            guards[-1].resume(data)
        return guards[-1]

    assert answers_of(name, another) == whole
    assert len(guards) > 3


@pytest.mark.parametrize(("number", "name"), [*enumerate(STREAMS)])
def test_a_session_goes_on_in_another_process_and_leaves_the_same_records(
    number: int, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every second one with a journal that is begun anew after each event."""
    shortened = bool(number % 2)
    with closing(SqlDecisionLog.open(tmp_path / "one.db")) as log:
        guard = made(name, log=log)
        whole, records = answers_of(name, lambda: guard), list(log.records())
    if shortened:
        monkeypatch.setattr(session_journal.JournalPlace, "is_long", True)
    with closing(SqlDecisionLog.open(tmp_path / "many.db")) as log:
        turns = iter(range(99))
        guards = [made(name, log=log) for _ in range(2)]
        assert answers_of(name, lambda: guards[next(turns) % 2]) == whole
        assert [*map(told_in, log.records())] == [*map(told_in, records)]
        begun = [one.hash for one in log.entries() if isinstance(one, BegunRecord)]
        assert sorted(one.begun for one in log.records() if one.begun is not None) == sorted(begun)
        assert {one.status for one in replay(log)} == {"same"}


LINKS: Final = ("hash", "prev_hash", "claims", "begun", "ruling", "closed")


def told_in(record: Any) -> Json:
    """Return what a record tells, but for the numbers of the steps and what follows from them."""
    wire: Json = record.wire()
    return {name: one for name, one in wire.items() if name not in LINKS}


def test_no_call_that_waited_is_made_that_a_person_said_no_to_though_its_opening_passes() -> None:
    asking, passing = guard_of(VALUES), guard_of()
    answers_to(asking, [*ASKED, answer(False)])
    answers_to(passing, [opened(), TURN, *read_both()])
    denied, state = (json.loads(one.export("s")) for one in (asking, passing))
    for known, action in (([], "allow"), (denied["denied"], "refuse")):
        guard = guard_of()
        guard.resume(json.dumps({**state, "denied": known}).encode())
        (told,) = answers_to(guard, [ready("c")]).values()
        assert (told["action"], "a person said no" in told.get("note", "")) == (action, bool(known))
        assert told["verdict"]["ok"]
