"""Who fills the fields of records, in the order of belief: what a diff says of each change."""

from itertools import product
from typing import Any

import pytest

from harness.policy import Policy, diff_policies
from harness.policy.analysis.policy_diff import overall
from harness.policy.analysis.policy_effects import effects_on_tool, sides_of
from tests.harness.policy.analysis.test_diff import changes_of
from tests.harness.policy.policies import document

Json = dict[str, Any]

ORDER = ("public", "party", "member", "system")
SEND = ("desk", "send")


def desk(
    fields: Json | None, author: str | None = "public", *, keys: tuple[str, ...] = (), **more: Any
) -> Policy:
    """Return a policy of a tool that reads and one that sends; no class if `fields` is None."""
    tool: Json = {"adapter_id": "desk", "capability_id": "read", "approval_mode": "read_only"}
    if author is not None:
        tool |= {"yields": "ticket", "result": {"author": author, "format": "json"}}
    send = {
        "adapter_id": "desk",
        "capability_id": "send",
        "approval_mode": "delegated",
        "arg_roles": {"to": "recipient"},
        "arg_kinds": {"to": "address"},
    }
    value: Json = {
        "guard": {"safety_mode": "destructive"},
        "spec": {"id": "desk", "required_outputs": [], "provenance": "closed"},
        "tool": [tool, send],
    }
    if fields is not None:
        value["class"] = [{"name": "ticket", "fields": fields, **more}]
    if keys:
        value["record_fields"] = list(keys)
    return document(value).policy


def field(writer: str | None) -> Json:
    return {"no": "system"} | ({} if writer is None else {"sender": writer})


def directions(old: Policy, new: Policy) -> tuple[bool, bool]:
    effects = effects_on_tool(sides_of(old, new), SEND)
    ordered = [one for one in effects if one.by_order]
    assert ordered == effects, "each of these has its direction by definition"
    return any(one.looser for one in effects), any(one.tighter for one in effects)


@pytest.mark.parametrize("author", ["public", "member", "system"])
def test_a_field_is_looser_the_more_its_writer_is_believed(author: str) -> None:
    for one, other in product((*ORDER, None), repeat=2):
        if one == other or {one, other} == {author, None}:
            continue  # a field of the author is his either way
        found = directions(desk(field(one), author), desk(field(other), author))
        ranks = [ORDER.index(author if writer is None else writer) for writer in (one, other)]
        assert found == (ranks[1] > ranks[0], ranks[1] < ranks[0]), (one, other)


def test_a_field_of_records_that_nobody_writes_here_may_be_anybodys() -> None:
    assert directions(desk(field(None), None), desk(field("party"), None)) == (True, True)
    assert directions(desk(field(None), None), desk(field("system"), None)) == (True, False)
    assert directions(desk(field(None), "system"), desk(field("system"), "system"))[0]


def test_keys_of_all_records_are_those_of_parties() -> None:
    fields = field(None)
    for author, found in (("public", (True, False)), ("system", (True, True))):
        old, new = desk(fields, author), desk(fields, author, keys=("sender",))
        assert directions(old, new) == found  # what `send` returns is public
        assert directions(new, old) == found[::-1]


def test_a_class_or_a_tool_more_is_looser() -> None:
    for fields in ({}, field(None), field("party")):
        assert directions(desk(None), desk(fields)) == (True, False)
        assert directions(desk(fields), desk(None)) == (False, True)
    assert directions(desk(None, "system"), desk(field("party"), "system")) == (True, True)
    old = desk(field(None))
    needy = {"adapter_id": "desk", "capability_id": "close", "approval_mode": "network"}
    never = document({**old.wire(), "tool": [*old.wire()["tool"], {**needy, "args_schema": False}]})
    assert overall(diff_policies(old, never.policy)) == "looser"
    assert overall(diff_policies(never.policy, old)) == "tighter"


def test_a_field_that_is_believed_more_has_a_plan_to_show_it() -> None:
    schema = {
        "type": "object",
        "required": ["no", "at"],
        "properties": {"at": {"type": "object"}, "sender": {"type": "string"}},
    }
    old, new = (desk(field(one), schema=schema).wire() for one in ("party", "system"))
    change = changes_of(old, new)["tool send"]
    assert change.looser is not None
    assert "appears only as a field of call/1" in change.looser.reason
    assert change.looser.document["plan"]["steps"][0]["args"] == {"to": "anna@corp.example"}
    back = changes_of(new, old)["tool send"]
    assert back.tighter is not None
    assert back.change == "tighter"
    deep = {"/at/who": "party"}, {"/at/who": "system"}
    change = changes_of(*(desk(one, schema=schema).wire() for one in deep))["tool send"]
    assert change.looser is not None
