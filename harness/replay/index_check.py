"""Check that the index of a log says what its records and their inputs say. Pure.

The index is never the truth: a record is what it is, whatever the index says of it. Where they
differ, the log is damaged.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from evals.escaping import escape_name
from harness.record.index_row import OF_CTX, OF_PLAN, IndexRow, index_row
from harness.replay.integrity import StoredDocument
from harness.replay.page import Bodies, InputReader

_SHOWN: Final = 3  # rows that are named

_COLUMNS_OF: Final[Mapping[str, frozenset[str]]] = {"ctx": OF_CTX, "plan": OF_PLAN}
"""The columns that need an input to be derived."""


class IndexedLog(Protocol):
    """A log that is searched by columns."""

    def stored(self, digests: Iterable[str]) -> Mapping[str, bytes]:
        """Return the bodies stored under these digests, which may name parts."""
        ...

    def index(self, numbers: Iterable[int]) -> Mapping[int, tuple[Any, ...]] | None:
        """Return the rows of the index for these records, unchecked; None without an index."""
        ...

    def unrecorded(self, most: int) -> list[Any]:
        """Return the numbers of rows of the index without a record: at most so many."""
        ...


class IndexCheck:
    """Compares records with the index of their log, and keeps what differs."""

    def __init__(self, log: IndexedLog) -> None:
        """Take the log."""
        self._log = log
        self._bodies, self._inputs = Bodies(log.stored), InputReader()
        self._named: list[str] = []
        self._count = 0

    def compare(self, documents: Iterable[StoredDocument]) -> None:
        """Compare some records. One that cannot be read is not compared: replay reports it."""
        readable = [one for one in documents if one.value and not (one.missing or one.redacted)]
        rows = self._log.index([one.raw.seq for one in readable])
        if rows is None:
            return
        self._bodies.make_room()
        wanted = [one.digests[name] for one in readable for name in _of(one)]
        fetched = self._bodies.fetch(wanted)
        for document in readable:
            if not fetched:
                self._bodies.forget()
                self._bodies.fetch([document.digests[name] for name in _of(document)])
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
        inputs, unknown = dict.fromkeys(_COLUMNS_OF), set[str]()
        for name in _of(document):
            read = self._inputs.read(name, document.digests[name], self._bodies, parsed=False)
            inputs[name] = read.plain
            unknown |= _COLUMNS_OF[name] if read.plain is None else set()
        row = index_row(document.value, inputs["ctx"], inputs["plan"], document.raw.seq)
        for name, own, kept in zip(IndexRow._fields, row, stored, strict=True):
            if name not in unknown and (type(own), own) != (type(kept), kept):
                yield f"the index says {name} {_shown(kept)}, the record {_shown(own)}"


def _of(document: StoredDocument) -> Iterator[str]:
    return (name for name in _COLUMNS_OF if name in document.digests)


def _shown(value: object) -> str:
    return "nothing" if value is None else escape_name(str(value))
