"""The log keeps each claim of a record under its very number."""

from typing import Any

import pytest

from harness.record import Head, RawRecord, TakenOverRecord, seal_record
from harness.record.integrity import START, Link, read_text_of
from harness.replay.log_page import Page
from harness.replay.problems import Problems
from harness.replay.record_notes import check_claims, note_record
from harness.wire import parse
from tests.harness.record.every_kind import EVERY_ENTRY, HASH

CLAIMING = {name: one for name, one in EVERY_ENTRY.items() if one.snapshot.claims}


@pytest.mark.parametrize("entry", CLAIMING.values(), ids=CLAIMING)
def test_a_claim_of_a_record_of_any_kind_is_kept_under_its_number(entry: Any) -> None:
    document = read_text_of(RawRecord(*seal_record(entry.snapshot, Head(6, HASH))))
    whole = dict.fromkeys(entry.snapshot.claims, 7)

    def told(claims: dict[str, int] | None) -> Problems:
        problems = Problems()
        check_claims(document, Page(claims=claims), problems)
        return problems

    assert told(whole).status == "same"
    assert told({**whole, "of somebody": 1}).status == "same"
    assert told(None).status == "incomplete"
    for claim in whole:
        for other in (1, 6, 8, 70, 0, -7):
            assert told({**whole, claim: other}).tampered == [
                f"its claim is kept for record {other}: {claim}"
            ]
        gone = {one: seq for one, seq in whole.items() if one != claim}
        assert told(gone).tampered == [f"its claim is gone, and could be made again: {claim}"]


@pytest.mark.parametrize("seq", [1, 2, 3, 4])
@pytest.mark.parametrize("of", [1, 2, 3])
def test_a_log_begins_with_what_it_takes_over(seq: int, of: int) -> None:
    entry = EVERY_ENTRY["taken_over"]._replace(of=of)
    sealed = seal_record(entry.snapshot, Head(seq - 1, HASH))
    problems = Problems()
    before = START if seq == 1 else Link(seq - 1, frozenset({HASH}))
    note_record(parse(TakenOverRecord, sealed.body), before, problems)
    assert bool(problems.tampered) == (seq > of)
    assert bool(problems.notes) == (seq == 1)
