"""SARIF 2.1.0: one result for each message, for code scanning dashboards."""

import argparse
import sys
from importlib import metadata
from typing import Any, Final
from urllib.parse import quote

from harness.commands.documents import InputDocument
from harness.commands.formats.judgement import (
    Describe,
    DocumentMessage,
    Judged,
    Reporter,
    messages,
    problems,
)
from harness.commands.output import ascii_json
from harness.wire import InvalidInput

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def reporter(_args: argparse.Namespace, _describe: Describe) -> Reporter:
    """Return the reporter of this format."""
    return SarifReporter()


class SarifReporter:
    """Collect results and print one SARIF log at the end."""

    def __init__(self) -> None:
        self._results: list[dict[str, Any]] = []

    def judged(self, document: InputDocument, judged: Judged) -> None:
        """Add the messages of a verdict."""
        self._results += [_result(document, message) for message in messages(judged.verdict)]

    def invalid(self, document: InputDocument, error: InvalidInput) -> None:
        """Add the problems of a document."""
        self._results += [_result(document, problem) for problem in problems(error)]

    def close(self) -> None:
        """Print the log."""
        rules = [{"id": rule} for rule in sorted({result["ruleId"] for result in self._results})]
        driver = {"name": "plan-critic", "version": metadata.version("plan-critic"), "rules": rules}
        run = {"tool": {"driver": driver}, "results": self._results}
        log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
        sys.stdout.write(ascii_json(log, indent=2) + "\n")


def _result(document: InputDocument, message: DocumentMessage) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(document.file)},
            "region": {"startLine": document.line or 1},
        }
    }
    if message.path:
        location["logicalLocations"] = [{"fullyQualifiedName": message.path}]
    return {
        "ruleId": message.rule,
        "level": message.level,
        "message": {"text": message.text},
        "locations": [location],
    }
