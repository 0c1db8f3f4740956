"""`critic import`: convert a recorded run to session events, all of it or nothing."""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.canonical import ascii_json
from harness.commands.documents import InputDocument, read_lines, read_whole, size_limit
from harness.commands.exit_status import EXIT_OK
from harness.errors import UsageError, escape_text
from harness.integrations.importers.formats import IMPORTERS, Documents
from harness.integrations.importers.imported_events import NOBODY, ImportedEvents, session_events
from harness.integrations.importers.transcript import RecordedRun
from harness.wire import InvalidInput, parse_json

_BY_LINES = ("claude-code", "otlp", "mcp")
_UNNAMED = "imported"


def run(args: argparse.Namespace) -> int:
    """Write the events. Omissions are reported on standard error."""
    found = list(_sessions(args))
    for events, _ in found:
        for event in events:
            wire = {"event": event.event, **event.wire()}  # first, as the events are documented
            sys.stdout.write(f"{ascii_json(wire)}\n")
    sys.stdout.flush()
    for _, notes in found:
        for note in notes:
            sys.stderr.write(f"{note}\n")
    return EXIT_OK


def _sessions(args: argparse.Namespace) -> Iterator[ImportedEvents]:
    shown = "standard input" if args.file == "-" else escape_text(args.file)
    try:
        runs = IMPORTERS[args.source](_read_documents(args))
        given = {"user": args.user, "tenant": args.tenant}
        whom = {name: one for name, one in given.items() if one is not None}
        yield from events_of(runs, args.session, args.request, whom)
    except InvalidInput as error:
        raise UsageError(f"{shown}: {error}") from None


def events_of(
    runs: Iterable[RecordedRun],
    session: str | None,
    request: str | None,
    whom: Mapping[str, str] = NOBODY,
) -> Iterator[ImportedEvents]:
    """Yield the events of each run.

    Args:
        session: its id, instead of the recorded one.
        request: the user's words, if none are recorded.
        whom: the `user` and the `tenant` of all of them, instead of those on record.

    Raises:
        InvalidInput: a part of the run cannot become an event.
        UsageError: one id is given for several sessions.
    """
    found = list(runs)
    if session is not None and len(found) > 1:
        raise UsageError(f"there are {len(found)} sessions: leave out --session")
    for one in found:
        name = session or one.session or _UNNAMED
        recorded = NOBODY if one.user is None else {"user": one.user}
        yield session_events(name, one.recorded, request, {**recorded, **whom})


def _read_documents(args: argparse.Namespace) -> Documents:
    """Return the values in the file: one a line, if the format has lines."""
    limit = size_limit(args)
    if args.source not in _BY_LINES:
        return [("", _parse_document(read_whole(args.file, limit), limit))]
    lines = list(read_lines(args.file, limit))
    if not lines:
        raise InvalidInput("", "empty: expected one JSON document a line")
    return _parse_lines(lines, limit)


def _parse_lines(lines: list[InputDocument], limit: int) -> Documents:
    """Return the value of each line, or one value if the lines are one document."""
    if len(lines) > 1 and not _is_json(lines[0].data):
        whole = b"\n".join(line.data for line in lines)
        return [("", parse_json(whole, limit))]
    return [(f"line {line.line}: ", _parse_document(line, limit)) for line in lines]


def _is_json(data: bytes) -> bool:
    try:
        parse_json(data, len(data))
    except InvalidInput:
        return False
    return True


def _parse_document(document: InputDocument, limit: int) -> Any:
    try:
        return document.parse_with(lambda data: parse_json(data, limit))
    except InvalidInput as error:
        place = "" if document.line is None else f"line {document.line}: "
        raise InvalidInput(f"{place}{error.path}", error.message) from None
