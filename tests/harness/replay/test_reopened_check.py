"""Another life of a session goes on from where the one before was closed, and nowhere else."""

from typing import Any

import pytest

from harness.canonical import canonical_json
from harness.record import Head, RawRecord, SessionReopenedRecord, seal_record
from harness.record.integrity import read_text_of
from harness.replay.log_page import Page
from harness.replay.problems import Problems
from harness.replay.reopened_check import check_reopened
from harness.wire import parse
from tests.harness.record.every_kind import EVERY_ENTRY, HASH

CLOSED = seal_record(EVERY_ENTRY["closed"].snapshot, Head(3, HASH))


def found(closed: dict[str, Any], **changed: Any) -> list[str]:
    """Return what is wrong with a life that goes on from a close, each with some changes."""
    entry = EVERY_ENTRY["reopened"]._replace(closed=CLOSED.hash)
    sealed = seal_record(entry.snapshot, Head(8, HASH))
    record = parse(SessionReopenedRecord, sealed.body).model_copy(update=changed)
    value = {**read_text_of(RawRecord(*CLOSED)).value, **closed}
    raw = RawRecord(value["seq"], CLOSED.hash, canonical_json(value))
    problems = Problems()
    page = Page(named={CLOSED.hash: read_text_of(raw, checked=False)})
    check_reopened(record, page, problems)
    return problems.tampered


def test_a_session_goes_on_from_its_close() -> None:
    assert found({}) == []


@pytest.mark.parametrize(
    "closed",
    [
        {"turns": 1},
        {"turns": 3},
        {"turns": None},
        {"turns": "2"},
        {"trace_id": "T"},
        {"trace_id": "t "},
        {"trace_id": None},
        {"kind": "reopened"},
        {"kind": "taken_over"},
        {"seq": 9},
        {"seq": 10},
    ],
)
def test_each_member_of_another_close_is_noticed_alone(closed: dict[str, Any]) -> None:
    assert len(found(closed)) == 1


@pytest.mark.parametrize("changed", [{"turns": 1}, {"turns": 3}, {"trace_id": "u"}])
def test_a_life_of_another_session_or_turn_is_noticed(changed: dict[str, Any]) -> None:
    (told,) = found({}, **changed)
    assert told.endswith("is of another session, or of another number of turns")


def test_a_close_that_is_not_here_is_missed() -> None:
    entry = EVERY_ENTRY["reopened"]._replace(closed="f" * 64)
    record = parse(SessionReopenedRecord, seal_record(entry.snapshot, Head(8, HASH)).body)
    problems = Problems()
    check_reopened(record, Page(), problems)
    assert problems.incomplete == [f"the record of its close is missing: no {'f' * 64}"]
