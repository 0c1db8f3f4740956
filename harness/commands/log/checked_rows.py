"""Compare rows of the index with their records, as far as few are listed, and read their texts.

Rule 1: in a small log, every row is compared with its record, even if a filter omits it.
Rule 2: in a large log, the first listed rows are. The others are trusted, and a note says so.
Rule 3: texts come from the record. An altered record has none.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from evals.kinds import Fate
from harness.audit.record_texts import RecordTexts, texts_of
from harness.audit.tables.text_search import TextReader
from harness.errors import UsageError, escape_text
from harness.log.search.listing import Listed, Listing
from harness.log.search.query import Filters
from harness.log.sql import SqlDecisionLog
from harness.record import Gap
from harness.record.index_row import IndexRow, name_column
from harness.replay.index_check import IndexedReader

FEW: Final = 500
"""Records that are read for a listing, at most: it takes a fraction of a second."""

_PAGE: Final = 32  # records in memory together


class CheckedRow(NamedTuple):
    """A listed record: its columns, its end, the fate of its turn, and its texts."""

    row: IndexRow
    ended_by: int | None = None
    fate: Fate | None = None
    texts: RecordTexts = RecordTexts()


class CheckedRows:
    """The rows of a listing, compared with the records as far as possible."""

    def __init__(self, log: SqlDecisionLog, listing: Listing) -> None:
        """Take a listing. A small log is read whole.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read.
        """
        self._listing, self._reader, self._unchecked = listing, IndexedReader(log), TextReader(log)
        self._own, self._texts = dict[int, IndexRow](), dict[int, RecordTexts]()
        self._checked = 0
        if self._is_small:
            for first in range(1, listing.last + 1, _PAGE):
                self._read(range(first, min(first + _PAGE, listing.last + 1)))

    @property
    def _is_small(self) -> bool:
        return self._listing.last <= FEW

    def rows(self, filters: Filters) -> Iterator[CheckedRow | Gap]:
        """Yield the listed records by their own contents, and every gap.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read any further.
        """
        rows = self._listing.rows(filters)
        while page := list(islice(rows, _PAGE)):
            self._load([one.row.seq for one in page if isinstance(one, Listed)])
            yield from map(self._as_recorded, page)

    def rows_of(self, numbers: list[int]) -> dict[int, CheckedRow]:
        """Return the rows of these records by their own contents, as far as there are rows.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read any further.
        """
        rows = self._listing.rows_of(numbers)
        self._load([seq for seq in numbers if seq in rows])
        return {
            seq: CheckedRow(self._own.get(seq, row), texts=self._texts_of(seq))
            for seq, row in rows.items()
        }

    def _load(self, numbers: list[int]) -> None:
        """Read some records, unless all were read already."""
        if self._is_small:
            return
        self._own.clear()
        self._texts.clear()
        few = FEW - self._checked
        self._read(numbers[:few])
        self._texts.update(self._unchecked.read(numbers[few:]))

    def _read(self, numbers: range | list[int]) -> None:
        for one in self._reader.read(numbers):
            self._checked += 1
            if one.problem:
                continue
            self._texts[one.document.raw.seq] = texts_of(one.document.value)
            if one.row is not None:
                self._own[one.row.seq] = one.row

    def _texts_of(self, seq: int) -> RecordTexts:
        return self._texts.get(seq, RecordTexts())

    def _as_recorded(self, one: Listed | Gap) -> CheckedRow | Gap:
        if isinstance(one, Gap):
            return one
        seq = one.row.seq
        own = self._own.get(seq, one.row)
        return CheckedRow(own, one.ended_by, one.fate, self._texts_of(seq))

    @property
    def problems(self) -> list[str]:
        """Return the problems of the log, its index, and the records that were read."""
        return [*self._listing.problems, *self._reader.problems(), *self._unchecked.problems]

    @property
    def note(self) -> str:
        """Return what was not compared, on one line; empty if everything was."""
        if self._is_small:
            return ""
        but = f", but for the first {self._checked} records here" if self._checked else ""
        return f"index not checked{but}: `critic log verify` compares it with the records"


def trace_of_session(rows: CheckedRows, session: str) -> str:
    """Return the trace of a session, as its records say: each has one.

    Raises:
        UsageError: no record is of this session, or its records name several traces.
        harness.log.log_errors.LogError: the log cannot be read.
    """
    name = name_column(session)
    found = [one.row for one in rows.rows(Filters(session=session)) if isinstance(one, CheckedRow)]
    traces = {row.trace for row in found if row.session == name and row.trace is not None}
    if len(traces) > 1:
        raise UsageError(
            f"the records of session {escape_text(session)} name {len(traces)} traces: "
            "name one with --trace"
        )
    if not traces:
        raise UsageError(f"no record is of session {escape_text(session)}")
    return traces.pop()
