"""Judge each document and report each judgement, for `critic verify` and `critic score`."""

import argparse
from collections.abc import Callable

from harness.commands.documents import InputDocument, documents
from harness.commands.exit_status import EXIT_INVALID, EXIT_OK, EXIT_REFUSED
from harness.commands.formats import reporter
from harness.commands.formats.judgement import Describe, Judged, Reporter
from harness.wire import InvalidInput


def judge_all(
    args: argparse.Namespace,
    judge: Callable[[bytes], Judged],
    describe: Describe,
) -> int:
    """Judge every document and return the exit status.

    An invalid document is reported, and the documents after it are still judged.
    """
    status = EXIT_OK
    with reporter(args, describe) as report:
        for document in documents(args):
            status = max(status, _judge_one(document, judge, report))
    return status


def _with_advice(document: InputDocument, error: InvalidInput) -> InvalidInput:
    """Return the error for a file of another kind, with what it is."""
    if not document.file.endswith(".toml"):
        return error
    advice = "check it with `critic policy check`, or give it with --policy and a document"
    return InvalidInput("", f"this is a policy: {advice}")


def _judge_one(document: InputDocument, judge: Callable[[bytes], Judged], report: Reporter) -> int:
    try:
        judged = document.parse_with(judge)
    except InvalidInput as error:
        report.report_invalid(document, _with_advice(document, error))
        return EXIT_INVALID
    report.report_verdict(document, judged)
    return EXIT_OK if judged.verdict else EXIT_REFUSED
