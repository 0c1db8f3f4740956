"""Find the guarded sessions of a log: each record tells something of its session."""

from collections.abc import Collection, Iterator
from typing import Any

from harness.log.log_errors import LogDamaged
from harness.log.search.listing import Listing
from harness.log.search.query import Filters
from harness.log.sql import SqlDecisionLog
from harness.policy import Policy
from harness.record import DecisionRecord, Gap, SessionReopenedRecord, sha256
from harness.record.index_row import IndexRow, name_in_column
from harness.what_if.proposing.logged_policy import LoggedPolicy
from harness.what_if.proposing.logged_sessions import LoggedSession
from harness.wire import InvalidInput, parse_finite_json


def sessions_in_log(
    log: SqlDecisionLog, listing: Listing, policy: Policy | None = None
) -> list[LoggedSession]:
    """Return the guarded sessions of a log, in the order in which they began."""
    sessions: dict[str, LoggedSession] = {}
    for row in _rows_of(listing):
        trace = str(row.trace)
        session = sessions.get(trace)
        if session is None:
            name = trace if row.session is None else name_in_column(row.session)
            session = sessions[trace] = LoggedSession(trace, name, policy)
        _add_record(session, log, row.seq)
    for one in sessions.values():
        one.require_ends()
    return [one for one in sessions.values() if one.turns or not one.is_known]


def policy_in_log(log: SqlDecisionLog, traces: Collection[str]) -> LoggedPolicy:
    """Return the policy of the sessions of these traces, as far as their records say it."""
    told = LoggedPolicy()
    for row in _rows_of(Listing(log)):
        record = read_decision(log, row.seq) if row.trace in traces else None
        if record is None:
            continue
        inputs = record.inputs
        ctx, compiled, spec = (
            _read(log, one) for one in (inputs.ctx, inputs.compiled, inputs.spec)
        )
        if ctx is not None and compiled is not None and spec is not None and "session" in ctx:
            plan = _read(log, inputs.plan)
            told.add_record(str(row.trace), ctx, compiled, spec, plan)
    return told


def read_decision(log: SqlDecisionLog, seq: int) -> DecisionRecord | None:
    """Return a decision; None if it is another record, or cannot be read."""
    try:
        record = next(log.entries(seq), None)
    except LogDamaged:
        return None
    return record if isinstance(record, DecisionRecord) else None


def _rows_of(listing: Listing) -> Iterator[IndexRow]:
    """Yield the rows of the records that are of a trace."""
    for one in listing.rows(Filters()):
        if not isinstance(one, Gap) and one.row.trace:
            yield one.row


def _add_record(session: LoggedSession, log: SqlDecisionLog, seq: int) -> None:
    """Add what a record says of its session; one that cannot be read leaves it unknown."""
    try:
        record = next(log.entries(seq), None)
    except LogDamaged:
        session.lose(f"record {seq} cannot be read: part of it was redacted, or is damaged")
        return
    if isinstance(record, SessionReopenedRecord):
        session.begin_again(record.turns)
    if not isinstance(record, DecisionRecord):
        return
    inputs = record.inputs
    ctx, compiled, plan = (_read(log, one) for one in (inputs.ctx, inputs.compiled, inputs.plan))
    if ctx is None or compiled is None or plan is None:
        parts = {"context": ctx, "evidence": compiled, "plan": plan}
        gone = " and ".join(name for name, value in parts.items() if value is None)
        session.lose(f"record {seq}: its {gone} was redacted or altered, or is missing")
        return
    if "session" not in ctx:
        return
    session.add_turn(ctx, compiled, plan)
    if record.run is not None:
        session.end_turn(ctx["session"]["turn"], record.run, record.action)
    else:
        verdict = record.report.verify
        session.add_ruling(ctx, record.action, verdict, record.answer, record.error)


def _read(log: SqlDecisionLog, digest: str) -> dict[str, Any] | None:
    """Return an input as JSON; None if it was taken out, is gone, or is not what was recorded."""
    body = log.input(digest)
    if body is None or sha256(body) != digest:
        return None
    try:
        value = parse_finite_json(body)
    except InvalidInput:
        return None
    return value if isinstance(value, dict) else None
