"""The words of the page, for a reader who has never seen the tool. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, assert_never

from evals.kinds import Fate

RECORD_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "allowed": "Allowed",
        "asked": "A person was asked",
        "refused": "Refused",
        "shadowed": "Would not be allowed, and is not enforced",
        "denied": "A person said no",
        "lapsed": "The question expired",
        "began": "An execution began",
        "settled": "A person said how it ended",
        "ran": "What ran",
        "critic_error": "The critic failed",
        "closed": "A session was closed",
        "reopened": "A closed session was reopened",
        "handed_over": "The log continues in another log",
        "taken_over": "The log continues another log",
        "redacted": "Parts were taken out of the log",
        "missing": "Missing from the log",
        "unreadable": "Cannot be read",
    }
)
"""What one record says, by the code that rows hold. What became of the turn is its fate."""

Tone = Literal["bad", "warn", "good", "plain"]


class FateLook(NamedTuple):
    """How a fate is shown: its words, and its colour by day and by night."""

    words: str
    light: str
    dark: str


FATE_LOOKS: Final[Mapping[Fate, FateLook]] = MappingProxyType(
    {
        "ran_although_refused": FateLook("Ran although refused", "#a40e26", "#ff6b61"),
        "open": FateLook("Began, with no end on record", "#8a5a00", "#f0c25c"),
        "failed": FateLook("The critic failed; nothing ran", "#d04a00", "#ff9d66"),
        "ran_in_shadow": FateLook("Ran in shadow", "#b14a85", "#e08cbc"),
        "refused": FateLook("Refused; nothing ran", "#0072b2", "#56b4e9"),
        "asked_open": FateLook("Waits for a person's answer", "#7b6a00", "#d6c84a"),
        "asked_no": FateLook("Not approved; nothing ran", "#5a4fcf", "#a59bff"),
        "not_run": FateLook("Allowed; no run on record", "#6e7781", "#8b98a5"),
        "ran_in_part": FateLook("Ran in part", "#b87700", "#e6a532"),
        "ran_after_yes": FateLook("Ran after a yes", "#00796b", "#4dd0bd"),
        "ran": FateLook("Ran as planned", "#1a7f37", "#4ac26b"),
    }
)
"""How each fate is shown: the one table of their words and colours."""


def tone_of(fate: Fate) -> Tone:
    """Return how bad a fate is."""
    match fate:
        case "ran_although_refused" | "failed":
            return "bad"
        case "open" | "ran_in_shadow" | "asked_open" | "ran_in_part":
            return "warn"
        case "refused" | "asked_no" | "not_run":
            return "plain"
        case "ran_after_yes" | "ran":
            return "good"
        case _:
            assert_never(fate)


FATE_WORDS: Final[Mapping[Fate, str]] = MappingProxyType(
    {one: look.words for one, look in FATE_LOOKS.items()}
)

WORRIES: Final[Mapping[Fate, str]] = MappingProxyType(
    {
        "ran_although_refused": "Calls were made, and no ruling allowed them.",
        "ran_after_yes": "The critic would not have allowed it alone. A person said yes.",
        "ran_in_part": "A call failed, timed out, or was never made; or nobody knows that.",
        "open": "It may have had effects: nothing says how it ended. This is not damage.",
        "failed": "The critic itself failed, so it refused what it was asked.",
    }
)
"""The fates that a reader should look at first, in this order, and what each means."""

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
        "open": "A step was refused once its values were there",
    }
)
"""The kinds of refusals: of plans, of a run that failed (`score`) and of a step of one (`open`)."""


def fate_style() -> str:
    """Return the rules of a style sheet that give each fate its colours."""
    rules = [f".fate-{one} {{ --fate: {look.light}; }}\n" for one, look in FATE_LOOKS.items()]
    night = [f"  .fate-{one} {{ --fate: {look.dark}; }}\n" for one, look in FATE_LOOKS.items()]
    return (
        f"{''.join(rules)}@media screen and (prefers-color-scheme: dark) {{\n{''.join(night)}}}\n"
    )


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
