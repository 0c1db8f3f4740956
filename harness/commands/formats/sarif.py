"""SARIF 2.1.0: one result for each message, for code scanning dashboards."""

import sys
from importlib import metadata
from typing import Any, Final
from urllib.parse import quote

from harness.canonical import ascii_json
from harness.commands.formats.format_entries import EntryReporter, JudgedEntry
from harness.commands.formats.judgement import DocumentMessage

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def reporter(_command: str) -> "SarifReporter":
    """Return the reporter of this format."""
    return SarifReporter()


class SarifReporter(EntryReporter):
    """Collect results and print one SARIF log at the end."""

    def __init__(self) -> None:
        self._results: list[dict[str, Any]] = []

    def report(self, entry: JudgedEntry) -> None:
        """Add the messages of an entry."""
        self._results += [_sarif_result(entry, message) for message in entry.messages]

    def close(self) -> None:
        """Print the log."""
        rules = [{"id": rule} for rule in sorted({result["ruleId"] for result in self._results})]
        driver = {"name": "plan-critic", "version": metadata.version("plan-critic"), "rules": rules}
        run = {"tool": {"driver": driver}, "results": self._results}
        log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
        sys.stdout.write(ascii_json(log, indent=2) + "\n")


def _sarif_result(entry: JudgedEntry, message: DocumentMessage) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(entry.file, errors="surrogateescape")},
            "region": {"startLine": entry.line or 1},
        }
    }
    if message.path:
        location["logicalLocations"] = [{"fullyQualifiedName": message.path}]
    return {
        "ruleId": message.rule,
        "level": message.level,
        # `[text](target)` would be a link, to wherever a plan says.
        "message": {"text": message.text.replace("](", "] (")},
        "locations": [location],
    }
