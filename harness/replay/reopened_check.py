"""Check another life of a session against the record in which the one before was closed. Pure."""

from harness.record import CarriedSession, SessionClosedRecord, SessionReopenedRecord
from harness.record.integrity import StoredDocument
from harness.replay.log_page import Page
from harness.replay.problems import Problems
from harness.wire import InvalidInput, build


def check_reopened(record: SessionReopenedRecord, page: Page, problems: Problems) -> None:
    """Check that a session goes on from where it was closed."""
    document = page.named.get(record.closed)
    if document is None:
        problems.incomplete.append(f"the record of its close is missing: no {record.closed}")
        return
    where = f"record {document.raw.seq}, in which its session was closed,"
    if document.raw.seq >= record.seq:
        problems.tampered.append(f"{where} does not come before")
    if not document.value:
        problems.redacted.append(f"{where} is redacted: what it carries cannot be derived")
        return
    named = {name: document.value.get(name) for name in ("trace_id", "turns")}
    if document.kind != "closed":
        problems.tampered.append(f"{where} is not of a session that was closed")
    elif named != {"trace_id": record.trace_id, "turns": record.turns}:
        problems.tampered.append(f"{where} is of another session, or of another number of turns")


def carried_by(document: StoredDocument | None) -> CarriedSession | None:
    """Return what the record of a close carries; None if it cannot be read."""
    if document is None or document.kind != "closed":
        return None
    try:
        closed: SessionClosedRecord = build(SessionClosedRecord, dict(document.value))
    except InvalidInput:
        return None
    return closed.carried
