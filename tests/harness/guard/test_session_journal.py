"""An open session goes on in any process, from its journal, and every event happens once."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.guard import Guard, Ruling, session_journal
from harness.guard.session_folder import SessionFolder, StateUnusable
from harness.log import LogWriteFailed, SqlDecisionLog
from harness.log.journal_rows import JournalMoved, JournalStep
from harness.record.drafts import session_key
from harness.replay import replay
from harness.single_use import PermitError
from tests.harness.guard.test_expiries import Log
from tests.support.effort import sampled
from tests.support.guarding import (
    ASKS,
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

STREAMS = [*streams("desk"), *streams("refunds")]
Keeper = Any
Places = Callable[[], Json]
"""Returns the port of a guard in another process."""


@pytest.fixture(params=["log", "folder"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Places]:
    if request.param == "folder":
        yield lambda: {"sessions": SessionFolder(tmp_path / "sessions")}
        return
    logs: list[SqlDecisionLog] = []

    def another() -> Json:
        logs.append(SqlDecisionLog.open(tmp_path / "log.db"))
        return {"log": logs[-1]}

    yield another
    for log in logs:
        log.close()


def line(event: Any) -> bytes:
    return (event if isinstance(event, str) else json.dumps(event)).encode()


class Among:
    """Takes in each event in one of several guards."""

    def __init__(self, guards: list[Guard], pick: Callable[[int], int]) -> None:
        self.guards, self.pick = guards, pick

    def handle_line(self, data: bytes) -> Any:
        return self.guards[self.pick(len(self.guards))].handle_line(data)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", sampled(STREAMS, one_in=3), ids=lambda case: case["name"])
def test_events_that_come_in_at_any_process_are_answered_as_at_one(
    case: Json, places: Places, tmp_path: Path
) -> None:
    guards = [guard_of(case["policy"], **places()) for _ in range(3)]
    pick = Random(case["name"]).randrange  # noqa: S311 - chance, not a secret
    there = answers_to(Among(guards, pick), case["events"])  # type: ignore[arg-type]
    here = answers_to(guard_of(case["policy"]), case["events"])
    assert {at: _without_lives(one) for at, one in there.items()} == {
        at: _without_lives(one) for at, one in here.items()
    }
    log = places().get("log")
    if log is not None:
        with SqlDecisionLog.open(tmp_path / "one.db") as single:
            answers_to(guard_of(case["policy"], log=single), case["events"])
            assert [one.body for one in single.raw()] == [one.body for one in log.raw()]
        assert {one.status for one in replay(log)} <= {"same", "open"}


def _without_lives(answer: Json) -> Json:
    """Return an answer; a log knows that a session was open before, and a guard alone does not."""
    said = answer.get("error", {}).get("message", "")
    lives = ("is not open", "is open already")
    return {"life": True} if any(one in said for one in lives) else answer


@pytest.mark.parametrize("case", sampled(STREAMS, one_in=3), ids=lambda case: case["name"])
def test_a_journal_that_is_shortened_at_each_event_says_the_same(
    case: Json, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = answers_to(guard_of(case["policy"]), case["events"])
    monkeypatch.setattr(session_journal, "_SMALLEST", 0)
    monkeypatch.setattr(session_journal.JournalPlace, "is_long", True)

    class Fresh:
        @staticmethod
        def handle_line(data: bytes) -> Any:
            return guard_of(case["policy"], **places()).handle_line(data)

    answers = answers_to(Fresh(), case["events"])  # type: ignore[arg-type]
    (keeper,) = places().values()
    assert len(keeper.journal(session_key("d1"))) <= 1
    assert {at: _without_lives(one) for at, one in answers.items()} == {
        at: _without_lives(one) for at, one in plain.items()
    }


class Failing:
    """A keeper of sessions whose writes fail, before or after they are made."""

    def __init__(self, kept: Any, *, after: bool) -> None:
        self.kept, self.after, self.fails = kept, after, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kept, name)

    def append_step(self, entries: Any, step: Any) -> Any:
        if self.fails and not self.after:
            raise LogWriteFailed("no disk")
        done = self.kept.append_step(entries, step)
        if self.fails:
            raise LogWriteFailed("no answer")
        return done

    # A protocol is told by the names of a class.
    def journal(self, session: str, after: int = 0) -> Any:
        return self.kept.journal(session, after)

    def last_step(self, session: str) -> int:
        return int(self.kept.last_step(session))

    def last_claim(self, prefix: str) -> Any:
        return self.kept.last_claim(prefix)


RUNS: list[Json] = [
    *(open_(), call("list_mail", id="a"), result("x", id="a")),
    *(*ASKS[1:], yes(), result("wired"), call("list_mail", id="b"), close()),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(len(RUNS)))
def test_a_process_that_dies_at_a_write_leaves_an_event_that_happened_once_or_not(
    at: int, after: bool, places: Places
) -> None:
    given: Json = {name: Failing(port, after=after) for name, port in places().items()}
    first = guard_of(desk(), **given)
    said = answers_to(first, RUNS[:at])
    next(iter(given.values())).fails = True
    event = dict(RUNS[at])
    if event.get("plan_digest") == "$LAST":
        event["plan_digest"] = next(
            one["plan_digest"] for one in reversed(said.values()) if "plan_digest" in one
        )
    lost = first.handle_line(line(event))
    assert not lost  # an allow that nobody was told of is none
    other = guard_of(desk(), **places())
    again = other.handle_line(line(event))
    if not after:
        expected = answers_to(guard_of(desk()), [*RUNS[:at], event]).get(at, {})
        assert (again.wire() if again is not None else {}).get("action") == expected.get("action")
    else:
        had = ("awaited", "is open already", "no question is open", "not open", "action='ask'")
        assert any(one in str(again) for one in had)
    for name in ("a", "b", "c"):
        with pytest.raises(PermitError):  # what the first was allowed may have run there
            first.permit("s", name) if again is None else other.permit("s", "none")


def test_a_permit_is_of_the_process_that_was_answered(places: Places) -> None:
    one, two = guard_of(desk(), **places()), guard_of(desk(), **places())
    answers_to(one, [open_(), call("list_mail")])
    with pytest.raises(PermitError):
        two.permit("s", "c")
    permit = one.permit("s", "c")
    assert two.handle_line(line(result("x"))) is None
    with pytest.raises(PermitError):
        one.permit("s", "c")
    with pytest.raises(PermitError):
        permit.redeem("list_mail", {})


@pytest.mark.parametrize(
    "event", [call("list_mail", id="e"), close(), result("x", id="d")], ids=str
)
def test_a_halt_in_one_process_withdraws_the_permits_of_the_others(
    event: Any, places: Places
) -> None:
    """Another process asked for what is refused: the next event here shows it."""
    one, two = (guard_of(desk(on_refusal="halt"), **places()) for _ in range(2))
    both = call("list_mail")
    both = {**both, "calls": [*both["calls"], {**both["calls"][0], "id": "d"}]}
    answers_to(one, [open_(), both])
    permits = [one.permit("s", name) for name in "cd"]
    refused = answers_to(two, [call("transfer", id="t", iban="iban-9", reason="")])
    assert refused[0]["action"] == "refuse"
    answers_to(one, [event])
    for permit in permits:
        with pytest.raises(PermitError):
            permit.redeem("list_mail", {})


def test_an_answer_after_a_restart_finds_its_question(places: Places) -> None:
    answers_to(guard_of(desk(), **places()), ASKS)
    other = guard_of(desk(), **places())
    status = other.status("s")
    assert status is not None
    assert status.question is not None
    assert answers_to(other, [yes(digest=status.question.plan_digest)])[0]["action"] == "allow"
    third = guard_of(desk(), **places())
    late = answers_to(third, [yes(digest=status.question.plan_digest)])[0]
    assert "no question is open" in late["error"]["message"]


def test_what_was_denied_asked_and_spent_goes_along(places: Places) -> None:
    policy = desk(max_questions=1)
    answers_to(guard_of(policy, **places()), [*ASKS, yes(yes=False)])
    again = answers_to(guard_of(policy, **places()), [ASKS[-1]])[0]
    assert (again["action"], again["note"]) == (
        "refuse",
        "a person said no to this call in this session",
    )


def test_a_session_that_is_closed_leaves_no_journal(places: Places) -> None:
    port = places()
    guard = guard_of(desk(), **port)
    answers_to(guard, [*ASKS, close()])
    (keeper,) = port.values()
    assert keeper.journal(session_key("s")) == []
    assert guard_of(desk(), **places()).status("s") is None


def test_a_journal_is_of_its_policy_alone(places: Places) -> None:
    answers_to(guard_of(desk(), **places()), ASKS)
    other = guard_of(desk(max_questions=9), **places())
    (told,) = answers_to(other, [call("list_mail")]).values()
    assert "it is of another policy: begin a new session" in told["error"]["message"]


def test_a_note_goes_along_with_a_session(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = guard_of(desk(), **places()), guard_of(desk(), **places())
    answers_to(one, [open_()])
    assert one.note("s") is None
    one.keep_note("s", "first")
    answers_to(two, [{"event": "said", "session": "s", "text": "more"}])
    assert two.note("s") == "first"
    with pytest.raises(JournalMoved):
        one.keep_note("s", "second")
    monkeypatch.setattr(session_journal.JournalPlace, "is_long", True)
    answers_to(two, [call("list_mail")])
    assert guard_of(desk(), **places()).note("s") == "first"


def rows_of(path: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as db:
        return db.execute("SELECT * FROM session_journal ORDER BY number").fetchall()


def put(path: Path, rows: list[tuple[Any, ...]]) -> None:
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM session_journal")
        db.executemany("INSERT INTO session_journal VALUES (?, ?, ?, ?, ?)", rows)


def test_a_journal_of_a_log_that_was_cut_put_back_or_removed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with SqlDecisionLog.open(path) as log:
        guard = guard_of(desk(), log=log)
        answers_to(guard, ASKS[:2])
        old = rows_of(path)
        answers_to(guard, [*ASKS[2:], yes(yes=False)])
        new = rows_of(path)
        agreed = (*new[-1][:4], new[-1][4].replace(b"false", b"true"))
        changed = {
            "put back": old,
            "cut": new[:-1],
            "cut to nothing": [],
            "without a step": [*new[:2], *new[3:]],
            "without its first": new[1:],
            "with steps exchanged": [(*new[0][:4], new[1][4]), (*new[1][:4], new[0][4]), *new[2:]],
            "with a no made a yes": [*new[:-1], agreed],
        }
        for name, rows in changed.items():
            put(path, rows)
            (told,) = answers_to(guard_of(desk(), log=log), [ASKS[-1]]).values()
            assert "action" not in told, name
            assert "session" in told["error"]["message"], name
        put(path, new)
        assert answers_to(guard_of(desk(), log=log), [ASKS[-1]])[0]["action"] == "refuse"


def test_a_session_that_is_closed_elsewhere_while_it_is_read_is_not_open(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, other = places(), guard_of(desk(), **places())
    answers_to(other, ASKS)
    (keeper,) = port.values()
    last_claim = keeper.last_claim

    def close_first(prefix: str) -> str | None:
        answers_to(other, [close()])
        found: str | None = last_claim(prefix)
        return found

    monkeypatch.setattr(keeper, "last_claim", close_first)
    assert guard_of(desk(), **port).status("s") is None


def test_a_session_that_is_closed_elsewhere_between_two_looks_is_not_open(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, other = places(), guard_of(desk(), **places())
    guard = guard_of(desk(), **port)
    answers_to(guard, ASKS[:2])
    answers_to(other, ASKS[2:])
    (keeper,) = port.values()
    last_step = keeper.last_step

    def close_after(session: str) -> int:
        found: int = last_step(session)
        answers_to(other, [close()] if found else [])
        return found

    monkeypatch.setattr(keeper, "last_step", close_after)
    assert guard.status("s") is None


def test_steps_are_counted_and_not_compared_as_texts(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with SqlDecisionLog.open(path) as log:
        guard = guard_of(desk(), log=log)
        answers_to(guard, [open_()])
        for number in range(6):
            answers_to(guard, [call("list_mail", id=f"c{number}"), result("x", id=f"c{number}")])
        whole = rows_of(path)
        for kept in range(8, len(whole)):
            put(path, whole[:kept])
            (told,) = answers_to(guard_of(desk(), log=log), [call("list_mail", id="z")]).values()
            assert "it was cut, or put back" in told["error"]["message"], kept


def test_the_journal_of_another_session_is_refused(places: Places) -> None:
    guard = guard_of(desk(), **places())
    answers_to(guard, [open_("t"), {"event": "said", "session": "t", "text": "more"}])
    (keeper,) = places().values()
    for row in keeper.journal(session_key("t")):
        keeper.append_step((), JournalStep(session_key("s"), row.number, row.body))
    (told,) = answers_to(guard_of(desk(), **places()), [call("list_mail")]).values()
    assert "it is of another session" in told["error"]["message"]


def test_a_file_of_a_session_that_was_changed_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    answers_to(guard_of(desk(), sessions=SessionFolder(folder)), [*ASKS, yes(yes=False)])
    path = folder / f"{session_key('s')}.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for data in (
        whole.replace(b'"yes":false', b'"yes":true'),
        b"".join(lines[1:2] + lines[:1] + lines[2:]),
        b"".join(lines[:2] + lines[3:]),
        whole.replace(b"1 ", b"2 ", 1),
        whole.replace(b"iban", b"IBAN"),
    ):
        path.write_bytes(data)
        guard = guard_of(desk(), sessions=SessionFolder(folder))
        with pytest.raises(StateUnusable, match="was changed"):
            guard.status("s")
        assert answers_to(guard, [ASKS[-1]])[0]["action"] == "refuse"
    path.write_bytes(whole + b"9 half a li")
    guard = guard_of(desk(), sessions=SessionFolder(folder))
    assert (
        answers_to(guard, [ASKS[-1]])[0]["note"] == "a person said no to this call in this session"
    )
    path.chmod(0o644)
    with pytest.raises(StateUnusable, match="not this user's alone"):
        guard_of(desk(), sessions=SessionFolder(folder)).status("s")


def test_a_guard_has_one_place_for_its_sessions(tmp_path: Path) -> None:
    with (
        SqlDecisionLog.open(tmp_path / "log.db") as log,
        pytest.raises(ValueError, match="keeps its sessions there"),
    ):
        guard_of(desk(), log=log, sessions=SessionFolder(tmp_path / "f"))
    with pytest.raises(ValueError, match="keeps its sessions there"):
        guard_of(desk(), log=Log(), sessions=SessionFolder(tmp_path / "f"))  # which keeps none


def test_an_observer_that_fails_leaves_what_is_on_record(places: Places) -> None:
    def fail(_decision: Any) -> None:
        raise OSError("observer")

    guard = guard_of(desk(), **places(), on_decision=fail)
    answers_to(guard, [open_()])
    first = guard.handle_line(line(call("list_mail")))
    assert isinstance(first, Ruling)
    assert (first.action, first.critic_error) == ("refuse", "OSError: observer")
    assert "is awaited" in str(guard.handle_line(line(call("list_mail"))))
    with pytest.raises(PermitError):
        guard.permit("s", "c")
