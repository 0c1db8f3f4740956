"""`critic log events`: the sessions of a log as events again, for `critic try` and others."""

import argparse
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from evals.escaping import escape_name
from harness.canonical import ascii_json
from harness.commands.log.log_filters import damage_texts, warn
from harness.commands.policy.policy_command import load_policy
from harness.errors import UsageError
from harness.log.log_errors import LogDamaged
from harness.log.search.listing import Listing
from harness.log.search.query import Filters
from harness.log.sql import SqlDecisionLog
from harness.policy import Policy
from harness.record import DecisionRecord, Gap
from harness.what_if.proposing.logged_sessions import LoggedSession
from harness.what_if.proposing.recorded_tasks import RecordedTask
from harness.wire import InvalidInput, parse_finite_json


class LoggedTasks(NamedTuple):
    """The sessions of a log as tasks, and how many of them cannot be told any more."""

    tasks: list[RecordedTask]
    unknown: int


def tasks_in_log(log: SqlDecisionLog, listing: Listing, policy: Policy) -> LoggedTasks:
    """Return the guarded sessions of a log, by the names that a policy has for their tools.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read.
    """
    tasks = list(map(_task_of, sessions_in_log(log, listing, policy)))
    known = [task for task in tasks if task is not None]
    return LoggedTasks(known, len(tasks) - len(known))


def sessions_in_log(
    log: SqlDecisionLog, listing: Listing, policy: Policy | None = None
) -> list[LoggedSession]:
    """Return the guarded sessions of a log, in the order in which they began."""
    sessions: dict[str, LoggedSession] = {}
    for trace, seq in _records_of(listing):
        session = sessions.get(trace)
        if session is None:
            session = sessions[trace] = LoggedSession(trace, policy)
        _add_record(session, log, seq)
    return [one for one in sessions.values() if one.turns or not one.is_known]


def list_events(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    """Print the events of sessions, one JSON object a line. Return 1 if one is not known whole.

    Raises:
        UsageError: there is no session of the id that is asked for.
    """
    policy = None if args.policy is None else load_policy(args.policy).policy
    listing = Listing(log)
    found = sessions_in_log(log, listing, policy)
    named = [one for one in found if args.session in (None, one.name)]
    if not named and args.session is not None:
        raise UsageError(f"the log has no guarded session {escape_name(args.session)}")
    unknown = 0
    for one in named:
        unknown += one.events is None
        for event in one.events or ():
            sys.stdout.write(f"{ascii_json(event)}\n")
    said = [f"{unknown} sessions cannot be told: part is redacted or missing"] if unknown else []
    return warn([*damage_texts(listing.problems), *said])


def _task_of(session: LoggedSession) -> RecordedTask | None:
    try:
        return session.to_task()
    except InvalidInput:
        return None


def _records_of(listing: Listing) -> Iterator[tuple[str, int]]:
    for one in listing.rows(Filters()):
        if not isinstance(one, Gap) and one.row.trace:
            yield one.row.trace, one.row.seq


def _add_record(session: LoggedSession, log: SqlDecisionLog, seq: int) -> None:
    """Add what a record says of its session; one that cannot be read leaves it unknown."""
    try:
        record = next(log.entries(seq), None)
    except LogDamaged:
        session.lose()
        return
    if not isinstance(record, DecisionRecord):
        return
    inputs = record.inputs
    ctx, compiled, plan = (_read(log, one) for one in (inputs.ctx, inputs.compiled, inputs.plan))
    if ctx is None or compiled is None or plan is None:
        session.lose()
    elif "session" in ctx:
        session.add_turn(ctx, compiled, plan)
        if record.run is not None:
            session.end_turn(ctx["session"]["turn"], record.run.wire()["calls"])


def _read(log: SqlDecisionLog, digest: str) -> dict[str, Any] | None:
    """Return an input as JSON; None if it was taken out, or is gone."""
    body = log.input(digest)
    if body is None:
        return None
    try:
        value = parse_finite_json(body)
    except InvalidInput:
        return None
    return value if isinstance(value, dict) else None
