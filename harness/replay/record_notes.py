"""Check what a log keeps beside a record, and note what is worth a look. Pure."""

from collections.abc import Sized

from harness.record import CriticErrorRecord, DecisionRecord, LogRecord, TakenOverRecord
from harness.record.integrity import Link, StoredDocument
from harness.replay.log_page import Page
from harness.replay.outline import DecisionOutline
from harness.replay.problems import Problems


def check_claims(document: StoredDocument, page: Page, problems: Problems) -> None:
    """Check that the log keeps every claim of a record, under its number."""
    if page.claims is None:
        problems.incomplete += [f"no claims to check: {claim}" for claim in document.claims]
        return
    for claim in document.claims:
        seq = page.claims.get(claim)
        if seq is None:
            problems.tampered.append(f"its claim is gone, and could be made again: {claim}")
        elif seq != document.raw.seq:
            problems.tampered.append(f"its claim is kept for record {seq}: {claim}")


def note_record(record: LogRecord | DecisionOutline, before: Link, problems: Problems) -> None:
    """Note what is worth a look and changes nothing."""
    if isinstance(record, CriticErrorRecord):
        problems.notes.append(f"the critic failed and refused: {record.where}")
    if isinstance(record, TakenOverRecord):
        _check_seam(record, problems)
    if not isinstance(record, DecisionRecord | DecisionOutline):
        return
    if before.decided_at is not None and record.report.decided_at < before.decided_at:
        problems.notes.append("decided_at is earlier than that of a record before")
    if record.run is None:
        return
    if record.action not in ("allow", "shadow"):
        problems.notes.append("a plan that was not allowed has a run")
    elif record.report.verify.ok and record.error is not None and record.report.score is None:
        problems.notes.append(
            f"the run ended early and has no score: {_count_calls(record.run.calls)}"
        )


def _check_seam(record: TakenOverRecord, problems: Problems) -> None:
    """Check that a log begins where it says so, and note the head of the log before."""
    if record.seq > record.of:
        problems.tampered.append(f"it is none of the first {record.of} records, which begin a log")
    elif record.seq == 1:
        before = f"{record.old.seq}:{record.old.hash}"
        problems.notes.append(f"the log continues another log, whose head was {before}")


def _count_calls(calls: Sized) -> str:
    return "it holds 1 call" if len(calls) == 1 else f"it holds {len(calls)} calls"
