"""Replay of a log that nobody touched, against a head, and of one that lacks something."""

import json
from pathlib import Path

import pytest

from critic.consolidate import consolidate
from critic.verify import verify_proposal
from harness.log.errors import LogDamaged
from harness.log.sql import SqlDecisionLog
from harness.record import GENESIS, INPUTS, Decision, Head, RunFacts
from harness.replay.engine import replay
from harness.replay.result import ReplayResult
from tests.harness.log.decisions import (
    KINDS,
    NOON,
    body_of,
    decision,
    filled,
    meddle,
    proposal,
    run_of,
)


def _statuses(answers: list[ReplayResult]) -> list[tuple[int, str]]:
    return [(answer.seq, answer.status) for answer in answers]


def test_an_untouched_log_is_the_same(tmp_path: Path) -> None:
    log = filled(tmp_path / "log", 100)
    answers = list(replay(log, head=log.head()))
    assert _statuses(answers) == [(seq, "same") for seq in range(1, 101)]
    assert all(answers)
    assert not any(one.reasons or one.notes or one.differences for one in answers)
    assert (answers[6].trace_id, answers[6].decision_key) == ("trace_7", "refund")


def test_replay_is_streaming(tmp_path: Path) -> None:
    log = filled(tmp_path / "log", 40)
    answers = replay(log)
    assert next(answers).seq == 1
    log.append(decision(41))
    assert [one.seq for one in answers] == list(range(2, 42))


def test_an_empty_log_has_nothing_to_say(tmp_path: Path) -> None:
    log = SqlDecisionLog.open(tmp_path / "log")
    assert list(replay(log)) == []
    assert list(replay(log, head=(0, GENESIS))) == []


def test_a_log_may_have_grown_since_its_head_was_taken(tmp_path: Path) -> None:
    log = filled(tmp_path / "log", 3)
    head = log.head()
    log.append(decision(4))
    assert all(replay(log, head=head))


@pytest.mark.parametrize(
    "head", [(-1, "0" * 64), (0, "1" * 64), (1, "xyz"), (1, "F" * 64), (1, "0" * 63)]
)
def test_a_head_that_cannot_be_one_is_refused(tmp_path: Path, head: tuple[int, str]) -> None:
    log = SqlDecisionLog.open(tmp_path / "log")
    with pytest.raises(ValueError, match="head is the number of a record and its hash"):
        replay(log, head=head)


@pytest.mark.parametrize("kept", [0, 4, 6])
def test_records_dropped_from_the_end_show_against_a_head(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "log"
    log = filled(path, 7)
    head = log.head()
    meddle(path, ("DELETE FROM records WHERE seq > ?", (kept,)))
    assert all(replay(log)), "the chain alone cannot show this"

    *whole, cut = replay(log, head=head)
    assert _statuses(whole) == [(seq, "same") for seq in range(1, kept + 1)]
    which = "record 7 is" if kept == 6 else f"records {kept + 1} to 7 are"
    assert cut == ReplayResult(seq=kept + 1, status="incomplete", reasons=(f"{which} missing",))


def test_a_record_dropped_from_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = filled(path, 8)
    meddle(path, ("DELETE FROM records WHERE seq IN (3, 6, 7)", ()))
    answers = list(replay(log, head=log.head()))
    assert _statuses(answers) == [
        (1, "same"),
        (2, "same"),
        (3, "incomplete"),
        (4, "incomplete"),
        (5, "same"),
        (6, "incomplete"),
        (8, "incomplete"),
    ]
    assert [answers[place].reasons for place in (2, 3, 5, 6)] == [
        ("record 3 is missing",),
        ("record 3 is missing: the link to it is not checked",),
        ("records 6 to 7 are missing",),
        ("record 7 is missing: the link to it is not checked",),
    ]


@pytest.mark.parametrize("name", INPUTS)
def test_a_missing_input_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / "log"
    log = filled(path, 3)
    digest = json.loads(body_of(path, 2))["inputs"][name]
    meddle(path, ("DELETE FROM inputs WHERE digest = ?", (digest,)))
    answers = list(replay(log))
    assert answers[1].status == "incomplete"
    assert answers[1].reasons == (f"input {name} is missing: no {digest}",)
    shared = "incomplete" if name in ("compiled", "spec") else "same"
    assert [answers[0].status, answers[2].status] == [shared, shared]


def test_an_earlier_time_is_a_note(tmp_path: Path) -> None:
    log = SqlDecisionLog.open(tmp_path / "log")
    log.append_all([decision(1, minutes=5), decision(2, minutes=4), decision(3, minutes=4)])
    answers = list(replay(log))
    assert [bool(one) for one in answers] == [True] * 3
    assert answers[1].notes == ("decided_at is earlier than that of a record before",)
    assert answers[2].notes == ()


def test_a_run_that_ended_early_may_have_been_scored(tmp_path: Path) -> None:
    log = SqlDecisionLog.open(tmp_path / "log")
    log.append(decision(1).model_copy(update={"error": "CancelledError"}))
    assert [one.status for one in replay(log)] == ["same"]


def test_a_refused_plan_that_was_run_all_the_same_is_noted(tmp_path: Path) -> None:
    proposed = proposal(pinned=False)
    verdict = verify_proposal(proposed)
    report = consolidate(
        trace_id="trace_1", decision_key="other_key", verify=verdict, decided_at=NOON
    )
    facts = RunFacts.of(run_of(proposed))
    log = SqlDecisionLog.open(tmp_path / "log")
    log.append(Decision(proposal=proposed, run=facts, report=report))
    (answer,) = replay(log)
    assert answer
    assert answer.decision_key == "other_key"
    assert answer.notes == ("a plan that verify refused has a run",)


def test_damage_on_the_way_is_a_typed_error(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = filled(path, 200)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2 // 4096 * 4096])
    with pytest.raises(LogDamaged):
        list(replay(log))


def test_kinds_of_decision_are_all_there() -> None:
    reports = {kind: decision(kind=kind).report.status for kind in KINDS}
    assert reports == {
        "completed": "completed",
        "refused": "refused_by_critic",
        "partial": "partial",
        "ended_early": "partial",
    }
    assert Head(0, GENESIS) == (0, GENESIS)
