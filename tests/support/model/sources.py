"""What was seen before a plan: the sources that provenance looks in, found the slow way."""

from typing import NamedTuple

from tests.support.model.facts import Json, scalars, unexpired
from tests.support.model.values import fields_and_texts, occurs_in, spelling

NEAR = ("named", "reached")


class Seen(NamedTuple):
    """A piece of evidence that was seen: who wrote it, how it was reached, and what it says."""

    author: str
    standing: str
    fields: list[str]
    texts: list[str]


def seen_in(p: Json, *, expired: bool) -> list[Seen]:
    """Return the sources. With `expired` also the expired ones, as what other text led to."""
    found = []
    for item in p["compiled"]["manifests"]["evidence_manifest"]:
        if "source" in item and "content" in item:
            fresh = unexpired(p, item)
            if fresh or expired:
                found.append(read(p, item, fresh=fresh))
    return found


def read(p: Json, item: Json, *, fresh: bool) -> Seen:
    source, keys = item["source"], p["compiled"]["manifests"].get("record_fields", [])
    author = {"member": "m", "public": "p"}.get(source["author"], source["author"])
    if author in ("m", "p") and source.get("web"):
        author = "w"
    if author in ("user", "operator"):
        leaves = [one for one in scalars(item["content"]) if one is not None]
        leaves = [one for one in leaves if not isinstance(one, bool)]
        said: tuple[list[str], list[str]] = [], [spelling(one) for one in leaves]
    else:
        said = fields_and_texts(item["content"], keys)
    return Seen(author, source["standing"], *said) if fresh else Seen("p", "led", *said)


def by(seen: list[Seen], author: str) -> list[Seen]:
    return [one for one in seen if one.author == author]


def mentions(one: Seen, value: str, *, longer: bool = False) -> bool:
    return any(occurs_in(value, text, longer=longer) for text in one.texts)


def requested(seen: list[Seen], value: str) -> bool:
    return any(mentions(one, value, longer=True) for one in by(seen, "user"))
