"""`critic log list`: a line for each requested turn or record, and one for each gap."""

import argparse
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from evals.escaping import escape_line
from evals.kinds import EVALUATOR_IDS, Fate
from evals.plan import SHELL_ADAPTER
from harness.audit.record_texts import RecordTexts
from harness.canonical import ascii_json
from harness.commands.cells import write_cells
from harness.commands.known_heads import print_head
from harness.commands.log.checked_rows import CheckedRow, CheckedRows
from harness.commands.log.log_filters import (
    EXIT_NOT_SOUND,
    damage_texts,
    search_of,
    time_text,
    warn,
)
from harness.log.search.listing import Listing
from harness.log.search.turns import RED, TurnRecords, TurnTable
from harness.log.sql import SqlDecisionLog
from harness.record import Gap
from harness.record.index_row import SHADOW, IndexRow, name_in_column

_LISTS: Final = ("kinds", "checks", "tools")
_SCORES: Final = frozenset(f"{what}_{one}" for one in EVALUATOR_IDS for what in ("score", "status"))
_PLAIN: Final = tuple(
    name for name in IndexRow._fields if name not in {"seq", "status", "at_us", "facts", *_SCORES}
)
_CSV_OF_ROW: Final = ("seq", "fate", "status", "at", *IndexRow._fields[3:])
_CSV_COLUMNS: Final = (*_CSV_OF_ROW, *RecordTexts._fields, "ended_by")
"""The columns of a listing of records as CSV."""
_OF_TURN: Final = (
    *("trace", "session", "of_tenant", "of_user", "turn", "mode"),
    *("kind", "tool", "tools", "plan", "steps"),
)
_AT_END: Final = ("answered", "approver", "tokens", "wall_ms", "cost_micros", *RecordTexts._fields)
_TURN_COLUMNS: Final = (
    *("seq", "fate", "after_yes", "shadow", "at", "records"),
    *_OF_TURN,
    *_AT_END,
)
"""The columns of a listing of turns: of the first record, and of the last."""
_PAGE: Final = 1000
"""Turns whose columns are fetched together."""


def list_log(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    """Print the listing. Return 1 if the log is damaged, or a refused turn ran."""
    search, printed = search_of(args, log), _PRINTERS[args.format]
    filters = search.filters
    status, head = 0, log.head()
    if args.format == "csv":
        write_cells(_CSV_COLUMNS if args.records else _TURN_COLUMNS)
    listing = Listing(log)
    checked = CheckedRows(log, listing)
    turns = None if args.records else listing.turns(filters)
    for one in checked.rows(filters) if turns is None else _list_turns(listing, checked, turns):
        is_red = not isinstance(one, Gap) and one.fate == RED
        status = EXIT_NOT_SOUND if is_red or isinstance(one, Gap) else status
        printed(one)
    count = None if turns is None else len(turns)
    print_head(head, args.format, *search.notes(listing, count), checked.note)
    return warn(damage_texts(dict.fromkeys([*checked.problems, *search.problems]))) or status


def _list_turns(
    listing: Listing, checked: CheckedRows, wanted: TurnTable
) -> Iterator["ListedTurn | Gap"]:
    """Yield the turns, and before each the gaps before its first record."""
    gaps, turns = listing.gaps(), wanted.turns()
    gap = next(gaps, None)
    while page := list(islice(turns, _PAGE)):
        rows = checked.rows_of([number for turn in page for number in turn.records])
        for turn in page:
            while gap is not None and gap.last < turn.first and turn.fate != RED:
                yield gap
                gap = next(gaps, None)
            if found := [rows[number] for number in turn.records if number in rows]:
                yield ListedTurn(turn.as_recorded(one.row.facts for one in found), found)
    while gap is not None:
        yield gap
        gap = next(gaps, None)


class ListedTurn(NamedTuple):
    """A turn, and its records."""

    turn: TurnRecords
    rows: list[CheckedRow]

    @property
    def fate(self) -> Fate:
        """Its fate."""
        return self.turn.fate

    @property
    def row(self) -> IndexRow:
        """The columns of its first record."""
        return self.rows[0].row

    def said_last(self, name: str) -> Any:
        """Return the last known value in a column or a text of its records."""
        told = [one.texts if name in RecordTexts._fields else one.row for one in self.rows[::-1]]
        return next((said for one in told if (said := getattr(one, name))), None)

    def wire(self) -> dict[str, Any]:
        """Return it as JSON, without unknown members."""
        wire = {"seq": self.turn.first, **self.turn.wire(), "at": time_text(self.row.at_us)}
        columns = {name: getattr(self.row, name) for name in _OF_TURN}
        columns |= {name: self.said_last(name) for name in _AT_END}
        columns |= {"said": _why(self)} if self.fate == "open" else {}
        return wire | {name: member(name, value) for name, value in columns.items() if value}


def _print_line(one: CheckedRow | ListedTurn | Gap) -> None:
    if isinstance(one, Gap):
        sys.stdout.write(f"{one.first:>6}  {one.text()}\n")
        return
    row = one.row
    time, trace = time_text(row.at_us), escape_line(row.trace or "-")
    trace += f" for {escape_line(row.of_user)}" if row.of_user else ""
    text = f"{one.fate}: {_why(one)}" if isinstance(one, ListedTurn) else _describe_row(one)
    text = ": ".join([*_name_effects(row), text])
    sys.stdout.write(f"{row.seq:>6}  {time}  {trace}  {escape_line(text)}\n")


def _name_effects(row: IndexRow) -> Iterator[str]:
    """Yield what the shell commands of a plan do, by the names of the effects."""
    prefix = f"{SHELL_ADAPTER}/"
    tools = (row.tools or "").split()
    if named := [one.removeprefix(prefix) for one in tools if one.startswith(prefix)]:
        yield ", ".join(named)


def _why(one: ListedTurn) -> str:
    """Return the reason for the decision about a turn; a stricter ruling's reason comes first."""
    said, error = one.said_last("said"), one.said_last("error")
    if one.fate == "open":
        began = next((it.row.seq for it in one.rows[::-1] if it.row.status == "begun"), None)
        text = f"an execution began in record {began}, and no record ends it: it may have run"
        return f"{text}; {said}" if one.turn.shadow and said else text
    if said is None:
        return "its reason cannot be read"
    return f"{error}; {said}" if one.fate == "refused" and error else f"{said}"


def _describe_row(one: CheckedRow) -> str:
    row, said = one.row, one.texts.said or ""
    if one.fate is None:
        return f"{row.status}: {said}"
    if row.status != "begun":
        overtaken = "" if one.ended_by is None else f", overtaken by record {one.ended_by}"
        return f"{one.fate}: {row.status}: {said}{overtaken}"
    if one.ended_by is None:
        return f"{one.fate}: an execution began, plan {row.plan} may have run"
    return f"{one.fate}: begun: an execution that record {one.ended_by} ends"


def _print_json(one: CheckedRow | ListedTurn | Gap) -> None:
    wire = one.wire() if isinstance(one, ListedTurn) else listed_wire(one)
    sys.stdout.write(ascii_json(wire) + "\n")


def listed_wire(one: CheckedRow | Gap) -> dict[str, Any]:
    """Return a record or a gap as JSON, without unknown members."""
    if isinstance(one, Gap):
        return {"seq": one.first, "status": "missing", "last": one.last, "said": one.text()}
    row = one.row
    fate = {} if one.fate is None else {"fate": one.fate}
    wire: dict[str, Any] = {"seq": row.seq, **fate, "status": row.status}
    wire |= {"shadow": True} if row.action == SHADOW else {}
    wire["at"] = time_text(row.at_us)
    wire |= {name: member(name, value) for name in _PLAIN if (value := getattr(row, name))}
    wire |= {name: text for name, text in one.texts._asdict().items() if text}
    scores = {
        name: {"status": getattr(row, f"status_{name}"), "score": getattr(row, f"score_{name}")}
        for name in EVALUATOR_IDS
        if getattr(row, f"score_{name}") is not None
    }
    wire |= {"scores": scores} if scores else {}
    if one.ended_by is not None:
        return wire | {"ended_by": one.ended_by}
    return wire | ({"open": True} if row.status == "begun" else {})


def member(name: str, value: Any) -> Any:
    """Return the value of a column as JSON."""
    if name in _LISTS:
        return value.split()
    return name_in_column(value) if name == "session" else value


def _print_cells(one: CheckedRow | ListedTurn | Gap) -> None:
    if isinstance(one, Gap):
        texts = {"seq": one.first, "fate": "missing", "status": "missing", "said": one.text()}
        write_cells(texts.get(name) for name in _CSV_COLUMNS)
    elif isinstance(one, ListedTurn):
        wire = one.wire()
        cells = ((name, wire.get(name)) for name in _TURN_COLUMNS)
        write_cells(" ".join(map(str, it)) if isinstance(it, list) else it for _, it in cells)
    else:
        seq, status, at_us, *rest = one.row
        texts_only = (value.strip() if isinstance(value, str) else value for value in rest)
        write_cells(
            (seq, one.fate, status, time_text(at_us), *texts_only, *one.texts, one.ended_by)
        )


_PRINTERS: Final[dict[str, Callable[[CheckedRow | ListedTurn | Gap], None]]] = {
    "text": _print_line,
    "json": _print_json,
    "csv": _print_cells,
}
