"""Replay a whole decision log, record by record, with a few records in memory at a time.

It reads a log and calls the three pure functions of the critic. It takes and imports nothing that
could execute a tool.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, Protocol, runtime_checkable

from harness.record import GENESIS, Head, RawRecord
from harness.record.drafts import begun_claim
from harness.record.parts import references
from harness.replay.integrity import START, Link, StoredDocument, is_digest, read_text_of
from harness.replay.page import Bodies, InputReader, Page
from harness.replay.recheck import missing, recheck
from harness.replay.result import ReplayResult
from harness.replay.sessions import SessionHistory

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


def replay(
    log: RecordedLog, *, head: tuple[int, str] | None = None, judge: bool = True
) -> Iterator[ReplayResult]:
    """Yield the answers for the records of `log` in order, and one for each gap between them.

    `head` is the end of the log at some earlier time: (number, hash). The chain alone cannot show
    that records were dropped from its end, or that the end was rewritten; `head` can. Records
    after `head` are not compared with it.

    Without `judge` nothing is derived: `same` then means only that bytes, hashes, inputs and links
    are as recorded, for any versions.

    Raises:
        ValueError: `head` is not a number with a hash.
        harness.log.errors.LogError: the log cannot be read any further.
    """
    expected = None if head is None else Head(*head)
    if expected is not None and not _possible(expected):
        raise ValueError("head is the number of a record and its hash of 64 hexadecimal digits")
    return _replayed(log, expected, judge)


def _possible(head: Head) -> bool:
    if head.seq == 0:
        return head.hash == GENESIS
    return head.seq > 0 and is_digest(head.hash)


def _replayed(log: RecordedLog, expected: Head | None, judge: bool) -> Iterator[ReplayResult]:
    before, sessions = START, SessionHistory()
    for document, page in _documents(log):
        if document.raw.seq > before.seq + 1:
            gap, before = missing(before, document.raw.seq - 1)
            yield gap
        answer, before = recheck(document, page, before, expected, judge=judge, sessions=sessions)
        yield answer
    if expected is not None:
        yield from _cut_off(before, expected)


def _documents(log: RecordedLog) -> Iterator[tuple[StoredDocument, Page]]:
    """Yield every stored record with at least what it names."""
    bodies = Bodies(log.stored if isinstance(log, PartedLog) else log.inputs)
    inputs, rows = InputReader(), log.raw()
    while raws := list(islice(rows, _PAGE)):
        bodies.make_room()
        documents = _read(raws, bodies)
        fetched = bodies.fetch(digest for one in documents for digest in one.digests.values())
        claims, named = _claims(log, documents), _named(log, documents)
        for document in documents:
            if not fetched:
                bodies.forget()
                bodies.fetch(document.digests.values(), _UNBOUNDED)
            yield document, Page(bodies, claims, named, inputs)


def _read(raws: Iterable[RawRecord], bodies: Bodies) -> list[StoredDocument]:
    documents = []
    for raw in raws:
        if not bodies.fetch(references(raw.body)):
            bodies.forget()
            bodies.fetch(references(raw.body), _UNBOUNDED)
        documents.append(read_text_of(raw, bodies))
    return documents


def _claims(log: RecordedLog, documents: Iterable[StoredDocument]) -> Mapping[str, int] | None:
    if not isinstance(log, PartedLog):
        return None
    wanted = [claim for document in documents for claim in document.claims]
    wanted += [begun_claim(one.raw.hash) for one in documents if one.kind == "begun"]
    return log.claims(wanted) if wanted else {}


def _named(log: RecordedLog, documents: Iterable[StoredDocument]) -> dict[str, StoredDocument]:
    hashes = [one.begun for one in documents if one.begun]
    rows = log.named(hashes) if hashes and isinstance(log, PartedLog) else {}
    return {own_hash: read_text_of(raw) for own_hash, raw in rows.items()}


def _cut_off(last: Link, expected: Head) -> Iterator[ReplayResult]:
    if last.seq < expected.seq:
        yield missing(last, expected.seq)[0]
