"""The law of outsiders: what they write makes no target one that nobody else gave.

The labels say what an outsider writes: the results of author `public` but for the fields that a
system fills, and in any record the fields declared `public` and the names that `party` fields hold,
but for those of members. The law takes all of it away and asks which tools and targets are then
refused or asked about. None of these may be allowed as it was drawn, nor with anything else there.

What is said and when (content, attributes, one-time codes, days) is beyond it, and so is a person's
yes. A policy that allows recipients which are only parties is judged as if it asked.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from critic.provenance import tool_roles
from critic.provenance.roles import AIMED_AT, placed_values
from evals.capability import ToolCapability
from evals.escaping import pointer
from evals.json_schemas import compile_schema
from harness.testing._draw.drawn_sources import said_in
from harness.testing._draw.primitives import ABSENT, Json
from harness.testing._laws.law_context import LawContext, LawVerdict, with_manifest, with_part
from harness.testing._laws.provenance_laws import Place, levels_of
from harness.wire import build

Rewrite = Callable[[list[str]], Any]

_WIDTHS_APART: Final = 0xFEE0
_NAMES: Final = ("id", "ref", "sender", "payer", "no")


def _full_width(text: str) -> str:
    return "".join(chr(ord(one) + _WIDTHS_APART) if "!" <= one <= "~" else one for one in text)


def _records(values: list[str]) -> list[Json]:
    return [dict.fromkeys(_NAMES, value) for value in values]


TEXTS: Final[Mapping[str, Callable[[list[str]], str]]] = {
    "prose": lambda values: " ".join(f"Use {one} now, id {one}, order {one}." for one in values),
    "lines": "\n".join,
    "quoted": lambda values: " ".join(f"'{one}' \"{one}\" #{one} @{one}" for one in values),
    "other case": lambda values: "\n".join(one.swapcase() for one in values),
    "full width": lambda values: "\n".join(map(_full_width, values)),
    "no width": lambda values: "\n".join("\u200b".join(one) for one in values),
    "links": lambda values: " ".join(f"https://{one}/ {one}/.. //{one}?x" for one in values),
    "record as text": lambda values: json.dumps(_records(values)),
    "list as text": json.dumps,
}
"""What an outsider may write in a text, given the values of the calls."""

_SHAPES: Final[Mapping[str, Rewrite]] = {
    **TEXTS,
    "records": _records,
    "list": list,
    "names": dict.fromkeys,
}
"""What he may write where all of a result is his."""


class WrittenParts(NamedTuple):
    """What stands in place of what outsiders wrote: of a whole result, a text, a name.

    Without a `name`, those that parties have stay as they are.
    """

    whole: Any
    text: str
    name: str | None = None


NOTHING_WRITTEN: Final = WrittenParts("", "", "")
"""All of it is taken away."""
NO_TEXT_WRITTEN: Final = WrittenParts("", "")
"""All of it but the names of parties."""


def outsiders_name_no_target(context: LawContext) -> None:
    """What outsiders write allows no tool and no target that is doubted without it.

    Whatever spelling or shape it has. (Whoever a record is with is asked about at most.)
    """
    wire = with_part(context.wire, "ctx", approvals=ABSENT)
    if "provenance" not in wire["spec"]:
        return
    wire = with_part(wire, "spec", party_recipients=ABSENT)
    doubted = doubted_targets(context.judge, rewritten(wire, NOTHING_WRITTEN))
    if not doubted:
        return
    written = write_values(context.pick, said_in(wire["plan"]) or ["a"])
    for variant in (wire, rewritten(wire, written)):
        left = levels_of(context.judge(variant))
        lost = sorted(place for place in doubted if place not in left)
        context.require(not lost, f"what outsiders write allowed {lost}", variant)


def write_values(pick: Callable[[Sequence[Any]], Any], values: list[str]) -> WrittenParts:
    """Return what an outsider writes who wants these values to be used."""
    return WrittenParts(
        _SHAPES[pick(tuple(_SHAPES))](values), TEXTS[pick(tuple(TEXTS))](values), pick(values)
    )


def doubted_targets(judge: Callable[[Json], LawVerdict], wire: Json) -> dict[Place, int]:
    """Return the tools and targets that are refused or asked about for where they come from."""
    others = levels_of(judge(with_part(wire, "spec", provenance=ABSENT)))
    doubted = levels_of(judge(wire))
    return {
        place: doubted[place]
        for place in target_places(wire)
        if place in doubted and place not in others
    }


def target_places(wire: Json) -> Iterator[tuple[int, str]]:
    """Yield the places of the tools that a plan calls, and of what the calls are aimed at."""
    tools = {
        (one["adapter_id"], one["capability_id"]): one
        for one in wire["compiled"]["manifests"]["tool_manifest"]
    }
    for index, step in enumerate(wire["plan"]["steps"]):
        tool = tools.get((step.get("adapter_id"), step.get("capability_id")))
        if tool is None:
            continue
        yield index, pointer("steps", index)
        roles: dict[str, set[str]] = {}
        tree = tool_roles(build(ToolCapability, tool))
        for one in placed_values(tree, step.get("args", {})):
            roles.setdefault(pointer("steps", index, "args", *one.path), set()).update(one.roles)
        yield from ((index, path) for path, named in roles.items() if named and named <= AIMED_AT)


# --- what outsiders write -------------------------------------------------------------------------


def rewritten(wire: Json, written: WrittenParts) -> Json:
    """Return a proposal with other bytes in place of all that outsiders wrote."""
    manifests = wire["compiled"]["manifests"]
    classes = {one["class"]: one for one in manifests.get("classes", ())}
    parties = dict.fromkeys(manifests.get("record_fields", ()), "party")
    items = []
    for item in manifests["evidence_manifest"]:
        declared = classes.get(item["classification"], {})
        fields = {**parties, **declared.get("fields", {})}
        items.append(rewrite_item(item, fields, declared.get("schema"), written))
    return with_manifest(wire, "evidence_manifest", items)


def rewrite_item(item: Json, fields: Mapping[str, str], schema: Any, written: WrittenParts) -> Json:
    """Return an item with other bytes in place of what outsiders wrote.

    Args:
        fields: who fills which field of it.
        schema: what a record of its class is; None if anything is.
    """
    author = item.get("source", {}).get("author", "user")
    if "content" not in item or author in ("user", "operator"):
        return item
    content = item["content"]
    is_record = isinstance(content, dict | list)
    if author == "public" and not (is_record and fields):
        return {**item, "content": written.whole}
    if not is_record:
        return item
    record = _Record(content, fields, author, written)
    found = record.rewrite(content, (), is_public=author == "public")
    # A record that is none of its class any more has no fields: that says nothing of texts.
    compiled = None if schema is None else compile_schema(schema)
    is_of_class = compiled is None or (compiled.is_valid(found) and compiled.is_valid(content))
    return {**item, "content": found} if is_of_class else item


class _Record(NamedTuple):
    """A record, who fills its fields, and what is written in place of what outsiders wrote."""

    content: Any
    fields: Mapping[str, str]
    author: str
    written: WrittenParts

    def rewrite(self, value: Any, way: tuple[str, ...], *, is_public: bool) -> Any:
        """Return a part of the record with other bytes where outsiders write it. Keys stay."""
        leading = (who for name, who in self.fields.items() if self._leads_to(name, way))
        writer = next(leading, None)
        name = self.written.name
        if writer == "party" and self.author != "member" and name is not None:
            return _rename_members(value, name)
        if writer in ("system", "member", "party"):
            return value
        is_public = is_public or writer == "public"
        if isinstance(value, dict):
            return {
                key: self.rewrite(one, (*way, key), is_public=is_public)
                for key, one in value.items()
            }
        if isinstance(value, list):
            return [
                self.rewrite(one, (*way, str(at)), is_public=is_public)
                for at, one in enumerate(value)
            ]
        return self.written.text if is_public and isinstance(value, str) else value

    def _leads_to(self, name: str, way: tuple[str, ...]) -> bool:
        """Return whether a field is at the end of this way: of the item, or of each in a list."""
        if not name.startswith("/"):
            return way == (name,) if isinstance(self.content, dict) else way[1:] == (name,)
        parts = [part.replace("~1", "/").replace("~0", "~") for part in name.split("/")[1:]]
        return len(parts) == len(way) and all(
            part in ("*", here) for part, here in zip(parts, way, strict=True)
        )


def _rename_members(value: Any, name: str) -> Any:
    """Return the value of a field with another name in it for each text."""
    if isinstance(value, dict):
        return {key: _rename_members(one, name) for key, one in value.items()}
    if isinstance(value, list):
        return [_rename_members(one, name) for one in value]
    return name if isinstance(value, str) else value
