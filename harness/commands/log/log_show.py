"""`critic log show`: print one record for a person, as JSON, or its steps as CSV."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from evals.escaping import escape_line
from harness.canonical import ascii_json
from harness.commands.cells import write_cells
from harness.commands.known_heads import print_head
from harness.commands.log.log_filters import damage_texts, warn
from harness.commands.log.log_text import RecordShown, describe_end, record_lines, step_cells
from harness.commands.recorded import RecordedWire, WireReader
from harness.errors import UsageError
from harness.log.search.query import Filters
from harness.log.search.turns import TurnRecords, TurnTable
from harness.log.sql import SqlDecisionLog
from harness.record import Gap
from harness.record.drafts import begun_claim
from harness.record.index_row import IndexRow
from harness.replay.index_check import IndexedReader

_STEP_COLUMNS: Final = (
    "seq",
    "step",
    "tool",
    "tier",
    "args",
    "evidence",
    "violations",
    "called",
)
"""The columns of `--format csv`: a row for each step of the plan."""


def show_record(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    """Print a record. Return 1 if it is missing or altered, or the log is damaged.

    Only the records of its turn are read. A record that does not match its hash is not printed, nor
    one with an input that does not match its digest.
    """
    head = log.head()
    if not 0 < args.seq <= head.seq:
        raise UsageError(f"no such record: {args.seq}: the last one is {head.seq}")
    reader = IndexedReader(log)
    found = next(reader.read([args.seq]), None)
    if found is None:
        return warn([Gap(args.seq, args.seq).text(), *damage_texts(log.problems)])
    shown = WireReader().read(found)
    if shown.problem:
        return warn([shown.problem, *damage_texts(log.problems)])
    form = args.format or ("text" if sys.stdout.isatty() else "json")
    turn, missing = _turn_of(log, found.row or _kept_row(log, args.seq), head.seq, reader)
    for text in _render_record(form, shown, log, turn):
        sys.stdout.write(text)
    print_head(head, form)
    gaps = [Gap(one, one).text() for one in missing]
    return warn([*gaps, *damage_texts([*log.problems, *reader.problems()])])


def _turn_of(
    log: SqlDecisionLog, row: IndexRow | None, last: int, reader: IndexedReader
) -> tuple[TurnRecords | None, list[int]]:
    """Return the turn of a record, by the index and its records; and those that are missing.

    The index is searched only by the trace, so the whole log is not counted.
    """
    if row is None or row.trace is None:
        return None, []
    with log.begin_reading() as connection:
        turns = TurnTable(connection, Filters(trace=row.trace).condition(), frozenset(), last)
    turn = next((one for one in turns.turns() if row.seq in one.records), None)
    if turn is None:
        return None, []
    read = {one.document.raw.seq: one.row for one in reader.read(turn.records)}
    rows = [row or _kept_row(log, seq) for seq, row in read.items()]
    missing = [seq for seq in turn.records if seq not in read]
    return turn.as_recorded(row.facts for row in rows if row is not None), missing


def _kept_row(log: SqlDecisionLog, seq: int) -> IndexRow | None:
    """Return what the index says of a record, of which a part was taken out."""
    kept = log.index([seq]).get(seq)
    return None if kept is None else IndexRow(*kept)


def _render_record(
    form: str, one: RecordedWire, log: SqlDecisionLog, turn: TurnRecords | None
) -> Iterator[str]:
    record = one.wire
    document = {**record, "input_bodies": one.bodies} if "inputs" in record else dict(record)
    if form == "json":
        document |= {} if turn is None else {"turn": turn.wire()}
        yield ascii_json(document, indent=2) + "\n"
        return
    shown = RecordShown.of(document)
    if form == "text":
        lines = record_lines(shown, _describe_end(record, log), turn)
        yield from (f"{escape_line(line)}\n" for line in lines)
        return
    write_cells(_STEP_COLUMNS)
    for cells in step_cells(shown):
        write_cells((record["seq"], *cells))


def _describe_end(record: Mapping[str, Any], log: SqlDecisionLog) -> str:
    """Return the records that end the execution that this one began, or settled."""

    def end_of(own_hash: str) -> tuple[int, str] | None:
        claim = begun_claim(own_hash)
        seq = log.claims([claim]).get(claim)
        return None if seq is None else (seq, "".join(one.hash for one in log.raw_at([seq])))

    return describe_end(record, end_of, "open: it may have run")
