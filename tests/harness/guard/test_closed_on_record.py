"""A session that was closed is told from one that stopped, and replay forgets it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.log import SqlDecisionLog
from harness.record import SessionClosedRecord
from harness.record.drafts import session_key
from harness.record.integrity import START
from harness.replay import check_log, replay
from harness.replay.engine import Replayer
from harness.replay.session_facts import SessionHistory, complete_answer
from tests.harness.console import Critic
from tests.harness.log.decisions import meddle
from tests.support.guarding import Json, answers_to, call, close, desk, guard_of, open_, result
from tests.support.turns import fates_in


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqlDecisionLog]:
    with SqlDecisionLog.open(tmp_path / "log.db") as opened:
        yield opened


def turns(name: str, count: int = 2) -> list[Json]:
    """Open a session, and run some turns of it."""
    events = [open_(name, request="Read the mail")]
    for at in range(count):
        events += [call("list_mail", name, f"c{at}"), result({"n": at}, name, f"c{at}")]
    return events


def kinds(log: SqlDecisionLog) -> list[str]:
    return [str(one.wire().get("kind", "decision")) for one in log.entries()]


def test_a_close_is_on_record_and_a_stop_is_not(log: SqlDecisionLog, critic: Critic) -> None:
    guard = guard_of(desk(), log=log)
    answers_to(guard, [*turns("closed"), close("closed"), *turns("stopped")])
    assert kinds(log).count("closed") == 1
    (record,) = (one for one in log.entries() if isinstance(one, SessionClosedRecord))
    assert record.trace_id == "closed"
    assert {one.status for one in replay(log)} == {"same"}
    assert check_log(log).text() == ""
    path = log.where
    listed = critic("log", "list", path, "--records", "--status", "closed", "--format", "json")
    rows = [json.loads(line) for line in listed.lines]
    assert [(row["trace"], row["seq"]) for row in rows] == [("closed", record.seq)]
    assert critic("log", "list", path).lines[0].endswith("ran: verify and score passed")
    assert len(critic("log", "list", path).listed) == len(fates_in(log)) == 4
    shown = critic("log", "show", path, str(record.seq), "--format", "text").lines
    assert shown[0].startswith(f"record {record.seq}: a session was closed, 2026-")
    for command in ("verify", "replay"):
        args = ("log", "verify", path) if command == "verify" else ("replay", path)
        assert critic(*args).status == 0


def test_a_session_without_a_record_leaves_none(log: SqlDecisionLog) -> None:
    answers_to(guard_of(desk(), log=log), [open_("s"), close("s")])
    assert log.head().seq == 0


def test_a_close_with_calls_under_way_is_recorded_after_them(log: SqlDecisionLog) -> None:
    events = [*turns("s"), call("list_mail", "s", "late"), close("s")]
    answers_to(guard_of(desk(), log=log), events)
    assert kinds(log)[-3:] == ["begun", "decision", "closed"]
    assert {one.status for one in replay(log)} == {"same"}


def test_a_journal_that_is_put_back_after_the_close_is_refused(log: SqlDecisionLog) -> None:
    """The close is a step that a record claims, so the session does not begin to live again."""
    guard = guard_of(desk(), log=log)
    answers_to(guard, turns("s"))
    kept = log.journal(session_key("s"))
    answers_to(guard, [close("s")])
    log.copy_journal(session_key("s"), kept)
    said = answers_to(guard_of(desk(), log=log), [call("list_mail", "s", "x")])
    assert "it was cut, or put back" in json.dumps(said)
    assert kinds(log)[-1] == "closed"


def test_a_turn_after_the_close_is_never_the_same(log: SqlDecisionLog) -> None:
    guard = guard_of(desk(), log=log)
    answers_to(guard, turns("s"))
    kept = log.journal(session_key("s"))
    answers_to(guard, [close("s")])
    place = log.where
    meddle(Path(place), ("DELETE FROM claims WHERE claim LIKE 'step %'", ()))
    log.copy_journal(session_key("s"), kept)
    answers_to(guard_of(desk(), log=log), [call("list_mail", "s", "x")])
    *_, ruling, begun = replay(log)
    assert (ruling.status, begun.status) == ("incomplete", "open")
    assert "turn 2 of its session is missing" in ruling.reasons[0]


def test_replay_forgets_sessions_that_were_closed(log: SqlDecisionLog) -> None:
    guard = guard_of(desk(), log=log)
    for at in range(12):
        answers_to(guard, [*turns(f"s{at}"), close(f"s{at}")])
    answers_to(guard, turns("open"))
    sessions = SessionHistory()
    held = []
    replayer = Replayer(log, None, judge=True)
    for answer in replayer.replay_rows(log.raw(), START):
        complete_answer(answer.answer, sessions)
        held.append(sessions.held)
    assert max(held) == 3, "of a session, and its two turns"
    assert held[-1] == 3


def test_two_sessions_whose_ids_nearly_match_are_closed_apart(log: SqlDecisionLog) -> None:
    guard = guard_of(desk(), log=log)
    answers_to(guard, [*turns("s"), *turns("s "), *turns("S"), close("s")])
    answers_to(guard, [call("list_mail", "s ", "x"), call("list_mail", "S", "x")])
    assert {one.status for one in replay(log)} == {"same", "open"}
    closed = [one.trace_id for one in log.entries() if isinstance(one, SessionClosedRecord)]
    assert closed == ["s"]
