"""Why provenance asks or refuses, in one line that a person can act on."""

from collections.abc import Mapping
from typing import Final

from critic.provenance.seen_sources import DaySighting, Sighting
from critic.provenance.value_forms import Day
from evals.canonical_json import canonical_json
from evals.capability import Role
from evals.escaping import escape_name
from evals.manifest import EvidenceItem, Source

_LONGEST: Final = 60
_STANDINGS: Final[Mapping[str, str]] = {
    "named": "which the request names",
    "reached": "linked from one that the request names",
    "led": "reached only through untrusted text",
    "ambient": "not requested",
}
_ROLES: Final[Mapping[Role, str]] = {
    "attribute": "detail",
    "locator": "address to read",
    "code": "one-time code",
    "content": "address in content",
    "time": "day",
}

NEEDS_APPROVAL: Final = "needs approval"
"""What helps where one doubt asks."""
TWO_DOUBTS: Final = "two doubts about one step, which approval does not clear"
"""What is said of each doubt where a step has one about its tool and one about a value."""
_NAME_IT: Final = "name it in the request"


def value_reason(role: Role, value: str | float, seen: Sighting, help_: str | None) -> str:
    """Return why a value is not allowed in its role. Without `help_`, it is refused."""
    help_ = help_ or _NAME_IT
    return (
        f"{_ROLES.get(role, role)} {_quote_text(_spell_value(value))} {_say_where(seen)}: {help_}"
    )


def day_reason(day: Day, seen: DaySighting, help_: str) -> str:
    """Return why a day asks."""
    where = f"appears only in {_name_item(seen.item)}"
    if seen.origin == "elsewhere":
        where += ", and the request names another day"
    return f"day {day.year:04}-{day.month:02}-{day.day:02} {where}: {help_}"


def tool_reason(name: str, help_: str | None) -> str:
    """Return why a tool is doubted. Without `help_`, it is refused."""
    if help_ is None:
        return (
            f"calls {name}, which is not requested, with no value from the request"
            " or a source that it names: ask for it in the request"
        )
    return f"calls {name}, which is not requested: {help_}"


def _say_where(seen: Sighting) -> str:
    match seen.origin:
        case "unseen":
            return "was not seen in the request or in any result"
        case "own":
            return "is known only from what this session did, or by its host"
        case "field" | "led_field":
            return f"appears only as a field of {_name_item(seen.item)}"
        case "contested":
            return (
                f"is a field of {_name_item(seen.item)} that {_name_item(seen.rival)} mentions too"
            )
        case _:
            return f"appears only in the text of {_name_item(seen.item)}"


def _name_item(item: EvidenceItem | None) -> str:
    """Return the item in words: its id, what it is about, and how the session came to read it."""
    return "no item" if item is None else f"{item.id}{_about(item)}{_standing_of(item.source)}"


def _about(item: EvidenceItem) -> str:
    return "" if item.subject is None else f" {_quote_text(item.subject)}"


def _standing_of(source: Source | None) -> str:
    if source is None or source.author in ("user", "operator"):
        return ""
    return f" ({_STANDINGS[source.standing]})"


def _spell_value(value: str | float) -> str:
    """Return a value as canonical JSON writes it, so that 7 and 7.0 read the same."""
    return value if isinstance(value, str) else canonical_json(value).decode()


def _quote_text(text: str) -> str:
    """Return a text in brackets, which mark its ends: its own are escaped."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    inner = escape_name(shown).replace("[", "\\u005b").replace("]", "\\u005d")
    return f"[{inner}]"
