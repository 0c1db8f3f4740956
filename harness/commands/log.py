"""`critic log list|show|verify`: look at a decision log."""

import argparse
import json
import sys

import orjson

from evals.instant import format_time
from evals.text import one_line
from harness.commands.complaint import UsageError
from harness.commands.replay import parse_head, tell, with_progress
from harness.log.record import DecisionRecord
from harness.log.sql import SqlDecisionLog
from harness.replay.replay import replay


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
        said = f"{report.status}: {one_line(report.rationale)}"
        sys.stdout.write(f"{record.seq:>6}  {time}  {report.trace_id}  {said}\n")
    return 0


def _show(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    shown = _document(_record(args.seq, log), log)
    # The standard library's writer, because it escapes all but ASCII: nothing that a plan holds
    # may steer the terminal. DEL, which JSON leaves as it is, is escaped by hand.
    text = json.dumps(shown, indent=2).replace("\x7f", "\\u007f")
    sys.stdout.write(text + "\n")
    return 0


def _record(seq: int, log: SqlDecisionLog) -> DecisionRecord:
    record = next(log.records(seq), None) if seq > 0 else None
    if record is None or record.seq != seq:
        raise UsageError(f"there is no record {seq}: the last one is {log.head().seq}")
    return record


def _document(record: DecisionRecord, log: SqlDecisionLog) -> dict[str, object]:
    """The record, with its inputs in place of their digests beside them."""
    wire = record.wire()
    bodies = {name: log.input(digest) for name, digest in wire["inputs"].items()}
    present = {name: orjson.loads(body) for name, body in bodies.items() if body is not None}
    return {**wire, "input_bodies": present}


def _verify(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    head = log.head()
    answers = replay(log, head=parse_head(args.head), judge=False)
    counts = tell(with_progress(answers, head.seq), as_json=False)
    sound = counts["same"] == sum(counts.values())
    said = "hashes and chain hold" if sound else "hashes or chain do not hold"
    sys.stdout.write(f"{sum(counts.values())} records: {said}\nhead {head.seq}:{head.hash}\n")
    return 0 if sound else 1
