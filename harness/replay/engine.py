"""Replay a whole decision log, record by record, holding a few in memory at a time.

It reads a log and calls the three pure functions of the critic. It is given nothing that could
execute a tool, and imports nothing that could.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, Protocol

from harness.record import GENESIS, Head, RawRecord
from harness.replay.integrity import START, Link, StoredDocument, is_digest, read_document
from harness.replay.recheck import missing, recheck
from harness.replay.result import ReplayResult

_PAGE: Final = 32  # records whose inputs are fetched together


class RecordedLog(Protocol):
    """What replay reads: stored rows in the order of their numbers, and inputs by digest."""

    def raw(self) -> Iterator[RawRecord]: ...
    def inputs(self, digests: Iterable[str]) -> Mapping[str, bytes]: ...


def replay(
    log: RecordedLog, *, head: tuple[int, str] | None = None, judge: bool = True
) -> Iterator[ReplayResult]:
    """The answers for the records of `log` in order, with one for each stretch that is missing.

    `head` is the end of the log as it was known at some earlier time, (number, hash). The chain
    alone cannot show that records were dropped from its end, or that it was rewritten from
    somewhere on; this can. Records after `head` are none of its business.

    Without `judge` no report is derived: `same` then says only that bytes, hashes, inputs and
    links are as they were recorded, whatever the versions.

    Raises:
        ValueError: `head` is no number with a hash.
        harness.log.errors.LogError: on the way, the log cannot be read any further.
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
    """Every stored record with the inputs it names, and maybe more."""
    rows = log.raw()
    while page := [read_document(raw) for raw in islice(rows, _PAGE)]:
        inputs = log.inputs({digest for one in page for digest in one.digests.values()})
        for document in page:
            yield document, inputs


def _cut_off(last: Link, expected: Head) -> Iterator[ReplayResult]:
    if last.seq < expected.seq:
        yield missing(last, expected.seq)[0]
