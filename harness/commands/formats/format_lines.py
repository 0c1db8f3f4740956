"""Verdicts as text for a person, and as one JSON object a line."""

import argparse
import sys
from importlib import import_module

from evals.escaping import escape_line
from harness.canonical import ascii_json
from harness.commands.documents import InputDocument
from harness.commands.formats.judgement import Describe, Judged, Reporter
from harness.wire import InvalidInput


def reporter(args: argparse.Namespace, describe: Describe) -> Reporter:
    """Return the reporter for `--format text`, `--format json`, or neither."""
    if args.format == "json":
        return _JsonReporter()
    return _DefaultReporter(describe) if args.format is None else _TextReporter(describe)


class _TextReporter:
    """Print verdicts to standard output and invalid input to standard error, as text."""

    def __init__(self, describe: Describe) -> None:
        self._describe = describe

    def report_verdict(self, document: InputDocument, judged: Judged) -> None:
        """Print the source, the verdict, and advice below it."""
        text = f"{document.source}: {self._describe(judged.verdict)}"
        if judged.note:
            text += f"\n  note: {judged.note}"
        if judged.advice is not None:
            text += import_module("harness.commands.judge.advice_text").describe_advice(
                judged.advice
            )
        sys.stdout.write(f"{text}\n")

    def report_invalid(self, document: InputDocument, error: InvalidInput) -> None:
        """Print one line for each problem."""
        sys.stdout.flush()
        for problem in error.problems:
            place = f" at {escape_line(problem.path)}" if problem.path else ""
            sys.stderr.write(f"{document.source}: invalid input{place}: {problem.message}\n")

    def close(self) -> None:
        """Do nothing: everything is printed."""


class _JsonReporter:
    """Print one JSON object for each document: the verdict or the error, and its source.

    `file` is as on the command line, `line` is present for JSON Lines, `trace_id` for a verdict,
    `advice` if requested. The other members are those of the verdict.
    """

    def report_verdict(self, document: InputDocument, judged: Judged) -> None:
        """Print the verdict as one line."""
        advice = {} if judged.advice is None else {"advice": judged.advice.wire()}
        wire = {**judged.verdict.wire(), "trace_id": judged.trace_id, **advice}
        print_json({**wire, **_origin(document)})

    def report_invalid(self, document: InputDocument, error: InvalidInput) -> None:
        """Print the first problem as `error`, and all of them as `errors`."""
        first = {"path": error.path, "message": error.message}
        every = [problem._asdict() for problem in error.problems]
        print_json({"error": first, "errors": every, **_origin(document)})

    def close(self) -> None:
        """Do nothing: everything is printed."""


class _DefaultReporter:
    """Print JSON for JSON Lines and text for whole files."""

    def __init__(self, describe: Describe) -> None:
        self._text, self._json = _TextReporter(describe), _JsonReporter()

    def report_verdict(self, document: InputDocument, judged: Judged) -> None:
        """Print the verdict in the form of its document."""
        self._reporter_for(document).report_verdict(document, judged)

    def report_invalid(self, document: InputDocument, error: InvalidInput) -> None:
        """Print the problems in the form of their document."""
        self._reporter_for(document).report_invalid(document, error)

    def close(self) -> None:
        """Do nothing: everything is printed."""

    def _reporter_for(self, document: InputDocument) -> Reporter:
        return self._json if document.from_lines else self._text


def _origin(document: InputDocument) -> dict[str, str | int]:
    line = {} if document.line is None else {"line": document.line}
    return {"file": document.file, **line}


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    sys.stdout.write(ascii_json(value) + "\n")
