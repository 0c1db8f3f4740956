"""Replay of a log that nobody touched, against a head, and of one that lacks something."""

import json
from pathlib import Path
from typing import Any

import pytest

from critic.consolidate import consolidate
from critic.verify import verify_proposal
from evals.plan_verdicts import RULESET_VERSION
from harness.log.log_errors import LogDamaged
from harness.log.sql import SqlDecisionLog
from harness.record import GENESIS, INPUT_NAMES, Decision, Head, PlanAttemptRecord, RunFacts
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
from tests.harness.replay.forging import edited, forged


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
        ("record 3 is missing: the link to it cannot be checked",),
        ("records 6 to 7 are missing",),
        ("record 7 is missing: the link to it cannot be checked",),
    ]


@pytest.mark.parametrize("name", INPUT_NAMES)
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
    report = consolidate(trace_id="trace_1", decision_key="refund", verify=verdict, decided_at=NOON)
    facts = RunFacts.of(run_of(proposed))
    log = SqlDecisionLog.open(tmp_path / "log")
    log.append(Decision(proposal=proposed, run=facts, report=report, action="refuse"))
    (answer,) = replay(log)
    assert answer
    assert answer.notes == ("a plan that was not allowed has a run",)


def _forget_the_score(record: dict[str, Any]) -> None:
    """Make of a completed record one as older versions wrote it of a run that ended early."""
    record["error"] = "TimeoutError: payments"
    del record["report"]["score"]
    unscored = {"status": "partial", "rationale": "verify passed; no score (no execution)"}
    record["report"].update(unscored)


def test_a_run_without_a_score_of_an_older_version_is_the_same_and_noted(tmp_path: Path) -> None:
    filled(tmp_path / "log", 1, kinds=("completed",))
    forged(tmp_path / "log", 1, _forget_the_score)
    (answer,) = replay(SqlDecisionLog.open_for_reading(tmp_path / "log"))
    assert answer
    assert answer.notes == ("the run ended early and has no score: it holds 2 calls",)


def test_calls_outside_the_plan_are_reported_for_a_run_without_a_score(tmp_path: Path) -> None:
    def call_another(record: dict[str, Any]) -> None:
        _forget_the_score(record)
        (record["run"]["calls"][0])["args"] = {"order": "o-99"}
        del record["run"]["calls"][1]

    filled(tmp_path / "log", 1, kinds=("completed",))
    forged(tmp_path / "log", 1, call_another)
    (answer,) = replay(SqlDecisionLog.open_for_reading(tmp_path / "log"))
    assert answer.notes[0] == "the run ended early and has no score: it holds 1 call"
    assert answer.notes[1].startswith("the run without a score fails policy: ")


def test_a_run_that_ended_early_is_scored_with_the_calls_that_it_made(tmp_path: Path) -> None:
    log = SqlDecisionLog.open(tmp_path / "log")
    record = log.append(decision(kind="ended_early"))
    assert record.error == "TimeoutError: payments"
    assert record.report.score is not None
    assert "no execution" not in record.report.rationale
    assert [answer.status for answer in replay(log)] == ["same"]


def _attempt(number: int) -> PlanAttemptRecord:
    tried = proposal(number, pinned=False)
    verdict = verify_proposal(tried)
    return PlanAttemptRecord(plan=tried.plan, verdict=verdict)


@pytest.fixture
def revised(tmp_path: Path) -> Path:
    """Return a log of one decision that was reached after two refused plans."""
    attempts = (_attempt(2), _attempt(3))
    log = SqlDecisionLog.open(tmp_path / "log")
    log.append(decision().model_copy(update={"attempts": attempts}))
    return tmp_path / "log"


def _only_answer(path: Path) -> ReplayResult:
    (answer,) = replay(SqlDecisionLog.open_for_reading(path))
    return answer


def _give_another_reason(verdict: dict[str, Any]) -> None:
    verdict["reasons"] = ["another reason"]
    verdict["violations"][0]["reason"] = "another reason"


def test_the_verdicts_on_attempts_are_derived_again(revised: Path) -> None:
    answer = _only_answer(revised)
    assert (answer.status, answer.reasons, answer.notes) == ("same", (), ())


def test_a_forged_verdict_on_an_attempt_is_tampered(revised: Path) -> None:
    forged(revised, 1, lambda one: _give_another_reason(one["attempts"][1]["verdict"]))
    answer = _only_answer(revised)
    assert answer.status == "tampered"
    assert answer.reasons == ("attempt 1: its verdict does not follow from its inputs",)
    assert [one.path for one in answer.differences] == [
        "/attempts/1/verdict/reasons/0",
        "/attempts/1/verdict/violations/0/reason",
    ]


def test_a_forged_plan_of_an_attempt_is_tampered(revised: Path) -> None:
    def pin(record: dict[str, Any]) -> None:
        record["attempts"][0]["plan"]["steps"][1]["evidence_refs"] = ["ev_1"]

    forged(revised, 1, pin)
    answer = _only_answer(revised)
    assert answer.reasons == ("attempt 0: its verdict does not follow from its inputs",)
    assert "/attempts/0/verdict/ok" in [one.path for one in answer.differences]


def test_an_attempt_of_another_version_is_drift(revised: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        record["ruleset_version"] = "0"
        _give_another_reason(record["attempts"][0]["verdict"])

    forged(revised, 1, change)
    answer = _only_answer(revised)
    assert answer.status == "drift"
    assert answer.reasons[1] == "attempt 0: its verdict does not follow from its inputs"


@pytest.mark.parametrize("ruleset", [RULESET_VERSION, "0"])
def test_a_decision_key_that_is_not_the_spec_s_is_tampered(tmp_path: Path, ruleset: str) -> None:
    def change(record: dict[str, Any]) -> None:
        record["ruleset_version"] = ruleset
        record["report"]["decision_key"] = "other"

    filled(tmp_path / "log", 1)
    forged(tmp_path / "log", 1, change)
    answer = _only_answer(tmp_path / "log")
    assert answer.status == "tampered"
    assert answer.reasons[0] == "decision_key is other, but the id of the spec is refund"
    assert [one.path for one in answer.differences] == ["/decision_key"]


@pytest.mark.parametrize("member", ["hash", "prev_hash"])
def test_the_sound_follower_of_a_bad_record_is_not_blamed(tmp_path: Path, member: str) -> None:
    filled(tmp_path / "log", 3)
    edited(tmp_path / "log", 2, lambda record: record.update({member: "b" * 64}))
    answers = replay(SqlDecisionLog.open_for_reading(tmp_path / "log"))
    assert [answer.status for answer in answers] == ["same", "tampered", "same"]


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
        "ended_early": "completed",
    }
    assert Head(0, GENESIS) == (0, GENESIS)
