"""`critic log list|show|verify|upgrade|roles`: look at a log, copy it, or say who may use it."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evals.escaping import escape_line
from evals.timestamps import format_time
from harness.commands.output import ascii_json
from harness.commands.replay import (
    count_of_records,
    parse_head,
    print_answers,
    print_check,
    with_progress,
)
from harness.errors import UsageError
from harness.log.places import is_url
from harness.log.sql import SqlDecisionLog
from harness.record import BegunRecord, DecisionRecord, Gap, LogRecord
from harness.record.drafts import begun_claim
from harness.record.parts import Whole
from harness.replay.engine import replay
from harness.replay.log_check import check_log
from harness.wire import InvalidInput, parse_json

_EXIT_NOT_SOUND = 1


def run(args: argparse.Namespace) -> int:
    """Run the action. Return 1 if records are missing or the log is not sound."""
    if args.action in ("upgrade", "roles"):
        return _upgrade(args) if args.action == "upgrade" else _roles(args)
    actions = {"list": _list, "show": _show, "verify": _verify}
    with SqlDecisionLog.open_for_reading(args.log) as log:
        return actions[args.action](args, log)


def _list(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    gaps = list(log.gaps())
    waiting = iter([*gaps, None])
    gap = next(waiting)
    for record in log.entries():
        while gap is not None and gap.last < record.seq:
            sys.stdout.write(f"{gap.first:>6}  {gap.text()}\n")
            gap = next(waiting)
        if args.trace in (None, _trace_of(record)):
            sys.stdout.write(f"{record.seq:>6}  {_line(record, log)}\n")
    return _warn([], log.problems) or (_EXIT_NOT_SOUND if gaps else 0)


def _trace_of(record: LogRecord) -> str | None:
    return record.report.trace_id if isinstance(record, DecisionRecord) else record.trace_id


def _line(record: LogRecord, log: SqlDecisionLog) -> str:
    if isinstance(record, DecisionRecord):
        report = record.report
        said = f"{report.status}: {escape_line(report.rationale)}"
        return f"{format_time(report.decided_at)}  {report.trace_id}  {said}"
    if isinstance(record, BegunRecord):
        return f"{format_time(record.begun_at)}  {record.trace_id}  {_progress(record, log)}"
    trace = record.trace_id or "-"
    return f"{format_time(record.failed_at)}  {trace}  critic_error: {escape_line(record.where)}"


def _progress(record: BegunRecord, log: SqlDecisionLog) -> str:
    """Say what became of an execution."""
    claim = begun_claim(record.hash)
    ended = log.claims([claim]).get(claim)
    if ended is None:
        return f"open: an execution began, plan {record.inputs.plan} may have run"
    return f"begun: an execution that record {ended} ends"


def _show(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    gaps = list(log.gaps())
    if not any(gap.first <= args.seq <= gap.last for gap in gaps):
        shown = _document(_record(args.seq, log), log)
        sys.stdout.write(ascii_json(shown, indent=2) + "\n")
    return _warn(gaps, log.problems)


def _warn(gaps: Sequence[Gap], problems: Sequence[str]) -> int:
    """Print what is wrong with the log on standard error; return the exit status."""
    warnings = [gap.text() for gap in gaps]
    warnings += [f"the log is damaged: {problem}" for problem in problems]
    if not warnings:
        return 0
    sys.stdout.flush()
    sys.stderr.writelines(f"critic: {warning}\n" for warning in warnings)
    return _EXIT_NOT_SOUND


def _record(seq: int, log: SqlDecisionLog) -> LogRecord:
    last = log.head().seq
    record = next(log.entries(seq), None) if 0 < seq <= last else None
    if record is None:
        raise UsageError(f"no such record: {seq}: the last one is {last}")
    if record.seq != seq:
        raise UsageError(f"record {seq} claims to be record {record.seq}: replay the log")
    return record


def _document(record: LogRecord, log: SqlDecisionLog) -> dict[str, object]:
    """Return the record as JSON, with the bodies of its inputs added."""
    wire = record.wire()
    if "inputs" not in wire:
        return wire
    wholes = {name: log.whole_input(digest) for name, digest in wire["inputs"].items()}
    present = {name: _shown(whole) for name, whole in wholes.items() if not whole.missing}
    return {**wire, "input_bodies": present}


def _shown(whole: Whole) -> object:
    if whole.redacted:
        return f"redacted: part {', '.join(whole.redacted)}"
    if (body := whole.data) is None:
        return f"cannot be put together: {whole.broken}"
    try:
        return parse_json(body)
    except InvalidInput as error:
        return f"{len(body)} bytes that cannot be read: {error}"


def _verify(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    head = log.head()
    answers = replay(log, head=parse_head(args.head), judge=False)
    counts = print_answers(with_progress(answers, head.seq), Counter(), as_json=False)
    check = check_log(log)
    print_check(check, as_json=False)
    total = sum(counts.values())
    redacted = counts["redacted"]
    unbroken = counts["same"] + redacted == total
    result = "hashes and chain hold" if unbroken else "hashes or chain do not hold"
    result += f", {redacted} redacted" if redacted else ""
    sys.stdout.write(f"{count_of_records(total)}: {result}\nhead {head.seq}:{head.hash}\n")
    return 0 if counts["same"] == total and check else _EXIT_NOT_SOUND


def _upgrade(args: argparse.Namespace) -> int:
    from harness.log.upgrade import upgrade_log  # noqa: PLC0415 - nothing else writes a log here

    if is_url(args.log) or is_url(args.new):
        raise UsageError("a log in PostgreSQL has the present format: upgrade copies files alone")
    head = upgrade_log(Path(args.log), Path(args.new), with_progress)
    sys.stdout.write(f"{head.seq} records copied and compared\nhead {head.seq}:{head.hash}\n")
    return 0


def _roles(args: argparse.Namespace) -> int:
    from harness.log.postgres_roles import role_grants  # noqa: PLC0415 - asked for once in a log

    sys.stdout.write(role_grants(args.log, args.writer, args.auditor))
    return 0
