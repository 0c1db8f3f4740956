"""`critic log export`: a log for other tools, as Parquet or as decision-log events of OPA.

A file gets its name when it is whole: what is left of an export that was interrupted has another
name. A missing record is a row, or an event, of its own.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from harness.canonical import ascii_json
from harness.commands.log.log_filters import (
    EXIT_NOT_SOUND,
    damage_texts,
    filters_of,
    time_text,
    warn,
)
from harness.commands.log.log_list import listed_wire
from harness.commands.log.log_show import body_shown
from harness.commands.recorded import REDACTED, record_wires
from harness.errors import UsageError, escape_text
from harness.log.search.listing import Listed, Listing
from harness.log.search.query import Filters
from harness.log.sql import SqlDecisionLog
from harness.record import Gap
from harness.record.index_row import IndexRow
from harness.replay.log_check import check_log
from harness.what_if.columns.column_writing import plan_fields, plan_metadata, writer_options
from harness.what_if.columns.exporting import TriedRow, plan_groups
from harness.whole_files import new_file

PARQUET_FORMAT: Final = "1"
"""The version of the columns, in the metadata of the file under `plan-critic.log`."""

_ROWS: Final = 20_000  # rows of a group
_TYPES: Final[dict[Any, str]] = {
    int: "int64",
    int | None: "int64",
    float | None: "float64",
    str | None: "string",
}


_FIELDS: Final = {
    **{name: _TYPES[kind] for name, kind in IndexRow.__annotations__.items()},
    "ended_by": "int64",
}


def export_log(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    """Write the records that are asked for. Return 1 if records are missing or it is damaged."""
    filters, to_print = filters_of(args), args.output == "-"
    if to_print and args.form == "parquet":
        raise UsageError("--output -: Parquet is not for a terminal or a pipe: name a file")
    if args.plans and args.form != "parquet":
        raise UsageError("--plans goes with --to parquet: events hold the inputs already")
    listing = Listing(log)
    gaps = any(True for _ in listing.gaps())
    if args.form == "parquet":
        count = _write_parquet(Path(args.output), log, listing, filters, plans=args.plans)
    elif to_print:
        count = _write_events(sys.stdout, log, listing, filters)
    else:
        with new_file(Path(args.output)) as partial, partial.open("w") as out:
            count = _write_events(out, log, listing, filters)
    if not to_print:
        records = f"{count} record{'' if count == 1 else 's'}"
        sys.stdout.write(f"{records} written to {escape_text(args.output[-200:])}\n")
        missing = [gap.text() for gap in islice(listing.gaps(), 100)]
        sys.stdout.writelines(f"{text}\n" for text in missing)
    return warn(damage_texts(listing.problems)) or (EXIT_NOT_SOUND if gaps else 0)


def _write_parquet(
    path: Path, log: SqlDecisionLog, listing: Listing, filters: Filters, *, plans: bool
) -> int:
    try:
        import pyarrow  # noqa: PLC0415 - large, and only for this
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'plan-critic[parquet]'") from None
    head, last = log.head(), listing.last if filters == Filters() else None
    about = {
        "plan-critic.log": PARQUET_FORMAT,
        "plan-critic.head": f"{head.seq}:{head.hash}",
        **(plan_metadata(check_log(log), last) if plans else {}),
    }
    fields = [pyarrow.field(name, getattr(pyarrow, kind)()) for name, kind in _FIELDS.items()]
    schema = pyarrow.schema([*fields, *(plan_fields() if plans else ())]).with_metadata(about)
    rows, count = listing.rows(filters), 0
    groups = plan_groups(rows, log) if plans else _groups(rows)
    options = writer_options() if plans else {}
    with (
        new_file(path) as partial,
        pyarrow.parquet.ParquetWriter(partial, schema, **options) as writer,
    ):
        for group, further in groups:
            count += sum(isinstance(one, Listed) for one in group)
            columns = zip(*map(_cells, group), strict=True)
            arrays = [
                pyarrow.array(column, type=field.type)
                for column, field in zip(columns, fields, strict=True)
            ]
            writer.write_table(pyarrow.Table.from_arrays([*arrays, *further], schema=schema))
    return count


def _groups(rows: Iterator[Listed | Gap]) -> Iterator[tuple[list[Listed | Gap], list[Any]]]:
    while group := list(islice(rows, _ROWS)):
        yield group, []


def _cells(one: Listed | Gap | TriedRow) -> tuple[Any, ...]:
    if isinstance(one, TriedRow):
        return (*IndexRow(one.seq, None, None), None)
    if isinstance(one, Gap):
        return (*IndexRow(one.first, "missing", None, said=one.text()), None)
    return (*one.row, one.ended_by)


def _write_events(out: IO[str], log: SqlDecisionLog, listing: Listing, filters: Filters) -> int:
    records, inputs, count = record_wires(log), _Inputs(log), 0
    for one in listing.rows(filters):
        if isinstance(one, Gap):
            out.write(ascii_json(_missing_entry(one)) + "\n")
            continue
        # Both are in order, and a search of a record by itself would read those after it.
        record = next(record for record in records if record["seq"] == one.row.seq)
        out.write(ascii_json(_decision_event(one, record, inputs)) + "\n")
        count += 1
    return count


def _missing_entry(gap: Gap) -> dict[str, Any]:
    error = {"code": "missing", "message": gap.text()}
    return {**_common_members(), "decision_id": f"missing-{gap.first}-{gap.last}", "error": error}


def _common_members() -> dict[str, Any]:
    return {"labels": {"app": "plan-critic"}, "type": "openpolicyagent.org/decision_logs"}


def _decision_event(one: Listed, wire: dict[str, Any], shown: "_Inputs") -> dict[str, Any]:
    """Return a record as an event: what was asked, what was answered, and its place in the log."""
    event = {
        **_common_members(),
        "decision_id": wire["hash"],
        "path": _path(wire),
        "timestamp": time_text(one.row.at_us),
        "req_id": wire["seq"],
        "custom": {"log": {"prev_hash": wire["prev_hash"], **listed_wire(one)}},
    }
    inputs, erased = shown.inputs_of(wire)
    if REDACTED in wire:
        erased.append("/custom/run" if "report" in wire else "/input/asked")
    event |= {"input": inputs} if inputs else {}
    event |= {"erased": erased} if erased else {}
    if "report" in wire:
        event["result"] = wire["report"]
        event["custom"]["run"] = wire.get("run")
    return event


def _path(wire: dict[str, Any]) -> str:
    if "report" in wire:
        return "critic/score" if "run" in wire or REDACTED in wire else "critic/verify"
    return "critic/begun" if wire.get("kind") == "begun" else "critic/error"


class _Inputs:
    """The inputs of records. One that the record before named too is read once."""

    def __init__(self, log: SqlDecisionLog) -> None:
        self._log = log
        self._last: dict[str, tuple[str, Any]] = {}

    def inputs_of(self, wire: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return the inputs of a record, and where some of them cannot be had any more."""
        inputs: dict[str, Any] = {}
        erased: list[str] = []
        for name, digest in wire.get("inputs", {}).items():
            shown = self._show_input(name, digest)
            if shown is None:
                erased.append(f"/input/{name}")
            else:
                inputs[name] = shown
        if "asked" in wire:
            inputs["asked"] = wire["asked"]
        return inputs, erased

    def _show_input(self, name: str, digest: str) -> Any:
        """Return an input as it is shown, or None: no input is null."""
        before, shown = self._last.get(name, ("", None))
        if before != digest:
            whole = self._log.whole_input(digest)
            shown = None if whole.data is None else body_shown(whole)
            self._last[name] = digest, shown
        return shown
