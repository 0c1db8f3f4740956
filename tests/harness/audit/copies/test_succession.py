"""A log that goes on in another: nothing is used twice, nothing that was open is lost.

Events of sessions are spread over a line of logs, each of which is deleted when the next one is
there; they are answered as by one guard with one log.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from evals.kinds import Fate, SettledOutcome
from harness.audit.copies import succession
from harness.audit.copies.copying import copy_log
from harness.audit.copies.succession import Succession, go_on_in
from harness.audit.settlements import settle
from harness.guard.session_journal import claim_prefix
from harness.log import LogUnavailable, SqlDecisionLog
from harness.record import AlreadyClaimed, Begun, TakenOverRecord, taken_over, used_approvals
from harness.record.drafts import session_key
from harness.replay import check_log, replay
from tests.harness.console import Critic
from tests.harness.log.decisions import NOON, decision, filled, meddle, proposal
from tests.harness.log.guard_logs import write_guard_log
from tests.harness.replay.forging import forged
from tests.harness.runtime.test_beginning import approved
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
from tests.support.postgres import PostgresServer
from tests.support.turns import fates_in

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
STREAMS = [*streams("desk"), *streams("refunds")]


def go_on(old: Path, new: Path) -> Succession:
    with SqlDecisionLog.open(old) as log:
        return go_on_in(log, str(new), NOW)


def statuses(path: Path) -> set[str]:
    with SqlDecisionLog.open_for_reading(path) as log:
        assert check_log(log).text() == ""
        return {one.status for one in replay(log)}


def fates(path: Path) -> list[Fate]:
    with SqlDecisionLog.open_for_reading(path) as log:
        return [*fates_in(log).values()]


class Moving:
    """A guard whose log is handed over between events, now and then; the old one is deleted."""

    def __init__(self, policy: Json, folder: Path, chance: Random, *, often: float) -> None:
        self._policy, self._folder, self._chance, self._often = policy, folder, chance, often
        self.paths = [folder / "0.db"]
        self._log = SqlDecisionLog.open(self.paths[0])
        self._guard = guard_of(policy, log=self._log)

    def handle_line(self, data: bytes) -> Any:
        if self._chance.random() < self._often:
            self.move()
        return self._guard.handle_line(data)

    def move(self) -> None:
        self.paths.append(self._folder / f"{len(self.paths)}.db")
        go_on(self.paths[-2], self.paths[-1])
        assert statuses(self.paths[-2]) <= {"same", "open"}
        self.close()
        self.paths[-2].unlink()
        self._log = SqlDecisionLog.open(self.paths[-1])
        self._guard = guard_of(self._policy, log=self._log)

    def close(self) -> None:
        self._log.close()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", sampled(STREAMS, one_in=5), ids=lambda case: case["name"])
def test_events_over_a_line_of_logs_are_answered_as_with_one(case: Json, tmp_path: Path) -> None:
    chance = Random(case["name"])  # noqa: S311 - chance, not a secret
    moving = Moving(case["policy"], tmp_path, chance, often=0.4)
    there = answers_to(moving, case["events"])  # type: ignore[arg-type]
    moving.move()
    moving.close()
    assert statuses(moving.paths[-1]) <= {"same", "open"}
    with SqlDecisionLog.open(tmp_path / "one.db") as log:
        here = answers_to(guard_of(case["policy"], log=log), case["events"])
    assert {at: _plain(one) for at, one in there.items()} == {
        at: _plain(one) for at, one in here.items()
    }


def _plain(answer: Json) -> Json:
    """Return an answer without why a session is not open, which another log may know less of."""
    said = answer.get("error", {}).get("message", "")
    return {"life": True} if "is not open" in said else answer


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log of guards: two sessions are open, and one execution in each."""
    write_guard_log(tmp_path / "guards.db")
    return tmp_path / "guards.db"


def test_one_of_a_kind_is_one(tmp_path: Path, critic: Critic) -> None:
    filled(tmp_path / "old.db", 3).close()
    with SqlDecisionLog.open(tmp_path / "old.db") as log:
        log.begin(Begun(proposal=proposal(), begun_at=NOON))
    said = critic("log", "next", tmp_path / "old.db", tmp_path / "new.db")
    assert said.lines[0].endswith(", 1 open execution, 0 open sessions")


def test_the_new_log_says_the_old_head_and_needs_nothing_else(
    path: Path, tmp_path: Path, critic: Critic
) -> None:
    new = tmp_path / "new.db"
    said = critic("log", "next", path, new)
    assert (said.status, said.err) == (0, "")
    with SqlDecisionLog.open_for_reading(path) as log:
        head = f"{log.head().seq}:{log.head().hash}"
    assert f"continues from head {head}, with 7 claims, 2 open executions, 2 open" in said.lines[0]
    assert critic("log", "verify", path).lines[-2].endswith("sound, 2 open")
    shown = critic("log", "show", path, head.partition(":")[0], "--format", "text")
    assert "the log continues in another log" in shown.lines[0]
    path.unlink()
    verified = critic("log", "verify", new)
    assert verified.status == 0
    assert f"note: the log continues another log, whose head was {head}" in verified.out
    assert verified.lines[-2] == "3 records: hashes and chain hold: sound, 2 open"
    assert head in critic("log", "show", new, "1", "--format", "text").out
    for command in (("replay", new), ("log", "list", new), ("log", "stats", new)):
        assert critic(*command).status == 0
    assert critic("report", new, "-o", tmp_path / "page.html").status == 0
    listed = critic("log", "list", new, "--records").lines
    assert f"taken_over: continues the log with head {head}" in listed[0]
    assert [
        json.loads(one)["fate"] for one in critic("log", "list", new, "--format", "json").lines
    ] == ["open", "open"]
    assert critic("log", "stats", new).lines[0].startswith("2 turns, 3 records")


def test_an_approval_is_used_once_in_a_line_of_logs(tmp_path: Path) -> None:
    proposal = approved({})
    begun = Begun(proposal=proposal, approvals=used_approvals(proposal), begun_at=NOON)
    other = approved({"approval_id": "a_01"})
    with SqlDecisionLog.open(tmp_path / "0.db") as log:
        log.begin(begun)
    for at in range(2):
        go_on(tmp_path / f"{at}.db", tmp_path / f"{at + 1}.db")
        (tmp_path / f"{at}.db").unlink()
    with SqlDecisionLog.open(tmp_path / "2.db") as log:
        with pytest.raises(AlreadyClaimed):
            log.begin(begun)
        assert (
            log.begin(Begun(proposal=other, approvals=used_approvals(other), begun_at=NOON)).seq
            == 3
        )


@pytest.mark.parametrize("moves", [1, 2, 3])
def test_a_late_result_is_taken_in_the_last_of_a_line_of_logs(moves: int, tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "0.db") as log:
        guard = guard_of(desk(), log=log)
        answers_to(guard, [*opened("s1"), *opened("s1/")])
    for at in range(moves):
        go_on(tmp_path / f"{at}.db", tmp_path / f"{at + 1}.db")
        (tmp_path / f"{at}.db").unlink()
    last = tmp_path / f"{moves}.db"
    with SqlDecisionLog.open(last) as log:
        given = answers_to(guard_of(desk(), log=log), [result({"ok": True}, "s1", "m1")])
        assert given == {}
    assert sorted(fates(last)) == ["open", "ran"]
    assert statuses(last) == {"same", "open"}


def opened(name: str) -> list[Json]:
    note = call("make_note", name, "m1", name="a.md", text="x")
    return [open_(name, request="Write a note"), note]


@pytest.mark.parametrize("late", ["result", "close"])
def test_an_execution_of_the_old_log_is_settled_in_the_new_one(late: str, tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with SqlDecisionLog.open(old) as log:
        answers_to(guard_of(desk(), log=log), opened("s"))
    go_on(old, new)
    with SqlDecisionLog.open(old) as log, pytest.raises(LogUnavailable, match="another log"):
        settle(log, 2, outcome="ran", by="raj", because="x", now=NOW)
    with SqlDecisionLog.open(new) as log:
        settle(log, 2, outcome="not_run", by="raj", because="x", now=NOW)
        assert fates(new) == ["not_run"]
        events = {"result": result({"ok": True}, "s", "m1"), "close": close("s")}
        answers_to(guard_of(desk(), log=log), [events[late]])
    assert fates(new) == ["ran" if late == "result" else "not_run"]
    assert statuses(new) == {"same"}


LATE: Final[list[tuple[SettledOutcome, str, Fate]]] = [
    ("not_run", "result", "ran"),
    ("not_run", "close", "not_run"),
    ("unknown", "result", "ran"),
    ("ran", "close", "ran"),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("moves", [1, 2])
@pytest.mark.parametrize("name", ["s", "s with a space"])
@pytest.mark.parametrize("late", LATE)
def test_what_was_settled_in_the_old_log_is_so_in_the_new_one_until_a_result_comes(
    late: tuple[SettledOutcome, str, Fate], name: str, moves: int, tmp_path: Path
) -> None:
    outcome, event, fate = late
    with SqlDecisionLog.open(tmp_path / "0.db") as log:
        answers_to(guard_of(desk(), log=log), [*opened(name), *opened("other")])
        settle(log, 2, outcome=outcome, by="raj", because="x", now=NOW)
    before = sorted(fates(tmp_path / "0.db"))
    for at in range(moves):
        go_on(tmp_path / f"{at}.db", tmp_path / f"{at + 1}.db")
        (tmp_path / f"{at}.db").unlink()
    last = tmp_path / f"{moves}.db"
    assert sorted(fates(last)) == before
    with SqlDecisionLog.open(last) as log:
        events = {"result": result({"ok": True}, name, "m1"), "close": close(name)}
        answers_to(guard_of(desk(), log=log), [events[event]])
    assert sorted(fates(last)) == sorted(["open", fate])
    assert statuses(last) == {"same", "open"}


def test_what_was_settled_of_a_closed_session_stays_behind(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with SqlDecisionLog.open(old) as log:
        guard = guard_of(desk(), log=log)
        answers_to(guard, opened("s"))
        settle(log, 2, outcome="ran", by="raj", because="x", now=NOW)
        answers_to(guard, [close("s")])
    go_on(old, new)
    assert fates(new) == []
    assert statuses(new) == {"same"}


def test_a_close_ends_what_began_in_the_old_log(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with SqlDecisionLog.open(old) as log:
        answers_to(guard_of(desk(), log=log), opened("s"))
    go_on(old, new)
    with SqlDecisionLog.open(new) as log:
        answers_to(guard_of(desk(), log=log), [close("s")])
    assert fates(new) == ["ran_in_part"]
    assert statuses(new) == {"same"}


def test_a_question_of_the_old_log_is_answered_in_the_new_one_once(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with SqlDecisionLog.open(old) as log:
        asked = answers_to(guard_of(desk(), log=log), ASKS)
        digest = asked[max(asked)]["plan_digest"]
    go_on(old, new)
    answer = {**yes(), "plan_digest": digest}
    with SqlDecisionLog.open(new) as log:
        said = answers_to(guard_of(desk(), log=log), [answer, answer])
    assert said[0]["action"] == "allow"
    assert "no question is open" in said[1]["error"]["message"]
    assert statuses(new) == {"same", "open"}


def test_the_last_step_of_each_open_session_comes_along(tmp_path: Path) -> None:
    """It shows in the new log that a journal was cut, or put back."""
    old, new = tmp_path / "old.db", tmp_path / "new.db"

    def last_steps(path: Path) -> dict[str, str | None]:
        with SqlDecisionLog.open_for_reading(path) as log:
            keys = map(session_key, ("s1", "s2"))
            return {key: log.last_claim(claim_prefix(key)) for key in keys}

    with SqlDecisionLog.open(old) as log:
        guard = guard_of(desk(), log=log)
        for name in ("s1", "s2"):
            answers_to(guard, [open_(name), call("list_mail", name), call("list_mail", name, "m2")])
    before = last_steps(old)
    assert len({*before.values()} - {None}) == 2
    go_on(old, new)
    assert last_steps(new) == before


def test_an_id_has_one_life_in_a_line_of_logs(path: Path, tmp_path: Path) -> None:
    go_on(path, tmp_path / "new.db")
    with SqlDecisionLog.open(tmp_path / "new.db") as log:
        guard = guard_of(desk(max_questions=1), log=log)
        given = answers_to(guard, [open_("alpha/1"), open_("béta 2"), open_("alpha/10")])
    assert {at: "error" in one for at, one in given.items()} == {0: True, 1: True}


def test_who_holds_the_old_log_open_appends_no_more(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    with SqlDecisionLog.open(old) as log, SqlDecisionLog.open(old) as other:
        guard = guard_of(desk(), log=log)
        answers_to(guard, opened("s"))
        go_on(old, tmp_path / "new.db")
        before = log.head()
        given = answers_to(
            guard, [result({"ok": 1}, "s", "m1"), call("list_mail", "s"), open_("t"), close("s")]
        )
        assert len(given) == 4
        assert all("another log" in json.dumps(one) for one in given.values()), given
        assert given[1]["action"] == "refuse"
        for append in (lambda: other.append(decision(1)), other.rehearse):
            with pytest.raises(LogUnavailable, match="it continues in another log: append there"):
                append()
        assert log.head() == before
    with (
        SqlDecisionLog.open(old) as log,
        pytest.raises(LogUnavailable, match="it continues in another log: append there"),
    ):
        log.append(decision(1))


class Killed(BaseException):
    """The process ends here."""


def _stop_after(target: Any, name: str, monkeypatch: pytest.MonkeyPatch, *, before: bool) -> None:
    done = getattr(target, name)

    def stopped(*args: Any, **kwargs: Any) -> Any:
        if not before:
            done(*args, **kwargs)
        raise Killed

    monkeypatch.setattr(target, name, stopped)


PLACES: list[Any] = [
    (succession, "_executions", True),
    (SqlDecisionLog, "hand_over", True),
    (SqlDecisionLog, "hand_over", False),
    (succession, "_executions_since", False),
    (succession, "_standing_settlements", False),
    (succession, "_settle_again", True),
    (succession, "_settle_again", False),
    (SqlDecisionLog, "take_over", True),
    (SqlDecisionLog, "take_over", False),
    (SqlDecisionLog, "end_hand_over", True),
    (SqlDecisionLog, "end_hand_over", False),
]


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("place", PLACES, ids=[f"{one[1]}-{one[2]}" for one in PLACES])
def test_a_rotation_that_was_stopped_goes_on_and_there_is_one_log_at_a_time(
    place: tuple[Any, str, bool], path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, name, before = place
    new = tmp_path / "new.db"
    with monkeypatch.context() as patched:
        _stop_after(target, name, patched, before=before)
        with pytest.raises(Killed):
            go_on(path, new)
    assert len([one for one in (path, new) if one.exists() and _takes_appends(one)]) <= 1
    if name == "end_hand_over" and not before:
        with pytest.raises(LogUnavailable, match="handed over before"):
            go_on(path, new)
    else:
        done = go_on(path, new)
        with SqlDecisionLog.open_for_reading(path) as log:
            assert done.old == log.head()
    assert not _takes_appends(path)
    assert _takes_appends(new)
    assert statuses(new) == {"same", "open"}
    with pytest.raises(LogUnavailable, match="handed over before"):
        go_on(path, tmp_path / "second.db")
    assert not (tmp_path / "second.db").exists()
    assert [one.name for one in tmp_path.iterdir()].count("new.db") == 1


def _takes_appends(path: Path) -> bool:
    try:
        with SqlDecisionLog.open(path) as log:
            log.rehearse()
    except LogUnavailable:
        return False
    return True


# --- what is wrong ------------------------------------------------------------------------------


def _nothing(_path: Path, _new: Path) -> None:
    """Change nothing."""


def _log_there(_path: Path, new: Path) -> None:
    SqlDecisionLog.open(new).close()


def _other_line(path: Path, new: Path) -> None:
    with SqlDecisionLog.open(path.with_name("other.db")) as log:
        log.append(decision(1))
    go_on(path.with_name("other.db"), new)


WRONG: list[tuple[Callable[[Path, Path], Any], str]] = [
    (_log_there, "exists, and is another log: name an empty place"),
    (_other_line, "exists, and continues another log: name an empty place"),
    (lambda _, new: new.write_text("x" * 999), "not a decision log"),
    (lambda _, new: new.mkdir(), "a folder, not a decision log"),
    (lambda _, new: new.symlink_to("x"), "a symbolic link, not a decision log"),
    (lambda path, _: meddle(path, ("DELETE FROM records WHERE seq = 3", ())), "record 3 is"),
    (lambda path, _: meddle(path, ("DELETE FROM claims", ())), "record 1 is tampered"),
    (
        lambda path, _: meddle(path, ("UPDATE record_index SET status = 'x' WHERE seq = 34", ())),
        "the log is damaged: record 34: the index says status x",
    ),
    (lambda path, _: path.unlink(), "no such file"),
    (lambda path, _: path.write_text("x" * 999), "not a decision log"),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("wrong", "reason"), WRONG)
def test_what_is_wrong_is_said_and_nothing_is_handed_over(
    wrong: Callable[[Path, Path], Any], reason: str, path: Path, tmp_path: Path, critic: Critic
) -> None:
    new = tmp_path / "new.db"
    wrong(path, new)
    before = path.read_bytes() if path.exists() else b""
    said = critic("log", "next", path, new)
    assert (said.status, said.out, said.err.count("\n")) == (2, "", 1)
    assert reason in said.err
    assert (path.read_bytes() if path.exists() else b"") == before


def test_a_record_after_the_end_is_tampering(path: Path, tmp_path: Path) -> None:
    go_on(path, tmp_path / "new.db")
    meddle(path, ("DELETE FROM claims WHERE claim = 'log handed over'", ()))
    with SqlDecisionLog.open(path) as log:
        log.append(decision(1))
    with SqlDecisionLog.open_for_reading(path) as log:
        for judge in (True, False):
            *_, end, last = replay(log, judge=judge)
            assert end.reasons == ("its claim is gone, and could be made again: log handed over",)
            assert last.reasons[0] == "record 44 handed the log over, and nothing may follow"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"of": 0}, "it is not a record of this version"),
        ({"old": {"seq": 1, "hash": "x"}}, "it is not a record of this version"),
        ({"claims": ["x"]}, "its claim is gone"),
    ],
)
def test_a_forged_beginning_is_named(change: Json, reason: str, path: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    go_on(path, new)
    forged(new, 1, lambda record: record.update(change))
    with SqlDecisionLog.open_for_reading(new) as log:
        first = next(replay(log))
    assert first.status == "tampered"
    assert any(reason in one for one in first.reasons), first.reasons


def test_what_begins_a_log_in_its_middle_is_tampering(path: Path, tmp_path: Path) -> None:
    """Else whoever writes could say of any session that its earlier turns are elsewhere."""
    new = tmp_path / "new.db"
    go_on(path, new)
    with SqlDecisionLog.open_for_reading(new) as log:
        first = next(log.entries())
    assert isinstance(first, TakenOverRecord)
    with SqlDecisionLog.open(new) as log:
        (one,) = taken_over(first.old, ["x"], [], NOW)
        log.append_all([one])
        answer = [*replay(log)][-1]
    assert answer.reasons == ("it is none of the first 1 records, which begin a log",)


def test_many_claims_and_sessions_come_along_in_several_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.record.rotation._TOGETHER", 2)
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with SqlDecisionLog.open(old) as log:
        guard = guard_of(desk(), log=log)
        for at in range(5):
            answers_to(guard, opened(f"s{at}"))
        answers_to(guard, [open_("closed"), call("list_mail", "closed"), close("closed")])
    done = go_on(old, new)
    assert (done.claims, done.executions, done.sessions) == (11, 5, 5)
    with SqlDecisionLog.open_for_reading(new) as log:
        firsts = [one for one in log.entries() if isinstance(one, TakenOverRecord)]
    assert [one.of for one in firsts] == [6] * 6
    assert statuses(new) == {"same", "open"}


def test_a_copy_of_a_new_log_goes_on_like_it(path: Path, tmp_path: Path) -> None:
    go_on(path, tmp_path / "new.db")
    with SqlDecisionLog.open(tmp_path / "new.db") as log:
        copy_log(log, str(tmp_path / "copy.db"))
    assert statuses(tmp_path / "copy.db") == {"same", "open"}
    with SqlDecisionLog.open(tmp_path / "copy.db") as log:
        guard = guard_of(desk(max_questions=1), log=log)
        assert answers_to(guard, [result({"ok": 1}, "béta 2", "m1")]) == {}
    assert statuses(tmp_path / "copy.db") == {"same", "open"}


@pytest.mark.slow
def test_who_was_stopped_before_it_was_settled_again_settles_it(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, url = tmp_path / "old.db", postgres.url()
    with SqlDecisionLog.open(old) as log:
        answers_to(guard_of(desk(), log=log), [*opened("s"), *opened("other")])
        settle(log, 2, outcome="not_run", by="raj", because="x", now=NOW)
        with monkeypatch.context() as patched:
            _stop_after(succession, "_settle_again", patched, before=True)
            with pytest.raises(Killed):
                go_on_in(log, url, NOW)
    with SqlDecisionLog.open(old) as log, SqlDecisionLog.open(url) as new:
        assert [*fates_in(new).values()] == ["open", "open"]
        go_on_in(log, url, NOW)
        assert sorted(fates_in(new).values()) == ["not_run", "open"] == sorted(fates(old))
    postgres.disconnect_logs()


def test_a_line_of_logs_goes_through_postgresql(
    path: Path, tmp_path: Path, critic: Critic, postgres: PostgresServer
) -> None:
    url, back = postgres.url(), tmp_path / "back.db"
    assert critic("log", "next", path, url).status == 0
    again = critic("log", "next", path, url)
    assert (again.status, again.err.count("\n")) == (2, 1)
    assert critic("log", "verify", url).lines[-2].endswith("sound, 2 open")
    with SqlDecisionLog.open(url) as log:
        guard = guard_of(desk(max_questions=1), log=log)
        assert answers_to(guard, [result({"ok": 1}, "béta 2", "m1")]) == {}
        assert critic("log", "next", url, back).status == 0
        with pytest.raises(LogUnavailable, match="another log"):
            log.append(decision(1))
    other = critic("log", "next", back, url)
    assert (other.status, other.err.count("\n")) == (2, 1)
    assert "exists" in other.err
    assert statuses(back) == {"same", "open"}
    postgres.disconnect_logs()
