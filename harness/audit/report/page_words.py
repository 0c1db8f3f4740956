"""What the page calls things, for a reader who has never seen the tool. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

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

REFUSAL_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "missing_evidence": "Evidence is missing",
        "approval_mode_mismatch": "Beyond its mode or approval",
        "violates_decision_spec": "Outside what the decision allows",
        "loop_guard": "Repeats itself",
        "budget_exceeded": "Over the budget",
        "score": "Policy or safety failed after the run",
    }
)
"""The kinds of refusals; `score` is a run that failed, all others are plans that never ran."""

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
