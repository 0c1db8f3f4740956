"""Where a day was seen: in the request, in a system of record, elsewhere, or nowhere."""

import re
from typing import Any

from tests.support.model.facts import Json, scalars
from tests.support.model.sources import NEAR, Seen, by, seen_in
from tests.support.model.values import spelling

MONTHS = [
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
]
NAMED_MONTH = "(?:" + "|".join(f"{name}|{name[:3]}" for name in MONTHS) + ")"
TH = "(?:st|nd|rd|th)?"
ISO_DAY = r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)"
ANY_DAY = (
    rf"{ISO_DAY}|\b{NAMED_MONTH}[.,]? \d{{1,2}}{TH}\b|\b\d{{1,2}}{TH}(?: of)? {NAMED_MONTH}\b"
    r"|(?<![\d/])\d{1,2}/\d{1,2}/\d{4}(?![\d/])"
)


def days_in(text: str) -> list[str]:
    """Return the ISO dates in a text, each once."""
    return list(dict.fromkeys(re.findall(ISO_DAY, text)))


def day_class(p: Json, day: str) -> str:
    """Return where a day was seen; `other` if that is elsewhere and the request names a day."""
    fresh, seen = seen_in(p, expired=False), seen_in(p, expired=True)
    holding = [one for one in seen if holds_day(one.fields + as_read(one.texts), day)]
    if [one for one in by(fresh, "user") if one in holding]:
        return "request"
    if [one for one in by(fresh, "system") if one in holding]:
        return "system"
    if not holding:
        return "nowhere"
    if not [one for one in holding if one in fresh and is_elsewhere(one, day)]:
        return "ambient"
    return "other" if names_a_day(p) else "elsewhere"


def is_elsewhere(one: Seen, day: str) -> bool:
    """Return whether it holds the day in more than text that nothing trusted led to."""
    a_field = one.standing == "ambient" and holds_day(one.fields, day)
    return one.author == "operator" or one.standing in NEAR or a_field


def names_a_day(p: Json) -> bool:
    """Return whether the request, expired or not, names a day."""
    items = p["compiled"]["manifests"]["evidence_manifest"]
    request = [one for one in items if one.get("source", {}).get("author") == "user"]
    said = [leaf for one in request for leaf in scalars(one.get("content"))]
    return any(re.search(ANY_DAY, text) for text in as_read(said))


def as_read(texts: list[Any]) -> list[str]:
    """Return texts in lower case with plain spaces, of which nothing is cut off at the end."""
    return [spelling(f"{text} x") for text in texts]


def holds_day(texts: list[str], day: str) -> bool:
    """Return whether a text holds the day as an ISO date, with its month's name, or as m/d/y."""
    year, month, number = (int(part) for part in day.split("-"))
    forms = [day, rf"(?<!/)0?{month}/0?{number}/{year:04}(?!/)"]
    for name in MONTHS[month - 1 : month] if month else []:
        forms += [rf"(?<!\w)(?:{name}|{name[:3]})[.,]? 0?{number}{TH}(?!\w)"]
        forms += [rf"(?<!\w)0?{number}{TH}(?: of)? (?:{name}|{name[:3]})(?!\w)"]
    pattern = rf"(?<!\d)(?:{'|'.join(forms)})(?!\d)"
    return any(re.search(pattern, spelling(text)) for text in texts)
