"""Replay a whole decision log, record by record, with a few records in memory at a time.

It reads a log and calls the three pure functions of the critic. It takes and imports nothing that
could execute a tool.
"""

from collections.abc import Iterator

from harness.record import GENESIS, Gap, Head, RawRecord
from harness.record.integrity import START, Link, is_digest
from harness.replay.document_reading import DocumentReader, RecordedLog
from harness.replay.log_page import InputReader
from harness.replay.recheck import (
    Rechecked,
    entry_in,
    missing_answer,
    recheck,
)
from harness.replay.result import ReplayResult
from harness.replay.session_entries import SessionEntry
from harness.replay.session_facts import AnswerAlone, SessionHistory, complete_answer


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


class Replayer(DocumentReader):
    """Replays records of one log."""

    def __init__(
        self,
        log: RecordedLog,
        expected: Head | None,
        *,
        judge: bool,
        inputs: InputReader | None = None,
    ) -> None:
        super().__init__(log, inputs)
        self._expected, self._judge = expected, judge

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


def cut_off(last: Link, expected: Head) -> Iterator[ReplayResult]:
    """Yield an answer for the records that are missing between the last one and the head."""
    if last.seq < expected.seq:
        yield missing_answer(last, expected.seq)[0]
