"""Convert the filters of `critic log` for a log, and report damage."""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from evals.timestamps import format_time, parse_time
from harness.audit.tables.text_search import FoundTexts, find_texts
from harness.audit.tables.turn_search import Content, FoundTurns, find_turns
from harness.errors import UsageError, escape_text
from harness.log.search.listing import Listing
from harness.log.search.query import Filters
from harness.log.sql import SqlDecisionLog
from harness.policy.analysis.lint_finding import guess_name
from harness.record import TurnKey
from harness.record.index_row import name_column, time_of

EXIT_NOT_SOUND: Final = 1
"""Records are missing, or the log is damaged."""

_UNSEEN: Final = " could not be searched: values were taken out"
_NOTHING: Final = "nothing lies between: --until is the first time that is left out"

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def filters_of(args: argparse.Namespace) -> Filters:
    """Return the filters for records.

    Raises:
        UsageError: a time is invalid, or a range is empty.
    """
    since, until = _time("--since", args.since), _time("--until", args.until)
    if since is not None and until is not None and until <= since:
        what = "the end is before the beginning" if until < since else _NOTHING
        named = f"--since {escape_text(args.since)} --until {escape_text(args.until)}"
        raise UsageError(f"{named}: {what}")
    if None not in (args.min_cost, args.max_cost) and args.max_cost < args.min_cost:
        named = f"--min-cost {args.min_cost} --max-cost {args.max_cost}"
        raise UsageError(f"{named}: the end is before the beginning")
    return Filters(
        status=args.status,
        kind=args.kind,
        check=args.check,
        tool=args.tool,
        mode=args.mode,
        trace=args.trace,
        session=args.session,
        tenant=args.tenant,
        user=args.user,
        since=since,
        until=until,
        least_cost=args.min_cost,
        most_cost=args.max_cost,
        fates=frozenset(args.fate or ()),
    )


def content_asked(args: argparse.Namespace) -> Content:
    """Return the filters for content."""
    names = ("value", "over", "approver", "evidence", "tier")
    return Content(**{name: getattr(args, name) for name in names})


class LogSearch(NamedTuple):
    """The filters of a search, with its results.

    Attributes:
        filters: the filters for records.
        content: the filters for the content of their turns.
        found: the turns with that content; None without such a filter.
        texts: the records with the text; None without such a filter.
    """

    filters: Filters
    content: Content = Content()
    found: FoundTurns | None = None
    texts: FoundTexts | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems of the records that it read."""
        read = [one for one in (self.texts, self.found) if one is not None]
        return tuple(problem for one in read for problem in one.problems)

    def notes(self, listing: Listing, turns: int | None) -> tuple[str, ...]:
        """Return the number of matching turns, and if there are none, the names probably meant.

        Of turns that have lost what is asked for, nothing is known: their number is said instead.

        Args:
            listing: the log.
            turns: the number of matching turns, if counted.
        """
        if self.filters == Filters():
            return ()
        turns = len(listing.turns(self.filters)) if turns is None else turns
        every = listing.count_turns()
        counted = f"{turns:,} of {every:,} turn{'' if every == 1 else 's'} match"
        if unseen := len(self._find_unseen(listing)):
            return counted, f"{unseen:,} turn{'' if unseen == 1 else 's'}{_UNSEEN}"
        return (counted, *(() if turns else self._guesses(listing)))

    def _find_unseen(self, listing: Listing) -> frozenset[TurnKey]:
        read = (one.unseen for one in (self.texts, self.found) if one is not None)
        return listing.unseen_turns(self.filters).union(*read)

    def _guesses(self, listing: Listing) -> Iterator[str]:
        """Yield the name probably meant by each name that no turn has."""
        filters, content = self.filters, self.content
        if filters.tool is not None:
            yield from _guess("--tool", name_column(filters.tool), _tool_names(listing), "no turn")
        if filters.session is not None:
            names = listing.names_in("session")
            yield from _guess("--session", name_column(filters.session), names, "no turn")
        if filters.trace is not None:
            yield from _guess("--trace", filters.trace, listing.names_in("trace"), "no turn")
        if filters.tenant is not None:
            yield from _guess("--tenant", filters.tenant, listing.names_in("of_tenant"), "no turn")
        if filters.user is not None:
            yield from _guess("--user", filters.user, listing.names_in("of_user"), "no turn")
        of_these = "none of the turns that pass the other filters"
        if self.found is not None and content.approver is not None:
            yield from _guess("--approver", content.approver, self.found.approvers, of_these)
        if self.found is not None and content.evidence is not None:
            yield from _guess("--evidence", content.evidence, self.found.items, of_these)


def _guess(option: str, name: str, known: Iterable[str], what: str) -> Iterator[str]:
    names = sorted({*known})
    if name not in names:
        parts = f"{option} {escape_text(name)}", f"{what} has it", guess_name(name, names).strip()
        yield ": ".join(filter(None, parts))


def _tool_names(listing: Listing) -> list[str]:
    """Return the tools that plans name, with their adapters and without."""
    whole = {name for names in listing.names_in("tools") for name in names.split()}
    return [*whole, *{name.partition("/")[2] for name in whole}]


def search_of(args: argparse.Namespace, log: SqlDecisionLog) -> LogSearch:
    """Return the requested search. Filters for content or text read the records.

    Raises:
        UsageError: a time is invalid, or too many records match.
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    filters, content = filters_of(args), content_asked(args)
    texts = None if args.text is None else find_texts(log, filters, args.text)
    if texts is not None:
        filters = replace(filters, numbers=texts.numbers)
    if content == Content():
        return LogSearch(filters, texts=texts)
    found = find_turns(log, filters, content)
    numbers = found.numbers if texts is None else found.numbers & texts.numbers
    return LogSearch(replace(filters, numbers=numbers), content, found, texts)


def _time(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return parse_time(f"{text}T00:00:00Z" if _DATE.fullmatch(text) else text)
    except ValueError as error:
        shown = escape_text(text[:80])
        raise UsageError(f"{option} {shown}: {error}, or a date such as 2026-05-09") from None


def time_text(micros: int | None) -> str:
    """Return the time in a column as RFC 3339; `-` without one."""
    if micros is None:
        return "-"
    try:
        return format_time(time_of(micros))
    except OverflowError:
        return "-"


def warn(texts: Iterable[str]) -> int:
    """Print the problems of a log on standard error, and return the exit status."""
    lines = [f"critic: {text}\n" for text in texts]
    if not lines:
        return 0
    sys.stdout.flush()
    sys.stderr.writelines(lines)
    return EXIT_NOT_SOUND


def damage_texts(problems: Iterable[str]) -> list[str]:
    """Return a line for each problem of a log as a whole."""
    return [f"the log is damaged: {problem}" for problem in problems]
