"""`critic guard`: session events in, rulings out, a line each, for any language."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Protocol

from critic.session import SessionReport
from harness.canonical import ascii_json
from harness.commands.arguments import CI_FORMATS
from harness.commands.documents import InputDocument, read_lines, size_limit
from harness.commands.exit_status import EXIT_INVALID, EXIT_OK, EXIT_REFUSED
from harness.commands.folder_world import find_world
from harness.commands.guard.guard_text import Explainer
from harness.commands.policy.policy_command import load_policy
from harness.errors import UsageError
from harness.guard import Answer, EventError, EventFault, Guard, OpeningRuling, Ruling
from harness.log.sql import SqlDecisionLog
from harness.record import Decision


def run(args: argparse.Namespace) -> int:
    """Answer every event. Exit status as documented by `critic guard --help`."""
    if args.policy == "-" and "-" in (args.files or ["-"]):
        raise UsageError("standard input is either the policy or the events: name a file for one")
    policy, status = load_policy(args.policy).policy, EXIT_OK
    printer = _printer(args)
    with ExitStack() as stack:
        guard: Guard | None = None
        for document in _events(args):
            if document.line is None:
                sys.stderr.write(f"critic: {document.source}: {document.error}\n")
                status = EXIT_INVALID
                continue
            if guard is None:  # opened for the first event only: without one, no empty log is left
                log = stack.enter_context(SqlDecisionLog.open(args.log)) if args.log else None
                world = find_world(args.cwd, [args.policy], args.log)
                guard = Guard(policy, log=log, on_decision=printer.note, world=world)
            answer = _answer_document(guard, document, size_limit(args))
            printer.answer(document, answer)
            status = max(status, _exit_status(answer))
    printer.close()
    return status


class _Printer(Protocol):
    """Prints the answers to events. `note` gets each decision before."""

    note: Callable[[Decision], None] | None

    def answer(self, document: InputDocument, answer: Answer) -> None:
        """Print the answer to the event in a document."""

    def close(self) -> None:
        """Print what had to wait for the last answer."""


def _printer(args: argparse.Namespace) -> _Printer:
    if args.explain and args.format not in (None, "text"):
        raise UsageError("--explain prints text: leave out --format")
    if args.explain or args.format == "text":
        return _TextPrinter()
    if args.format in CI_FORMATS:
        from harness.commands.formats.turn_entries import TurnReporter  # noqa: PLC0415 - rarely needed

        return TurnReporter(args.format)
    return _JsonPrinter()


class _JsonPrinter:
    """Prints each answer as one JSON object a line, at once."""

    note: Callable[[Decision], None] | None = None

    def answer(self, _document: InputDocument, answer: Answer) -> None:
        if answer is not None:
            _print(ascii_json(answer.wire()) + "\n")

    def close(self) -> None:
        pass


class _TextPrinter:
    """Prints each turn for a person, at once."""

    def __init__(self) -> None:
        self._explainer = Explainer()
        self.note: Callable[[Decision], None] | None = self._explainer.note

    def answer(self, document: InputDocument, answer: Answer) -> None:
        _print(self._explainer.text(document.data, answer, document.source))

    def close(self) -> None:
        pass


def _print(text: str) -> None:
    if text:
        sys.stdout.write(text)
        sys.stdout.flush()


def _events(args: argparse.Namespace) -> Iterator[InputDocument]:
    for name in args.files or ["-"]:
        yield from read_lines(name, size_limit(args))


def _answer_document(guard: Guard, document: InputDocument, limit: int) -> Answer:
    if document.error is not None:
        return EventError(error=EventFault(path="", message=document.error))
    answer = guard.handle_line(document.data, limit)
    return _with_line(answer, document.line) if isinstance(answer, EventError) else answer


def _with_line(answer: EventError, line: int | None) -> EventError:
    """Return the error with the line of the stream, where it names a place in its line."""
    message = answer.error.message.replace("at line 1 column", f"at line {line} column")
    return EventError(
        session=answer.session, error=EventFault(path=answer.error.path, message=message)
    )


def _exit_status(answer: Answer) -> int:
    match answer:
        case EventError() | Ruling(critic_error=str()):
            return EXIT_INVALID
        case Ruling(action="refuse") | OpeningRuling(action="refuse"):
            return EXIT_REFUSED
        case SessionReport(status="refused_by_critic"):
            return EXIT_REFUSED
        case _:
            return EXIT_OK
