"""`critic shadow`: list what a shadow would have stopped, by tool and reason."""

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from evals.escaping import escape_line
from evals.plan import Plan
from evals.plan_verdicts import Refused
from evals.run import refused_opening
from harness.audit.shadow_stops import StoppedTurn, ToolStops, stopped_turn, tool_stops
from harness.canonical import ascii_json
from harness.commands.known_heads import print_head
from harness.commands.log.checked_rows import CheckedRows
from harness.commands.log.log_filters import damage_texts, warn
from harness.log.search.listing import Listing
from harness.log.search.query import Filters
from harness.log.search.turns import TurnRecords
from harness.log.sql import SqlDecisionLog
from harness.record import DecisionRecord, Gap
from harness.record.fates import REFUSED_FATES
from harness.what_if.proposing.session_finding import read_decision
from harness.wire import InvalidInput, parse

if TYPE_CHECKING:
    from harness.commands.shadow.policy_trial import Proposed


def run(args: argparse.Namespace) -> int:
    """Print what a shadow would have stopped. Return 1 if the log is damaged."""
    if args.policy is not None:
        return _try_policy(args)
    with SqlDecisionLog.open_for_reading(args.log) as log:
        head, listing = log.head(), Listing(log)
        checked = CheckedRows(log, listing)
        every = [one for one in listing.turns(Filters()).turns() if one.shadow]
        for turn in every:
            checked.rows_of([*turn.records])  # reads them, to see whether they are damaged
        turns = [one for one in (_stopped_turn(turn, log) for turn in every) if one is not None]
        stops = tool_stops(turns, _sessions_of(listing))
        proposed = _propose_edits(log, listing, {one.trace for one in turns})
        lines = _json_lines if args.format == "json" else _text_lines
        for line in lines(stops, proposed, len(every), len(every) - len(turns)):
            sys.stdout.write(f"{line}\n")
        print_head(head, args.format, checked.note)
        missing = [gap.text() for gap in listing.gaps()]
    return warn([*missing, *damage_texts(dict.fromkeys(checked.problems))])


def _try_policy(args: argparse.Namespace) -> int:
    """Print what a policy would have stopped in the sessions of a log, and the edits."""
    from harness.commands.shadow.policy_trial import print_trial  # noqa: PLC0415 - judges sessions

    return print_trial(args)


def _propose_edits(log: SqlDecisionLog, listing: Listing, traces: set[str]) -> "Proposed":
    """Return the edits that would let the stopped sessions through."""
    from harness.commands.shadow.policy_trial import (  # noqa: PLC0415 - judges sessions
        propose_for_shadow,
    )

    return propose_for_shadow(log, listing, traces)


def _sessions_of(listing: Listing) -> dict[str, set[str]]:
    """Return the traces in which each tool was called, without those that were enforced.

    Where all was allowed no record says whether it was enforced.
    """
    sessions, enforced, let_through = dict[str, set[str]](), set[str](), set[str]()
    for one in listing.rows(Filters()):
        if isinstance(one, Gap):
            continue
        trace = one.row.trace or ""
        for tool in (one.row.tools or "").split():
            sessions.setdefault(tool, set()).add(trace)
        if one.row.action == "shadow":
            let_through.add(trace)
        elif one.row.action == "ask" or one.fate in REFUSED_FATES:
            enforced.add(trace)
    return {tool: traces - (enforced - let_through) for tool, traces in sessions.items()}


def _stopped_turn(turn: TurnRecords, log: SqlDecisionLog) -> StoppedTurn | None:
    """Return what would have been stopped in a turn; None if that can no longer be read."""
    for seq in turn.records:
        record = read_decision(log, seq)
        refused = None if record is None else _refusal_of(record)
        if record is None or refused is None:
            continue
        body = log.input(record.inputs.plan)
        try:
            plan = None if body is None else parse(Plan, body, max_bytes=len(body))
        except InvalidInput:
            plan = None
        return None if plan is None else stopped_turn(record.report.trace_id, refused, plan)
    return None


def _refusal_of(record: DecisionRecord) -> Refused | None:
    """Return what a shadow did not keep to: the verdict on a plan, or on its first opening."""
    if isinstance(record.report.verify, Refused):
        return record.report.verify
    opening = None if record.run is None else refused_opening(record.run.openings)
    verdict = None if opening is None else opening.verdict
    return verdict if isinstance(verdict, Refused) else None


def _text_lines(
    stops: list[ToolStops], proposed: "Proposed", turns: int, unread: int
) -> Iterator[str]:
    yield f"{turns} turn{'' if turns == 1 else 's'} would have been stopped"
    if unread:
        yield f"  {unread} of them cannot be read any more"
    for one in stops:
        of = f"{one.stopped} of {one.sessions} session{'' if one.sessions == 1 else 's'}"
        yield f"{escape_line(one.tool)}  {of}: {one.refused} would be refused, {one.asked} asked"
        yield from (f"  {count:>4}  {escape_line(reason)}" for reason, count in one.reasons)
    yield from proposed.lines()


def _json_lines(
    stops: list[ToolStops], proposed: "Proposed", turns: int, unread: int
) -> Iterator[str]:
    yield ascii_json(
        {
            "turns": turns,
            "unread": unread,
            "tools": [one.wire() for one in stops],
            "proposals": proposed.wire(),
            "cannot_tell": len(proposed.untold),
            "notes": [*proposed.notes],
        }
    )
