"""The filters of `critic log` as the log takes them, and how a damaged log is reported."""

import argparse
import re
import sys
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from evals.timestamps import format_time, parse_time
from harness.errors import UsageError, escape_text
from harness.log.search.query import Filters
from harness.record.index_row import time_of

EXIT_NOT_SOUND: Final = 1
"""Records are missing, or the log is damaged."""

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def filters_of(args: argparse.Namespace) -> Filters:
    """Return what records are asked for.

    Raises:
        UsageError: a time is none.
    """
    return Filters(
        status=args.status,
        kind=args.kind,
        check=args.check,
        tool=args.tool,
        mode=args.mode,
        trace=args.trace,
        session=args.session,
        since=_time("--since", args.since),
        until=_time("--until", args.until),
        least_cost=args.min_cost,
        most_cost=args.max_cost,
        text=args.text,
        fates=frozenset(args.fate or ()),
    )


def _time(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return parse_time(f"{text}T00:00:00Z" if _DATE.fullmatch(text) else text)
    except ValueError as error:
        shown = escape_text(text[:80])
        raise UsageError(f"{option} {shown}: {error}, or a date such as 2026-05-09") from None


def time_text(micros: int | None) -> str:
    """Return the time that a column says as RFC 3339; `-` for none."""
    if micros is None:
        return "-"
    try:
        return format_time(time_of(micros))
    except OverflowError:
        return "-"


def warn(texts: Iterable[str]) -> int:
    """Print what is wrong with a log on standard error; return the exit status."""
    lines = [f"critic: {text}\n" for text in texts]
    if not lines:
        return 0
    sys.stdout.flush()
    sys.stderr.writelines(lines)
    return EXIT_NOT_SOUND


def damage_texts(problems: Iterable[str]) -> list[str]:
    """Return a line for each problem of a log as a whole."""
    return [f"the log is damaged: {problem}" for problem in problems]
