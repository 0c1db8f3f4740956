"""`critic log query`: query a log, or its exported tables, in SQL."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from evals.escaping import escape_line
from harness.audit.tables.table_folder import TableFolder, add_to_tables, open_tables
from harness.audit.tables.table_query import Selected, ask_tables
from harness.canonical import ascii_json
from harness.commands.cells import write_cells
from harness.commands.known_heads import known_head, print_head, require_keys_used
from harness.commands.log.log_filters import damage_texts, warn
from harness.errors import UsageError
from harness.log.sql import SqlDecisionLog

_TAKEN_OUT: Final = "SELECT count(*) FROM turns WHERE len(taken_out) > 0"
_SEEN: Final = 200  # rows by which the columns of a table are as wide as they are
_WIDEST: Final = 100  # characters of a cell of a table


def query_log(args: argparse.Namespace) -> int:
    """Print the result of a statement. Return 1 if the log is damaged."""
    require_keys_used(args, "checkpoint")
    with _tables_of(args) as (folder, problems), ask_tables(folder, args.sql) as answer:
        _PRINTERS[args.format](answer)
        print_head(folder.last, args.format, _tell_taken_out(folder))
    return warn(damage_texts(problems))


def _tell_taken_out(folder: TableFolder) -> str:
    """Return of how many turns the tables lack values; nothing if there are none."""
    with ask_tables(folder, _TAKEN_OUT) as answer:
        ((count,),) = answer.rows
    turns = f"{count:,} turn{'' if count == 1 else 's'}"
    return f"{turns} had values taken out: they are null here" if count else ""


@contextmanager
def _tables_of(args: argparse.Namespace) -> Iterator[tuple[TableFolder, tuple[str, ...]]]:
    """Yield the tables of a folder, or those of a log, which are made for this query."""
    place, known = Path(args.log), known_head(args)
    if place.is_dir():
        if known.head is not None or known.checkpoint is not None:
            raise UsageError("--head and --checkpoint are of a log: give them to its export")
        tables = open_tables(place)
        yield tables, tables.problems
        return
    with (
        SqlDecisionLog.open_for_reading(args.log) as log,
        TemporaryDirectory(prefix="critic-tables-") as beside,
    ):
        departures = known.departures(log)
        added = add_to_tables(Path(beside) / "tables", log)
        yield added.folder, (*departures, *added.folder.problems)


def _print_json(answer: Selected) -> None:
    for row in answer.rows:
        wire = {name: _json_value(one) for name, one in zip(answer.columns, row, strict=True)}
        sys.stdout.write(ascii_json(wire) + "\n")


def _json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _json_value(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(one) for one in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    is_json = value is None or isinstance(value, str | bool | int)
    if is_json or (isinstance(value, float) and abs(value) < float("inf")):
        return value
    return _cell_text(value)


def _cell_text(value: Any) -> str:
    """Return a value as text, with times as in the log."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return f"{value.isoformat()}Z" if value.tzinfo is None else value.isoformat()
    if isinstance(value, dict | list | tuple):
        return ascii_json(_json_value(value))
    return value.isoformat() if isinstance(value, date) else str(value)


def _print_cells(answer: Selected) -> None:
    write_cells(answer.columns)
    for row in answer.rows:
        numbers = (int, float)
        write_cells(one if type(one) in numbers else _cell_text(one) for one in row)


def _print_table(answer: Selected) -> None:
    """Print a table for people. Very wide cells are cut; in JSON and CSV never."""
    rows = (tuple(map(_show_cell, row)) for row in answer.rows)
    names, first = tuple(map(_show_cell, answer.columns)), list(islice(rows, _SEEN))
    widths = [max(map(len, column)) for column in zip(names, *first, strict=True)]
    count = 0
    for row in chain([names, tuple("-" * width for width in widths)], first, rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write(f"{line.rstrip()}\n")
        count += 1
    sys.stdout.write(f"{count - 2} row{'' if count == 3 else 's'}\n")


def _show_cell(value: Any) -> str:
    text = escape_line(_cell_text(value))
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


_PRINTERS: Final[dict[str, Callable[[Selected], None]]] = {
    "text": _print_table,
    "json": _print_json,
    "csv": _print_cells,
}
