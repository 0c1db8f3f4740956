"""The page on policies has a row for each finding: its severity, and what it means in few words."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from harness.policy.analysis.lint_finding import LintFinding
from tests.support.paths import ROOT

_PAGE: Final = ROOT / ".github" / "docs" / "policy.md"
_ROW: Final = re.compile(r"^\| `(\w+)` \| (error|warning|note) \| (.+) \|$", re.MULTILINE)
_FOLDERS: Final = ("policy/analysis", "what_if/proposing")
_OF_SCHEMAS: Final = ("unsatisfiable_schema", "misspelt_keyword")
_NOTES_OF_COMMANDS: Final = ("untried_tool", "guess_open")
_MOST_WORDS: Final = 8


def rules() -> Iterator[str]:
    """Yield the names of the findings that the code reports."""
    yield from (*_OF_SCHEMAS, *_NOTES_OF_COMMANDS)
    for folder in _FOLDERS:
        for path in sorted((ROOT / "harness" / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and _is_report(node.func) and node.args:
                    rule = node.args[0]
                    if isinstance(rule, ast.Constant) and isinstance(rule.value, str):
                        yield rule.value


def _is_report(called: ast.expr) -> bool:
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in {"LintFinding", "report_finding"}


def rows() -> list[tuple[str, str, str]]:
    return _ROW.findall(_PAGE.read_text(encoding="utf-8"))


def test_each_finding_has_one_row_with_its_severity() -> None:
    expected = {
        rule: "note" if rule in _NOTES_OF_COMMANDS else LintFinding(rule, "", "").severity
        for rule in rules()
    }
    assert len(expected) > 60
    assert {rule: severity for rule, severity, _ in rows()} == expected
    assert len(rows()) == len(expected)


def test_a_row_is_read_at_a_glance() -> None:
    assert [meaning for _, _, meaning in rows() if len(meaning.split()) > _MOST_WORDS] == []
