"""Which scalar of a call has which roles."""

import pytest

from critic.provenance.roles import Placed, placed_values, role_tree, without_role
from tests.support.model.facts import Json


def found(arg_roles: Json, args: Json) -> list[tuple[str, tuple[str, ...]]]:
    every = placed_values(role_tree(arg_roles), args)
    return [("/".join(map(str, one.path)), one.roles) for one in every if one.roles]


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


@pytest.mark.parametrize("arg_roles", [None, {}])
def test_without_any_role_every_scalar_is_a_recipient(arg_roles: Json | None) -> None:
    every = list(placed_values(role_tree(arg_roles), {"a": [1, {"b": None}], "c": {}}))
    assert every == [
        Placed(("a", 0), 1, ("recipient",)),
        Placed(("a", 1, "b"), None, ("recipient",)),
    ]
    assert list(without_role(role_tree(arg_roles), {"a": 1})) == []


def test_arguments_are_named_that_hold_a_scalar_without_a_role() -> None:
    tree = role_tree({"a": "object", "/b/to": "recipient"})
    args = {"a": 1, "b": {"to": 1, "cc": 2, "bcc": 3}, "c": [], "d": [[False]], "e": None}
    assert list(without_role(tree, args)) == ["b", "d", "e"]
    assert list(without_role(tree, {"a": 1, "b": {"to": 2}})) == []


def test_deep_arguments_are_walked_without_recursion() -> None:
    deep: object = "x"
    for _ in range(5000):
        deep = [deep]
    (only,) = placed_values(role_tree({"a": "object"}), {"a": deep})
    assert len(only.path) == 5001
