"""Appending and reading: the chain, inputs kept once, batches, and what cannot be recorded."""

from pathlib import Path
from typing import Final

import pytest

import harness.log.appending
import harness.log.log_reading
import harness.log.statements
from evals.plan import Proposal
from harness.canonical import canonical_bytes
from harness.log.log_errors import LogError, LogUnavailable, Unrecordable
from harness.log.sql import SqlDecisionLog
from harness.record import GENESIS, INPUT_NAMES, Head, sha256
from harness.record.parts import references
from harness.replay.engine import replay
from harness.wire import build
from tests.harness.log.decisions import (
    KINDS,
    LogPlace,
    decision,
    filled,
    judged,
    meddle,
    proposal,
    query,
    run_of,
)
from tests.harness.log.faults import integrity_errors


def test_records_form_a_chain(place: LogPlace) -> None:
    log = SqlDecisionLog.open(place)
    assert log.head() == (0, GENESIS)
    appended = [log.append(decision(n, kind=KINDS[n % 4])) for n in range(1, 6)]

    assert [record.seq for record in appended] == [1, 2, 3, 4, 5]
    links = [record.prev_hash for record in appended]
    assert links == [GENESIS, *(record.hash for record in appended[:-1])]
    assert list(log.records()) == appended
    assert list(log.records(start=4)) == appended[3:]
    assert log.head() == Head(5, appended[-1].hash)
    assert [sha256(raw.body) for raw in log.raw()] == [
        sha256(canonical_bytes(record)) for record in appended
    ]


def test_a_log_is_read_in_pages(place: LogPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness.log.log_reading, "_PAGE", 3)
    log = filled(place, 7)
    rows = log.raw()
    assert next(rows).seq == 1
    log.append(decision(8))
    assert [raw.seq for raw in rows] == [2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("page", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("deleted", "gaps"),
    [
        ((), []),
        ((9,), []),
        ((1, 2), [(1, 2)]),
        ((3, 4, 6), [(3, 4), (6, 6)]),
        ((2, 3, 4, 5, 6, 7, 8), [(2, 8)]),
    ],
)
def test_gaps_between_records_are_found_across_pages(
    place: LogPlace,
    monkeypatch: pytest.MonkeyPatch,
    page: int,
    deleted: tuple[int, ...],
    gaps: list[tuple[int, int]],
) -> None:
    log = filled(place, 9)
    meddle(place, *(("DELETE FROM records WHERE seq = ?", (n,)) for n in deleted))
    monkeypatch.setattr(harness.log.log_reading, "_NUMBERS", page)
    assert list(log.gaps()) == gaps


def test_many_inputs_are_asked_for_in_parts(
    place: LogPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness.log.statements, "_MANY", 3)
    log = filled(place, 7)
    digests = log.digests()
    assert len(digests) == 16
    assert set(log.inputs(digests)) == digests
    assert len(list(replay(log))) == sum(map(bool, replay(log))) == 7


def test_inputs_are_kept_once(place: LogPlace) -> None:
    log = SqlDecisionLog.open(place)
    first, second = log.append(decision(1)), log.append(decision(2))
    log.append_all([decision(1), decision(1)])

    assert first.inputs.compiled == second.inputs.compiled
    # One compiled context and one spec; a context and a plan for each of the two.
    assert query(place, "SELECT count(*) FROM inputs") == [(6,)]
    for name in INPUT_NAMES:
        named = getattr(first.inputs, name)
        assert log.input(named) == canonical_bytes(getattr(decision(1).proposal, name))
    assert log.input("f" * 64) is None
    many = {f"{n:064x}" for n in range(1200)} | {first.inputs.plan}
    assert set(log.inputs(many)) == {first.inputs.plan}


@pytest.mark.parametrize(
    ("name", "size", "in_parts"),
    [
        ("plan", 15_000, False),
        ("plan", 17_000, True),
        ("run", 3_000, False),
        ("run", 5_000, True),
        ("compiled", 1_000, True),
    ],
)
def test_plans_and_short_runs_are_stored_whole(
    place: LogPlace, name: str, size: int, in_parts: bool
) -> None:
    value, text = proposal().wire(), "x" * size
    if name == "plan":
        value["plan"]["steps"][-1]["args"]["text"] = text
    if name == "compiled":
        value["compiled"]["manifests"]["evidence_manifest"][0]["content"]["text"] = text
    proposed = build(Proposal, value)
    executed = run_of(proposed, outputs={"receipt": text if name == "run" else "x"})
    log = SqlDecisionLog.open(place)
    record = log.append(judged(proposed, executed))
    (row,) = log.stored_records()
    body = row.body if name == "run" else log.stored([record.inputs.wire()[name]]).popitem()[1]
    assert bool([*references(body)]) == in_parts
    assert [one.status for one in replay(log)] == ["same"]


def test_a_batch_is_one_transaction(place: LogPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    log = SqlDecisionLog.open(place)
    assert log.append_all([]) == ()
    batch = log.append_all(decision(n) for n in range(1, 4))
    assert list(log.records()) == [one.record for one in batch]

    sizes = [len(raw.body) for raw in log.raw()]
    monkeypatch.setattr(harness.log.appending, "MAX_DOCUMENT_BYTES", max(sizes) + 50)
    wide = decision(4).model_copy(update={"error": "x" * 300})
    with pytest.raises(Unrecordable, match="is over the limit"):
        log.append_all([decision(5), wide, decision(6)])
    assert log.head() == (3, batch[-1].hash)
    assert log.append(decision(5)).seq == 4


def test_an_input_over_the_limit_is_not_recorded(
    place: LogPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness.log.appending, "MAX_DOCUMENT_BYTES", 300)
    with pytest.raises(Unrecordable, match="over the limit of 300 bytes: keep large values"):
        SqlDecisionLog.open(place).append(decision())


class _Liar(str):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


def _bottomless() -> list[object]:
    inside: list[object] = []
    inside.append(inside)
    return inside


@pytest.mark.parametrize(
    "value", [float("nan"), 2**70, "\ud800", {1, 2}, _Liar("x"), _bottomless()], ids=repr
)
def test_a_decision_with_a_part_that_is_not_json_is_refused(place: LogPlace, value: object) -> None:
    log = SqlDecisionLog.open(place)
    given = decision()
    step = given.proposal.plan.steps[0]
    assert step.kind == "tool"
    step.args["number"] = value
    changed = given.model_copy(update={"error": "built anew of parts that are not JSON"})
    with pytest.raises(Unrecordable, match="been changed in place"):
        log.append(changed)
    assert log.append(decision()).seq == 1


def test_a_closed_log_appends_no_more(place: LogPlace) -> None:
    with SqlDecisionLog.open(place) as log:
        log.append(decision())
    with pytest.raises(LogUnavailable, match="it was closed: open it again"):
        log.append(decision())
    with SqlDecisionLog.open(place, create=False) as again:
        assert again.append(decision(2)).seq == 2


_ROW: Final = (99, "f" * 64, b"{}")
_MEDDLING: Final[dict[str, tuple[object, ...]]] = {
    "UPDATE records SET body = ? WHERE seq = 2": (b"",),
    "UPDATE records SET seq = 9 WHERE seq = 3": (),
    "DELETE FROM records WHERE seq = 3": (),
    "UPDATE inputs SET body = ?": (b"",),
    "DELETE FROM inputs": (),
    "UPDATE log_format SET format = 2": (),
    "DELETE FROM log_format": (),
    "INSERT INTO records VALUES (?, ?, ?)": _ROW,
    "INSERT INTO records SELECT seq + 5, ?, body FROM records WHERE seq = 1": ("f" * 64,),
    "INSERT INTO inputs SELECT digest, body FROM inputs": (),
}
_OF_SQLITE: Final[dict[str, tuple[object, ...]]] = {
    "INSERT OR REPLACE INTO records VALUES (2, ?, ?)": _ROW[1:],
    "INSERT OR REPLACE INTO records SELECT 4, hash, body FROM records WHERE seq = 1": (),
    "INSERT OR REPLACE INTO inputs SELECT digest, x'00' FROM inputs": (),
}
_OF_POSTGRES: Final[dict[str, tuple[object, ...]]] = {
    "INSERT INTO records VALUES (2, ?, ?) ON CONFLICT (seq) DO UPDATE SET body = ''": _ROW[1:],
    "INSERT INTO inputs SELECT * FROM inputs ON CONFLICT (digest) DO UPDATE SET body = ''": (),
    "MERGE INTO records r USING inputs i ON r.seq = 3 WHEN MATCHED THEN DELETE": (),
    "DELETE FROM records WHERE seq = 77": (),
    "TRUNCATE records": (),
    "TRUNCATE inputs, claims, log_format": (),
}


@pytest.mark.parametrize(
    ("place", "sql", "values"),
    [
        *(("sqlite", *one) for one in [*_MEDDLING.items(), *_OF_SQLITE.items()]),
        *(("postgres", *one) for one in [*_MEDDLING.items(), *_OF_POSTGRES.items()]),
    ],
    indirect=["place"],
)
def test_the_tables_are_append_only(place: LogPlace, sql: str, values: tuple[object, ...]) -> None:
    log = filled(place, 3)
    before = list(log.raw())
    with pytest.raises(integrity_errors(), match=r"append-only|duplicate key|UNIQUE"):
        query(place, sql, *values)
    assert list(log.raw()) == before
    assert log.append(decision(4)).seq == 4


def test_the_file_names_its_format_and_needs_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    filled(path, 3)
    assert query(path, "PRAGMA application_id") == [(int.from_bytes(b"Crit"),)]
    assert query(path, "PRAGMA journal_mode") == [("delete",)]
    assert [found.name for found in tmp_path.iterdir()] == ["log"]


def test_every_error_is_a_log_error() -> None:
    errors = vars(harness.log.log_errors).values()
    kinds = [
        kind
        for kind in errors
        if isinstance(kind, type) and kind.__module__ == "harness.log.log_errors"
    ]
    assert len(kinds) == 8
    assert all(issubclass(kind, LogError) for kind in kinds)
