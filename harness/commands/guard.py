"""`critic guard`: session events in, rulings out, a line each, for a program in any language."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack

from critic.session import SessionReport
from harness.commands.documents import InputDocument, read_lines, size_limit
from harness.commands.exit_status import EXIT_INVALID, EXIT_OK, EXIT_REFUSED
from harness.commands.guard_text import Explainer
from harness.commands.output import ascii_json
from harness.commands.policy import load_policy
from harness.errors import UsageError
from harness.guard import Answer, EventError, EventFault, Guard, Ruling
from harness.log.sql import SqlDecisionLog


def run(args: argparse.Namespace) -> int:
    """Answer every event. Exit status as documented by `critic guard --help`."""
    if args.policy == "-" and "-" in (args.files or ["-"]):
        raise UsageError("standard input is either the policy or the events: name a file for one")
    policy, status = load_policy(args.policy).policy, EXIT_OK
    with ExitStack() as stack:
        explainer = Explainer() if args.explain else None
        guard: Guard | None = None
        for document in _events(args):
            if document.line is None:
                sys.stderr.write(f"critic: {document.source}: {document.error}\n")
                status = EXIT_INVALID
                continue
            if guard is None:  # opened for the first event only: without one, no empty log is left
                log = stack.enter_context(SqlDecisionLog.open(args.log)) if args.log else None
                guard = Guard(policy, log=log, on_decision=explainer.note if explainer else None)
            answer = _answer(guard, document, size_limit(args))
            explained = explainer and explainer.text(document.data, answer, document.source)
            text = _line(answer) if explained is None else explained
            if text:
                sys.stdout.write(text)
                sys.stdout.flush()
            status = max(status, _status(answer))
    return status


def _events(args: argparse.Namespace) -> Iterator[InputDocument]:
    for name in args.files or ["-"]:
        yield from read_lines(name, size_limit(args))


def _answer(guard: Guard, document: InputDocument, limit: int) -> Answer:
    if document.error is not None:
        return EventError(error=EventFault(path="", message=document.error))
    return guard.handle_line(document.data, limit)


def _line(answer: Answer) -> str:
    return "" if answer is None else ascii_json(answer.wire()) + "\n"


def _status(answer: Answer) -> int:
    match answer:
        case EventError() | Ruling(critic_error=str()):
            return EXIT_INVALID
        case Ruling(action="refuse") | SessionReport(status="refused_by_critic"):
            return EXIT_REFUSED
        case _:
            return EXIT_OK
