"""Which confined content a value holds, found the slow way."""

from typing import Any

from tests.support.model.facts import Json, json_type, scalars, spelled

SHORTEST_TEXT, FEWEST_DIGITS = 8, 6


def confined(p: Json) -> list[Json]:
    """Return the items of confined classes, pinned or not, fresh or not."""
    classes = p["spec"].get("confined_evidence", [])
    manifest = p["compiled"]["manifests"]["evidence_manifest"]
    return [item for item in manifest if item["classification"] in classes]


def secrets(item: Json) -> list[str]:
    """Return what to look for: its long strings, and its long numbers as JSON spells them."""
    leaves = scalars(item["content"]) if "content" in item else []
    texts = [leaf for leaf in leaves if json_type(leaf) == "string" and len(leaf) >= SHORTEST_TEXT]
    numbers = [spelled(leaf) for leaf in leaves if json_type(leaf) == "number"]
    return texts + [one for one in numbers if sum(map(str.isdigit, one)) >= FEWEST_DIGITS]


def texts_of(value: Any) -> list[str]:
    """Return every string, key and number in the value, as text."""
    if isinstance(value, dict):
        return list(value) + [text for item in value.values() for text in texts_of(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts_of(item)]
    return [value if isinstance(value, str) else spelled(value)]


def leaks(p: Json, value: Any) -> list[Json]:
    """Return the confined items whose content stands in the value."""
    return [
        item
        for item in confined(p)
        if any(secret in text for secret in secrets(item) for text in texts_of(value))
    ]
