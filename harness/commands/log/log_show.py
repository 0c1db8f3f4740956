"""`critic log show`: one record, as a person reads it, as JSON, or its steps as CSV."""

import argparse
import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from evals.escaping import escape_line
from harness.canonical import ascii_json
from harness.commands.cells import write_cells
from harness.commands.log.log_filters import damage_texts, warn
from harness.commands.log.log_text import RecordShown, record_lines, step_cells
from harness.commands.recorded import record_wires
from harness.errors import UsageError
from harness.log.sql import SqlDecisionLog
from harness.record.drafts import begun_claim
from harness.record.parts import Whole
from harness.wire import InvalidInput, parse_finite_json

_STEP_COLUMNS: Final = (
    "seq",
    "step",
    "tool",
    "tier",
    "args",
    "evidence",
    "refused",
    "called",
)
"""The columns of `--format csv`: a row for each step of the plan."""


def show_record(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    """Print a record. Return 1 if records are missing or the log is damaged."""
    gaps = list(log.gaps())
    if not any(gap.first <= args.seq <= gap.last for gap in gaps):
        record = _record(args.seq, log)
        form = args.format or ("text" if sys.stdout.isatty() else "json")
        for text in _render_record(form, record, log):
            sys.stdout.write(text)
    return warn(chain((gap.text() for gap in gaps), damage_texts(log.problems)))


def _render_record(form: str, record: dict[str, Any], log: SqlDecisionLog) -> Iterator[str]:
    document = _document(record, log)
    if form == "json":
        yield ascii_json(document, indent=2) + "\n"
        return
    shown = RecordShown.of(document)
    if form == "text":
        lines = record_lines(shown, _describe_end(record, log))
        yield from (f"{escape_line(line)}\n" for line in lines)
        return
    write_cells(_STEP_COLUMNS)
    for cells in step_cells(shown):
        write_cells((record["seq"], *cells))


def _describe_end(record: dict[str, Any], log: SqlDecisionLog) -> str:
    """Return which record ends the execution that this one began."""
    if record.get("kind") != "begun":
        return ""
    claim = begun_claim(record["hash"])
    ended_by = log.claims([claim]).get(claim)
    return "open: it may have run" if ended_by is None else f"record {ended_by} ends it"


def _record(seq: int, log: SqlDecisionLog) -> dict[str, Any]:
    last = log.head().seq
    record = next(record_wires(log, seq), None) if 0 < seq <= last else None
    if record is None:
        raise UsageError(f"no such record: {seq}: the last one is {last}")
    if record["seq"] != seq:
        raise UsageError(f"record {seq} claims to be record {record['seq']}: replay the log")
    return record


def _document(wire: dict[str, Any], log: SqlDecisionLog) -> dict[str, Any]:
    """Return the record as JSON, with the bodies of its inputs added."""
    if "inputs" not in wire:
        return wire
    wholes = {name: log.whole_input(digest) for name, digest in wire["inputs"].items()}
    present = {name: body_shown(whole) for name, whole in wholes.items() if not whole.missing}
    return {**wire, "input_bodies": present}


def body_shown(whole: Whole) -> Any:
    """Return an input as JSON, or a text that says why it cannot be had."""
    if whole.redacted:
        return f"redacted: part {', '.join(whole.redacted)}"
    if (body := whole.data) is None:
        return f"cannot be put together: {whole.broken}"
    try:
        return parse_finite_json(body)
    except InvalidInput as error:
        return f"{len(body)} bytes that cannot be read: {error}"
