"""Which scalar of a call has which roles."""

from itertools import permutations
from typing import Final

import pytest

from critic.provenance.late_roles import roles_at
from critic.provenance.roles import Placed, placed_values, roles_tree, tool_roles, without_role
from evals.capability import Role, ToolCapability
from tests.support.model.facts import Json
from tests.support.sightings import answer, item, proposal, request


def found(arg_roles: Json, args: Json) -> list[tuple[str, tuple[str, ...]]]:
    every = placed_values(roles_tree(arg_roles), args)
    scalars = (one for one in every if one.roles and one.value != one.path[-1])
    return [("/".join(map(str, one.path)), one.roles) for one in scalars]


@pytest.mark.parametrize(
    ("arg_roles", "expected"),
    [
        ({"a": "object"}, [("a/0/k", ("object",)), ("a/1/k", ("object",))]),
        ({"/a": "object"}, [("a/0/k", ("object",)), ("a/1/k", ("object",))]),
        ({"/a/1": "object"}, [("a/1/k", ("object",))]),
        ({"/a/*/k": "object"}, [("a/0/k", ("object",)), ("a/1/k", ("object",))]),
        ({"/*/k": "object"}, [("b/k", ("object",))]),
        ({"/*/k": "object", "/*/j": "code"}, [("b/k", ("object",))]),
        ({"/a/01": "object", "/a/-": "code"}, []),
        ({"*": "object"}, [("*", ("object",))]),
        ({"/c~1d": "object"}, [("c/d", ("object",))]),
        ({"/b/k/x": "object"}, []),
        ({"b": "code", "/b/k": "object"}, [("b/k", ("object", "code"))]),
        ({"/b/k": "object", "b": "code", "/b": "code"}, [("b/k", ("object", "code"))]),
        ({"": "code"}, []),
    ],
)
def test_roles_are_those_of_names_and_places(arg_roles: Json, expected: list[object]) -> None:
    args = {"a": [{"k": 1}, {"k": 2}], "b": {"k": 3}, "*": 4, "c/d": 5}
    assert found(arg_roles, args) == expected


@pytest.mark.parametrize(
    ("arg_roles", "expected"),
    [
        ({"to": "recipient"}, ["To", "TO", "t_o"]),
        ({"to": "recipient", "To": "code"}, ["TO", "t_o"]),
        ({"/cc/*/e-mail": "recipient"}, ["Cc/0/eMail"]),
        ({"/cc/*": "recipient"}, ["Cc/0/eMail", "Cc/1"]),
        ({"0": "recipient", "/cc/01": "recipient"}, []),
    ],
)
def test_a_member_in_other_letters_has_the_role_of_the_one_that_the_manifest_names(
    arg_roles: Json, expected: list[str]
) -> None:
    args = {"To": 1, "TO": 2, "t_o": 3, "Cc": [{"eMail": 4}, 5], "tow": 6, "t": {"o": 7}}
    judged = [place for place, roles in found(arg_roles, args) if "recipient" in roles]
    assert sorted(judged) == sorted(expected)


@pytest.mark.parametrize("names", [*permutations(["to_x", "toX", "TO-X"])])
def test_a_member_in_other_letters_has_the_roles_of_all_that_the_manifest_names(
    names: tuple[str, ...],
) -> None:
    roles: tuple[Role, ...] = ("recipient", "object", "code")
    assert found(dict(zip(names, roles, strict=True)), {"tox": 1}) == [("tox", roles)]
    for name, role in zip(names, roles, strict=True):
        assert found(dict(zip(names, roles, strict=True)), {name: 1}) == [(name, (role,))]


LATE_PLACES: Final[list[tuple[Json, Json]]] = [
    ({"a": "object"}, {}),
    ({"/a/*": "object", "/a/0": "code"}, {"a": "order"}),
    ({"/a/*/k": "locator", "b": "secret"}, {"/a/*/k": "path", "a": "order"}),
    ({"/a/0/k": "locator", "/*": "code"}, {"/a/0/k": "path", "/*": "file"}),
    ({"/*/0/m": "recipient", "a": "code"}, {"a": "order", "/a/*": "path", "/a/0/m": "file"}),
    ({}, {"a": "order", "/a/1/k": "path"}),
]


@pytest.mark.parametrize(("roles", "kinds"), LATE_PLACES)
def test_a_place_is_asked_for_late_as_what_will_stand_there_and_below(
    roles: Json, kinds: Json
) -> None:
    more = {"arg_roles": roles or None, "arg_kinds": kinds or None}
    given: Json = {name: one for name, one in more.items() if one is not None}
    made = ToolCapability(adapter_id="a", capability_id="b", approval_mode="network", **given)
    tree, args = tool_roles(made), {"a": [{"k": 1, "m": 2}, {"k": 3}], "A": [{"K": 4}], "b": 5}
    for one in placed_values(tree, args):
        if one.is_name:
            continue
        late = roles_at(tree, one.path)
        assert ({*late.roles}, late.kind) == ({*one.roles}, one.kind)
        for end in range(1, len(one.path)):
            assert {*one.roles} <= roles_at(tree, one.path[:end]).every


def test_a_recipient_in_other_letters_is_a_recipient() -> None:
    """A server in Go reads the last of two such members."""
    told = (request("Write to bob@corp.example"), item("mallory@evil.example"))
    for tool, more in (
        ({"arg_roles": {"to": "recipient"}}, {"To": "mallory@evil.example"}),
        ({"arg_roles": {"to": "recipient"}}, {"_to": ["mallory@evil.example"]}),
        (
            {"arg_roles": {"to": "recipient", "/cc/*/mail": "recipient"}},
            {"CC": [{"Mail": "mallory@evil.example"}]},
        ),
    ):
        wire = proposal(*told, tool=tool, args={"to": "bob@corp.example"})
        assert answer(wire) == "allow"
        wire = proposal(*told, tool=tool, args={"to": "bob@corp.example", **more})
        assert answer(wire) == "refuse"


def test_the_kind_of_a_member_holds_in_other_letters() -> None:
    tool = {"arg_roles": {"path": "object"}, "arg_kinds": {"path": "path"}}
    for name, value in (("path", "/srv/a/.."), ("Path", "/srv/a/..")):
        wire = proposal(request("Delete /srv/a/.."), tool=tool, args={name: value})
        assert answer(wire) == "refuse"


@pytest.mark.parametrize("arg_roles", [None, {}])
def test_without_any_role_every_scalar_is_a_recipient(arg_roles: Json | None) -> None:
    every = list(placed_values(roles_tree(arg_roles), {"a": [1, {"b": None}], "c": {}}))
    assert every == [
        Placed(("a", 0), 1, ("recipient",), spelled=("a",)),
        Placed(("a", 1, "b"), "b", ("recipient",), is_name=True, spelled=("a",)),
        Placed(("a", 1, "b"), None, ("recipient",), spelled=("a",)),
    ]
    assert list(without_role(roles_tree(arg_roles), {"a": 1})) == []


def test_arguments_are_named_that_hold_a_scalar_without_a_role() -> None:
    tree = roles_tree({"a": "object", "/b/to": "recipient"})
    args = {"a": 1, "b": {"to": 1, "cc": 2, "bcc": 3}, "c": [], "d": [[False]], "e": None}
    assert list(without_role(tree, args)) == ["b", "d", "e"]
    assert list(without_role(tree, {"a": 1, "b": {"to": 2}})) == []


def names(tool: Json, args: Json) -> list[tuple[str, object, str | None]]:
    made = ToolCapability(adapter_id="a", capability_id="b", approval_mode="network", **tool)
    every = placed_values(tool_roles(made), args)
    return [("/".join(map(str, one.path)), one.value, one.kind) for one in every if one.roles]


def test_names_of_members_are_values_of_what_a_call_is_aimed_at() -> None:
    args = {"a": {"/etc": True, "to": {"x": 1}}}
    assert names({"arg_roles": {"a": "object"}}, args) == [
        ("a//etc", "/etc", None),
        ("a/to", "to", None),
        ("a//etc", True, None),
        ("a/to/x", "x", None),
        ("a/to/x", 1, None),
    ]
    assert names({"arg_roles": {"a": "attribute"}}, args) == [
        ("a//etc", True, None),
        ("a/to/x", 1, None),
    ]
    assert names({"arg_roles": {"a": "object", "/a/to": "object", "/a/~1etc": "code"}}, args) == [
        ("a//etc", True, None),
        ("a/to/x", "x", None),
        ("a/to/x", 1, None),
    ]


def test_a_kind_is_that_of_the_nearest_place_that_has_one() -> None:
    tool = {"arg_roles": {"a": "attribute", "b": "attribute"}, "arg_kinds": {"a": "order"}}
    args = {"a": [{"k": 1, "m": 2}], "b": 3}
    assert names(tool, args) == [("a/0/k", 1, "order"), ("a/0/m", 2, "order"), ("b", 3, None)]
    tool = {**tool, "arg_kinds": {"a": "order", "/a/*/k": "path", "/*": "file"}}
    assert [kind for _, _, kind in names(tool, args)] == ["path", "order", "file"]


def test_deep_arguments_are_walked_without_recursion() -> None:
    deep: object = "x"
    for _ in range(5000):
        deep = [deep]
    (only,) = placed_values(roles_tree({"a": "object"}), {"a": deep})
    assert len(only.path) == 5001


@pytest.mark.parametrize("role", ["recipient", "object", "locator", "secret", "content"])
def test_a_name_is_a_value_where_a_role_is_aimed_at_it_or_sends_it(role: Role) -> None:
    args = {"a": {"": 1, "k": 2}}
    names = [one for one in placed_values(roles_tree({"a": role}), args) if one.is_name]
    assert [(one.path, one.value, one.roles) for one in names] == [(("a", "k"), "k", (role,))]
    assert not [one for one in placed_values(roles_tree({"b": role}), args) if one.is_name]


@pytest.mark.parametrize("role", ["attribute", "time", "code"])
def test_a_name_below_another_role_is_no_value(role: Role) -> None:
    args = {"a": {"k": 2}}
    assert not [one for one in placed_values(roles_tree({"a": role}), args) if one.is_name]


def test_a_place_has_each_of_its_roles_once_and_in_one_order() -> None:
    args = {"a": {"b": 1}}
    assert found({"/a/*": "object", "/a/b": "object"}, args) == [("a/b", ("object",))]
    for roles in (("object", "code"), ("code", "object")):
        expected = [("a/b", ("object", "code"))]
        assert found({"/a/*": roles[0], "/a/b": roles[1]}, args) == expected
