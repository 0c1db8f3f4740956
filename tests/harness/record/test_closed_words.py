"""A record is hashed without its texts: these are named by their digest, and can be put back."""

import json
from typing import Any

import pytest
from hypothesis import given, settings

from evals.plan_verdicts import Refused, Violation
from harness.canonical import canonical_json
from harness.record import CriticError, Head, record_hash, seal_record
from harness.record.chain import sealed_bytes
from harness.record.closed_words import SEALED, TEXT_MEMBER, close_record, open_record, seal_members
from harness.record.decision import DecisionRecord
from harness.testing.strategies import records
from harness.wire import build
from tests.harness.log.decisions import KINDS, NOON, decision
from tests.harness.record.every_kind import EVERY_ENTRY
from tests.harness.record.sealing import sealed_form, sha256_of
from tests.support.effort import examples

MARK = "UK12345678901234567890"


def parts_of(document: dict[str, Any]) -> dict[str, Any]:
    parts = {name: document[name] for name in SEALED if name in document}
    texts = close_record(document)[1]
    return {**parts, TEXT_MEMBER: texts} if texts else parts


def without_hash(record: DecisionRecord) -> dict[str, Any]:
    wire = record.wire()
    del wire["hash"]
    return wire


@settings(max_examples=examples(100))
@given(record=records())
def test_a_record_is_had_of_its_sealed_form_and_its_parts(record: DecisionRecord) -> None:
    document = without_hash(record)
    sealed = json.loads(sealed_bytes(document))
    assert sealed == sealed_form(document)
    assert sha256_of(sealed) == record.hash
    assert open_record(sealed, parts_of(document)) == document


@settings(max_examples=examples(100))
@given(record=records())
def test_what_is_left_without_texts_and_run_is_a_record_of_closed_words(
    record: DecisionRecord,
) -> None:
    document = without_hash(record)
    sealed = json.loads(sealed_bytes(document))
    left = open_record(sealed, {})
    build(DecisionRecord, {**left, "hash": record.hash})
    for text in parts_of(document)[TEXT_MEMBER]:
        if len(text) > 20:
            assert text not in json.dumps(sealed, ensure_ascii=False)
    report, own = left["report"], document["report"]
    for name in ("status", "decided_at", "decision_key", "refused_at"):
        assert report.get(name) == own.get(name)
    assert _closed(report) == _closed(own)


def _closed(report: dict[str, Any]) -> list[Any]:
    verify = report["verify"]
    names = ("check", "kind", "offending_step", "approvable")
    of_violations = [[one.get(name) for name in names] for one in verify.get("violations", [])]
    return [verify["ok"], verify.get("kind"), verify.get("offending_step"), of_violations]


@pytest.mark.parametrize(
    ("path", "stays"),
    [
        ("", True),
        ("/steps/3", True),
        ("/steps/3/args", True),
        ("/declared_outputs/0", True),
        ("/steps/0/args/recipient", False),
        (f"/steps/0/args/{MARK}", False),
        ("/steps/0/args/args", False),
        ("/steps/0/args/0/args", False),
        (f"/{MARK}", False),
        ("/12345678901234567890", False),
        ("1", False),
        (f"{MARK}/steps", False),
    ],
)
def test_a_path_stays_where_no_name_in_it_is_of_a_plan(path: str, stays: bool) -> None:
    violation = Violation(check="evidence", kind="missing_evidence", reason=MARK, path=path)
    report = {"verify": Refused.because((violation,)).wire()}
    closed, texts = close_record({"report": report})
    assert texts == ([MARK] if stays else [MARK, path])
    assert closed["report"]["verify"]["violations"][0]["path"] == (path if stays else "1")
    assert MARK not in json.dumps(closed)
    assert open_record({**closed, TEXT_MEMBER: ""}, {TEXT_MEMBER: texts}) == {"report": report}


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_and_an_error_have_texts_too(kind: str) -> None:
    failed = CriticError(asked={"of": MARK}, where=f"at {MARK}", failed_at=NOON)
    ended = decision(kind=kind)
    for entry in (failed, ended):
        whole = json.loads(seal_record(entry.snapshot, Head(1, "a" * 64)).body)
        own = whole.pop("hash")
        sealed = sealed_form(whole)
        assert MARK not in json.dumps(sealed)
        assert sealed.get("error", "0") == sealed.get("where", "0") == "0"
        assert sha256_of(sealed) == own == record_hash(whole)


@pytest.mark.parametrize("entry", EVERY_ENTRY.values(), ids=EVERY_ENTRY)
def test_a_record_of_any_kind_is_sealed_as_the_rule_says(entry: Any) -> None:
    whole = json.loads(seal_record(entry.snapshot, Head(1, "a" * 64)).body)
    own = whole.pop("hash")
    assert sha256_of(sealed_form(whole)) == own == record_hash(whole)
    assert open_record(json.loads(sealed_bytes(whole)), parts_of(whole)) == whole


@pytest.mark.parametrize("kind", ["settled", "redacted"])
def test_why_something_was_done_is_a_text(kind: str) -> None:
    entry = EVERY_ENTRY[kind]._replace(because=f"because of {MARK}")
    whole = json.loads(seal_record(entry.snapshot, Head(1, "a" * 64)).body)
    assert MARK in whole["because"]
    assert MARK not in sealed_bytes(whole).decode()


@pytest.mark.parametrize(
    "texts", [[], ["a"], ["a", "b", "c"], ["a", "a"], "ab", {"0": "a", "1": "b"}, None, [1, 2]]
)
def test_other_texts_than_those_that_are_numbered_are_refused(texts: Any) -> None:
    report = {"rationale": "a", "verify": {"ok": True, "reasons": ["b"]}}
    closed, own = close_record({"report": report})
    assert own == ["a", "b"]
    with pytest.raises(ValueError, match="it numbers other texts"):
        open_record({**closed, TEXT_MEMBER: ""}, {TEXT_MEMBER: texts})


def test_a_record_cannot_have_a_member_that_only_sealed_ones_have() -> None:
    document = {"report": {"rationale": "a"}, TEXT_MEMBER: "b"}
    members = {name: canonical_json(one) for name, one in document.items()}
    with pytest.raises(ValueError, match="no member of that name"):
        seal_members(members, document)
