"""What `critic verify` and `critic score` share: documents in, one verdict for each out."""

import argparse
import sys
from collections.abc import Callable
from typing import TypeVar

from critic import Refused, ScoreVerdict, Verified
from evals.envelope import Envelope
from evals.escaping import escape_name
from harness.commands.documents import InputDocument, documents, size_limit
from harness.commands.output import ascii_json
from harness.wire import InvalidInput, parse

E = TypeVar("E", bound=Envelope)
AnyVerdict = Verified | Refused | ScoreVerdict

EXIT_REFUSED = 1
EXIT_INVALID = 2


def judge_all(
    args: argparse.Namespace,
    model: type[E],
    judge: Callable[[E], AnyVerdict],
    describe: Callable[[AnyVerdict], str],
) -> int:
    """Judge every document; a document that is no envelope is reported, and the rest still run."""
    status, limit = 0, size_limit(args)
    for document in documents(args):
        as_json = args.format == "json" or (args.format is None and document.from_lines)
        try:
            verdict = judge(document.parsed_by(lambda data: parse(model, data, limit)))
        except InvalidInput as error:
            _print_fault(document, error, as_json)
            status = EXIT_INVALID
            continue
        if not verdict:
            status = max(status, EXIT_REFUSED)
        _print(verdict_json(verdict) if as_json else f"{document.source}: {describe(verdict)}")
    return status


def verdict_json(verdict: AnyVerdict) -> str:
    """The verdict as one line of JSON."""
    return ascii_json(verdict.wire())


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")


def _print_fault(document: InputDocument, error: InvalidInput, as_json: bool) -> None:
    if as_json:
        fault = {"error": {"path": error.path, "message": error.message}}
        _print(ascii_json(fault))
        return
    sys.stdout.flush()
    place = f" at {escape_name(error.path)}" if error.path else ""
    sys.stderr.write(f"{document.source}: invalid input{place}: {error.message}\n")
