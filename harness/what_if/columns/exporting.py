"""Put the plans of a log beside the rows of its index, in groups that are written together."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

from harness.record import Gap
from harness.record.index_row import IndexRow
from harness.replay.document_reading import RecordedLog
from harness.what_if.columns.column_writing import PlanBatch
from harness.what_if.columns.plan_columns import PlanRow
from harness.what_if.columns.plan_rows import RowWriter, not_judged_row
from harness.what_if.rejudging import NotJudged, RecordedPlans, recorded_plans


class TriedRow(NamedTuple):
    """Stands for the columns of a record where the row is that of a plan that was tried before."""

    seq: int


class _RowOfRecord(Protocol):
    """The columns of a record, with what else is written beside them."""

    @property
    def row(self) -> IndexRow:
        """The columns."""
        ...


_Row = TypeVar("_Row", bound=_RowOfRecord)


def plan_groups(
    rows: Iterable[_Row | Gap], log: RecordedLog
) -> Iterator[tuple[list[_Row | Gap | TriedRow], list[Any]]]:
    """Yield rows with the arrays of their plans. All rows of a record are in one group.

    A record has a row for each plan that was tried before, and one for its decision, the last.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    records = (one for one in recorded_plans(log) if isinstance(one, RecordedPlans))
    writer, group, batch = RowWriter(), list[_Row | Gap | TriedRow](), PlanBatch()
    for one in rows:
        plans = _plan_rows(one, records, writer)
        group += [*(TriedRow(_number_of(one)) for _ in plans[1:]), one]
        for row in plans:
            batch.add(row)
        if batch.is_full:
            yield group, batch.arrays()
            group, batch = [], PlanBatch()
    if group:
        yield group, batch.arrays()


def _plan_rows(
    one: _RowOfRecord | Gap, records: Iterator[RecordedPlans], writer: RowWriter
) -> list[PlanRow]:
    if isinstance(one, Gap):
        return [not_judged_row(NotJudged(one.first, one.last, "incomplete", (one.text(),)))]
    # Both are in order, and what is not listed was not asked for.
    return list(writer.rows(next(each for each in records if each.seq == one.row.seq)))


def _number_of(one: _RowOfRecord | Gap) -> int:
    return one.first if isinstance(one, Gap) else one.row.seq
