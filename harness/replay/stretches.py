"""Replay a log stretch by stretch: each can be replayed alone, in any order and any process.

Rule 1: the answers for all stretches, one after the other, are those for the whole log.
Rule 2: what a stretch needs of the records before it is read again from the log: the link that its
        first record has to follow.
Rule 3: what follows from the earlier records of a session is worked out where the answers are put
        in order.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice, takewhile
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from harness.errors import HarnessError
from harness.record import Gap, Head, RawRecord
from harness.record.integrity import START, Link, StoredDocument
from harness.replay.document_reading import RecordedLog
from harness.replay.engine import Replayer, cut_off
from harness.replay.recheck import RecordedInputs, decided_at
from harness.replay.result import ReplayResult
from harness.replay.session_entries import SessionEntry
from harness.replay.session_facts import AnswerAlone, SessionHistory, complete_answer

_T = TypeVar("_T")

_SIZE: Final = 128  # records of a stretch
_LEAD: Final = 8  # records before it that are read with it: most often a decision is among them


class NumberedLog(RecordedLog, Protocol):
    """A log whose records can be read from any number on."""

    def raw(self, start: int | None = None) -> Iterator[RawRecord]:
        """Yield the stored rows from number `start` on, unchecked, in ascending order."""
        ...

    def numbers(self) -> Iterator[int]:
        """Yield the numbers of the stored rows, in ascending order."""
        ...


class Stretch(NamedTuple):
    """Some records of a log that are next to each other.

    Attributes:
        start: the number of the row to read from; None for the start of the log.
        lead: how many rows from there on come before the stretch.
        size: how many rows are in the stretch.
    """

    start: int | None
    lead: int
    size: int


def stretches(log: NumberedLog, after: int | None = None) -> Iterator[Stretch]:
    """Yield the stretches of a log, or of its records with numbers above `after`.

    The numbers are read as they are needed, so records that are appended meanwhile are included.
    """
    numbers = log.numbers()
    lead: deque[int] = deque(maxlen=_LEAD)
    waiting: list[int] = []
    if after is not None:
        for number in numbers:
            if number > after:
                waiting.append(number)
                break
            lead.append(number)
    while waiting := [*waiting, *islice(numbers, _SIZE - len(waiting))]:
        yield Stretch(lead[0] if lead else None, len(lead), len(waiting))
        lead.extend(waiting)
        waiting = []


class AnsweredStretch(NamedTuple):
    """The answers for a stretch.

    Attributes:
        answers: in their order, each of its record alone; those for gaps are among them.
        link: what the record after the stretch has to follow.
        error: why the log could not be read any further.
        found: what was looked for in each record, beside its answer; a gap is itself.
    """

    answers: list[AnswerAlone]
    link: Link
    error: HarnessError | None = None
    found: Sequence[Any] = ()


Find = Callable[[RecordedInputs], Any]
"""What looks for something in one record. It never raises, and what it returns can be pickled."""


def find_in(recorded: RecordedInputs | Gap, find: Callable[[RecordedInputs], _T]) -> _T | Gap:
    """Return what is found in a record; a gap is itself."""
    return recorded if isinstance(recorded, Gap) else find(recorded)


def replay_stretch(
    log: NumberedLog, replayer: Replayer, stretch: Stretch, find: Find | None = None
) -> AnsweredStretch:
    """Replay a stretch. An error of the log ends it, and is in the batch."""
    answers: list[AnswerAlone] = []
    found: list[Any] = []
    link = START
    try:
        rows = log.raw(stretch.start)
        link = _link_after(log, replayer, list(islice(rows, stretch.lead)))
        for one in replayer.replay_rows(islice(rows, stretch.size), link):
            if find is not None and one.recorded is not None:
                found.append(find_in(one.recorded, find))
            answers.append(one.answer)
            link = one.link
    except HarnessError as error:
        return AnsweredStretch(answers, link, error, found)
    return AnsweredStretch(answers, link, None, found)


def replay_batches(
    log: NumberedLog, replayer: Replayer, after: int | None
) -> Iterator[AnsweredStretch]:
    """Yield the answers for a log, or for its records with numbers above `after`, in batches.

    Raises:
        harness.log.log_errors.LogError: the numbers of its records cannot be read.
    """
    return (replay_stretch(log, replayer, one) for one in stretches(log, after))


def answers_in(
    batches: Iterable[AnsweredStretch],
    before: Link,
    expected: Head | None,
    save: Callable[[Link], None],
    sessions: SessionHistory,
) -> Iterator[ReplayResult]:
    """Yield the answers in batches, and at the end one for what is missing before the head.

    Args:
        batches: the batches, in their order.
        before: the link that the first record of the first batch has to follow.
        expected: the head that the log must have reached.
        save: takes the link at the end of each batch, when all its answers have been taken.
        sessions: what the records before the first batch say of each session.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    last = before
    for batch in batches:
        for answer in batch.answers:
            yield complete_answer(answer, sessions)
        if batch.error is not None:
            raise batch.error
        last = batch.link
        save(last)
    if expected is not None:
        yield from cut_off(last, expected)


def link_at(log: NumberedLog, replayer: Replayer, number: int) -> Link:
    """Return the link that a record after this number has to follow."""
    lead: deque[int] = deque(takewhile(lambda one: one <= number, log.numbers()), maxlen=_LEAD)
    rows = log.raw(lead[0]) if lead else iter(())
    return _link_after(log, replayer, list(islice(rows, len(lead))))


def sessions_after(log: NumberedLog, replayer: Replayer, number: int | None) -> SessionHistory:
    """Return what the records up to a number say of each session.

    They are read, and not judged, when the first record after them that is of a session comes.
    """
    if number is None:
        return SessionHistory()

    def earlier_entries() -> Iterator[SessionEntry]:
        return replayer.entries(takewhile(lambda raw: raw.seq <= number, log.raw()))

    return SessionHistory(earlier_entries)


def _link_after(log: NumberedLog, replayer: Replayer, lead: Sequence[RawRecord]) -> Link:
    # A row with a number below 1 is nothing to follow: its own answer says so.
    documents = replayer.documents(raw for raw in lead if raw.seq > START.seq)
    if not documents:
        return START
    last = documents[-1]
    decided = last_decided(reversed(documents)) or _decided_before(log, replayer, lead[0].seq)
    return Link(last.raw.seq, last.hashes, decided, last.is_end)


def last_decided(backwards: Iterable[StoredDocument]) -> datetime | None:
    """Return the time of the last decision among documents, which come from the last one on."""
    return next(filter(None, map(decided_at, backwards)), None)


def _decided_before(log: NumberedLog, replayer: Replayer, number: int) -> datetime | None:
    """Return the time of the last decision before a record, looked for from there backwards."""
    width = _SIZE
    while number > 1:
        start = max(number - width, 1)
        decided = last_decided(reversed(replayer.documents(_rows_between(log, start, number))))
        if decided is not None:
            return decided
        number, width = start, width * 2
    return None


def _rows_between(log: NumberedLog, start: int, end: int) -> Iterator[RawRecord]:
    return takewhile(lambda raw: raw.seq < end, log.raw(start))
