"""Read stored records with what they name, some at a time. Nothing is judged."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Final, Protocol, runtime_checkable

from harness.record import RawRecord
from harness.record.drafts import begun_claim
from harness.record.integrity import StoredDocument, read_text_of
from harness.record.parts import references
from harness.replay.log_page import Bodies, InputReader, Page

_PAGE: Final = 32  # records whose inputs are fetched together, where they are not too large
_UNBOUNDED: Final = 2**63


class RecordedLog(Protocol):
    """The log as replay reads it: stored rows in the order of their numbers, and what they name."""

    def raw(self) -> Iterator[RawRecord]:
        """Yield the stored rows, unchecked, in ascending order of their numbers."""
        ...

    def inputs(self, digests: Iterable[str]) -> Mapping[str, bytes]:
        """Return the bodies stored under these digests; leave out what is not stored."""
        ...


@runtime_checkable
class PartedLog(Protocol):
    """A log that keeps inputs in parts, and claims. Without them, claims cannot be checked."""

    def stored(self, digests: Iterable[str]) -> Mapping[str, bytes]:
        """Return the bodies stored under these digests, which may name parts."""
        ...

    def claims(self, claims: Iterable[str]) -> Mapping[str, int]:
        """Return the number of the record that made each claim; leave out what none made."""
        ...

    def named(self, hashes: Iterable[str]) -> Mapping[str, RawRecord]:
        """Return the rows stored under these hashes, unchecked."""
        ...


class DocumentReader:
    """Reads records of one log, and keeps what many of them name."""

    _checked = True  # whether the bytes of records are compared and hashed

    def __init__(self, log: RecordedLog, inputs: InputReader | None = None) -> None:
        """Take the log. Nothing is read."""
        self._log = log
        self._bodies = Bodies(log.stored if isinstance(log, PartedLog) else log.inputs)
        self._inputs = InputReader() if inputs is None else inputs

    def documents(self, raws: Iterable[RawRecord]) -> list[StoredDocument]:
        """Return stored rows with the parts of their bodies in place, parsed."""
        rows, bodies, documents = list(raws), self._bodies, []
        fetched = bodies.fetch(digest for raw in rows for digest in references(raw.body))
        for raw in rows:
            if not fetched:
                bodies.forget()
                bodies.fetch(references(raw.body), _UNBOUNDED)
            documents.append(read_text_of(raw, bodies, checked=self._checked))
        return documents

    def _hold_reading(self) -> AbstractContextManager[object]:
        """Return what holds while the bodies for some records are fetched."""
        return nullcontext()

    def _read_documents(self, rows: Iterator[RawRecord]) -> Iterator[tuple[StoredDocument, Page]]:
        """Yield every stored record with at least what it names."""
        log, bodies = self._log, self._bodies
        while raws := list(islice(rows, _PAGE)):
            bodies.make_room()
            with self._hold_reading():
                documents = self.documents(raws)
                digests = (digest for one in documents for digest in one.digests.values())
                fetched = bodies.fetch(digests)
            claims, named = claims_for(log, documents), _read_named(log, documents)
            for document in documents:
                if not fetched:
                    bodies.forget()
                    bodies.fetch(document.digests.values(), _UNBOUNDED)
                yield document, Page(bodies, claims, named, self._inputs)


def claims_for(log: RecordedLog, documents: Iterable[StoredDocument]) -> Mapping[str, int] | None:
    """Return what the log keeps of the claims of these records; None if it keeps no claims."""
    if not isinstance(log, PartedLog):
        return None
    wanted = [claim for document in documents for claim in document.claims]
    wanted += [begun_claim(one.raw.hash) for one in documents if one.kind in ("begun", "settled")]
    return log.claims(wanted) if wanted else {}


def rows_named(log: RecordedLog, documents: Iterable[StoredDocument]) -> Mapping[str, RawRecord]:
    """Return the rows that these records end, or go on from, by their hashes."""
    hashes = [one.named for one in documents if one.named]
    return log.named(hashes) if hashes and isinstance(log, PartedLog) else {}


def _read_named(log: RecordedLog, documents: Iterable[StoredDocument]) -> dict[str, StoredDocument]:
    rows = rows_named(log, documents)
    return {own_hash: read_text_of(raw) for own_hash, raw in rows.items()}
