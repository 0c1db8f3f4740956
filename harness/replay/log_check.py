"""Check a decision log as a whole: its tables, its index, and what no record names. Pure.

The index is never the truth: a record is what it is, whatever the index says of it. Where they
differ, the log is damaged.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from typing import Annotated, Any, Final, Protocol, TypeAlias

from evals.envelope import ARRAY, Envelope
from evals.escaping import escape_name
from harness.record import Head, RawRecord, sha256
from harness.record.index_row import KNOWN_ALONE, OF_CTX, OF_PLAN, IndexRow, index_row
from harness.record.integrity import StoredDocument
from harness.record.parts import references, whole_of
from harness.replay.engine import PartedLog, RecordedLog, Replayer, expected_head
from harness.replay.log_page import Page
from harness.replay.result import ReplayResult
from harness.wire import InvalidInput, parse_json

_NAMED: Final = 3  # digests that a note names
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


class NamesLeft(Protocol):
    """Names, without those that are taken out."""

    def discard(self, others: Iterable[str], /) -> None:
        """Take names out; those that are not there change nothing."""
        ...

    def left(self, most: int, /) -> tuple[int, list[str]]:
        """Return how many are left, and the first of them in their order: at most so many."""
        ...


class StoredLog(RecordedLog, PartedLog, IndexedLog, Protocol):
    """A log with its tables, and all that is stored beside its records."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Return how the tables differ from those that this version makes."""
        ...

    def stored_records(self) -> Iterator[RawRecord]:
        """Yield the stored rows as they are."""
        ...

    def unnamed(self) -> NamesLeft:
        """Return the digests of all inputs and parts, to take out those that something names."""
        ...

    def unmade(self) -> NamesLeft:
        """Return all claims, to take out those that a record made."""
        ...

    def bodies(self) -> Iterator[tuple[str, bytes]]:
        """Yield the stored inputs and parts with their digests."""
        ...


class LogCheck(Envelope):
    """The faults of a log outside its records.

    `damage` says how the tables differ from those that this version makes (nothing is appended to
    such a log), which claims no record made, and where the index differs from the records.
    `notes` are worth a look and change nothing. True in an `if` only without damage.
    """

    damage: Annotated[tuple[str, ...], ARRAY] = ()
    notes: Annotated[tuple[str, ...], ARRAY] = ()

    def __bool__(self) -> bool:
        return not self.damage

    def text(self) -> str:
        """Return a line for each problem and each note, or "" if there are none."""
        lines = [f"the log is damaged: {problem}" for problem in self.damage]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def check_log(log: StoredLog) -> LogCheck:
    """Check the tables of a log, and look for inputs and claims that no record names.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read.
    """
    reader = _Reader(log, None, judge=False)
    for _ in reader.read(log.stored_records()):
        pass
    return reader.check()


class CheckedReplay:
    """A replay of a log that checks it as a whole beside, and reads each record once."""

    def __init__(
        self, log: StoredLog, *, head: tuple[int, str] | None = None, judge: bool = True
    ) -> None:
        """Take the log. `head` and `judge` are as for `replay`.

        Raises:
            ValueError: `head` is not a number with a hash.
        """
        self._log, self._expected, self._judge = log, expected_head(head), judge
        self._reader: _Reader | None = None

    def answers(self) -> Iterator[ReplayResult]:
        """Yield what `replay` does.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read any further.
        """
        self._reader = _Reader(self._log, self._expected, judge=self._judge, checked=True)
        yield from self._reader.answers(self._log.stored_records())

    def check(self) -> LogCheck:
        """Return what `check_log` does. All answers have been taken before.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read.
        """
        return check_log(self._log) if self._reader is None else self._reader.check()


class _Reader(Replayer):
    """Replays a log, or only reads it, and checks it as a whole."""

    def __init__(
        self, log: StoredLog, expected: Head | None, *, judge: bool, checked: bool = False
    ) -> None:
        super().__init__(log, expected, judge=judge)
        self._stored_log, self._checked = log, checked
        # First what may be unnamed: a decision appended meanwhile brings its record with it.
        self._unnamed, self._unmade = log.unnamed(), log.unmade()
        self._index = _IndexCheck(log)

    def read(self, rows: Iterator[RawRecord]) -> Iterator[tuple[StoredDocument, Page]]:
        """Yield every stored record with what it names, and note what it names."""
        return self._read_documents(rows)

    @contextmanager
    def _hold_reading(self) -> Iterator[None]:
        with self._stored_log.fetching() as stored, self._bodies.fetched_by(stored):
            yield

    def documents(self, raws: Iterable[RawRecord]) -> list[StoredDocument]:
        documents = super().documents(raws)
        self._index.take(documents)
        return documents

    def _read_documents(self, rows: Iterator[RawRecord]) -> Iterator[tuple[StoredDocument, Page]]:
        for document, page in super()._read_documents(rows):
            named = chain(document.digests.values(), references(document.raw.body))
            self._unnamed.discard(named)
            self._unmade.discard(document.claims)
            self._index.compare(document, page.bodies)
            yield document, page

    def check(self) -> LogCheck:
        """Return what was found, when all records have been read."""
        log, unnamed = self._stored_log, self._unnamed
        for digest, body in log.bodies():
            unnamed.discard(part for part in references(body) if part != digest)
        damage = (*log.problems, *_list_left("claim", "made", self._unmade), *self._index.damage())
        return LogCheck(damage=damage, notes=tuple(_list_left("input", "names", unnamed)))


def _list_left(noun: str, verb: str, names: NamesLeft) -> Iterator[str]:
    total, first = names.left(_NAMED)
    if not total:
        return
    shown = ", ".join(map(escape_name, first))
    more = f" and {total - len(first)} more" if total > len(first) else ""
    count = f"1 {noun}" if total == 1 else f"{total} {noun}s"
    yield f"{count} that no record {verb}: {shown}{more}"


class _IndexCheck:
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

    def compare(self, document: StoredDocument, bodies: Mapping[str, bytes]) -> None:
        """Compare a record. One that cannot be read is not compared: replay reports it."""
        if not _is_read(document):
            return
        stored = self._rows.get(document.raw.seq)
        differences = list(self._differences(document, stored, bodies))
        self._count += bool(differences)
        if differences and len(self._named) < _SHOWN:
            self._named.append(f"record {document.raw.seq}: {'; '.join(differences[:_SHOWN])}")

    def damage(self) -> Iterator[str]:
        """Yield a line for each of the first records that differ, and what else is wrong."""
        yield from self._named
        if (more := self._count - len(self._named)) > 0:
            records = "1 more record" if more == 1 else f"{more} more records"
            yield f"the index differs from {records}"
        if numbers := self._log.unrecorded(_SHOWN + 1):
            shown = ", ".join(escape_name(str(number)) for number in numbers[:_SHOWN])
            others = " and others" if len(numbers) > _SHOWN else ""
            yield f"the index has rows without a record: {shown}{others}"

    def _differences(
        self,
        document: StoredDocument,
        stored: tuple[Any, ...] | None,
        bodies: Mapping[str, bytes],
    ) -> Iterator[str]:
        if stored is None:
            yield "the index has no row for it"
            return
        digests = document.digests
        inputs = {name: self._input_value(digests.get(name, ""), bodies) for name in _COLUMNS_OF}
        row = index_row(document.value, inputs["ctx"], inputs["plan"], document.raw.seq)
        if row == stored and [*map(type, row)] == [*map(type, stored)]:
            return
        gone = [name for name in _COLUMNS_OF if name in digests and inputs[name] is None]
        unknown = frozenset[str]().union(*(_COLUMNS_OF[name] for name in gone))
        for name, own, kept in zip(IndexRow._fields, row, stored, strict=True):
            known = KNOWN_ALONE.get(name, -1) if gone else -1
            same = _masked(own, known) == _masked(kept, known)
            if name not in unknown and not same:
                yield f"the index says {name} {_show_value(kept)}, the record {_show_value(own)}"

    def _input_value(self, digest: str, bodies: Mapping[str, bytes]) -> Any:
        """Return an input as plain JSON; None if it is not what was recorded."""
        if digest not in self._values:
            body = bodies.get(digest)
            data = None if body is None else whole_of(body, bodies).data
            sound = data is not None and sha256(data) == digest
            self._values[digest] = _value_of(data) if data is not None and sound else None
        return self._values[digest]


def _value_of(data: bytes) -> Any:
    try:
        return parse_json(data, len(data))
    except InvalidInput:
        return None


def _is_read(document: StoredDocument) -> bool:
    return bool(document.value) and not (document.missing or document.redacted)


def _masked(value: Any, bits: int) -> tuple[type, Any]:
    """Return a value as it is compared: of a number, some of its bits."""
    return type(value), value & bits if type(value) is int else value


def _show_value(value: object) -> str:
    return "nothing" if value is None else escape_name(str(value))
