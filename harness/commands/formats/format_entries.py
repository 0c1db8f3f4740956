"""The entries of formats for continuous integration: one for each judged document, event or record.

`critic verify` and `critic score` judge documents, `critic guard` events, and `critic replay` and
`critic log verify` records. All of them are entries here.
"""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import Literal, NamedTuple

from evals.escaping import escape_line
from harness.commands.documents import InputDocument
from harness.commands.formats.judgement import (
    DocumentMessage,
    Judged,
    messages,
    problems,
)
from harness.wire import InvalidInput

EntryOutcome = Literal["pass", "failure", "error"]
"""Of an entry: it is all right; it was refused, or is not as recorded; it could not be judged."""


class JudgedEntry(NamedTuple):
    """One judged document, event or record: its place and its messages."""

    file: str
    """As given on the command line."""
    name: str
    outcome: EntryOutcome
    messages: tuple[DocumentMessage, ...] = ()
    line: int | None = None
    """The number of the line, from 1; None for a whole file."""


class EntryReporter(ABC):
    """Receives entries one by one. A format that needs all of them prints at the end.

    It also reports judgements on documents, each as an entry.
    """

    @abstractmethod
    def report(self, entry: JudgedEntry) -> None:
        """Report an entry."""

    @abstractmethod
    def close(self) -> None:
        """Print what had to wait for the last entry."""

    def report_verdict(self, document: InputDocument, judged: Judged) -> None:
        """Report a verdict."""
        outcome: EntryOutcome = "pass" if judged.verdict else "failure"
        name = f"{document.source} ({judged.trace_id})"
        listed = tuple(messages(judged.verdict))
        self.report(JudgedEntry(document.file, name, outcome, listed, document.line))

    def report_invalid(self, document: InputDocument, error: InvalidInput) -> None:
        """Report a document that is not an envelope."""
        listed = tuple(problems(error))
        self.report(JudgedEntry(document.file, document.source, "error", listed, document.line))


def entry_reporter(form: str, command: str) -> EntryReporter:
    """Return the reporter of a format, `junit`, `sarif` or `github`, for a command."""
    module = import_module(f"harness.commands.formats.{form}")
    chosen: EntryReporter = module.reporter(command)
    return chosen


def message_line(message: DocumentMessage) -> str:
    """Return a message as one line, safe to print."""
    place = f" at {message.path}" if message.path else ""
    return escape_line(f"{message.level}: {message.rule}{place}: {message.text}")
