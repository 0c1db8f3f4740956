"""The words of the page, for a reader who has never seen the tool. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

OUTCOME_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "refused": "Refused before it ran",
        "failed": "Ran, and failed policy or safety",
        "completed": "Ran within policy and safety",
        "partial": "Allowed; no run in this record",
        "begun": "An execution began",
        "open": "Began, and no end is on record",
        "critic_error": "The critic failed, so it refused",
        "missing": "Missing from the log",
        "unreadable": "Cannot be read",
    }
)
"""What became of a record, by the code that rows hold."""

CHECK_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "same": "sound",
        "drift": "judged by other rules",
        "tampered": "tampered with",
        "incomplete": "incomplete",
        "redacted": "with values taken out",
        "open": "begun with no end on record",
    }
)
"""What checking records found, after a number of records."""


class KindLook(NamedTuple):
    """How a kind of refusal is shown: what it is called, and its colour by day and by night."""

    words: str
    light: str
    dark: str


KIND_LOOKS: Final[Mapping[str, KindLook]] = MappingProxyType(
    {
        "missing_evidence": KindLook("Evidence is missing", "#0072b2", "#56b4e9"),
        "approval_mode_mismatch": KindLook("Beyond its mode or approval", "#b87700", "#e6a532"),
        "violates_decision_spec": KindLook(
            "Outside what the decision allows", "#009e73", "#2bc79a"
        ),
        "loop_guard": KindLook("Repeats itself", "#b14a85", "#e08cbc"),
        "budget_exceeded": KindLook("Over the budget", "#5a4fcf", "#a59bff"),
        "score": KindLook("Policy or safety failed after the run", "#d04a00", "#ff8a4c"),
    }
)
"""The kinds of refusals; `score` is a run that failed, all others are plans that never ran."""

REFUSAL_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {kind: look.words for kind, look in KIND_LOOKS.items()}
)


def kind_style() -> str:
    """Return the rules of a style sheet that give each kind its colours."""
    rules = [f".kind-{kind} {{ fill: {look.light}; }}\n" for kind, look in KIND_LOOKS.items()]
    night = [f"  .kind-{kind} {{ fill: {look.dark}; }}\n" for kind, look in KIND_LOOKS.items()]
    return f"{''.join(rules)}@media (prefers-color-scheme: dark) {{\n{''.join(night)}}}\n"


EXPLAINED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "user": "written by the user: the request",
        "operator": "written by the operator: the system prompt",
        "system": "written by a system of record",
        "member": "written by a person in the user's own organisation",
        "public": "anyone could have written it",
        "named": "the request names it",
        "reached": "sources that the request names lead to it",
        "led": "only other text led to it",
        "ambient": "nothing led to it",
        "read_only": "only reads",
        "local_write": "changes things nearby",
        "network": "reaches other systems",
        "delegated": "hands work to others",
        "destructive": "cannot be undone",
    }
)
"""Authors and standings of sources, and tiers of tools."""
