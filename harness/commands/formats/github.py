"""Workflow commands of GitHub Actions: one annotation for each message."""

import sys
from typing import Final

from evals.escaping import escape_line
from harness.commands.formats.format_entries import EntryReporter, JudgedEntry
from harness.commands.formats.judgement import DocumentMessage, Level

_COMMANDS: Final[dict[Level, str]] = {"error": "error", "warning": "warning", "note": "notice"}


def reporter(_command: str) -> "GithubReporter":
    """Return the reporter of this format."""
    return GithubReporter()


class GithubReporter(EntryReporter):
    """Print `::error file=...,line=...,title=...::message` for each message."""

    def report(self, entry: JudgedEntry) -> None:
        """Print the messages of an entry."""
        for message in entry.messages:
            _print(entry, message)

    def close(self) -> None:
        """Do nothing: everything is printed."""


def _print(entry: JudgedEntry, message: DocumentMessage) -> None:
    properties = {"file": entry.file, "line": str(entry.line or 1), "title": message.rule}
    listed = ",".join(
        f"{name}={_escape(escape_line(value), ':,')}" for name, value in properties.items()
    )
    place = f"{message.path}: " if message.path else ""
    command, text = _COMMANDS[message.level], escape_line(place + message.text)
    sys.stdout.write(f"::{command} {listed}::{_escape(text)}\n")


def _escape(text: str, more: str = "") -> str:
    """Escape as the toolkit of GitHub Actions does; `more` are characters of properties."""
    special = f"%\r\n{more}"
    return "".join(f"%{ord(char):02X}" if char in special else char for char in text)
