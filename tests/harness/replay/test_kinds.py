"""Replay of executions that begin, of claims, parts and redactions, and of a critic that failed."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.canonical import canonical_json
from harness.log import LogDamaged, SqlDecisionLog
from harness.record import Begun, CriticError, used_approvals
from harness.record.parts import part_document, reference, references
from harness.replay import check_log, replay
from harness.replay.result import ReplayResult
from tests.harness.console import Critic
from tests.harness.log.decisions import NOON, body_of, decision, judged, meddle, query, run_of
from tests.harness.replay.forging import edited, forged
from tests.harness.runtime.test_beginning import approved
from tests.support.examples import proposal_of

BIG = "z" * 5000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a log: 1 begins, 2 ends it, 3 a decision, 4 begins with an approval and never ends."""
    with SqlDecisionLog.open(tmp_path / "log") as log:
        first = approved({})
        used = used_approvals(first)
        begun = log.begin(Begun(proposal=first, approvals=used, begun_at=NOON))
        log.append(judged(first, begun=begun.hash))
        log.append(decision(3))
        second = approved({"approval_id": "a_9"})
        log.begin(Begun(proposal=second, approvals=used_approvals(second), begun_at=NOON))
    return tmp_path / "log"


def _answers(path: Path) -> dict[int, ReplayResult]:
    with SqlDecisionLog.open_for_reading(path) as log:
        return {one.seq: one for one in replay(log)}


def _statuses(path: Path) -> dict[int, str]:
    return {seq: one.status for seq, one in _answers(path).items()}


def test_what_began_and_never_ended_is_open(path: Path, critic: Critic) -> None:
    assert _statuses(path) == {1: "same", 2: "same", 3: "same", 4: "open"}
    said = critic("replay", path)
    assert (said.status, said.err) == (0, "")
    assert critic("replay", path, "--no-open").status == 1
    assert said.lines[0] == "record 4: open"
    assert said.lines[-1].endswith(" 0 incomplete, 1 open: sound, 1 open")
    listed = critic("log", "list", path, "--records").lines
    assert listed[0].endswith("begun: an execution that record 2 ends")
    assert "open: an execution began" in listed[3]
    shown = json.loads(critic("log", "show", path, "4").out)
    assert shown["kind"] == "begun"
    assert shown["input_bodies"]["plan"]["steps"]


@pytest.mark.parametrize(
    ("claim", "seq"), [("begun %", 2), ("approval a_0 %", 1), ("approval a_9 %", 4)]
)
def test_a_claim_that_was_removed_is_named(path: Path, claim: str, seq: int) -> None:
    meddle(path, ("DELETE FROM claims WHERE claim LIKE ?", (claim,)))
    answer = _answers(path)[seq]
    assert answer.status == "tampered"
    assert answer.reasons[0].startswith("its claim is gone, and could be made again: ")


def test_a_claim_of_another_record_is_named(path: Path) -> None:
    meddle(path, ("UPDATE claims SET seq = 3", ()))
    answers = _answers(path)
    assert [answers[seq].status for seq in (1, 2, 4)] == ["tampered"] * 3
    assert answers[1].reasons[0].startswith("its claim is kept for record 3: approval a_0")


def test_a_claim_that_no_record_made_is_damage(path: Path, critic: Critic) -> None:
    meddle(path, ("INSERT INTO claims VALUES ('approval a_7 x', 2)", ()))
    with SqlDecisionLog.open_for_reading(path) as log:
        check = check_log(log)
    assert not check
    assert check.damage == ("1 claim that no record made: approval a_7 x",)
    assert critic("log", "verify", path).status == 1


def test_a_beginning_that_was_removed_is_named(path: Path) -> None:
    meddle(path, ("DELETE FROM records WHERE seq = 1", ()))
    answers = _answers(path)
    assert answers[1].reasons == ("record 1 is missing",)
    assert answers[2].status == "incomplete"
    assert answers[2].reasons[-1].startswith("the record of its beginning is missing: no ")


def test_a_decision_that_ends_another_execution_is_tampered(path: Path) -> None:
    other = json.loads(body_of(path, 4))["hash"]
    forged(path, 3, lambda record: record.update(begun=other))
    # The last record was made anew with the chain: the decision names its old hash.
    assert _answers(path)[3].status == "tampered"
    first = json.loads(body_of(path, 1))["hash"]
    forged(path, 3, lambda record: record.update(begun=first))
    reasons = _answers(path)[3].reasons
    assert any(reason.startswith("its claim is kept for record 2") for reason in reasons)
    assert any("has other inputs" in reason for reason in reasons)


def test_a_decision_that_ends_a_decision_is_tampered(path: Path) -> None:
    second = json.loads(body_of(path, 2))["hash"]
    forged(path, 3, lambda record: record.update(begun=second))
    assert any("not of an execution that begins" in one for one in _answers(path)[3].reasons)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        ({"permit": "0" * 64}, "its permit is not of its inputs"),
        ({"trace_id": "other"}, "its trace_id is not that of its context"),
        ({"approvals": [{"approval_id": "b", "plan_digest": "0" * 64}]}, "its approvals are not"),
        ({"more": 1}, "it is not a record of this version: /more: unknown field"),
    ],
)
def test_an_edited_beginning_is_tampered(path: Path, edit: dict[str, Any], reason: str) -> None:
    forged(path, 4, lambda record: record.update(edit))
    answer = _answers(path)[4]
    assert answer.status == "tampered"
    assert any(one.startswith(reason) for one in answer.reasons)
    edited(path, 4, lambda record: record.update(begun_at="2001-01-01T00:00:00Z"))
    assert _answers(path)[4].reasons[0].startswith("its content has hash ")


def test_a_beginning_of_a_refused_plan_is_tampered(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log") as log:
        log.begin(Begun(proposal=approved(), begun_at=NOON))
    (answer,) = _answers(tmp_path / "log").values()
    assert answer.status == "tampered"
    assert answer.reasons[0] == "its action is allow, of a plan that verify refuses"


def test_an_unknown_kind_is_no_record_of_this_version(path: Path) -> None:
    forged(path, 4, lambda record: record.update(kind="vote"))
    assert _answers(path)[4].status == "tampered"
    forged(path, 4, lambda record: record.update(kind="vote", ruleset_version="4"))
    assert _answers(path)[4].status == "drift"


# --- a critic that failed ---------------------------------------------------------------------


def test_a_critic_that_failed_is_on_record_and_listed(tmp_path: Path, critic: Critic) -> None:
    path = tmp_path / "log"
    asked = {"event": "calls", "calls": [{"args": BIG}]}
    with SqlDecisionLog.open(path) as log:
        record = log.append_error(
            CriticError(asked=asked, where="verify: <b>\x1b[31m", failed_at=NOON, trace_id="t_1")
        )
        assert list(log.entries()) == [record]
        assert list(log.records()) == []
    assert record.asked == asked
    assert record.where == "verify: \\u003cb\\u003e\\u001b[31m"
    (answer,) = _answers(path).values()
    assert answer
    assert (answer.kind, answer.trace_id) == ("critic_error", "t_1")
    assert answer.notes == (f"the critic failed and refused: {record.where}",)
    said = critic("replay", path)
    assert said.status == 0
    assert said.lines[1].startswith("  note: the critic failed and refused: verify")
    assert "failed: verify" in critic("log", "list", path).lines[0]
    assert json.loads(critic("log", "show", path, "1").out)["asked"] == asked
    # A long question is kept in parts like everything else.
    assert max(len(body) for (body,) in query(path, "SELECT body FROM records")) < 1000


# --- parts ------------------------------------------------------------------------------------


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Return a log of two decisions whose evidence is large, and shared."""
    with SqlDecisionLog.open(tmp_path / "large") as log:
        for number in (1, 2):
            given = approved({}).wire()
            given["ctx"]["trace_id"] = f"t_{number}"
            item = given["compiled"]["manifests"]["evidence_manifest"][0]
            item["content"] = {**item["content"], "note": BIG}
            log.append(judged(proposal_of(given)))
    return tmp_path / "large"


NOTE = part_document(canonical_json({"note": BIG})).pieces


def _only_part() -> str:
    (digest,) = NOTE
    return digest


def test_a_large_part_is_stored_once(large: Path) -> None:
    with SqlDecisionLog.open_for_reading(large) as log:
        holders = [digest for digest, body in log.bodies() if BIG.encode() in body]
        assert holders == [_only_part()]
        assert check_log(log).text() == ""
    assert _statuses(large) == {1: "same", 2: "same"}


def test_a_removed_part_is_named(large: Path) -> None:
    meddle(large, ("DELETE FROM inputs WHERE digest = ?", (_only_part(),)))
    for answer in _answers(large).values():
        assert answer.status == "incomplete"
        assert answer.reasons == (f"input compiled is missing a part: no {_only_part()}",)


def test_a_changed_part_is_named(large: Path) -> None:
    other = canonical_json("y" * 2000)
    meddle(large, ("UPDATE inputs SET body = ? WHERE digest = ?", (other, _only_part())))
    for answer in _answers(large).values():
        assert answer.status == "tampered"
        assert answer.reasons == (
            f"input compiled is not what was recorded: altered part {_only_part()}",
        )


def test_a_part_that_no_record_names_is_noted(large: Path) -> None:
    meddle(large, ("INSERT INTO inputs VALUES (?, x'7b7d')", ("e" * 64,)))
    with SqlDecisionLog.open_for_reading(large) as log:
        assert check_log(log).notes == (f"1 input that no record names: {'e' * 64}",)


def test_a_redacted_part_is_named_and_nothing_is_derived(large: Path, critic: Critic) -> None:
    redacted = reference(_only_part())
    meddle(large, ("UPDATE inputs SET body = ? WHERE digest = ?", (redacted, _only_part())))
    for answer in _answers(large).values():
        assert not answer
        assert answer.status == "redacted"
        assert answer.reasons == (
            f"input compiled is redacted, what is left of it cannot be proved: part {_only_part()}",
        )
    with SqlDecisionLog.open_for_reading(large) as log:
        assert check_log(log).text() == ""
    said = critic("replay", large)
    assert said.lines[-1].endswith("0 incomplete, 2 redacted")
    assert critic("log", "verify", large).status == 1
    shown = json.loads(critic("log", "show", large, "1").out)
    assert shown["input_bodies"]["compiled"] == f"redacted: part {_only_part()}"
    assert shown["input_bodies"]["plan"]["steps"]


def test_tampering_outweighs_a_redaction(large: Path) -> None:
    redacted = reference(_only_part())
    meddle(large, ("UPDATE inputs SET body = ? WHERE digest = ?", (redacted, _only_part())))
    edited(large, 1, lambda record: record.update(error="x"))
    assert _statuses(large) == {1: "tampered", 2: "redacted"}


def test_a_redacted_output_leaves_the_chain_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with SqlDecisionLog.open(path) as log:
        given = decision(1).proposal
        run = run_of(given, outputs={"receipt": BIG})
        log.append(judged(given, run))
        log.append(decision(2))
        (stored, _) = log.stored_records()
        assert list(references(stored.body)) == [_only_part()]
    assert _statuses(path) == {1: "same", 2: "same"}
    redacted = reference(_only_part())
    meddle(path, ("UPDATE inputs SET body = ? WHERE digest = ?", (redacted, _only_part())))
    assert _statuses(path) == {1: "redacted", 2: "same"}
    meddle(path, ("DELETE FROM inputs WHERE digest = ?", (_only_part(),)))
    answers = _answers(path)
    assert answers[1].reasons == (f"its body is missing a part: no {_only_part()}",)
    with (
        SqlDecisionLog.open_for_reading(path) as log,
        pytest.raises(LogDamaged, match=r"record 1 cannot be read \(part .* is missing\)"),
    ):
        list(log.records())
