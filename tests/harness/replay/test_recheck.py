"""What one record says for the records after it, and what is derived of it, whatever is missing."""

from collections.abc import Mapping
from typing import Any

import pytest

from evals.context import SentValues, Spent
from harness.canonical import canonical_json
from harness.record import Head, RawRecord, seal_record, sha256
from harness.record.integrity import Link, StoredDocument, read_text_of
from harness.record.parts import part_document, reference
from harness.record.rotation import CarriedSession
from harness.replay import recheck as rechecking
from harness.replay.log_page import Page
from harness.replay.recheck import entry_in, recheck
from harness.replay.session_entries import ClosedEntry, LostEntry, ReopenedEntry, TakenEntry
from harness.wire import parse_json
from tests.harness.log.decisions import judged, proposal, run_of
from tests.harness.record.every_kind import CARRIED, EVERY_ENTRY, HASH

BEFORE = Head(6, "a" * 64)
LINK = Link(BEFORE.seq, frozenset({BEFORE.hash}))
WITHOUT_SENT = CarriedSession(policy_digest="p", spent=Spent(steps=7), asked=0, has_halted=False)


def stored(entry: Any) -> StoredDocument:
    return read_text_of(RawRecord(*seal_record(entry.snapshot, BEFORE)))


def said(document: StoredDocument, page: Page) -> Any:
    """Return what a record says of its session, judged or only read."""
    judged_entry, read = recheck(document, page, LINK).answer.entry, entry_in(document, page)
    assert judged_entry == read
    return None if read is None else read.said


@pytest.mark.parametrize(
    ("carried", "sent"),
    [(CARRIED, (SentValues(seq=1, values=("ada@example.com",)),)), (WITHOUT_SENT, ())],
)
def test_a_close_says_all_that_the_next_life_has(carried: CarriedSession, sent: Any) -> None:
    """Nothing sent is known to be nothing. What was taken out of the log is not known."""
    closed = stored(EVERY_ENTRY["closed"]._replace(carried=carried))
    assert said(closed, Page()) == ClosedEntry(2, carried.spent, sent)
    reopened = stored(EVERY_ENTRY["reopened"]._replace(closed=closed.own_hash))
    for named, spent, known in ((closed, carried.spent, sent), (None, None, ())):
        page = Page(named={} if named is None else {closed.own_hash: named})
        assert said(reopened, page) == ReopenedEntry(2, 3, spent, known)


def test_every_session_that_came_along_is_known() -> None:
    keys = ("b" * 64, "c" * 64, "d" * 64)
    taken = EVERY_ENTRY["taken_over"]._replace(sessions=keys)
    assert said(stored(taken), Page()) == TakenEntry(frozenset(keys))


@pytest.mark.parametrize("kind", ["completed", "begun"])
@pytest.mark.parametrize("name", ["ctx", "compiled", "spec", "plan"])
@pytest.mark.parametrize("is_redacted", [True, False])
def test_a_record_without_an_input_may_be_of_any_turn(
    kind: str, name: str, is_redacted: bool
) -> None:
    entry = EVERY_ENTRY[kind]
    document, bodies = stored(entry), dict[str, Any](entry.snapshot.bodies)
    gone = document.digests[name]
    del bodies[gone]
    bodies |= {gone: reference(gone)} if is_redacted else {}
    page = Page(bodies, claims=dict.fromkeys(document.claims, 7))
    assert said(document, page) == LostEntry(is_redacted)
    status = recheck(document, page, LINK).answer.replayed.status
    assert status == ("redacted" if is_redacted else "incomplete")


def test_what_is_not_of_a_session_says_nothing_of_one() -> None:
    for kind in ("completed", "begun", "refused"):
        entry = EVERY_ENTRY[kind]
        assert said(stored(entry), Page(dict(entry.snapshot.bodies), claims={})) is None


@pytest.mark.parametrize("here", ["", "f" * 64])
def test_a_digest_of_other_rules_is_drift_also_where_there_is_none_here(
    here: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EVERY_ENTRY["completed"]
    page = Page(dict(entry.snapshot.bodies), claims={})
    document = stored(entry)
    assert "rules_digest" in document.value
    assert recheck(document, page, LINK).answer.replayed.status == "same"
    monkeypatch.setattr(rechecking, "rules_digest", lambda: here or None)
    assert recheck(document, page, LINK).answer.replayed.status == "drift"


def test_a_part_that_is_gone_beside_a_whole_member_is_named() -> None:
    """The run was taken out; a part of what was tried before leaves the rest unproved."""
    text = "x" * 2000
    members = {"run": canonical_json({"a": text}), "attempts": canonical_json([[text, 1]])}
    whole = parse_json(seal_record(EVERY_ENTRY["completed"].snapshot, BEFORE).body)
    apart = part_document(members["attempts"])
    body = canonical_json({**whole, "run": None, "attempts": None})
    run = reference(sha256(members["run"]))
    body = body.replace(b'"run":null', b'"run":' + run)
    body = body.replace(b'"attempts":null', b'"attempts":' + apart.body)
    parts: Mapping[str, bytes] = {
        **{name: reference(name) for name in apart.pieces},
        sha256(members["run"]): run,
    }
    document = read_text_of(RawRecord(7, HASH, body), parts)
    reasons = recheck(document, Page(claims={}), LINK).answer.replayed.reasons
    for part in apart.pieces:
        assert any("cannot be proved" in one and part in one for one in reasons), reasons
    assert f"its run is redacted: {sha256(members['run'])}" in reasons


def test_the_run_of_an_unscored_refusal_is_none_of_its_report() -> None:
    given = judged(proposal(pinned=False), run_of(proposal(pinned=False)))
    entry = stored(given)
    page = Page(dict[str, Any](given.snapshot.bodies), claims={})
    answer = recheck(entry, page, LINK).answer.replayed
    assert answer.status == "same"
    assert answer.notes == ("a plan that was not allowed has a run",)
