"""The findings of the lint of a policy, and the words that its rules share."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple

from evals.escaping import escape_name
from harness.policy.schema_lint import impossible_parts, odd_keywords


class LintFinding(NamedTuple):
    """Something that is valid, and ineffective or risky.

    Attributes:
        rule: its name, such as `unknown_class`.
        path: JSON pointer to the place in the policy.
        message: what it leads to and what to write instead; one line, safe to print.
    """

    rule: str
    path: str
    message: str


Findings = Iterator[LintFinding]


def guess_name(name: str, known: list[str]) -> str:
    """Return the known name that was probably meant, as a question; else nothing."""
    found = get_close_matches(name, known, 1, 0.6)
    return f"did you mean {escape_name(found[0])}? " if found else ""


def no_class(name: str, known: frozenset[str]) -> str:
    """Return what is wrong with a class that nothing has, and what to write instead."""
    hint = guess_name(name, sorted(known))
    return f"no tool yields the class {name} and no evidence has it: {hint}add it to one of them"


def lint_schema(schema: Any) -> Iterator[tuple[str, str, str]]:
    """Yield rule, JSON pointer and message of what is wrong with a valid JSON Schema."""
    yield from (("unsatisfiable_schema", *part) for part in impossible_parts(schema))
    yield from (("misspelt_keyword", *keyword) for keyword in odd_keywords(schema))
