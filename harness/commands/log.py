"""`critic log list|show|verify`: look at a decision log."""

import argparse
import sys

from evals.escaping import escape_line
from evals.timestamps import format_time
from harness.commands.output import ascii_json
from harness.commands.replay import parse_head, tell, with_progress
from harness.errors import UsageError
from harness.log.sql import SqlDecisionLog
from harness.record import DecisionRecord
from harness.replay.engine import replay
from harness.wire import InvalidInput, parse_json


def run(args: argparse.Namespace) -> int:
    """Do what was asked. Exit status as documented by `critic --help`."""
    actions = {"list": _list, "show": _show, "verify": _verify}
    with SqlDecisionLog.open_for_reading(args.log) as log:
        return actions[args.action](args, log)


def _list(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    del args
    for record in log.records():
        report = record.report
        time = format_time(report.decided_at)
        said = f"{report.status}: {escape_line(report.rationale)}"
        sys.stdout.write(f"{record.seq:>6}  {time}  {report.trace_id}  {said}\n")
    return 0


def _show(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    shown = _document(_record(args.seq, log), log)
    sys.stdout.write(ascii_json(shown, indent=2) + "\n")
    return 0


def _record(seq: int, log: SqlDecisionLog) -> DecisionRecord:
    last = log.head().seq
    record = next(log.records(seq), None) if 0 < seq <= last else None
    if record is None or record.seq != seq:
        raise UsageError(f"there is no record {seq}: the last one is {last}")
    return record


def _document(record: DecisionRecord, log: SqlDecisionLog) -> dict[str, object]:
    """The record, with its inputs in place of their digests beside them."""
    wire = record.wire()
    bodies = {name: log.input(digest) for name, digest in wire["inputs"].items()}
    present = {name: _shown(body) for name, body in bodies.items() if body is not None}
    return {**wire, "input_bodies": present}


def _shown(body: bytes) -> object:
    try:
        return parse_json(body)
    except InvalidInput as error:
        return f"{len(body)} bytes that cannot be read: {error}"


def _verify(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    head = log.head()
    answers = replay(log, head=parse_head(args.head), judge=False)
    counts = tell(with_progress(answers, head.seq), as_json=False)
    sound = counts["same"] == sum(counts.values())
    said = "hashes and chain hold" if sound else "hashes or chain do not hold"
    sys.stdout.write(f"{sum(counts.values())} records: {said}\nhead {head.seq}:{head.hash}\n")
    return 0 if sound else 1
