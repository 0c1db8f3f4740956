"""JUnit XML: one test case for each document, for the test reports of CI systems."""

import argparse
import sys
from typing import Final
from xml.etree import ElementTree

from evals.escaping import escape_line
from harness.commands.documents import InputDocument
from harness.commands.formats.judgement import (
    Describe,
    DocumentMessage,
    Judged,
    Reporter,
    messages,
    problems,
)
from harness.wire import InvalidInput


def reporter(args: argparse.Namespace, _describe: Describe) -> Reporter:
    """Return the reporter of this format."""
    return JunitReporter(args.command)


class JunitReporter:
    """Collect test cases and print one test suite at the end.

    A refused document is a failure, an invalid one an error, and caveats go to `system-out`.
    """

    def __init__(self, command: str) -> None:
        self._suite: Final = ElementTree.Element("testsuite", name=f"critic {command}")
        self._counts = {"tests": 0, "failures": 0, "errors": 0}

    def judged(self, document: InputDocument, judged: Judged) -> None:
        """Add a test case that passes, or fails with every violation."""
        case = self._case(document, f"{document.source} ({judged.trace_id})")
        listed = [*messages(judged.verdict)]
        if judged.verdict:
            _add(case, "system-out", listed)
            return
        self._counts["failures"] += 1
        _add(case, "failure", listed)

    def invalid(self, document: InputDocument, error: InvalidInput) -> None:
        """Add a test case that could not be judged."""
        self._counts["errors"] += 1
        _add(self._case(document, document.source), "error", [*problems(error)])

    def close(self) -> None:
        """Print the test suite."""
        for name, count in self._counts.items():
            self._suite.set(name, str(count))
        root = ElementTree.Element("testsuites")
        root.append(self._suite)
        ElementTree.indent(root)
        text = ElementTree.tostring(root, encoding="unicode")
        sys.stdout.write(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n')

    def _case(self, document: InputDocument, name: str) -> ElementTree.Element:
        self._counts["tests"] += 1
        place = {"classname": escape_line(document.file), "name": escape_line(name)}
        return ElementTree.SubElement(self._suite, "testcase", place)


def _add(case: ElementTree.Element, tag: str, listed: list[DocumentMessage]) -> None:
    if not listed:
        return
    element = ElementTree.SubElement(case, tag)
    first = next((message for message in listed if message.level == "error"), listed[0])
    if tag != "system-out":
        element.set("type", first.rule)
        element.set("message", escape_line(first.text))
    element.text = "\n".join(escape_line(_line(message)) for message in listed)


def _line(message: DocumentMessage) -> str:
    place = f" at {message.path}" if message.path else ""
    return f"{message.level}: {message.rule}{place}: {message.text}"
