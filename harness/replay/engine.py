"""Replay a whole decision log, record by record, with a few records in memory at a time.

It reads a log and calls the three pure functions of the critic. It takes and imports nothing that
could execute a tool.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Final, Protocol, runtime_checkable

from harness.record import GENESIS, Gap, Head, RawRecord
from harness.record.drafts import begun_claim
from harness.record.integrity import START, Link, StoredDocument, is_digest, read_text_of
from harness.record.parts import references
from harness.replay.log_page import Bodies, InputReader, Page
from harness.replay.recheck import (
    Rechecked,
    entry_in,
    missing_answer,
    recheck,
)
from harness.replay.result import ReplayResult
from harness.replay.session_entries import SessionEntry
from harness.replay.session_facts import AnswerAlone, SessionHistory, complete_answer

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
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    return Replayer(log, expected_head(head), judge=judge).answers(log.raw())


def expected_head(head: tuple[int, str] | None) -> Head | None:
    """Return the head that a caller names.

    Raises:
        ValueError: it is not a number with a hash.
    """
    expected = None if head is None else Head(*head)
    if expected is not None and not _is_possible(expected):
        raise ValueError("head is the number of a record and its hash of 64 hexadecimal digits")
    return expected


def _is_possible(head: Head) -> bool:
    if head.seq == 0:
        return head.hash == GENESIS
    return head.seq > 0 and is_digest(head.hash)


class Replayer:
    """Replays records of one log, and keeps what many of them name."""

    _checked = True  # whether the bytes of records are compared and hashed

    def __init__(
        self,
        log: RecordedLog,
        expected: Head | None,
        *,
        judge: bool,
        inputs: InputReader | None = None,
    ) -> None:
        self._log, self._expected, self._judge = log, expected, judge
        self._bodies = Bodies(log.stored if isinstance(log, PartedLog) else log.inputs)
        self._inputs = InputReader() if inputs is None else inputs

    def answers(self, rows: Iterator[RawRecord]) -> Iterator[ReplayResult]:
        """Yield the answers for all rows of the log, for gaps, and for what the head shows."""
        sessions, last = SessionHistory(), START
        for one in self.replay_rows(rows, START):
            yield complete_answer(one.answer, sessions)
            last = one.link
        if self._expected is not None:
            yield from cut_off(last, self._expected)

    def replay_rows(self, rows: Iterator[RawRecord], before: Link) -> Iterator[Rechecked]:
        """Yield the answers for stored rows, and for gaps, each with the link to what follows.

        Args:
            rows: rows of the log, next to each other.
            before: the link that the first of them has to follow.
        """
        for document, page in self._read_documents(rows):
            if document.raw.seq > before.seq + 1:
                missing = Gap(before.seq + 1, document.raw.seq - 1)
                gap, before = missing_answer(before, missing.last)
                yield Rechecked(AnswerAlone(gap), before, missing)
            one = recheck(document, page, before, self._expected, judge=self._judge)
            before = one.link
            yield one

    def entries(self, rows: Iterator[RawRecord]) -> Iterator[SessionEntry]:
        """Yield what stored rows say of the sessions of a guard. Nothing is judged."""
        for document, page in self._read_documents(rows):
            entry = entry_in(document, page)
            if entry is not None:
                yield entry

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
    """Return the rows of the executions that these records end, by their hashes."""
    hashes = [one.begun for one in documents if one.begun]
    return log.named(hashes) if hashes and isinstance(log, PartedLog) else {}


def _read_named(log: RecordedLog, documents: Iterable[StoredDocument]) -> dict[str, StoredDocument]:
    rows = rows_named(log, documents)
    return {own_hash: read_text_of(raw) for own_hash, raw in rows.items()}


def cut_off(last: Link, expected: Head) -> Iterator[ReplayResult]:
    """Yield an answer for the records that are missing between the last one and the head."""
    if last.seq < expected.seq:
        yield missing_answer(last, expected.seq)[0]
