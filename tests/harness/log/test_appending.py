"""Appending and reading: the chain, inputs kept once, batches, and what cannot be recorded."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import harness.log.appending
import harness.log.reading
import harness.log.statements
from harness.canonical import canonical_bytes
from harness.log.errors import LogError, LogUnavailable, Unrecordable
from harness.log.sql import SqlDecisionLog
from harness.record import GENESIS, INPUT_NAMES, Head, sha256
from harness.replay.engine import replay
from tests.harness.log.decisions import KINDS, decision, filled, meddle, query


def test_records_form_a_chain(tmp_path: Path) -> None:
    log = SqlDecisionLog.open(tmp_path / "log")
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


def test_a_log_is_read_in_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness.log.reading, "_PAGE", 3)
    log = filled(tmp_path / "log", 7)
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
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    page: int,
    deleted: tuple[int, ...],
    gaps: list[tuple[int, int]],
) -> None:
    log = filled(tmp_path / "log", 9)
    meddle(tmp_path / "log", *(("DELETE FROM records WHERE seq = ?", (n,)) for n in deleted))
    monkeypatch.setattr(harness.log.reading, "_NUMBERS", page)
    assert list(log.gaps()) == gaps


def test_many_inputs_are_asked_for_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness.log.statements, "_MANY", 3)
    log = filled(tmp_path / "log", 7)
    digests = log.digests()
    assert len(digests) == 16
    assert set(log.inputs(digests)) == digests
    assert len(list(replay(log))) == sum(map(bool, replay(log))) == 7


def test_inputs_are_kept_once(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = SqlDecisionLog.open(path)
    first, second = log.append(decision(1)), log.append(decision(2))
    log.append_all([decision(1), decision(1)])

    assert first.inputs.compiled == second.inputs.compiled
    # One compiled context and one spec; a context and a plan for each of the two.
    assert query(path, "SELECT count(*) FROM inputs") == [(6,)]
    for name in INPUT_NAMES:
        named = getattr(first.inputs, name)
        assert log.input(named) == canonical_bytes(getattr(decision(1).proposal, name))
    assert log.input("f" * 64) is None
    many = {f"{n:064x}" for n in range(1200)} | {first.inputs.plan}
    assert set(log.inputs(many)) == {first.inputs.plan}


def test_a_batch_is_one_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = SqlDecisionLog.open(tmp_path / "log")
    assert log.append_all([]) == ()
    batch = log.append_all(decision(n) for n in range(1, 4))
    assert list(log.records()) == list(batch)

    sizes = [len(raw.body) for raw in log.raw()]
    monkeypatch.setattr(harness.log.appending, "MAX_DOCUMENT_BYTES", max(sizes) + 50)
    wide = decision(4).model_copy(update={"error": "x" * 300})
    with pytest.raises(Unrecordable, match="is over the limit"):
        log.append_all([decision(5), wide, decision(6)])
    assert log.head() == (3, batch[-1].hash)
    assert log.append(decision(5)).seq == 4


def test_an_input_over_the_limit_is_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness.log.appending, "MAX_DOCUMENT_BYTES", 300)
    with pytest.raises(Unrecordable, match="over the limit of 300 bytes: keep large values"):
        SqlDecisionLog.open(tmp_path / "log").append(decision())


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
def test_a_decision_with_a_part_that_is_not_json_is_refused(tmp_path: Path, value: object) -> None:
    log = SqlDecisionLog.open(tmp_path / "log")
    given = decision()
    step = given.proposal.plan.steps[0]
    assert step.kind == "tool"
    step.args["number"] = value
    changed = given.model_copy(update={"error": "built anew of parts that are not JSON"})
    with pytest.raises(Unrecordable, match="been changed in place"):
        log.append(changed)
    assert log.append(decision()).seq == 1


def test_a_closed_log_appends_no_more(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log") as log:
        log.append(decision())
    with pytest.raises(LogUnavailable, match="it was closed: open it again"):
        log.append(decision())
    with SqlDecisionLog.open(tmp_path / "log", create=False) as again:
        assert again.append(decision(2)).seq == 2


_MEDDLING = (
    ("UPDATE records SET body = x'00' WHERE seq = 2", ()),
    ("DELETE FROM records WHERE seq = 3", ()),
    ("UPDATE inputs SET body = x'00'", ()),
    ("DELETE FROM inputs", ()),
    ("UPDATE log_format SET format = 2", ()),
    ("DELETE FROM log_format", ()),
    ("INSERT OR REPLACE INTO records VALUES (2, ?, x'00')", ("f" * 64,)),
    ("INSERT INTO records VALUES (9, ?, x'00')", ("f" * 64,)),
    ("INSERT OR REPLACE INTO records SELECT 4, hash, body FROM records WHERE seq = 1", ()),
    ("INSERT OR REPLACE INTO inputs SELECT digest, x'00' FROM inputs", ()),
)


@pytest.mark.parametrize(("sql", "values"), _MEDDLING, ids=[sql for sql, _ in _MEDDLING])
def test_the_tables_are_append_only(tmp_path: Path, sql: str, values: tuple[str, ...]) -> None:
    log = filled(tmp_path / "log", 3)
    before = list(log.raw())
    with (
        closing(sqlite3.connect(tmp_path / "log", isolation_level=None)) as connection,
        pytest.raises(sqlite3.IntegrityError, match="the decision log is append-only"),
    ):
        connection.execute(sql, values)
    assert list(log.raw()) == before
    assert log.append(decision(4)).seq == 4


def test_the_file_names_its_format_and_needs_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    filled(path, 3)
    assert query(path, "PRAGMA application_id") == [(int.from_bytes(b"Crit"),)]
    assert query(path, "PRAGMA journal_mode") == [("delete",)]
    assert [found.name for found in tmp_path.iterdir()] == ["log"]


def test_every_error_is_a_log_error() -> None:
    errors = vars(harness.log.errors).values()
    kinds = [
        kind
        for kind in errors
        if isinstance(kind, type) and kind.__module__ == "harness.log.errors"
    ]
    assert len(kinds) == 8
    assert all(issubclass(kind, LogError) for kind in kinds)
