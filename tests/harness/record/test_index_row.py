"""What a row of the index is derived from: anything, without raising."""

import json
from itertools import product
from typing import Any

import pytest

from evals.plan_verdicts import Refused
from harness.record import Decision, RecordFacts
from harness.record.closed_words import close_record, without_texts
from harness.record.fates import OF_INPUTS
from harness.record.index_row import (
    IndexRow,
    index_row,
    keep_turn,
    measures_of_run,
    name_column,
)
from harness.record.members import member_of
from harness.wire import parse_json
from tests.harness.log.decisions import KINDS, LogPlace, decision
from tests.harness.log.search.searched import varied

NAMES = [
    "plain",
    "",
    'a"b',
    "a\\b",
    "\x00",
    "\x7f",
    "\x1b[31m",
    "\u2028",
    "\U0001f600",
    "é",
    "a" * 999,
]


def test_names_that_differ_stay_different_and_can_be_read_again() -> None:
    columns = [name_column(name) for name in NAMES]
    assert [json.loads(f'"{column}"') for column in columns] == NAMES
    assert all(column.isascii() and (column.isprintable()) for column in columns)


@pytest.mark.parametrize(
    "value", [None, 1, "x", [], {}, [1], {"report": 1}, {"report": {"verify": []}}, {"kind": []}]
)
def test_a_row_of_anything_is_a_row(value: Any) -> None:
    row = index_row(value, value, value, 7)
    assert row.seq == 7
    assert all(isinstance(one, kind) for one, kind in zip(row, _types(), strict=True))


def test_hostile_members_are_no_columns() -> None:
    report = {"verify": {"kind": 1, "violations": [{"kind": ["x"]}, 3]}, "decided_at": "soon"}
    run = {"cost_micros": -1, "tokens": True, "wall_ms": 2**60, "calls": [{"tokens": 1.5}]}
    row = index_row({"report": report, "run": run}, {"approvals": [1]}, {"steps": [1, None]})
    strayed = RecordFacts.RAN | RecordFacts.STRAYED | RecordFacts.IN_PART
    assert row == IndexRow(0, None, None, facts=int(strayed), steps=2)


def test_a_row_has_nothing_of_the_texts_of_its_record(place: LogPlace) -> None:
    with varied(place) as log:
        records = [parse_json(raw.body) for raw in log.raw()]
    told = [one for one in records if close_record(one)[1]]
    assert {one.get("kind", "decision") for one in told} == {"decision", "critic_error"}
    for one in records:
        assert index_row(without_texts(one), None, None) == index_row(one, None, None)


def _types() -> list[Any]:
    return list(IndexRow.__annotations__.values())


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_of_an_envelope_is_its_attribute(kind: str) -> None:
    given = decision(kind=kind)
    parts: list[Any] = [
        given,
        given.proposal,
        given.proposal.plan,
        given.report,
        given.report.verify,
    ]
    parts += [given.report.verify.__class__, given.run, 1, "x", None]
    for part in parts:
        for name in (*Refused.model_fields, *Decision.model_fields, "approvable", "facts", "none"):
            assert member_of(part, name) == getattr(part, name, None)


def opening(step: int, verdict: str | None) -> Any:
    """Return an opening of a step that passed, or was refused for a kind."""
    if verdict is None:
        return {"step": step, "verdict": {"ok": True}}
    found = {"kind": verdict, "check": "evidence"}
    told = {"ok": False, "kind": verdict, "offending_step": step, "violations": [found]}
    return {"step": step, "verdict": told}


def test_a_plan_that_was_refused_on_its_way_is_listed_by_the_opening_that_refused_it() -> None:
    tools = [{"kind": "tool", "adapter_id": "a", "capability_id": name} for name in "xyz"]
    verify = {"ok": True}
    for before in ([], [opening(0, None)], [opening(0, "provenance"), opening(0, None)]):
        openings = [*before, opening(2, "missing_evidence")]
        record = {"report": {"verify": verify, "refused_at": "open"}, "run": {"openings": openings}}
        row = index_row(record, None, {"steps": tools})
        assert (row.kind, row.kinds, row.checks, row.tool) == (
            "missing_evidence",
            " missing_evidence ",
            " evidence ",
            "a/z",
        )


@pytest.mark.parametrize("name", NAMES)
def test_no_name_is_kept_as_another_one_and_its_escape_least(name: str) -> None:
    column = name_column(name)
    assert column == name or name_column(column) != column


@pytest.mark.parametrize(("here", "before"), [*product((0, 3, 3 | 16, 1024, 2**14 - 1), repeat=2)])
def test_a_row_keeps_of_its_facts_only_those_that_need_what_was_taken_out(
    here: int, before: int
) -> None:
    row = IndexRow(5, "completed", 1, trace="t", facts=here)
    kept = keep_turn(row, tuple(row._replace(facts=before)))
    assert kept == row._replace(facts=here | (before & int(OF_INPUTS)))


@pytest.mark.parametrize("was", [None, "t", "s", "T", "t "])
@pytest.mark.parametrize("now", [None, "t", "s"])
def test_a_row_keeps_the_name_of_a_session_only_where_its_trace_has_it(
    was: str | None, now: str | None
) -> None:
    """A name that stands nowhere else was taken out of the log with its context."""
    row = IndexRow(5, "completed", 1, trace="t", session=now)
    kept = keep_turn(row, tuple(row._replace(session=was, of_user="u", of_tenant="t", mode="m")))
    assert kept == row._replace(session="t" if now is None and was == "t" else now)


@pytest.mark.parametrize(
    ("was", "now", "turn"),
    [(4, None, 4), (4, 0, 0), (4, 5, 5), (None, None, None), ("4", None, None)],
)
def test_a_row_keeps_the_turn_that_its_record_says_no_more(was: Any, now: Any, turn: Any) -> None:
    row = IndexRow(5, "completed", 1, turn=now)
    assert keep_turn(row, tuple(row._replace(turn=was))) == row._replace(turn=turn)
    assert keep_turn(row, None) == row


@pytest.mark.parametrize("whole", [None, 0, 7])
def test_what_a_run_took_is_what_it_says_or_else_what_its_calls_took(whole: int | None) -> None:
    """Calls may run at once: the longest counts, and what they cost adds up."""
    names = {"tokens": "tokens", "wall_ms": "duration_ms", "cost_micros": "cost_micros"}
    calls = [dict.fromkeys(names.values(), amount) for amount in (2, 5, 3)]
    run: dict[str, Any] = {"calls": [*calls, {"tokens": True, "duration_ms": -1}, {}]}
    run |= {} if whole is None else dict.fromkeys(names, whole)
    of_calls = {"tokens": 10, "wall_ms": 5, "cost_micros": 10}
    assert measures_of_run(run) == (of_calls if whole is None else dict.fromkeys(names, whole))
    assert measures_of_run({"calls": [{}]}) == dict.fromkeys(names)


@pytest.mark.parametrize("refused_at", [None, "verify", "open", "score"])
@pytest.mark.parametrize(
    ("policy", "safety", "by"),
    [("fail", "fail", "policy"), ("pass", "fail", "safety"), ("fail", "warn", "policy")],
)
def test_a_decision_is_listed_by_what_refused_it(
    refused_at: str | None, policy: str, safety: str, by: str
) -> None:
    scores = {"policy": {"status": policy}, "safety": {"status": safety}}
    report = {"verify": {"kind": "budget"}, "score": {"scorecard": {"scores": scores}}}
    opening = {"verdict": {"kind": "provenance"}}
    run = {"openings": [{"verdict": {"kind": "other"}}, opening]}
    record = {"report": {**report, "refused_at": refused_at}, "run": run}
    expected = {"score": by, "open": "provenance"}.get(refused_at or "", "budget")
    assert index_row(record, None, None).kind == expected
