"""`critic log list`: a line for each record that is asked for, and one for each gap."""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any, Final

from evals.escaping import escape_line
from evals.kinds import EVALUATOR_IDS
from harness.canonical import ascii_json
from harness.commands.cells import write_cells
from harness.commands.known_heads import print_head
from harness.commands.log.checked_rows import CheckedRows
from harness.commands.log.log_filters import (
    EXIT_NOT_SOUND,
    damage_texts,
    filters_of,
    time_text,
    warn,
)
from harness.log.search.listing import Listed, Listing
from harness.log.sql import SqlDecisionLog
from harness.record import Gap
from harness.record.index_row import IndexRow

_LISTS: Final = ("kinds", "checks", "tools")
_SCORES: Final = frozenset(f"{what}_{one}" for one in EVALUATOR_IDS for what in ("score", "status"))
_PLAIN: Final = tuple(
    name for name in IndexRow._fields if name not in {"seq", "status", "at_us", *_SCORES}
)
_CSV_COLUMNS: Final = ("seq", "status", "at", *IndexRow._fields[3:], "ended_by")
"""The columns of a listing as CSV."""


def list_records(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    """Print what the log holds. Return 1 if records are missing or the log is damaged."""
    filters, printed = filters_of(args), _PRINTERS[args.format]
    status, head = 0, log.head()
    if args.format == "csv":
        write_cells(_CSV_COLUMNS)
    checked = CheckedRows(log, Listing(log))
    for one in checked.rows(filters):
        status = EXIT_NOT_SOUND if isinstance(one, Gap) else status
        printed(one)
    print_head(head, args.format, checked.note)
    return warn(damage_texts(checked.problems)) or status


def _print_line(one: Listed | Gap) -> None:
    if isinstance(one, Gap):
        sys.stdout.write(f"{one.first:>6}  {one.text()}\n")
        return
    row = one.row
    time, trace = time_text(row.at_us), escape_line(row.trace or "-")
    sys.stdout.write(f"{row.seq:>6}  {time}  {trace}  {escape_line(_describe_row(one))}\n")


def _describe_row(one: Listed) -> str:
    row = one.row
    if row.status != "begun":
        return f"{row.status}: {row.said or ''}"
    if one.ended_by is None:
        return f"open: an execution began, plan {row.plan} may have run"
    return f"begun: an execution that record {one.ended_by} ends"


def _print_json(one: Listed | Gap) -> None:
    sys.stdout.write(ascii_json(listed_wire(one)) + "\n")


def listed_wire(one: Listed | Gap) -> dict[str, Any]:
    """Return a record or a gap as JSON; what is not known is left out."""
    if isinstance(one, Gap):
        return {"seq": one.first, "status": "missing", "last": one.last, "said": one.text()}
    row = one.row
    wire: dict[str, Any] = {"seq": row.seq, "status": row.status, "at": time_text(row.at_us)}
    wire |= {name: _member(name, value) for name in _PLAIN if (value := getattr(row, name))}
    scores = {
        name: {"status": getattr(row, f"status_{name}"), "score": getattr(row, f"score_{name}")}
        for name in EVALUATOR_IDS
        if getattr(row, f"score_{name}") is not None
    }
    wire |= {"scores": scores} if scores else {}
    if row.status == "begun":
        wire |= {"open": True} if one.ended_by is None else {"ended_by": one.ended_by}
    return wire


def _member(name: str, value: Any) -> Any:
    if name in _LISTS:
        return value.split()
    return _name_in_column(value) if name == "session" else value


def _name_in_column(column: str) -> str:
    """Return the name that a column says: it has the escapes of JSON."""
    try:
        return str(json.loads(f'"{column}"'))
    except ValueError:
        return column


def _print_cells(one: Listed | Gap) -> None:
    if isinstance(one, Gap):
        texts = {"seq": one.first, "status": "missing", "said": one.text()}
        write_cells(texts.get(name) for name in _CSV_COLUMNS)
        return
    seq, status, at_us, *rest = one.row
    texts_only = (value.strip() if isinstance(value, str) else value for value in rest)
    write_cells((seq, status, time_text(at_us), *texts_only, one.ended_by))


_PRINTERS: Final[dict[str, Callable[[Listed | Gap], None]]] = {
    "text": _print_line,
    "json": _print_json,
    "csv": _print_cells,
}
