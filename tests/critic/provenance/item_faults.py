"""Faults about items, each planted in the second statement of provenance: in and out again."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from tests.support.model import classes, provenance, sources
from tests.support.model.facts import Json
from tests.support.model.sessions import Session
from tests.support.model.sources import Leaf, Seen


class Fault(NamedTuple):
    """One slip: what takes the place of which name, and why the law need not notice it."""

    name: str
    where: Any
    attribute: str
    wrong: Callable[[Any], Any]
    """Returns what takes the place of the right one."""
    why: str = ""


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    right = getattr(fault.where, fault.attribute)
    with patch.object(fault.where, fault.attribute, fault.wrong(right)):
        yield


def with_more(role: str, kinds: str) -> Callable[[Any], Any]:
    """Return a table in which a role also allows these classes."""
    return lambda table: {**table, role: (f"{kinds} {table[role][0]}", table[role][1])}


def any_format(right: Any) -> Any:
    def item_of(self: Session, tool: Json, event: Json, *, completed: bool) -> Json:
        promised = {**tool, "result": {**tool.get("result", {}), "format": "json"}}
        item: Json = right(self, promised, event, completed=completed)
        return item

    return item_of


def own_author(right: Any) -> Any:
    def item_of(self: Session, tool: Json, event: Json, *, completed: bool) -> Json:
        item: Json = right(self, tool, event, completed=completed)
        label = tool.get("result") or item["source"]
        item["source"]["author"] = label["author"]
        return item

    return item_of


def failed_as_completed(right: Any) -> Any:
    def item_of(self: Session, tool: Json, event: Json, *, completed: bool) -> Json:
        item: Json = right(self, tool, event, completed=completed or True)
        return item

    return item_of


def fields_by_name(_right: Any) -> Any:
    names = dict.fromkeys(("id", "ref", "no"), "system")
    return lambda _p, item: (names, item["source"]["author"])


def spelled_records(right: Any) -> Any:
    def leaves_in(content: Any, table: Json, author: str, own: set[str]) -> Iterator[Leaf]:
        for leaf in right(content, table, author, own):
            yield leaf
            if leaf.text[:1] in "[{":
                named = {"id": "system", "ref": "system"}
                yield from right(read(leaf.text), named, author, own)

    return leaves_in


def read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def short_elements(right: Any) -> Any:
    def leaves_in(content: Any, table: Json, author: str, own: set[str]) -> Iterator[Leaf]:
        for leaf in right(content, table, author, own):
            inside = isinstance(content, list) and leaf.text in content
            yield leaf._replace(writer="system", field="0") if inside else leaf

    return leaves_in


def with_named_texts(right: Any) -> Any:
    def fresh_by(seen: list[Seen], *authors: str) -> list[Seen]:
        named = [one for one in seen if one.fresh and one.standing == "named"]
        found: list[Seen] = right(seen, *authors)
        return found + (named if "user" in authors else [])

    return fresh_by


def of_strangers_too(right: Any) -> Any:
    def as_member(one: Seen) -> Seen:
        if one.author != "public":
            return one
        written = {"public": "member"}
        leaves = [
            leaf._replace(writer=written.get(leaf.writer, leaf.writer)) for leaf in one.leaves
        ]
        return one._replace(author="member", leaves=leaves)

    return lambda p, seen: right(p, list(map(as_member, seen)))


def whoever_wrote_it(_right: Any) -> Any:
    return lambda leaf: not leaf.field


TABLE: Final = "ALLOWED_ASKED"

ASKED_IF_AMBIENT: Final = Fault(
    "what stands in ambient text may be acted on if a person says so",
    provenance,
    TABLE,
    lambda table: {**table, "object": (table["object"][0], f"{table['object'][1]} X")},
)

NOTICED: Final = (
    Fault("a result is a record whatever its tool promised", Session, "item_of", any_format),
    Fault("names say who fills a field, not the class", sources, "fields_of", fields_by_name),
    Fault("a text that spells a record is one", sources, "leaves_in", spelled_records),
    Fault(
        "a field's name counts at any depth",
        sources,
        "is_field",
        lambda _right: lambda name, place, _content: place[-1:] == (name,),
    ),
    Fault("an element of a list is a field", sources, "leaves_in", short_elements),
    Fault(
        "a party's name counts as filled by the system",
        classes,
        "filled_by",
        lambda _right: lambda _one, _leaf: "F",
    ),
    Fault(
        "a public field of a system's record is the system's",
        sources,
        "writer_at",
        lambda _right: lambda _table, _place, _content, author, _unmet: author,
    ),
    Fault("the text of an error is its tool's", Session, "item_of", own_author),
    Fault("what a failed call returned has its class", Session, "item_of", failed_as_completed),
    Fault("named text counts as the request", classes, "fresh_by", with_named_texts),
    Fault("a stranger's record may be designated", classes, "designated", of_strangers_too),
    Fault("a recipient may stand in named text", provenance, TABLE, with_more("recipient", "Dp")),
    Fault("a secret may stand in named text", provenance, TABLE, with_more("secret", "Dp Dw")),
    Fault("what is read may stand in reached text", provenance, TABLE, with_more("locator", "Rp")),
    Fault("a party may be what is acted on", provenance, TABLE, with_more("object", "P CP")),
    Fault("untrusted text may name what is acted on", provenance, TABLE, with_more("object", "X")),
)

BEYOND: Final = (
    Fault(
        "what the session sent counts as shown by a system",
        classes,
        "vouches",
        lambda _right: lambda _p, _value, shown, _better: any(one.fresh for one, _ in shown),
        "the session sends the same without the outsider's bytes: the cases of echoes notice it",
    ),
    Fault(
        "a mention contests no field",
        classes,
        "is_contested",
        lambda _right: lambda _tool, _value, _seen: False,
        "an outsider's mention only ever stops a call: the clause on C and its cases notice it",
    ),
    Fault(
        "a record that untrusted text led to is as good as any",
        provenance,
        TABLE,
        with_more("object", "L"),
        "what the text led to is shown by a system: choice, and the cases of led records",
    ),
    Fault(
        "a value is own whatever was made",
        classes,
        "is_own",
        lambda _right: lambda p, _tool, _value, _seen: bool(p["ctx"]["session"]["own"]),
        "what was made is a fact of the session: the cases of own values notice it",
    ),
    Fault(
        "a field may be of any length",
        sources,
        "LONGEST_FIELD",
        lambda _right: 8_000,
        "the system filled it, whatever its length: the tests of fields notice it",
    ),
    Fault(
        "plain words of the request are names",
        provenance,
        TABLE,
        with_more("recipient", "W"),
        "the request is trusted: the cases of words notice it",
    ),
    Fault(
        "another page of a named host will do",
        provenance,
        TABLE,
        with_more("recipient", "H"),
        "the request is trusted: the cases of links notice it",
    ),
    Fault(
        "an unreadable value is compared as it stands",
        classes,
        "is_unreadable",
        lambda _right: lambda _kind, _value: False,
        "it stands in the same trusted sources: the cases of paths and links notice it",
    ),
)
