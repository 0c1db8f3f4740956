"""`critic log stats`: statistics of a whole log."""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from evals.escaping import escape_line
from evals.timestamps import format_time
from harness.canonical import ascii_json
from harness.commands.cells import write_cells
from harness.commands.known_heads import print_head
from harness.commands.log.checked_rows import CheckedRows
from harness.commands.log.log_filters import (
    EXIT_NOT_SOUND,
    damage_texts,
    search_of,
    time_text,
    warn,
)
from harness.log.search.listing import Listing
from harness.log.search.log_statistics import Most, Statistics, log_statistics
from harness.log.search.turns import RED
from harness.log.sql import SqlDecisionLog
from harness.record import Gap
from harness.record.index_row import time_of

_MOST_GAPS: Final = 100  # that are named; the rest is counted
_MOST_LINES: Final = 20  # of one kind, for a person
_DAY: Final = 86_400_000_000
_OF_PLAN: Final = "(the plan as a whole, or taken out)"


def show_statistics(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    """Print the numbers. Return 1 if the log is damaged, or a refused turn ran."""
    search = search_of(args, log)
    head, listing = log.head(), Listing(log)
    checked, gaps = CheckedRows(log, listing), listing.gaps()
    named = list(islice(gaps, _MOST_GAPS))
    more = sum(1 for _ in gaps)
    found = log_statistics(listing, search.filters)
    _PRINTERS[args.format](found, named, more)
    print_head(head, args.format, *search.notes(listing, found.turns), checked.note)
    is_sound = not named and not found.fates.get(RED)
    problems = dict.fromkeys([*checked.problems, *search.problems])
    return warn(damage_texts(problems)) or (0 if is_sound else EXIT_NOT_SOUND)


def _wire(found: Statistics, gaps: Sequence[Gap], more: int) -> dict[str, Any]:
    return {
        "records": found.records,
        "first": time_text(found.first_us),
        "last": time_text(found.last_us),
        "missing": [{**gap._asdict(), "said": gap.text()} for gap in gaps],
        "more_gaps": more,
        "statuses": dict(found.statuses),
        "turns": found.turns,
        "fates": dict(found.fates),
        "refused": {"turns": found.refused, "share": _share(found.refused, found.turns)},
        "questions": found.questions._asdict(),
        "refusals": {
            "by_kind": _name_groups(found.kinds),
            "by_tool": _name_groups(found.tools),
            "by_day": {_date(one.day): one.refused for one in found.days},
        },
        "turns_by_day": {_date(one.day): one.turns for one in found.days},
        "scores": {name: score._asdict() for name, score in found.scores.items()},
        "budgets": {name: spent._asdict() for name, spent in found.budgets.items()},
        "slowest": [_most_row(one, "wall_ms") for one in found.slowest],
        "costliest": [_most_row(one, "cost_micros") for one in found.costliest],
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _name_groups(groups: Mapping[str | None, int]) -> dict[str, int]:
    return {_OF_PLAN if name is None else name: count for name, count in groups.items()}


def _most_row(one: Most, name: str) -> dict[str, Any]:
    return {"seq": one.seq, "trace": one.trace, name: one.amount}


def _date(day: int) -> str:
    try:
        return format_time(time_of(day * _DAY))[:10]
    except OverflowError:
        return "-"


def _print_json(found: Statistics, gaps: Sequence[Gap], more: int) -> None:
    sys.stdout.write(ascii_json(_wire(found, gaps, more), indent=2) + "\n")


def _print_cells(found: Statistics, gaps: Sequence[Gap], more: int) -> None:
    write_cells(("what", "name", "member", "value"))
    for what, value in _wire(found, gaps, more).items():
        for name, member, cell in _cells(value):
            write_cells((what, name, member, cell))


def _cells(value: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the values of a member: its name, the name within it, the value."""
    if not isinstance(value, dict | list):
        yield None, None, value
        return
    items = value.items() if isinstance(value, dict) else enumerate(value, start=1)
    for name, item in items:
        if isinstance(item, dict):
            yield from ((name, member, cell) for member, cell in item.items())
        else:
            yield name, None, item


def _print_text(found: Statistics, gaps: Sequence[Gap], more: int) -> None:
    for line in _describe_statistics(found):
        sys.stdout.write(f"{escape_line(line)}\n")
    sys.stdout.writelines(f"{gap.text()}\n" for gap in gaps)
    if more:
        sys.stdout.write(f"and {more} more gaps\n")


def _describe_statistics(found: Statistics) -> Iterator[str]:
    span = f", {time_text(found.first_us)} to {time_text(found.last_us)}" if found.records else ""
    turns, records = _count(found.turns, "turn"), _count(found.records, "record")
    yield f"{turns}, {records}{span}"
    yield from _table("", dict(found.fates.items()))
    if found.turns:
        share = _share(found.refused, found.turns)
        yield f"refused: {found.refused} of {turns} ({share:.1%}): refused or asked_no"
    if found.questions.asked:
        asked, yes, no, lapsed = found.questions
        left = asked - yes - no - lapsed
        yield f"questions: {asked}: {yes} yes, {no} no, {lapsed} expired, {left} open"
    yield from _table("records", found.statuses)
    yield from _table("refusals by kind", _name_groups(found.kinds))
    yield from _table("refusals by tool", _name_groups(found.tools))
    days = {_date(one.day): f"{one.refused} of {one.turns}" for one in found.days}
    last = f", the last {_MOST_LINES} of {len(days)} days" if len(days) > _MOST_LINES else ""
    yield from _table(f"refusals by day{last}", dict(list(days.items())[-_MOST_LINES:]))
    yield from _table("scores", dict(_score_texts(found)))
    yield from _table("budgets", dict(_budget_texts(found)))
    slow = {f"record {one.seq}": f"{one.amount} ms, {one.trace}" for one in found.slowest}
    yield from _table("slowest", slow)
    costly = {f"record {one.seq}": f"{_money(one.amount)}, {one.trace}" for one in found.costliest}
    yield from _table("costliest", costly)


def _table(title: str, rows: Mapping[str, object]) -> Iterator[str]:
    if not rows:
        return
    if title:
        yield title
    shown = list(islice(rows.items(), _MOST_LINES))
    width = max(len(name) for name, _ in shown)
    yield from (f"  {name:<{width}}  {value}" for name, value in shown)
    if len(rows) > len(shown):
        yield f"  and {len(rows) - len(shown)} more"


def _score_texts(found: Statistics) -> Iterator[tuple[str, str]]:
    for name, score in found.scores.items():
        if score.mean is not None:
            range_ = f"mean {score.mean:.2f}, least {score.least or 0:.2f}"
            yield name, f"{range_} of {score.scored}, {score.warned} warned, {score.failed} failed"


def _budget_texts(found: Statistics) -> Iterator[tuple[str, str]]:
    for name, spent in found.budgets.items():
        if spent.measured:
            share = f", at most {spent.share:.0%} of a limit" if spent.share is not None else ""
            limited = f"{spent.measured} measured against a limit, {spent.over} over"
            yield name, f"{spent.total:.0f} in all, {limited}{share}"


def _money(micros: int) -> str:
    return f"{micros / 1_000_000:.6f}"


_PRINTERS: Final[dict[str, Callable[[Statistics, Sequence[Gap], int], None]]] = {
    "text": _print_text,
    "json": _print_json,
    "csv": _print_cells,
}
