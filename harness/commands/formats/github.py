"""Workflow commands of GitHub Actions: one annotation for each message."""

import argparse
import sys
from typing import Final

from evals.escaping import escape_line
from harness.commands.documents import InputDocument
from harness.commands.formats.judgement import (
    Describe,
    DocumentMessage,
    Judged,
    Level,
    Reporter,
    messages,
    problems,
)
from harness.wire import InvalidInput

_COMMANDS: Final[dict[Level, str]] = {"error": "error", "warning": "warning", "note": "notice"}


def reporter(_args: argparse.Namespace, _describe: Describe) -> Reporter:
    """Return the reporter of this format."""
    return GithubReporter()


class GithubReporter:
    """Print `::error file=...,line=...,title=...::message` for each message."""

    def judged(self, document: InputDocument, judged: Judged) -> None:
        """Print the messages of a verdict."""
        for message in messages(judged.verdict):
            _print(document, message)

    def invalid(self, document: InputDocument, error: InvalidInput) -> None:
        """Print the problems of a document."""
        for problem in problems(error):
            _print(document, problem)

    def close(self) -> None:
        """Do nothing: everything is printed."""


def _print(document: InputDocument, message: DocumentMessage) -> None:
    properties = {"file": document.file, "line": str(document.line or 1), "title": message.rule}
    listed = ",".join(
        f"{name}={_escape(escape_line(value), ':,')}" for name, value in properties.items()
    )
    place = f"{message.path}: " if message.path else ""
    command = _COMMANDS[message.level]
    sys.stdout.write(f"::{command} {listed}::{_escape(place + message.text)}\n")


def _escape(text: str, more: str = "") -> str:
    """Escape as the toolkit of GitHub Actions does; `more` are characters of properties."""
    special = f"%\r\n{more}"
    return "".join(f"%{ord(char):02X}" if char in special else char for char in text)
