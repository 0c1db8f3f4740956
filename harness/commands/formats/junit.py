"""JUnit XML: one test case for each entry, for the test reports of CI systems."""

import shutil
import sys
import tempfile
from collections import Counter
from typing import IO
from xml.etree import ElementTree

from evals.escaping import escape_line
from harness.commands.formats.format_entries import EntryReporter, JudgedEntry, message_line
from harness.commands.formats.judgement import DocumentMessage


def reporter(command: str) -> "JunitReporter":
    """Return the reporter of this format."""
    return JunitReporter(command)


class JunitReporter(EntryReporter):
    """Print one test suite at the end. Until then its test cases are in a temporary file.

    A refusal is a failure, invalid input an error, and the rest goes to `system-out`.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._counts = Counter[str]()
        self._cases: IO[str] | None = None

    def report(self, entry: JudgedEntry) -> None:
        """Add a test case that passes, fails, or could not be judged."""
        self._counts[entry.outcome] += 1
        place = {"classname": escape_line(entry.file), "name": escape_line(entry.name)}
        case = ElementTree.Element("testcase", place)
        tag = "system-out" if entry.outcome == "pass" else entry.outcome
        _add(case, tag, entry.messages)
        ElementTree.indent(case, level=2)
        if self._cases is None:
            self._cases = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - see `close`
        self._cases.write(f"    {ElementTree.tostring(case, encoding='unicode')}\n")

    def close(self) -> None:
        """Print the test suite."""
        failures, errors = self._counts["failure"], self._counts["error"]
        counts = f'tests="{self._counts.total()}" failures="{failures}" errors="{errors}"'
        suite = f'<testsuite name="critic {self._command}" {counts}'
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>'
        if self._cases is None:
            sys.stdout.write(f"{head}\n  {suite} />\n</testsuites>\n")
            return
        sys.stdout.write(f"{head}\n  {suite}>\n")
        with self._cases:
            self._cases.seek(0)
            shutil.copyfileobj(self._cases, sys.stdout)
        sys.stdout.write("  </testsuite>\n</testsuites>\n")


def _add(case: ElementTree.Element, tag: str, listed: tuple[DocumentMessage, ...]) -> None:
    if not listed:
        if tag != "system-out":
            ElementTree.SubElement(case, tag)
        return
    element = ElementTree.SubElement(case, tag)
    first = next((message for message in listed if message.level == "error"), listed[0])
    if tag != "system-out":
        element.set("type", first.rule)
        element.set("message", escape_line(first.text))
    element.text = "\n".join(map(message_line, listed))
