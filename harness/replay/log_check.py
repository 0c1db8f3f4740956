"""Check a decision log as a whole: its tables, its index, and what no record names. Pure.

The index is never the truth: a record is what it is, whatever the index says of it. Where they
differ, the log is damaged.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import islice
from typing import Annotated, Any, Final, Protocol, TypeAlias

import orjson

from evals.envelope import ARRAY, Envelope
from evals.escaping import escape_name
from harness.record import RawRecord, sha256
from harness.record.index_row import OF_CTX, OF_PLAN, IndexRow, index_row
from harness.record.parts import pieces_of, references, whole_of
from harness.replay.engine import PartedLog, RecordedLog
from harness.replay.integrity import StoredDocument, read_text_of
from harness.replay.page import Bodies

_PAGE: Final = 64  # records whose parts are fetched together
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

    def index(self, numbers: Iterable[int]) -> Mapping[int, tuple[Any, ...]] | None:
        """Return the rows of the index for these records, unchecked; None without an index."""
        ...

    def unrecorded(self, most: int) -> list[Any]:
        """Return the numbers of rows of the index without a record: at most so many."""
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

    def digests(self) -> frozenset[str]:
        """Return the digests under which inputs and parts are stored."""
        ...

    def bodies(self) -> Iterator[tuple[str, bytes]]:
        """Yield the stored inputs and parts with their digests."""
        ...

    def all_claims(self) -> Iterator[tuple[str, int]]:
        """Yield every claim with the number of its record."""
        ...


class LogCheck(Envelope):
    """What is wrong with a log beside its records.

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
        harness.log.errors.LogError: the log cannot be read.
    """
    # First what may be unnamed: a decision appended meanwhile brings its record with it.
    unnamed, claims = set(log.digests()), dict(log.all_claims())
    index = _IndexCheck(log)
    rows = log.stored_records()
    while page := list(islice(rows, _PAGE)):
        with log.fetching() as stored:
            pieces = pieces_of([raw.body for raw in page], stored)
            documents = [read_text_of(raw, pieces, checked=False) for raw in page]
            index.compare(documents, stored)
        for document in documents:
            unnamed.difference_update(document.digests.values(), references(document.raw.body))
            for claim in document.claims:
                claims.pop(claim, None)
    for digest, body in log.bodies():
        unnamed.difference_update(part for part in references(body) if part != digest)
    damage = (*log.problems, *_listed("claim", "made", claims), *index.damage())
    return LogCheck(damage=damage, notes=tuple(_listed("input", "names", unnamed)))


def _listed(noun: str, verb: str, names: Collection[str]) -> Iterator[str]:
    if not names:
        return
    shown = ", ".join(escape_name(name) for name in sorted(names)[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    count = f"1 {noun}" if len(names) == 1 else f"{len(names)} {noun}s"
    yield f"{count} that no record {verb}: {shown}{more}"


class _IndexCheck:
    """Compares records with the index of their log, and keeps what differs."""

    def __init__(self, log: IndexedLog) -> None:
        """Take the log."""
        self._log = log
        self._bodies: Mapping[str, bytes] = {}
        self._values: dict[str, Any] = {}
        self._named: list[str] = []
        self._count = 0

    def compare(self, documents: Iterable[StoredDocument], stored: Stored) -> None:
        """Compare some records. One that cannot be read is not compared: replay reports it."""
        readable = [one for one in documents if one.value and not (one.missing or one.redacted)]
        rows = self._log.index([one.raw.seq for one in readable])
        if rows is None:
            return
        self._values.clear()
        self._bodies = bodies = Bodies(stored)
        fetched = bodies.fetch(one.digests[name] for one in readable for name in _of(one))
        for document in readable:
            if not fetched:
                self._values.clear()
                bodies.forget()
                bodies.fetch(document.digests[name] for name in _of(document))
            differences = list(self._differences(document, rows.get(document.raw.seq)))
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
        self, document: StoredDocument, stored: tuple[Any, ...] | None
    ) -> Iterator[str]:
        if stored is None:
            yield "the index has no row for it"
            return
        inputs = {name: self._value(document.digests.get(name, "")) for name in _COLUMNS_OF}
        row = index_row(document.value, inputs["ctx"], inputs["plan"], document.raw.seq)
        if row == stored and [*map(type, row)] == [*map(type, stored)]:
            return
        gone = [name for name in _of(document) if inputs[name] is None]
        unknown = frozenset[str]().union(*(_COLUMNS_OF[name] for name in gone))
        for name, own, kept in zip(IndexRow._fields, row, stored, strict=True):
            if name not in unknown and (type(own), own) != (type(kept), kept):
                yield f"the index says {name} {_shown(kept)}, the record {_shown(own)}"

    def _value(self, digest: str) -> Any:
        """Return an input as plain JSON; None if it is not what was recorded."""
        if digest not in self._values:
            body = self._bodies.get(digest)
            data = None if body is None else whole_of(body, self._bodies).data
            sound = data is not None and sha256(data) == digest
            self._values[digest] = _plain(data) if data is not None and sound else None
        return self._values[digest]


def _plain(data: bytes) -> Any:
    """Return parsed JSON. The canonical bytes that were recorded need no strict parser."""
    try:
        return orjson.loads(data)
    except ValueError:
        return None


def _of(document: StoredDocument) -> Iterator[str]:
    return (name for name in _COLUMNS_OF if name in document.digests)


def _shown(value: object) -> str:
    return "nothing" if value is None else escape_name(str(value))
