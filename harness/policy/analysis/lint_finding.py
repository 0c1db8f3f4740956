"""The findings of the lint, and the texts that its rules share."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, Final, Literal, NamedTuple

from evals.escaping import escape_name
from harness.policy.schema_lint import impossible_parts, odd_keywords

FindingSeverity = Literal["error", "warning", "note"]


class LintFinding(NamedTuple):
    """Something valid that is ineffective or risky.

    Attributes:
        rule: its name, such as `unknown_class`.
        path: JSON pointer to the place in the policy.
        message: the effect and the fix; one line, safe to print.
        is_latent: whether it changes no ruling of this policy as it is.
        witness: the events of a session that shows it, as `critic guard` reads them: the guard
            answers the last call as the message says.
    """

    rule: str
    path: str
    message: str
    is_latent: bool = False
    witness: tuple[dict[str, Any], ...] = ()

    @property
    def severity(self) -> FindingSeverity:
        """The severity. A note fails no check."""
        return "note" if self.is_latent else _SEVERITIES.get(self.rule, "warning")


_ERRORS: Final = (
    *("public_reaches_target", "free_text_as_field", "web_is_trusted", "trusted_result"),
    *("evidence_from_untrusted", "own_evidence", "arguments_open", "target_of_any_shape"),
    *("unknown_class", "pointer_leads_nowhere", "never_equal", "constant_never"),
    *("demand_says_nothing", "demand_without_required", "makes_on_a_read", "provenance_off"),
    *("nobody_is_asked", "unreachable_tool", "mode_above_safety_mode", "over_budget"),
    *("unsatisfiable_schema", "example_misses_schema", "evidence_misses_schema", "drift"),
)
_NOTES: Final = (
    *("amount_unlimited", "class_unused", "class_without_schema", "result_not_labelled"),
)
_SEVERITIES: Final[dict[str, FindingSeverity]] = {
    **dict.fromkeys(_ERRORS, "error"),
    **dict.fromkeys(_NOTES, "note"),
}
"""The severity of a rule; all others are warnings."""

Findings = Iterator[LintFinding]


MOST_FINDINGS: Final = 1_000
"""How many findings of one policy are listed."""

_MOST_COMPARED: Final = 60
_MOST_SHOWN: Final = 20


def guess_name(name: str, known: Sequence[str]) -> str:
    """Return the known name that was probably meant, as a question; or nothing.

    Args:
        known: the sorted names; of many, only the nearest in order are compared.
    """
    if len(known) > _MOST_COMPARED:
        at = max(0, bisect_left(known, name) - _MOST_COMPARED // 2)
        known = known[at : at + _MOST_COMPARED]
    found = get_close_matches(name, known, 1, 0.6)
    return f"did you mean {escape_name(found[0])}? " if found else ""


def show_names(names: Sequence[str]) -> str:
    """Return the names as one list, safe to print; of many, the first and how many more."""
    shown = ", ".join(map(escape_name, names[:_MOST_SHOWN]))
    more = len(names) - _MOST_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def no_class(name: str, known: Sequence[str]) -> str:
    """Return the error for an unknown class, and the fix.

    Args:
        known: the known classes, in order.
    """
    hint = guess_name(name, known)
    return f"no tool yields the class {name} and no evidence has it: {hint}add it to one of them"


def lint_schema(schema: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the rule, JSON pointer and message of each finding in a valid JSON Schema."""
    yield from (("unsatisfiable_schema", *part) for part in impossible_parts(schema))
    yield from (("misspelt_keyword", *keyword) for keyword in odd_keywords(schema))
