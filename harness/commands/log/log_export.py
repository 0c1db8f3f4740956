"""`critic log export`: a log for other tools, as Parquet or as decision-log events of OPA.

A file gets its name when it is complete, so an interrupted export leaves another name. A missing
record has its own row or event.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from harness.audit.record_texts import RecordTexts, texts_of
from harness.audit.tables.table_folder import add_to_tables
from harness.audit.tables.turn_search import Content
from harness.canonical import ascii_json
from harness.commands.known_heads import print_head
from harness.commands.log.checked_rows import CheckedRow, CheckedRows
from harness.commands.log.log_filters import (
    EXIT_NOT_SOUND,
    content_asked,
    damage_texts,
    filters_of,
    search_of,
    time_text,
    warn,
)
from harness.commands.log.log_list import listed_wire
from harness.commands.recorded import RecordedWire, WireReader
from harness.errors import UsageError, escape_text
from harness.log.search.listing import Listed, Listing
from harness.log.search.query import Filters
from harness.log.sql import SqlDecisionLog
from harness.record import Gap
from harness.record.closed_words import REDACTED, SEALED, TEXT_MEMBER
from harness.record.index_row import IndexRow
from harness.replay.index_check import IndexedReader
from harness.replay.log_check import check_log
from harness.what_if.columns.column_writing import plan_fields, plan_metadata, writer_options
from harness.what_if.columns.exporting import TriedRow, plan_groups
from harness.what_if.columns.plan_columns import HEAD_KEY
from harness.whole_files import new_file

PARQUET_FORMAT: Final = "1"
"""The version of the columns, in the metadata of the file under `plan-critic.log`."""

_ROWS: Final = 20_000  # rows of a group
_EVENTS: Final = 32  # records in memory together
_TYPES: Final[dict[Any, str]] = {
    int: "int64",
    int | None: "int64",
    float | None: "float64",
    str | None: "string",
}


_FIELDS: Final = {
    **{name: _TYPES[kind] for name, kind in IndexRow.__annotations__.items()},
    **dict.fromkeys(RecordTexts._fields, "string"),
    "ended_by": "int64",
    "fate": "string",
}


def export_log(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    """Write the requested records. Return 1 if records are missing or the log is damaged."""
    if args.folder is not None:
        return _export_tables(args, log)
    if args.output is None:
        raise UsageError("name a file with -o, or a folder for tables: --to parquet FOLDER")
    to_print = args.output == "-"
    if to_print and args.form == "parquet":
        raise UsageError("--output -: Parquet is not for a terminal or a pipe: name a file")
    if args.plans and args.form != "parquet":
        raise UsageError("--plans goes with --to parquet: events hold the inputs already")
    head, listing, search = log.head(), Listing(log), search_of(args, log)
    filters = search.filters
    gaps = any(True for _ in listing.gaps())
    if args.form == "parquet":
        wrote = _write_parquet(Path(args.output), log, listing, filters, plans=args.plans)
    elif to_print:
        wrote = _write_events(sys.stdout, log, listing, filters)
    else:
        with new_file(Path(args.output)) as partial, partial.open("w") as out:
            wrote = _write_events(out, log, listing, filters)
    turns = len(listing.turns(filters))
    if not to_print:
        records = f"{wrote.records} record{'' if wrote.records == 1 else 's'}"
        of = f" of {turns} turn{'' if turns == 1 else 's'}"
        sys.stdout.write(f"{records}{of} written to {escape_text(args.output[-200:])}\n")
        missing = [gap.text() for gap in islice(listing.gaps(), 100)]
        sys.stdout.writelines(f"{text}\n" for text in missing)
    print_head(head, "json" if to_print else "text", *search.notes(listing, turns), wrote.note)
    problems = dict.fromkeys([*wrote.problems, *search.problems])
    return warn(damage_texts(problems)) or (EXIT_NOT_SOUND if gaps else 0)


def _export_tables(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    """Add new records to the tables in a folder. Return 1 if records are missing or damaged."""
    is_whole = filters_of(args) == Filters() and content_asked(args) == Content()
    if not is_whole or args.text is not None or args.plans or args.output is not None:
        what = "tables are of a whole log, and in their folder"
        raise UsageError(f"{what}: leave out filters, --plans and -o, and ask `critic log query`")
    added = add_to_tables(Path(args.folder), log)
    turns = f"{added.turns} turn{'' if added.turns == 1 else 's'}"
    records = f"{added.records} new record{'' if added.records == 1 else 's'}"
    sys.stdout.write(f"{records}: {turns} written to {escape_text(args.folder[-200:])}\n")
    print_head(added.folder.last, "text")
    return warn(damage_texts(added.folder.problems))


class _Written(NamedTuple):
    """The number of written records, the problems of the log, and what was not compared."""

    records: int
    problems: Sequence[str]
    note: str = ""


def _write_parquet(
    path: Path, log: SqlDecisionLog, listing: Listing, filters: Filters, *, plans: bool
) -> _Written:
    try:
        import pyarrow  # noqa: PLC0415 - large, and only for this
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'plan-critic[parquet]'") from None
    head, last = log.head(), listing.last if filters == Filters() else None
    about = {
        "plan-critic.log": PARQUET_FORMAT,
        HEAD_KEY: f"{head.seq}:{head.hash}",
        **(plan_metadata(check_log(log), last) if plans else {}),
    }
    fields = [pyarrow.field(name, getattr(pyarrow, kind)()) for name, kind in _FIELDS.items()]
    schema = pyarrow.schema([*fields, *(plan_fields() if plans else ())]).with_metadata(about)
    checked, count = CheckedRows(log, listing), 0
    rows = checked.rows(filters)
    groups = plan_groups(rows, log) if plans else _groups(rows)
    options = writer_options() if plans else {}
    with (
        new_file(path) as partial,
        pyarrow.parquet.ParquetWriter(partial, schema, **options) as writer,
    ):
        for group, further in groups:
            count += sum(isinstance(one, CheckedRow) for one in group)
            columns = zip(*map(_cells, group), strict=True)
            arrays = [
                pyarrow.array(column, type=field.type)
                for column, field in zip(columns, fields, strict=True)
            ]
            writer.write_table(pyarrow.Table.from_arrays([*arrays, *further], schema=schema))
    return _Written(count, checked.problems, checked.note)


def _groups(
    rows: Iterator[CheckedRow | Gap],
) -> Iterator[tuple[list[CheckedRow | Gap], list[Any]]]:
    while group := list(islice(rows, _ROWS)):
        yield group, []


def _cells(one: CheckedRow | Gap | TriedRow) -> tuple[Any, ...]:
    if isinstance(one, TriedRow):
        return (*IndexRow(one.seq, None, None), *RecordTexts(), None, None)
    if isinstance(one, Gap):
        texts = RecordTexts(said=one.text())
        return (*IndexRow(one.first, "missing", None), *texts, None, None)
    return (*one.row, *one.texts, one.ended_by, one.fate)


def _write_events(
    out: IO[str], log: SqlDecisionLog, listing: Listing, filters: Filters
) -> _Written:
    reader, wires, count, bad = IndexedReader(log), WireReader(), 0, list[str]()
    rows = listing.rows(filters)
    while page := list(islice(rows, _EVENTS)):
        numbers = [one.row.seq for one in page if isinstance(one, Listed)]
        read = {one.document.raw.seq: one for one in reader.read(numbers)}
        for one in page:
            found = None if isinstance(one, Gap) else read.get(one.row.seq)
            if isinstance(one, Gap) or found is None:
                gap = one if isinstance(one, Gap) else Gap(one.row.seq, one.row.seq)
                entry = _missing_entry(gap.first, gap.last, "missing", gap.text())
            else:
                own = one.row if found.row is None else found.row
                texts = texts_of(found.document.value)
                shown = CheckedRow(own, one.ended_by, one.fate, texts)
                entry = _record_entry(shown, wires.read(found))
                count += 1
                bad += [entry["error"]["message"]] if "error" in entry else []
            out.write(ascii_json(entry) + "\n")
    own_problems = [one for one in bad if one not in reader.problems()]
    return _Written(count, [*listing.problems, *reader.problems(), *own_problems])


def _record_entry(one: CheckedRow, found: RecordedWire) -> dict[str, Any]:
    if found.problem:
        return _missing_entry(one.row.seq, one.row.seq, "altered", found.problem)
    return _decision_event(one, found)


def _missing_entry(first: int, last: int, code: str, text: str) -> dict[str, Any]:
    error = {"code": code, "message": text}
    return {**_common_members(), "decision_id": f"{code}-{first}-{last}", "error": error}


def _common_members() -> dict[str, Any]:
    return {"labels": {"app": "plan-critic"}, "type": "openpolicyagent.org/decision_logs"}


_ERASED: Final = {
    **{name: f"/custom/{name}" for name in SEALED},
    "asked": "/input/asked",
    TEXT_MEMBER: "/result",
}
"""Where an event has what a record is sealed with as digests."""


def _decision_event(one: CheckedRow, found: RecordedWire) -> dict[str, Any]:
    """Return a record as an event: the input, the result, and its place in the log."""
    wire = found.wire
    event = {
        **_common_members(),
        "decision_id": wire["hash"],
        "path": _path(wire),
        "timestamp": time_text(one.row.at_us),
        "req_id": wire["seq"],
        "custom": {"log": {"prev_hash": wire["prev_hash"], **listed_wire(one)}},
    }
    inputs = {name: one for name, one in found.bodies.items() if name not in found.gone}
    inputs |= {"asked": wire["asked"]} if "asked" in wire else {}
    erased = [f"/input/{name}" for name in found.gone]
    if REDACTED in wire:
        erased += [
            _ERASED[name] for name in found.taken or ("run" if "report" in wire else "asked",)
        ]
    event |= {"input": inputs} if inputs else {}
    event |= {"erased": erased} if erased else {}
    if "report" in wire:
        event["result"] = wire["report"]
        event["custom"]["run"] = wire.get("run")
    return event


def _path(wire: Mapping[str, Any]) -> str:
    if "report" in wire:
        return "critic/score" if "run" in wire or "score" in wire["report"] else "critic/verify"
    return "critic/error" if wire["kind"] == "critic_error" else f"critic/{wire['kind']}"
