"""Settle an execution that began and has no end on record: a person says what came of it."""

from datetime import datetime
from typing import Final

from evals.escaping import escape_name
from evals.kinds import SettledOutcome
from harness.errors import UsageError
from harness.log.log_errors import LogDamaged
from harness.log.sql import SqlDecisionLog
from harness.record import AlreadyClaimed, BegunRecord, Sealed, Settled, read_record
from harness.record.drafts import begun_claim
from harness.replay.index_check import IndexedReader, RowRead
from harness.wire import InvalidInput

_LIST: Final = "critic log list LOG --status open --records"


def settle(
    log: SqlDecisionLog, seq: int, *, outcome: SettledOutcome, by: str, because: str, now: datetime
) -> Sealed:
    """Append the end of the execution that record `seq` began, and return its place in the log.

    The record itself is not changed. A result that comes in later ends the settlement.

    Raises:
        UsageError: there is no such record, it began no execution, or that has ended; or `by` or
            `because` cannot be recorded.
        LogError: the log cannot be read or written, or the record is not as it was recorded.
    """
    last = log.head().seq
    found = next(IndexedReader(log).read([seq] if 0 < seq <= last else []), None)
    if found is None:
        raise UsageError(f"no such record: {seq}: the last one is {last}")
    if found.problem or found.row is None:
        raise LogDamaged(found.problem or f"record {seq} cannot be read: run `critic log verify`")
    if not because.strip():
        raise UsageError("--because: say how it is known what came of it")
    settled = Settled(_require_open(log, found), found.row, outcome, by, because, now)
    try:
        settled.snapshot  # noqa: B018 - an error of it is one of the command
        return log.append_all((settled,))[0]
    except InvalidInput as error:
        raise UsageError(f"--{error.path[1:]}: {error.message}") from None
    except AlreadyClaimed:
        raise UsageError(f"record {seq} has ended meanwhile: {_LIST} shows what is open") from None


def _require_open(log: SqlDecisionLog, found: RowRead) -> BegunRecord:
    """Return the record of an execution that is open.

    Raises:
        UsageError: it is none.
    """
    document = found.document
    seq, kind = document.raw.seq, document.kind
    if kind != "begun":
        shown = f"is a {kind}" if kind == "decision" else f"is of kind {escape_name(kind)}"
        raise UsageError(f"record {seq} {shown}, and began no execution: {_LIST} shows which did")
    claim = begun_claim(document.raw.hash)
    ended_by = log.claims([claim]).get(claim)
    if ended_by is not None:
        raise UsageError(f"record {seq} has ended: record {ended_by} says how")
    record = read_record(document.raw.body)
    assert isinstance(record, BegunRecord)  # noqa: S101 - its kind says so
    return record
