"""Which values a call has, and what each of them is asked for."""

from typing import Any, Final, get_args

from critic import ToolCapability
from critic.provenance.call_values import CallValues, target_keys
from evals.capability import Role
from tests.support.model.facts import Json
from tests.support.sightings import answer, proposal, request

ROLES: Final = {"album": "object", "basket": "object", "/order/id": "object", "note": "content"}


def tool(name: str, mode: Any = "delegated", **fields: Any) -> ToolCapability:
    return ToolCapability(adapter_id="a", capability_id=name, approval_mode=mode, **fields)


TOOLS: Final = {
    ("a", one.capability_id): one
    for one in (
        tool("move", arg_roles=ROLES, arg_kinds={"basket": "folder"}),
        tool("drop", "destructive", arg_roles=ROLES, arg_kinds={"album": "folder"}),
    )
}
MAIL: Final = "ask ada@x.example or bob@x.example"
ARGS: Final = {"album": "x-1", "basket": "x-2", "order": {"id": "x-3"}, "note": MAIL}


def test_each_value_is_asked_for_by_its_tool_its_name_and_its_kind() -> None:
    """Two tools with the same arguments are told apart, though their calls are of one plan."""
    values = CallValues(TOOLS)
    for name, rank, kinds in (
        ("move", 3, [None, "folder", None]),
        ("drop", 4, ["folder", None, None]),
        ("move", 3, [None, "folder", None]),
    ):
        found = [one for one in values.values_of(("a", name), ARGS) if one.content is None]
        assert [one.written for one in found] == ["x-1", "x-2", "x-3"]
        assert {(one.asked.pair, one.asked.rank) for one in found} == {(("a", name), rank)}
        assert [one.asked.kind for one in found] == kinds
        folder = {"folder"}
        own = [set(one.asked.nouns.own) for one in found]
        assert [one - folder for one in own] == [{"album"}, {"basket"}, {"order"}]
        assert [one & folder == folder for one in own] == [kind == "folder" for kind in kinds]


def test_a_value_is_asked_for_by_the_tool_of_its_own_adapter() -> None:
    a, b = (tool("move", mode, arg_roles=ROLES) for mode in ("network", "delegated"))
    tools = {("a", "move"): a, ("b", "move"): b.model_copy(update={"adapter_id": "b"})}
    values = CallValues(tools)
    for pair, rank in ((("a", "move"), 2), (("b", "move"), 3), (("a", "move"), 2)):
        asked = {(one.asked.pair, one.asked.rank) for one in values.values_of(pair, ARGS)}
        assert asked == {(pair, rank)}


def test_the_name_of_each_mailbox_of_a_list_is_sent_with_it() -> None:
    post = tool("post", arg_roles={"to": "recipient"}, arg_kinds={"to": "address"})
    boxes = ["see a.example/x <ada@x.example>", "see b.example/y <bob@x.example>", "cy@x.example"]
    for to in (str(boxes), str(boxes[::-1]), ", ".join(boxes)):
        found = [*CallValues({("a", "post"): post}).values_of(("a", "post"), {"to": to})]
        sent_to = {one.written for one in found if one.asked.role == "recipient"}
        assert sent_to == {f"{name}@x.example" for name in ("ada", "bob", "cy")}
        named = {one.written for one in found if one.asked.role == "content"}
        assert named == {"a.example/x", "b.example/y"}


def test_names_and_booleans_in_a_written_list_are_values_where_a_call_is_aimed_at_them() -> None:
    for role in get_args(Role):
        one = tool("do", arg_roles={"x": role})
        found = CallValues({("a", "do"): one}).values_of(
            ("a", "do"), {"x": '[{"k-1": true}, "v-2"]'}
        )
        written = [value.written for value in found if value.asked.role == role]
        is_aimed_at = role in {"recipient", "object", "locator", "secret"}
        assert written == (
            [] if role == "content" else ["k-1", True, "v-2"] if is_aimed_at else ["v-2"]
        )


def test_a_call_is_aimed_at_what_it_reads_changes_or_reaches() -> None:
    found = [*CallValues(TOOLS).values_of(("a", "move"), ARGS)]
    written = [one.written for one in found if one.content is not None]
    assert written == ["ada@x.example", "bob@x.example"]
    assert {narrow for _, narrow in target_keys(found)} == {"x-1", "x-2", "x-3"}


def test_elements_of_a_list_may_differ_in_their_kind() -> None:
    roles = {"/pair/0": "object", "/pair/1": "object"}
    pair = tool("copy", arg_roles=roles, arg_kinds={"/pair/1": "folder"})
    found = [*CallValues({("a", "copy"): pair}).values_of(("a", "copy"), {"pair": ["x", "y"]})]
    assert [(one.written, one.asked.kind) for one in found] == [("x", None), ("y", "folder")]


def test_names_that_an_agent_makes_up_are_not_kept_for_ever() -> None:
    """A policy finds the values of all its sessions, as long as it lives."""
    pair = ("a", "tell")
    values = CallValues({pair: tool("tell")})  # each scalar is a recipient
    args = dict.fromkeys((f"n{number}" for number in range(2500)), "x-1")
    found = [*values.values_of(pair, args)]
    assert len(values._asked) <= 1000
    told = [one.asked.nouns.own for one in found]
    assert told == [one.asked.nouns.own for one in values.values_of(pair, args)]
    assert len({*told}) == len(args)


def test_a_name_that_an_agent_chooses_is_no_noun() -> None:
    pair = ("a", "close")
    roles: Any = {"/updates/*/id": "object", "/named/order/id": "object"}
    values = CallValues({pair: tool("close", arg_roles=roles)})
    args = {"updates": {"order": {"id": 12}}, "named": {"order": {"id": 12}}}
    named, chosen = (one.asked.nouns.own for one in values.values_of(pair, args))
    assert ("order" in named, "order" in chosen) == (True, False)


def test_a_short_number_is_not_named_by_what_the_agent_calls_its_record() -> None:
    tool_: Json = {"arg_roles": {"/x/*/id": "object"}}
    said = request("Cancel order 12")
    for args in ({"x": [{"id": 12}]}, {"x": {"order": {"id": 12}}}):
        assert answer(proposal(said, args=args, tool=tool_)) == "refuse"
