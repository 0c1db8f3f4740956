"""What was seen before a plan: each leaf of each item, with who wrote it, found the slow way."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.support.model.facts import Json, find_class, json_type, members, unexpired, wrong_places
from tests.support.model.kinds import is_short_enough, leads_to, text_of, unreadable

NEAR = ("named", "reached")
LONGEST_FIELD = 80

Way = tuple[str, ...]


class Leaf(NamedTuple):
    """A text that was seen: what it says, who wrote it, and whether it is a declared field."""

    text: str
    writer: str
    field: str
    """The declared name of the field, or nothing where it is free text."""
    record: str
    """Which record of a list it is of, or nothing."""
    listed: bool = False
    """Whether it is a text in a list."""


class Seen(NamedTuple):
    """An item that was seen: its author, how it was reached, when, whether it is still fresh."""

    id: str
    author: str
    web: bool
    standing: str
    seq: int | None
    fresh: bool
    leaves: list[Leaf]
    whole: bool = True
    """Whether it was read as it stands: what was not may mention anything."""

    def letter_of(self, leaf: Leaf) -> str:
        """Return who speaks in a free text: a member, a web page or the public."""
        if self.web:
            return "w"
        return "m" if leaf.writer == "member" else "p"


def seen_in(p: Json) -> list[Seen]:
    """Return what was seen, fresh or expired. What has no source or no content was not seen."""
    items = p["compiled"]["manifests"]["evidence_manifest"]
    return [read(p, item) for item in items if "source" in item and was_seen(item)]


def was_seen(item: Json) -> bool:
    return "content" in item or bool(item["source"].get("cut"))


def fresh_by(seen: list[Seen], *authors: str) -> list[Seen]:
    return [one for one in seen if one.fresh and one.author in authors]


def read(p: Json, item: Json) -> Seen:
    source, content = item["source"], item.get("content", "")
    author = source["author"]
    said = author in ("user", "operator")
    table, writer = ({}, author) if said else fields_of(p, item)
    declared = {} if said else find_class(p, item["classification"]).get("fields", {})
    if all(filler == "system" for filler in declared.values()):
        declared = {}
    web = bool(source.get("web"))
    fresh, seq = unexpired(p, item), source.get("seq")
    leaves = list(leaves_in(content, table, writer, {plain(last_name(one)) for one in declared}))
    whole = said or is_short_enough([leaf.text for leaf in leaves])
    if not whole:
        leaves = [leaf._replace(text=unreadable(leaf.text)) for leaf in leaves]
    is_all = said or (whole and not source.get("cut"))
    return Seen(item["id"], author, web, source["standing"], seq, fresh, leaves, is_all)


def fields_of(p: Json, item: Json) -> tuple[Json, str]:
    """Return who fills which field, and who all else: of items that meet the schema of the class.

    Where others than systems fill fields of a class, a record that breaks its schema is public.
    """
    manifests, author = p["compiled"]["manifests"], item["source"]["author"]
    declared = find_class(p, item["classification"])
    own = declared.get("fields", {})
    content = item.get("content", "")
    is_record = json_type(content) == "container"
    is_wrong = is_record and "schema" in declared and wrong_places(declared["schema"], content)
    if is_wrong:
        return {}, "public" if any(own[name] != "system" for name in own) else author
    if isinstance(content, list):
        own = {**own, **of_elements(own, author)}
    parties = [name for name in manifests.get("record_fields", []) if name not in own]
    return {**own, **dict.fromkeys(parties, "party")}, author


def of_elements(fields: Json, author: str) -> Json:
    """Return pointers into each element of a list, of those that say less than its author."""
    order = ("system", "member", "party", "public")
    less = [name for name in fields if order.index(fields[name]) > order.index(author)]
    found = {f"/*{name}": fields[name] for name in less if name.startswith("/")}
    return {name: found[name] for name in found if name not in fields}


# --- the leaves of an item ----------------------------------------------------------------------


def leaves_in(content: Any, table: Json, author: str, own: set[str]) -> Iterator[Leaf]:
    for place, value, is_name in leaves_at((), content):
        if value is None or isinstance(value, bool) or text_of(value) == "":
            continue
        record = place[0] if isinstance(content, list) and place else ""
        text, name = text_of(value), field_at(table, place, content, is_name)
        unmet = unmet_fields(table, record, content, author)
        unmet = {one: unmet[one] for one in unmet if one in own}
        around = writer_at(table, place[:-1], content, author, unmet)
        is_field = name and (
            table[name] == "party" or (table[name], around) != ("system", "system")
        )
        if is_field and is_short(text) and table[name] in ("system", "party"):
            yield Leaf(text, table[name], name, record)
        else:
            listed = isinstance(value, str) and not is_name and is_element(place, content)
            way = place[:-1] if is_name else place
            writer = writer_at(table, way, content, author, unmet)
            if not is_name and not is_below_field(table, place, content):
                writer = least(writer, *(unmet[one] for one in unmet if is_word(one, plain(text))))
            yield Leaf(text, writer, "", record, listed)


def unmet_fields(table: Json, record: str, content: Any, author: str) -> dict[str, str]:
    """Return the fields of others that lead nowhere in a record, by the names they would have."""
    if isinstance(content, list) and not all(isinstance(one, dict) for one in content):
        merged = unmet_of(table, "", content, author, is_one=False)
        for at, one in enumerate(content):
            here = unmet_of(table, str(at), content, author) if isinstance(one, dict) else {}
            for name in here:
                merged[name] = least(here[name], merged.get(name, here[name]))
        return merged
    return unmet_of(table, record, content, author, is_one=isinstance(content, list))


def unmet_of(
    table: Json, record: str, content: Any, author: str, *, is_one: bool = True
) -> dict[str, str]:
    """Return those of one record of a list, or of an item as a whole."""
    ways = [way for way in ways_in((), content) if not is_one or way[:1] == (record,)]
    found: dict[str, str] = {}
    for name in table:
        way = plain(last_name(name))
        is_here = not is_one or not name.startswith("/") or name.split("/")[1] in ("*", record)
        filler = "public" if (table[name], author) == ("party", "system") else table[name]
        if filler == "party" or not is_here or way == "" or least(filler, author) == author:
            continue
        if not any(is_field(name, one, content) for one in ways):
            found[way] = least(filler, found.get(way, filler))
    return found


def last_name(declared: str) -> str:
    """Return the name that a bare name or a pointer ends at, but for `*`."""
    if not declared.startswith("/"):
        return declared
    named = ["", *(one for one in declared[1:].split("/") if one != "*")]
    return named[-1].replace("~1", "/").replace("~0", "~")


def ways_in(place: Way, value: Any) -> Iterator[Way]:
    """Yield where anything stands: a null is nothing."""
    if value is None:
        return
    yield place
    for name, item in members(value):
        yield from ways_in((*place, str(name)), item)


def plain(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


def least(*writers: str) -> str:
    """Return whoever says least."""
    return max(writers, key=("user", "operator", "system", "member", "public").index)


def is_word(name: str, text: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text) is not None


def is_below_field(table: Json, place: Way, content: Any) -> bool:
    tops = [place[:depth] for depth in range(1, len(place) + 1)]
    return any(is_field(name, top, content) for name in table for top in tops)


def writer_at(table: Json, place: Way, content: Any, author: str, unmet: dict[str, str]) -> str:
    """Return who wrote a free text: inside a field that others fill, these, however deep it is."""
    writer = author
    for depth in range(1, len(place) + 1):
        fields = [name for name in table if is_field(name, place[:depth], content)]
        if not is_below_field(table, place[:depth], content) and not is_element(
            place[:depth], content
        ):
            writer = least(writer, unmet.get(plain(place[depth - 1]), writer))
        filler = table[fields[0]] if fields else "system"
        if filler == "party" and writer == "system":
            writer = "public"
        elif filler not in ("system", "party"):
            writer = filler
    return writer


def leaves_at(place: Way, value: Any) -> Iterator[tuple[Way, Any, bool]]:
    """Return scalars with the way to each, and the names of members, which count as texts too."""
    if json_type(value) != "container":
        yield place, value, False
    for name, item in members(value):
        if isinstance(value, dict):
            yield (*place, str(name)), name, True
        yield from leaves_at((*place, str(name)), item)


def field_at(table: Json, place: Way, content: Any, is_name: bool) -> str:
    """Return the field whose value this is: its scalar, an element, or the name of a member."""
    for name in table:
        depth = len(place) - 1
        if is_field(name, place[:depth], content) and (is_name or is_element(place, content)):
            return name
        if not is_name and is_field(name, place, content):
            return name
    return ""


def is_field(name: str, place: Way, content: Any) -> bool:
    """Return whether a name, bare or a pointer, is that of the place itself."""
    if name.startswith("/"):
        return leads_to(name, list(place)) and name.count("/") == len(place)
    return place == (name,) if isinstance(content, dict) else is_of_element(name, place, content)


def is_of_element(name: str, place: Way, content: Any) -> bool:
    return isinstance(content, list) and len(place) == 2 and place[1] == name


def is_element(place: Way, content: Any) -> bool:
    """Return whether what holds the place is a list."""
    inside = content
    for part in place[:-1]:
        inside = inside[part] if isinstance(inside, dict) else inside[int(part)]
    return isinstance(inside, list)


def is_short(text: str) -> bool:
    return len(text) <= LONGEST_FIELD and text.splitlines() == [text]
