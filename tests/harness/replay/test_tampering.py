"""Every way to alter a log: noticed, at the right record, with what was altered."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from harness.canonical import canonical_json
from harness.log.sql import SqlDecisionLog
from harness.record import RawRecord, sha256
from harness.record.integrity import START, read_text_of
from harness.replay.engine import replay
from harness.replay.log_check import CheckedReplay, check_log
from harness.replay.log_page import Bodies, Page
from harness.replay.recheck import recheck
from harness.replay.result import ReplayResult
from tests.harness.log.decisions import (
    LogPlace,
    body_of,
    decision,
    filled,
    meddle,
    put_body,
    query,
)
from tests.harness.replay.forging import edited, forged, forged_input
from tests.support.effort import sampled


@pytest.fixture
def path(place: LogPlace) -> LogPlace:
    """Return a log of records 1, 5 refused; 2, 6 partial; 3, 7 ended early; 4, 8 completed."""
    filled(place, 8).close()
    return place


def _answers(path: LogPlace, **options: Any) -> dict[int, ReplayResult]:
    """Return the answers, which are the same where the log is checked as a whole beside."""
    log = SqlDecisionLog.open_for_reading(path)
    answers, beside = list(replay(log, **options)), CheckedReplay(log, **options)
    assert list(beside.answers()) == answers
    assert beside.check() == check_log(log)
    return {one.seq: one for one in answers}


def _tampered(path: LogPlace, **options: Any) -> dict[int, ReplayResult]:
    """Return the answers that are not `same`; all must be `tampered`."""
    found = {seq: one for seq, one in _answers(path, **options).items() if not one}
    assert {one.status for one in found.values()} <= {"tampered"}
    for reason in (reason for one in found.values() for reason in one.reasons):
        assert reason.isprintable(), reason
        assert reason.isascii(), reason
    return found


def _only(path: LogPlace, seq: int, **options: Any) -> ReplayResult:
    found = _tampered(path, **options)
    assert list(found) == [seq]
    return found[seq]


def test_swapped_records_are_noticed(path: LogPlace) -> None:
    third, fourth = body_of(path, 3), body_of(path, 4)
    put_body(path, 3, fourth)
    put_body(path, 4, third)
    found = _tampered(path)
    assert list(found) == [3, 4]
    assert "its body says that it is record 4" in found[3].reasons
    assert "its body says that it is record 3" in found[4].reasons


def test_a_duplicated_record_is_noticed(path: LogPlace) -> None:
    copy = "INSERT INTO records SELECT 9, ?, body FROM records WHERE seq = 5"
    meddle(path, (copy, ("f" * 64,)))
    answer = _only(path, 9)
    assert answer.reasons[0] == "its body says that it is record 5"
    assert any("is stored under ffffffffffff..." in reason for reason in answer.reasons)


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_the_tail_of_another_log_is_noticed(path: LogPlace, tmp_path: Path) -> None:
    other = SqlDecisionLog.open(tmp_path / "other")
    other.append_all(decision(n) for n in range(11, 19))
    meddle(
        path,
        ("ATTACH ? AS other", (str(tmp_path / "other"),)),
        ("DELETE FROM records WHERE seq > 5", ()),
        ("INSERT INTO records SELECT * FROM other.records WHERE seq > 5", ()),
        ("INSERT OR IGNORE INTO inputs SELECT * FROM other.inputs", ()),
    )
    answer = _only(path, 6)
    assert answer.reasons[0].startswith("it does not follow record 5: it names ")


def test_a_rewritten_tail_shows_against_a_head_only(path: LogPlace) -> None:
    head = SqlDecisionLog.open_for_reading(path).head()
    forged(path, 6, lambda record: record["report"].update(decided_at="2025-03-02T00:00:00Z"))
    assert all(_answers(path).values()), "the chain alone cannot show this"
    answer = _only(path, 8, head=head)
    assert answer.reasons[0].startswith("history was rewritten: its hash is ")
    assert head.hash[:12] in answer.reasons[0]


def test_a_verdict_turned_to_ok_is_noticed(path: LogPlace) -> None:
    def turn(record: dict[str, Any]) -> None:
        record["report"]["verify"] = {"ok": True, "reasons": ["fine"], "caveats": []}
        record["report"].update(status="partial")
        del record["report"]["refused_at"]

    edited(path, 5, turn)
    answer = _only(path, 5)
    assert answer.reasons[0].startswith("its content has hash ")
    assert answer.reasons[-1].startswith("the report does not follow from its inputs: see ")
    lines = [one.line() for one in answer.differences]
    assert "/verify/ok: recorded true, derived false" in lines
    assert "/refused_at: recorded nothing, derived verify" in lines
    assert "/verify/kind: recorded nothing, derived missing_evidence" in lines


def test_a_verdict_turned_to_ok_is_noticed_with_every_hash_made_anew(path: LogPlace) -> None:
    def turn(record: dict[str, Any]) -> None:
        record["report"]["verify"] = {"ok": True, "reasons": ["fine"], "caveats": []}
        record["report"].update(status="partial")
        del record["report"]["refused_at"]

    forged(path, 5, turn)
    answer = _only(path, 5)
    assert len(answer.reasons) == 1
    assert answer.reasons[0].startswith("the report does not follow from its inputs: see /")


@pytest.mark.parametrize("name", ["ctx", "compiled", "spec", "plan"])
def test_an_input_edited_in_its_place(path: LogPlace, name: str) -> None:
    digest = json.loads(body_of(path, 4))["inputs"][name]
    body = query(path, "SELECT body FROM inputs WHERE digest = ?", digest)[0][0]
    changed = body.replace(b"refund", b"refunt").replace(b"trace_4", b"trace_5")
    assert changed != body
    meddle(path, ("UPDATE inputs SET body = ? WHERE digest = ?", (changed, digest)))
    found = _tampered(path)
    assert list(found) == ([4] if name in ("ctx", "plan") else list(range(1, 9)))
    assert found[4].reasons == (f"input {name} is not what was recorded: digest {digest}",)


def test_an_edited_plan_is_noticed_with_every_hash_made_anew(path: LogPlace) -> None:
    forged_input(path, 4, "plan", lambda plan: plan["steps"][1].pop("evidence_refs"))
    assert "the report does not follow from its inputs" in _only(path, 4).reasons[0]


def test_an_input_that_is_spelled_otherwise(path: LogPlace) -> None:
    forged_input(path, 4, "plan", lambda plan: plan["steps"][1].pop("kind"))
    assert _only(path, 4).reasons[0].startswith("input plan cannot be read: ")


def test_an_input_that_lacks_its_defaults(path: LogPlace) -> None:
    digest = json.loads(body_of(path, 4))["inputs"]["plan"]
    body = query(path, "SELECT body FROM inputs WHERE digest = ?", digest)[0][0] + b" "
    meddle(path, ("INSERT INTO inputs VALUES (?, ?)", (sha256(body), body)))
    forged(path, 4, lambda record: record["inputs"].update(plan=sha256(body)))
    assert _only(path, 4).reasons == ("input plan is not in its canonical form",)


EDITS: dict[str, Any] = {
    "seq": lambda record: record.update(seq=5),
    "prev_hash": lambda record: record.update(prev_hash="a" * 64),
    "hash": lambda record: record.update(hash="b" * 64),
    "output": lambda record: record["run"]["outputs"].update(receipt="other"),
    "call": lambda record: record["run"]["calls"].pop(),
    "decided_at": lambda record: record["report"].update(decided_at="2025-03-01T12:04:01Z"),
    "rationale": lambda record: record["report"].update(rationale="fine"),
    "extra": lambda record: record.update(extra=1),
    "ruleset": lambda record: record.update(ruleset_version="99"),
    "evaluators": lambda record: record["evaluator_versions"].update(policy="99"),
    "no_run": lambda record: record.pop("run"),
    "no_report": lambda record: record.pop("report"),
    "null": lambda record: record.update(error=None),
    "escape": lambda record: record.update(error="\x1b[31m\nbad"),
    "inputs": lambda record: record.update(inputs=["x"]),
    "plan_digest": lambda record: record["inputs"].update(plan="no digest"),
}


@pytest.mark.parametrize("name", sampled(EDITS, one_in=3))
def test_an_edited_member_is_noticed(path: LogPlace, name: str) -> None:
    edited(path, 4, EDITS[name])
    answer = _only(path, 4)
    assert any(reason.startswith("its content has hash ") for reason in answer.reasons)


FORGERIES: dict[str, tuple[str, Any]] = {
    "seq": ("its body says that it is record 5", EDITS["seq"]),
    "rationale": ("the report does not follow from its inputs: see /rationale", EDITS["rationale"]),
    "extra": ("it is not a decision record of this version: /extra: unknown field", EDITS["extra"]),
    "no_run": ("the report does not follow from its inputs: see /", EDITS["no_run"]),
    "no_report": ("it is not a decision record of this version: /report: ", EDITS["no_report"]),
    "null": ("it is not a decision record of this version: /error: ", EDITS["null"]),
    "escape": ("it is not a decision record of this version: /error: ", EDITS["escape"]),
    "inputs": ("it is not a decision record of this version: /inputs: ", EDITS["inputs"]),
    "plan_digest": ("it is not a decision record of this version: /inputs/p", EDITS["plan_digest"]),
    "versions": (
        "it is not a decision record of this version: /evaluator_versions",
        lambda record: record.update(evaluator_versions=["1"]),
    ),
    "ruleset": (
        "it is not a decision record of this version: /ruleset_version",
        lambda record: record.update(ruleset_version=1),
    ),
    "no_score": (
        "the report does not follow from its inputs: see /rationale, /score, /status",
        lambda record: (
            record["report"].pop("score"),
            record["report"].update(status="partial", rationale="none"),
        ),
    ),
}


@pytest.mark.parametrize("name", sampled(FORGERIES, one_in=2))
def test_an_edited_member_is_noticed_with_every_hash_made_anew(path: LogPlace, name: str) -> None:
    reason, edit = FORGERIES[name]
    forged(path, 4, edit)
    assert _only(path, 4).reasons[0].startswith(reason)


def test_a_report_that_only_leaves_out_a_default(path: LogPlace) -> None:
    forged(path, 2, lambda record: record["report"]["verify"].pop("ok") and None)
    assert _only(path, 2).reasons[0].startswith("it is not a decision record of this version")


BODIES: dict[str, bytes] = {
    "empty": b"",
    "zeros": b"\0" * 100,
    "text": b"no record",
    "array": b"[]",
    "null": b"null",
    "empty_object": b"{}",
    "bom": b"\xef\xbb\xbf{}",
    "two": b"{}{}",
    "duplicate": b'{"seq":1,"seq":4}',
    "deep": b"[" * 5000 + b"]" * 5000,
    "deep_object": b'{"a":' * 150 + b"1" + b"}" * 150,
    "surrogate": b'{"a":"\\ud800"}',
    "huge_number": b'{"a":1e999}',
    "huge_integer": b'{"a":' + b"9" * 400 + b"}",
    "wrong_types": b'{"hash":[],"inputs":{"plan":{}},"prev_hash":{},"report":1,"seq":"x"}',
    "nothing_right": b'{"evaluator_versions":{"policy":[1]},"ruleset_version":"7"}',
}


@pytest.mark.parametrize("name", sampled(BODIES, one_in=2))
def test_a_body_that_is_not_a_record_is_noticed(path: LogPlace, name: str) -> None:
    put_body(path, 4, BODIES[name])
    assert _only(path, 4).reasons[0].startswith("its ")


def test_the_canonical_form_is_part_of_a_record(path: LogPlace) -> None:
    put_body(path, 4, json.dumps(json.loads(body_of(path, 4))).encode())
    assert _only(path, 4).reasons == ("its body is not canonical JSON",)
    put_body(path, 4, canonical_json(json.loads(body_of(path, 4))) + b"\r\n")
    assert _only(path, 4).reasons == ("its body is not canonical JSON",)


@pytest.mark.parametrize("stored", ["f" * 64, "short", "\x1b[31m", 7])
def test_a_hash_column_that_says_otherwise(path: LogPlace, stored: object) -> None:
    meddle(path, ("UPDATE records SET hash = ? WHERE seq = 4", (stored,)))
    assert "but is stored under" in _only(path, 4).reasons[0]


@pytest.mark.parametrize("seq", [0, -3])
def test_a_row_outside_the_chain_is_noticed(path: LogPlace, seq: int) -> None:
    copy = "INSERT INTO records SELECT ?, ?, body FROM records WHERE seq = 5"
    meddle(path, (copy, (seq, "f" * 64)))
    assert "its number does not follow 0" in _only(path, seq).reasons


@pytest.mark.slow
def test_every_single_flipped_bit_of_a_record_is_noticed(path: LogPlace) -> None:
    log = SqlDecisionLog.open_for_reading(path)
    stored = next(log.raw(start=4))
    document = read_text_of(stored)
    bodies = Bodies(log.stored)
    bodies.fetch(document.digests.values())
    page = Page(bodies)
    before = recheck(read_text_of(next(log.raw(start=3))), Page(), START).link
    assert recheck(document, page, before).answer.replayed

    for place in range(len(stored.body)):
        body = bytearray(stored.body)
        body[place] ^= 1 << (place % 8)
        answer, *_ = recheck(read_text_of(stored._replace(body=bytes(body))), page, before)
        assert answer.replayed.status == "tampered", place


@pytest.mark.slow
def test_flipped_bits_in_a_stored_record_are_noticed(path: LogPlace) -> None:
    chance = random.Random(11)  # noqa: S311 - where to flip, not a secret
    for _ in range(25):
        seq = chance.randint(1, 8)
        ((stored,),) = query(path, "SELECT body FROM records WHERE seq = ?", seq)
        body = bytearray(body_of(path, seq))
        body[chance.randrange(len(body))] ^= 1 << chance.randrange(8)
        put_body(path, seq, bytes(body))
        _only(path, seq)
        put_body(path, seq, stored)


def test_any_row_at_all_gets_an_answer() -> None:
    chance = random.Random(5)  # noqa: S311 - noise, not a secret
    for size in range(200):
        raw = RawRecord(chance.randint(-5, 2**62), "\x00\ufffd" * 5, chance.randbytes(size))
        answer, *_ = recheck(read_text_of(raw), Page(), START)
        assert answer.replayed.status == "tampered"
