"""`critic shadow`: list what a policy would have stopped in recorded sessions, with edits.

Without a policy file, the policy comes from the records.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple

from evals.escaping import escape_line
from harness.audit.shadow_stops import StoppedTurn, ToolStops, general_reason, tool_stops
from harness.canonical import ascii_json
from harness.clock import SystemClock
from harness.commands.known_heads import print_head
from harness.commands.log.checked_rows import CheckedRows
from harness.commands.log.log_filters import damage_texts, warn
from harness.commands.log.log_sessions import LoggedTasks, tasks_in_log
from harness.commands.policy.policy_command import load_policy
from harness.commands.trial.try_text import TriedTasks, proposal_lines, proposals_wire
from harness.errors import UsageError
from harness.log.search.listing import Listing
from harness.log.sql import SqlDecisionLog
from harness.what_if.proposing.edit_proposals import EditProposer
from harness.what_if.proposing.session_finding import policy_in_log
from harness.wire import InvalidInput


def print_trial(args: argparse.Namespace) -> int:
    """Print the stops by tool and reason, then the proposals. Return 1 if the log is damaged."""
    policy = load_policy(args.policy).policy
    with SqlDecisionLog.open_for_reading(args.log) as log:
        head, listing = log.head(), Listing(log)
        checked = CheckedRows(log, listing)
        found = tasks_in_log(log, listing, policy)
        try:
            proposer = EditProposer(policy, SystemClock().now())
            tried = TriedTasks([proposer.propose(task) for task in found.tasks], proposer, 0)
        except (InvalidInput, ValueError) as error:
            raise UsageError(str(error)) from None
        lines = _json_lines if args.format == "json" else _text_lines
        for line in lines(found, tried):
            sys.stdout.write(f"{line}\n")
        print_head(head, args.format, checked.note)
        missing = [gap.text() for gap in listing.gaps()]
    return warn([*missing, *damage_texts(dict.fromkeys(checked.problems))])


class Proposed(NamedTuple):
    """The edits that would help the sessions of a shadow.

    Attributes:
        tried: the sessions as they were judged; None if they cannot be.
        untold: why each session cannot be told that the records do not hold whole.
        notes: what is unknown, and what to do.
    """

    tried: TriedTasks | None
    untold: tuple[str, ...]
    notes: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Yield it as lines."""
        yield from () if self.tried is None else proposal_lines(self.tried)
        if self.untold:
            yield f"{len(self.untold)} more cannot be judged, and no edit is proposed for them:"
            yield from _count_reasons(self.untold)
        yield from self.notes

    def wire(self) -> list[dict[str, Any]]:
        """Return the proposals as JSON."""
        return [] if self.tried is None else proposals_wire(self.tried)


def propose_for_shadow(log: SqlDecisionLog, listing: Listing, traces: Collection[str]) -> Proposed:
    """Propose edits of the policy in the records of sessions.

    Args:
        traces: the traces of the sessions that would have been stopped.
    """
    if not traces:
        return Proposed(None, (), ())
    told = policy_in_log(log, traces)
    notes = (_NO_EXPIRY,) if told.expires else ()
    try:
        policy = told.to_policy()
        found = tasks_in_log(log, listing, policy, traces)
        proposer = EditProposer(policy, SystemClock().now())
        tasks = [proposer.propose(task) for task in found.tasks]
    except (InvalidInput, ValueError) as error:
        return Proposed(None, (), (f"no edit is proposed: {error}: give --policy FILE",))
    return Proposed(TriedTasks(tasks, proposer, 0), found.untold, notes)


_NO_EXPIRY: Final = (
    "how long results are fresh is on no record: give --policy FILE to have it judged too"
)


def _stops(tried: TriedTasks) -> list[ToolStops]:
    """Return the tool that first stops each session."""
    called: dict[str, set[str]] = {}
    for one in tried.tasks:
        for tool in one.task.tools:
            called.setdefault(tool, set()).add(one.task.id)
    turns = [
        StoppedTurn(
            one.task.id,
            one.judged.outcome == "asked",
            {one.judged.stop.tool: frozenset({general_reason(one.judged.stop.reason)})},
        )
        for one in tried.tasks
        if one.judged.stop is not None
    ]
    return tool_stops(turns, called)


def _count_reasons(reasons: Iterable[str]) -> Iterator[str]:
    for reason, count in Counter(reasons).most_common():
        yield f"  {count:>4}  {reason}"


def _text_lines(found: LoggedTasks, tried: TriedTasks) -> Iterator[str]:
    stopped = sum(one.judged.stop is not None for one in tried.tasks)
    yield f"{len(tried.tasks)} session{'' if len(tried.tasks) == 1 else 's'}: {stopped} stop"
    if found.untold:
        yield f"  {len(found.untold)} more cannot be judged:"
        yield from _count_reasons(found.untold)
    for stops in _stops(tried):
        of = f"{stops.stopped} of {stops.sessions} session{'' if stops.sessions == 1 else 's'}"
        counts = f"{stops.refused} would be refused, {stops.asked} asked"
        yield f"{escape_line(stops.tool)}  {of}: {counts}"
        yield from (f"  {count:>4}  {escape_line(reason)}" for reason, count in stops.reasons)
    yield from proposal_lines(tried)


def _json_lines(found: LoggedTasks, tried: TriedTasks) -> Iterator[str]:
    yield ascii_json(
        {
            "sessions": len(tried.tasks),
            "cannot_tell": len(found.untold),
            "tools": [stops.wire() for stops in _stops(tried)],
            "proposals": proposals_wire(tried),
        }
    )
