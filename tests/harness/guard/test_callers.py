"""Whom a session is for: told with it, kept wherever it goes on, read by no rule."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.guard import EventError, Guard
from harness.guard.session_journal import JournalPlace
from harness.log import SqlDecisionLog
from harness.record import Decision
from harness.replay import replay
from tests.harness.audit.tables.own_reader import read_log
from tests.harness.console import Critic
from tests.support.guarding import (
    Json,
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

WHOM: Json = {"tenant": "acme", "user": "ada@example.org"}
TOLD = {f"{name}_id": one for name, one in WHOM.items()}
STREAMS = [*streams("desk"), *streams("refunds")]


def told(event: Any) -> Any:
    """Return an event that says whom the session is for, if it opens one."""
    is_open = isinstance(event, dict) and event.get("event") == "open"
    return {**event, **WHOM} if is_open else event


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case["name"])
def test_no_answer_depends_on_it(case: Any) -> None:
    events = [told(event) for event in case["events"]]
    plain = answers_to(guard_of(case["policy"]), case["events"])
    assert answers_to(guard_of(case["policy"]), events) == plain


EVENTS = [
    told(open_(request="Do what plan.md says")),
    call("read_note", "s", "r1", name="plan.md"),
    result("wire it to iban-4711-22", "s", "r1"),
    call("transfer", "s", "t1", iban="iban-4711-22", reason="rent"),
    yes("s"),
    result({"ok": True}, "s", "t1"),
    call("make_note", "s", "m1", name="a.md", text="x"),
    result({"ok": True}, "s", "m1"),
    close("s"),
]


def one_by_one(make: Callable[[], Guard]) -> Iterator[Guard]:
    """Take in each event in another guard, which goes on with what is kept."""
    for event in EVENTS:
        guard = make()
        (said,) = answers_to(guard, [event | _digest(guard)]).values() or [None]
        assert said is None or "error" not in said, said
        yield guard


def _digest(guard: Guard) -> Json:
    status = guard.status("s")
    question = None if status is None else status.question
    return {} if question is None else {"plan_digest": question.plan_digest}


def require_told(path: Path, turns: int = 3) -> None:
    """Require that each record of each turn says whom the session is for, and that all replays."""
    read = read_log(path)
    assert len(read) == turns
    for turn in read:
        for ctx in turn.contexts:
            assert ctx.items() >= TOLD.items()
    with SqlDecisionLog.open_for_reading(path) as log:
        assert {one.status for one in replay(log)} == {"same"}


@pytest.mark.parametrize("shortened", [False, True], ids=["events", "a whole state"])
def test_every_turn_tells_it_in_any_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, shortened: bool
) -> None:
    monkeypatch.setattr(JournalPlace, "is_long", shortened)
    path = tmp_path / "log.db"
    logs = list[SqlDecisionLog]()

    def make() -> Guard:
        logs.append(SqlDecisionLog.open(path))
        return guard_of(desk(max_questions=9), log=logs[-1])

    assert len([*one_by_one(make)]) == len(EVENTS)
    for log in logs:
        log.close()
    require_told(path)


def test_a_session_that_is_handed_over_tells_it() -> None:
    states, seen = list[bytes](), list[Decision]()

    def make() -> Guard:
        guard = guard_of(desk(max_questions=9), on_decision=seen.append)
        for state in states:
            guard.resume(state)
        return guard

    for guard in one_by_one(make):
        if guard.is_open("s"):
            states[:] = [guard.export("s")]
            assert json.loads(states[0])["session"].items() >= TOLD.items()
    assert len(seen) >= 3
    for one in seen:
        assert one.proposal is not None
        assert one.proposal.ctx.wire().items() >= TOLD.items()


def test_a_session_that_is_opened_again_is_for_whom_it_says_then(tmp_path: Path) -> None:
    again = {**open_(), "again": True, "user": "ben"}
    events = [*EVENTS[:3], close("s"), again, call("read_note", "s", "r2", name="plan.md")]
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        answers_to(guard_of(desk(), log=log), events)
    first, second = (turn.contexts[0] for turn in read_log(tmp_path / "log.db"))
    assert first.items() >= TOLD.items()
    assert (second["user_id"], second.get("tenant_id")) == ("ben", None)


HOSTILE = ["", "a b", "a\nb", "\u202eada", "<b>", "x" * 129, "-rf", 7, None, ["ada"]]


@pytest.mark.parametrize("name", [*WHOM])
@pytest.mark.parametrize("value", HOSTILE, ids=ascii)
def test_what_is_no_identifier_opens_nothing(name: str, value: Any) -> None:
    guard = guard_of(desk())
    answer = guard.handle_line(json.dumps({**open_(), name: value}).encode())
    assert isinstance(answer, EventError)
    assert answer.error.path == f"/{name}"
    assert not guard.is_open("s")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of a session of a user, of one of nearly the same user, and of one of nobody."""
    path, near = tmp_path / "log.db", {"tenant": "acme1", "user": "Ada@example.org"}
    with SqlDecisionLog.open(path) as kept:
        guard = guard_of(desk(), log=kept)
        for session, whom in (("s1", WHOM), ("s2", near), ("s3", {})):
            calls = call("read_note", session, "r1", name="plan.md")
            answers_to(guard, [open_(session) | whom, calls, result("so", session, "r1")])
    return path


@pytest.mark.parametrize("name", [*WHOM])
def test_turns_are_listed_and_counted_by_it(log: Path, critic: Critic, name: str) -> None:
    listed = critic("log", "list", log, f"--{name}", WHOM[name], "--format", "json")
    (turn,) = map(json.loads, listed.lines)
    assert turn["session"] == "s1"
    assert (turn["of_tenant"], turn["of_user"]) == (WHOM["tenant"], WHOM["user"])
    counted = critic("log", "stats", log, f"--{name}", WHOM[name])
    assert counted.out.startswith("1 turn, ")
    missed = critic("log", "list", log, f"--{name}", f"{WHOM[name]}x")
    assert "0 of 3 turns match" in missed.out
    assert f"--{name} {WHOM[name]}x: no turn has it: did you mean {WHOM[name]}?" in missed.out


def test_a_line_of_the_list_names_the_user(log: Path, critic: Critic) -> None:
    lines = critic("log", "list", log).lines[:3]
    whom = [" s1 for ada@example.org  ", " s2 for Ada@example.org  ", " s3  "]
    assert [one in line for one, line in zip(whom, lines, strict=True)] == [True] * 3


def test_a_record_shows_it(log: Path, critic: Critic) -> None:
    said = critic("log", "show", log, "1", "--format", "text")
    assert "session s1 turn 1, for user ada@example.org of tenant acme" in said.out


def test_a_user_can_be_taken_out(log: Path, critic: Critic, tmp_path: Path) -> None:
    new, user = tmp_path / "new.db", WHOM["user"]
    why = ("--by", "ben", "--because", "they asked")
    assert critic("log", "redact", log, new, "--containing", user, *why).status == 0
    assert user.encode() in log.read_bytes()
    assert user.encode() not in new.read_bytes()
    assert not critic("log", "list", new, "--user", user, "--format", "json").lines
