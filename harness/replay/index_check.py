"""Compare the index of a decision log with its records, all of them or some. Pure.

The index is never the truth: a record is what it is, whatever the index says of it. Where they
differ, the log is damaged.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, runtime_checkable

from evals.escaping import escape_name
from harness.record import RawRecord, sha256
from harness.record.index_row import KNOWN_ALONE, OF_CTX, OF_PLAN, IndexRow, index_row
from harness.record.integrity import StoredDocument, document_errors
from harness.record.parts import whole_of
from harness.replay.document_reading import DocumentReader, PartedLog, RecordedLog
from harness.replay.log_page import Page
from harness.replay.problems import Problems
from harness.replay.record_notes import check_claims
from harness.wire import InvalidInput, parse_json

_SHOWN: Final = 3  # rows that are named

_COLUMNS_OF: Final[Mapping[str, frozenset[str]]] = {"ctx": OF_CTX, "plan": OF_PLAN}
"""The columns that need an input to be derived."""

Stored: TypeAlias = Callable[[Iterable[str]], Mapping[str, bytes]]
"""Returns the bodies stored under digests, which may name parts; leaves out what is not stored."""


class IndexedLog(Protocol):
    """A log that is searched by columns."""

    def fetching(self) -> AbstractContextManager[Stored]:
        """Yield what returns stored bodies, in one transaction: for a page of records."""
        ...

    def index(self, numbers: Iterable[int]) -> Mapping[int, tuple[Any, ...]]:
        """Return the rows of the index for these records, unchecked."""
        ...

    def unrecorded(self, most: int) -> list[Any]:
        """Return the numbers of rows of the index without a record: at most so many."""
        ...


class IndexCheck:
    """Compares records with the index of their log, and keeps what differs."""

    def __init__(self, log: IndexedLog) -> None:
        """Take the log."""
        self._log = log
        self._rows: Mapping[int, tuple[Any, ...]] = {}
        self._values: dict[str, Any] = {}
        self._named: list[str] = []
        self._count = 0

    def take(self, documents: Iterable[StoredDocument]) -> None:
        """Take some records, which are compared next: one after the other, in this order."""
        self._rows = self._log.index([one.raw.seq for one in documents if _is_read(one)])
        self._values.clear()

    def compare(self, document: StoredDocument, bodies: Mapping[str, bytes]) -> IndexRow | None:
        """Compare a record, and return its row as the record says it.

        What an input says that cannot be read is as it is in the index. A record that cannot be
        read is not compared, and has no row: replay reports it.
        """
        if not _is_read(document):
            return None
        digests, stored = document.digests, self._rows.get(document.raw.seq)
        inputs = {name: self._input_value(digests.get(name, ""), bodies) for name in _COLUMNS_OF}
        row = index_row(document.value, inputs["ctx"], inputs["plan"], document.raw.seq)
        if stored is None:
            self._note(row.seq, ["the index has no row for it"])
        elif row != stored or [*map(type, row)] != [*map(type, stored)]:
            gone = [name for name in _COLUMNS_OF if name in digests and inputs[name] is None]
            row = _fill_in(row, dict(zip(IndexRow._fields, stored, strict=True)), gone)
            self._note(row.seq, list(_differences(row, stored)))
        return row

    def _note(self, seq: int, differences: list[str]) -> None:
        self._count += bool(differences)
        if differences and len(self._named) < _SHOWN:
            self._named.append(f"record {seq}: {'; '.join(differences[:_SHOWN])}")

    def differences(self) -> Iterator[str]:
        """Yield a line for each of the first records that differ, and one for the others."""
        yield from self._named
        if (more := self._count - len(self._named)) > 0:
            records = "1 more record" if more == 1 else f"{more} more records"
            yield f"the index differs from {records}"

    def damage(self) -> Iterator[str]:
        """Yield `differences`, and what rows of the index have no record."""
        yield from self.differences()
        if numbers := self._log.unrecorded(_SHOWN + 1):
            shown = ", ".join(escape_name(str(number)) for number in numbers[:_SHOWN])
            others = " and others" if len(numbers) > _SHOWN else ""
            yield f"the index has rows without a record: {shown}{others}"

    def _input_value(self, digest: str, bodies: Mapping[str, bytes]) -> Any:
        """Return an input as plain JSON; None if it is not what was recorded."""
        if digest not in self._values:
            body = bodies.get(digest)
            data = None if body is None else whole_of(body, bodies).data
            sound = data is not None and sha256(data) == digest
            self._values[digest] = _value_of(data) if data is not None and sound else None
        return self._values[digest]


def _fill_in(row: IndexRow, kept: Mapping[str, Any], gone: Iterable[str]) -> IndexRow:
    """Return a row with what the index says where inputs are gone that would tell."""
    unknown = frozenset[str]().union(*(_COLUMNS_OF[name] for name in gone))
    known = KNOWN_ALONE.items() if unknown else ()
    same = {
        name
        for name, bits in known
        if _mask_bits(getattr(row, name), bits) == _mask_bits(kept[name], bits)
    }
    return row._replace(**{name: kept[name] for name in unknown | same})


def _mask_bits(value: Any, bits: int) -> tuple[type, Any]:
    """Return a value as it is compared: of a number, some of its bits."""
    return type(value), value & bits if type(value) is int else value


def _differences(row: IndexRow, stored: tuple[Any, ...]) -> Iterator[str]:
    for name, own, kept in zip(IndexRow._fields, row, stored, strict=True):
        if (type(own), own) != (type(kept), kept):
            yield f"the index says {name} {_show_value(kept)}, the record {_show_value(own)}"


def _value_of(data: bytes) -> Any:
    try:
        return parse_json(data, len(data))
    except InvalidInput:
        return None


def _is_read(document: StoredDocument) -> bool:
    return document.is_readable


def _show_value(value: object) -> str:
    return "nothing" if value is None else escape_name(str(value))


@runtime_checkable
class ListedLog(RecordedLog, PartedLog, IndexedLog, Protocol):
    """A log with an index, of which single records are read."""

    def raw_at(self, numbers: Iterable[int]) -> list[RawRecord]:
        """Return the records with these numbers, unchecked, in order."""
        ...


class RowRead(NamedTuple):
    """A record that was read for a row of the index.

    Attributes:
        document: the record.
        page: what it names.
        row: its row as the record says it; None if it cannot be read.
        problem: why it is not what was recorded, in one line; empty if it is.
    """

    document: StoredDocument
    page: Page
    row: IndexRow | None
    problem: str


class IndexedReader(DocumentReader):
    """Reads some records of a log, and compares what is kept beside them: index, inputs, claims."""

    def __init__(self, log: ListedLog) -> None:
        """Take the log. Nothing is read."""
        super().__init__(log)
        self._listed, self._check = log, IndexCheck(log)
        self._problems: list[str] = []

    def documents(self, raws: Iterable[RawRecord]) -> list[StoredDocument]:
        """Return stored rows with the parts of their bodies in place, parsed."""
        documents = super().documents(raws)
        self._check.take(documents)
        return documents

    def read(self, numbers: Iterable[int]) -> Iterator[RowRead]:
        """Yield the records with these numbers, in order; those that are missing are left out."""
        for document, page in self._read_documents(iter(self._listed.raw_at(numbers))):
            problem = next(document_errors(document, None), "")
            row = self._check.compare(document, page.bodies)
            if problem:
                problem = f"record {document.raw.seq} is not what was recorded: {problem}"
                self._problems.append(problem)
            of_record = f"record {document.raw.seq}"
            self._problems += [f"{of_record}: {one}" for one in _kept_problems(document, page)]
            yield RowRead(document, page, row, problem)

    def problems(self) -> list[str]:
        """Return what is wrong with the records that were read, and with what is kept beside them.

        Each is said once, however often its record was read.
        """
        return [*dict.fromkeys(self._problems), *self._check.differences()]


def _kept_problems(document: StoredDocument, page: Page) -> Iterator[str]:
    """Yield what of the inputs and claims of a record is not what was recorded."""
    for name, digest in document.digests.items():
        read = page.inputs.read(name, digest, page.bodies, parsed=False)
        yield from filter(None, (read.tampered, read.incomplete))
    problems = Problems()
    if page.claims is not None:
        check_claims(document, page, problems)
    yield from problems.tampered
