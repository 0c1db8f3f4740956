"""`critic report`: a decision log as one page of HTML."""

import argparse
import sys
from pathlib import Path
from typing import Final

from harness.audit.report.collecting import Collected, collect
from harness.audit.report.page_turns import PageTurn
from harness.audit.report.report_page import render_page
from harness.commands.known_heads import known_head, print_head, require_keys_used
from harness.commands.replay.replay_text import count_of_records, describe_red
from harness.errors import UsageError, escape_text
from harness.log.search.turns import TurnRecords
from harness.log.sql import SqlDecisionLog
from harness.whole_files import replace_file

_EXIT_NOT_SOUND = 1
_MOST_BYTES: Final = 6_000_000  # of details: a page of 10,000 turns is below 10 MB with them
_MOST_SAID: Final = 20


def run(args: argparse.Namespace) -> int:
    """Write the page. Return 1 if the log is not sound, or calls ran although refused."""
    output = Path(args.output)
    if args.output == "-":
        raise UsageError("--output -: the page is put in place as a whole: name a file")
    _keep_log(args.log, output)
    require_keys_used(args, "checkpoint")
    known = known_head(args)
    with SqlDecisionLog.open_for_reading(args.log) as log:
        departures = known.departures(log)
        found = collect(log, args.last, _MOST_BYTES)
    found.problems = (*departures, *found.problems)
    replace_file(output, map(str.encode, render_page(found, _log_name(args.log))))
    sys.stdout.write(f"{escape_text(args.output)}: {count_of_records(found.answers.total())}\n")
    sys.stdout.writelines(f"note: {line}\n" for line in _left_out(found))
    print_head(found.head)
    red = found.turns_of("ran_although_refused")
    return 0 if found.sound and not red else _warn(found, red)


def _keep_log(log: str, output: Path) -> None:
    # Not by name alone: a link to the log is the log.
    if "://" not in log and output.exists() and Path(log).exists() and output.samefile(log):
        raise UsageError(f"{escape_text(log)} is the log: name another file for the page")


def _log_name(log: str) -> str:
    """Return what the page calls the log: no folder of this machine, and no password of a URL."""
    return "LOG" if "://" in log else Path(log).name


def _left_out(found: Collected) -> list[str]:
    lines = []
    if found.first > 1:
        earlier = count_of_records(found.first - 1)
        lines.append(f"{earlier} before record {found.first} left out: --last N shows more")
    if found.details.dropped:
        lines.append(
            f"the {count_of_records(found.details.dropped)} that are oldest here cannot be opened: "
            "the page would be too large"
        )
    return lines


def _warn(found: Collected, red: list[PageTurn]) -> int:
    """Print what is wrong on standard error, red turns first; return the exit status."""
    lines = [describe_red(TurnRecords(tuple(turn.records), turn.facts)) for turn in red]
    lines += [gap.text() for gap in found.gaps]
    lines += [f"the log is damaged: {problem}" for problem in found.problems]
    checked = found.checked.items()
    lines += [f"record {seq}: {one.status}" for seq, one in checked if one.status != "open"]
    more = len(lines) - _MOST_SAID
    said = lines[:_MOST_SAID] + ([f"and {more} more: `critic log verify`"] if more > 0 else [])
    sys.stdout.flush()
    sys.stderr.writelines(f"critic: {line}\n" for line in said)
    return _EXIT_NOT_SOUND
