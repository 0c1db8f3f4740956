"""`critic log events`: convert the sessions of a log back to events, for `critic try`."""

import argparse
import sys
from collections.abc import Collection
from typing import NamedTuple

from evals.escaping import escape_name
from harness.canonical import ascii_json
from harness.commands.exit_status import EXIT_INVALID
from harness.commands.log.log_filters import damage_texts, warn
from harness.commands.policy.policy_command import load_policy
from harness.errors import UsageError
from harness.log.search.listing import Listing
from harness.log.sql import SqlDecisionLog
from harness.policy import Policy
from harness.what_if.proposing.logged_sessions import LoggedSession
from harness.what_if.proposing.logged_times import NO_TIMES
from harness.what_if.proposing.recorded_tasks import RecordedTask
from harness.what_if.proposing.session_finding import sessions_in_log
from harness.wire import InvalidInput


class LoggedTasks(NamedTuple):
    """The sessions of a log as tasks, and why each of the others cannot be told: one line each."""

    tasks: list[RecordedTask]
    untold: tuple[str, ...]


def tasks_in_log(
    log: SqlDecisionLog, listing: Listing, policy: Policy, traces: Collection[str] | None = None
) -> LoggedTasks:
    """Return the guarded sessions of a log, by the names that a policy has for their tools.

    Args:
        traces: only the sessions of these traces.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read.
    """
    found = sessions_in_log(log, listing, policy)
    tasks = [_task_of(one) for one in found if traces is None or one.trace in traces]
    known = [task for task in tasks if not isinstance(task, str)]
    return LoggedTasks(known, tuple(why for why in tasks if isinstance(why, str)))


def list_events(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    """Print the events of sessions, one JSON object a line.

    Return 1 if the log is damaged, and 2 if a session cannot be told: it is left out.

    Raises:
        UsageError: there is no session with that id.
    """
    policy = None if args.policy is None else load_policy(args.policy).policy
    listing = Listing(log)
    found = sessions_in_log(log, listing, policy)
    named = [one for one in found if args.session in (None, one.name)]
    if not named and args.session is not None:
        raise UsageError(f"the log has no guarded session {escape_name(args.session)}")
    for event in (event for one in named for event in one.events or ()):
        sys.stdout.write(f"{ascii_json(event)}\n")
    said = [
        f"session {escape_name(one.name)} cannot be told: {'; '.join(one.lost)}"
        for one in named
        if one.events is None
    ]
    if policy is None and any(one.expires for one in named):
        sys.stderr.write(f"critic: note: {NO_TIMES}\n")
    missing = (gap.text() for gap in listing.gaps())
    status = warn([*missing, *damage_texts(listing.problems), *said])
    return EXIT_INVALID if said else status


def _task_of(session: LoggedSession) -> RecordedTask | str:
    """Return a session as a task, or why it cannot be told."""
    try:
        task = session.to_task()
    except InvalidInput as error:
        return str(error)
    return task or "; ".join(session.lost) or "its first record is redacted or missing"
