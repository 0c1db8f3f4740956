"""Replay a whole decision log, record by record, with a few records in memory at a time.

It reads a log and calls the three pure functions of the critic. It takes and imports nothing that
could execute a tool.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, Protocol

from harness.record import GENESIS, Head, RawRecord
from harness.replay.integrity import START, Link, StoredDocument, is_digest, read_text_of
from harness.replay.recheck import missing, recheck
from harness.replay.result import ReplayResult

_PAGE: Final = 32  # records whose inputs are fetched together


class RecordedLog(Protocol):
    """The log as replay reads it: stored rows in the order of their numbers, and inputs."""

    def raw(self) -> Iterator[RawRecord]:
        """Yield the stored rows, unchecked, in ascending order of their numbers."""
        ...

    def inputs(self, digests: Iterable[str]) -> Mapping[str, bytes]:
        """Return the bytes stored under these digests; leave out what is not stored."""
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
    before = START
    for document, inputs in _documents(log):
        if document.raw.seq > before.seq + 1:
            gap, before = missing(before, document.raw.seq - 1)
            yield gap
        answer, before = recheck(document, inputs, before, expected, judge=judge)
        yield answer
    if expected is not None:
        yield from _cut_off(before, expected)


def _documents(log: RecordedLog) -> Iterator[tuple[StoredDocument, Mapping[str, bytes]]]:
    """Yield every stored record with at least the inputs that it names."""
    rows = log.raw()
    while page := [read_text_of(raw) for raw in islice(rows, _PAGE)]:
        inputs = log.inputs({digest for stored in page for digest in stored.digests.values()})
        for document in page:
            yield document, inputs


def _cut_off(last: Link, expected: Head) -> Iterator[ReplayResult]:
    if last.seq < expected.seq:
        yield missing(last, expected.seq)[0]
