"""Why provenance asks or refuses, in one line that a person can act on."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from critic.provenance.day_forms import Day
from critic.provenance.folding import has_control
from critic.provenance.origins import DaySighting, Origin, Sighting
from critic.provenance.value_kinds import is_only_words
from evals.canonical_json import canonical_json
from evals.capability import Role
from evals.escaping import escape_name
from evals.manifest import EvidenceItem
from evals.timestamps import format_time

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
_WRITE_PLAINLY: Final = "write it in full, without dots, doubled slashes or escapes"
_WRITE_ALONE: Final = "write the address alone, as in name@example.com"
_READ_AGAIN: Final = "read it again"
_SEARCHED: Final = "found by a search for words of the request"


def value_reason(
    role: Role, value: str | float, seen: Sighting, as_of: datetime | None, help_: str | None
) -> str:
    """Return why a value is not allowed in its role. Without `help_`, it is refused."""
    said = f"{_ROLES.get(role, role)} {_quote_text(_spell_value(value))}"
    if seen.stale is not None:
        expired = f"which expired{_say_expiry(seen.stale, as_of)}"
        return f"{said} was seen in {_name_item(seen.stale)}, {expired}: {help_ or _READ_AGAIN}"
    if seen.origin == "unreadable" and _is_of_address(role, value):
        return f"{said} is no e-mail address: {help_ or _WRITE_ALONE}"
    otherwise = _WRITE_PLAINLY if seen.origin == "unreadable" else _NAME_IT
    return f"{said} {_say_where(seen)}: {help_ or otherwise}"


def _is_of_address(role: Role, value: str | float) -> bool:
    """Return whether a value that cannot be read is none of a path or of a link with a path."""
    text = _spell_value(value)
    is_path = any(sign in text for sign in "/\\") or text in (".", "..") or has_control(text)
    return not is_path and ("@" in text or role == "recipient")


def _say_expiry(item: EvidenceItem, as_of: datetime | None) -> str:
    if item.expires_at is None:
        return ""
    said = format_time(item.expires_at)
    same_day = as_of is not None and format_time(as_of)[:10] == said[:10]
    return f" at {said[11:] if same_day else said}"


def day_reason(day: Day, seen: DaySighting, help_: str | None) -> str:
    """Return why a day asks."""
    where = f"appears only in {_name_item(seen.item)}"
    if seen.origin == "elsewhere":
        where += ", and the request names another day"
    year = "" if day.year is None else f"{day.year:04}-"
    return f"day {year}{day.month:02}-{day.day:02} {where}: {help_}"


def unread_day_reason(value: str | float, help_: str | None) -> str:
    """Return why a value asks that names no day which can be read."""
    return f"day {_quote_text(_spell_value(value))} cannot be read as a day: {help_}"


def empty_reason(help_: str | None) -> str:
    """Return why a call asks that is aimed at nothing."""
    return f"no recipient or object is given: {help_}"


def many_reason(most: int, _help: str | None) -> str:
    """Return why a call is refused of which nobody could judge every value in time."""
    return f"has values beyond the {most:,} of a plan that are judged: split the call"


def title_reason(value: str, item: EvidenceItem, help_: str | None) -> str:
    """Return why a text asks that a call without any target takes from what nobody asked for."""
    return f"text {_quote_text(value)} appears only in {_name_item(item)}: {help_}"


def tool_reason(name: str, help_: str | None) -> str:
    """Return why a tool is doubted. Without `help_`, it is refused."""
    if help_ is None:
        return (
            f"calls {name}, which is not requested, with no value from the request"
            " or a source that it names: ask for it in the request"
        )
    return f"calls {name}, which is not requested: {help_}"


def _say_where(seen: Sighting) -> str:
    if seen.is_unread:
        shown = "" if seen.item is None else f"is shown by {_name_item(seen.item)}, and "
        return f"{shown}may stand in {_name_item(seen.rival)}, which was not read whole"
    if seen.origin in _ALONE:
        return _ALONE[seen.origin]
    named = _name_item(seen.item)
    if seen.origin == "unseen":
        if seen.rival is None:
            return "was not seen in the request or in any result"
        return "stands in the request only written in other characters"
    if seen.origin == "new_link" and seen.item is None:
        return "is a link that was not seen in the request or in any result"
    pattern = _WHERE.get(seen.origin, "appears only in the text of {item}")
    return pattern.format(item=named, rival=_name_item(seen.rival))


_FIELD: Final = "appears only as a field of {item}"
_CONTESTED: Final = "is a field of {item} that {rival} mentions too"
_ALONE: Final[Mapping[Origin, str]] = {
    "own": "is known only from what this session did, or by its host",
    "unreadable": "can be read in more than one way",
}
_WHERE: Final[Mapping[Origin, str]] = {
    "words": "is only a word in {item}",
    "host": "is another place than the one that {item} names",
    "new_link": "is a link to a host that {item} names, with more behind it",
    "field": _FIELD,
    "party": _FIELD,
    "led_field": _FIELD,
    "contested": _CONTESTED,
    "contested_party": _CONTESTED,
}


def _name_item(item: EvidenceItem | None) -> str:
    """Return the item in words: its id, what it is about, and how the session came to read it."""
    return "no item" if item is None else f"{item.id}{_about(item)}{_standing_of(item)}"


def _about(item: EvidenceItem) -> str:
    return "" if item.subject is None else f" {_quote_text(item.subject)}"


def _standing_of(item: EvidenceItem) -> str:
    source = item.source
    if source is None or source.author in ("user", "operator"):
        return ""
    sought = (item.subject or "").partition(" ")[2]
    if source.standing == "named" and is_only_words(sought.lower()) and " " in sought:
        return f" ({_SEARCHED})"
    return f" ({_STANDINGS[source.standing]})"


def _spell_value(value: str | float) -> str:
    """Return a value as canonical JSON writes it, so that 7 and 7.0 read the same."""
    return value if isinstance(value, str) else canonical_json(value).decode()


def _quote_text(text: str) -> str:
    """Return a text in brackets, which mark its ends: its own are escaped."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    inner = escape_name(shown).replace("[", "\\u005b").replace("]", "\\u005d")
    return f"[{inner}]"
