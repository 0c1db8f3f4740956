"""The index is compared with its records column by column: value and type, of all and of some."""

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from harness.log import SqlDecisionLog
from harness.record import RawRecord, RecordFacts
from harness.record.fates import OF_INPUTS
from harness.record.index_row import OF_CTX, OF_PLAN, IndexRow
from harness.record.integrity import StoredDocument
from harness.replay.document_reading import DocumentReader
from harness.replay.index_check import IndexCheck, IndexedReader
from tests.harness.log.decisions import filled, meddle
from tests.harness.log.search.searched import varied


class Indexed:
    """A log whose index says what a test has it say."""

    def __init__(self, rows: Mapping[int, tuple[Any, ...]]) -> None:
        self.rows = rows

    def fetching(self) -> Any:
        return nullcontext(lambda _digests: {})

    def index(self, numbers: Iterable[int]) -> Mapping[int, tuple[Any, ...]]:
        return {seq: self.rows[seq] for seq in numbers if seq in self.rows}

    def unrecorded(self, most: int) -> list[Any]:  # noqa: ARG002 - as logs have it
        return []


Read = list[tuple[StoredDocument, Any]]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> tuple[Read, dict[int, tuple[Any, ...]]]:
    """Return the records of every kind with what they name, and the rows of the index."""
    with varied(tmp_path_factory.mktemp("log") / "log") as log:
        rows = log.stored_records()
        documents: Read = [
            (document, dict(page.bodies))
            for document, page in DocumentReader(log)._read_documents(rows)
        ]
        return documents, log.index(document.raw.seq for document, _ in documents)


def damage(read: Read, rows: Mapping[int, tuple[Any, ...]]) -> list[str]:
    check = IndexCheck(Indexed(rows))
    check.take(document for document, _ in read)
    for document, bodies in read:
        check.compare(document, bodies)
    return [*check.damage()]


def others(value: Any) -> list[Any]:
    """Return values that a database may hold in the place of one, and that Python may equal it."""
    if value is None:
        return [0, "", "x"]
    if isinstance(value, str):
        return [None, value + " ", value.upper() + "x", value.encode()]
    near = [None, value + 1, str(value)]
    return [*near, *([float(value)] if type(value) is int else []), *([True] if value == 1 else [])]


def test_each_column_is_compared_by_value_and_type(
    read: tuple[Read, dict[int, tuple[Any, ...]]],
) -> None:
    """Each column of one of the records, and the next column of the next one."""
    documents, rows = read
    assert damage(documents, rows) == []
    names, seqs = IndexRow._fields, [*rows]
    for at, name in enumerate(names):
        seq = seqs[at % len(seqs)]
        row = rows[seq]
        for other in others(row[at]) if name != "seq" else ():
            changed = {**rows, seq: (*row[:at], other, *row[at + 1 :])}
            (told,) = damage(documents, changed)
            assert told.startswith(f"record {seq}: the index says {name} "), told


@pytest.mark.parametrize("gone", ["nothing", "ctx", "plan"])
def test_where_an_input_is_gone_only_what_it_alone_says_is_believed(
    read: tuple[Read, dict[int, tuple[Any, ...]]], gone: str
) -> None:
    """Each bit of the facts, too: those of a person's yes and of the calls need the inputs."""
    documents, rows = read
    document, bodies = next(one for one in documents if one[0].kind == "decision")
    left = {one: body for one, body in bodies.items() if one != document.digests.get(gone)}
    row = rows[document.raw.seq]
    believed = {"nothing": frozenset[str](), "ctx": OF_CTX, "plan": OF_PLAN}[gone]
    changes: list[tuple[str, Any, bool]] = [
        (name, 7 if isinstance(value, str) else "x", name not in believed)
        for name, value in zip(IndexRow._fields[1:], row[1:], strict=True)
    ]
    facts = IndexRow(*row).facts
    changes += [
        ("facts", facts ^ int(bit), gone == "nothing" or not bit & OF_INPUTS) for bit in RecordFacts
    ]
    for name, other, is_told in changes:
        changed = IndexRow(*row)._replace(**{name: other})
        told = damage([(document, left)], {document.raw.seq: tuple(changed)})
        assert bool(told) == is_told, (name, other)


def test_a_row_that_is_gone_is_told_and_so_are_more_than_a_few(
    read: tuple[Read, dict[int, tuple[Any, ...]]],
) -> None:
    documents, rows = read
    for gone in range(1, len(rows) + 1):
        left = {seq: row for seq, row in rows.items() if seq > gone}
        told = damage(documents, left)
        assert told[:3] == [
            f"record {seq}: the index has no row for it" for seq in range(1, min(gone, 3) + 1)
        ]
        more = gone - 3
        records = "1 more record" if more == 1 else f"{more} more records"
        assert told[3:] == ([f"the index differs from {records}"] if more > 0 else [])


@pytest.mark.parametrize("name", ["ctx", "compiled", "spec", "plan"])
@pytest.mark.parametrize("change", ["missing", "altered"])
def test_an_input_of_a_record_that_is_shown_is_read_again(
    tmp_path: Path, name: str, change: str
) -> None:
    with filled(tmp_path / "log", 3) as log:
        digest = [*log.records()][1].inputs.wire()[name]
    if change == "missing":
        meddle(tmp_path / "log", ("DELETE FROM inputs WHERE digest = ?", (digest,)))
    else:
        meddle(tmp_path / "log", ("UPDATE inputs SET body = ? WHERE digest = ?", (b"{}", digest)))
    with SqlDecisionLog.open_for_reading(tmp_path / "log") as log:
        reader = IndexedReader(log)
        assert [one.document.raw.seq for one in reader.read([2])] == [2]
        what = "is missing" if change == "missing" else "is not what was recorded"
        assert any(one.startswith(f"record 2: input {name} {what}") for one in reader.problems())


def test_a_sound_record_that_is_shown_has_no_problem(tmp_path: Path) -> None:
    with varied(tmp_path / "log") as log:
        reader = IndexedReader(log)
        assert all(one.problem == "" for one in reader.read(log.numbers()))
        assert reader.problems() == []
        assert RawRecord in {type(one.document.raw) for one in reader.read([1])}
