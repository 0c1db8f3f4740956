"""Two schemas exclude each other where that is proven, and only there."""

from itertools import product
from typing import Any

import pytest

from harness.policy.schema_lint import admits, has_place, impossible_parts, property_names

MANY: Any = {"oneOf": [{"properties": {f"p{n}": {"const": n}}} for n in range(40)]}
DEEP: Any = {"allOf": [MANY, MANY, MANY]}
SCHEMAS: list[Any] = [
    True,
    {},
    {"type": "string"},
    {"type": "object", "required": ["a"]},
    {"type": "object", "properties": {"a": False}},
    {"enum": ["x", 1]},
    {"const": "x"},
    {"minLength": 2, "type": "string"},
    {"not": {}},
]
VALUES: list[Any] = ["x", "xx", 1, 1.5, None, [], {}, {"a": 1}]


def test_what_some_value_satisfies_is_admitted_and_what_is_excluded_has_no_value() -> None:
    from jsonschema_rs import Draft202012Validator  # noqa: PLC0415 - as the checks have it

    valid = [Draft202012Validator(one) for one in SCHEMAS]
    for (one, first), (other, second) in product(zip(SCHEMAS, valid, strict=True), repeat=2):
        both = any(first.is_valid(value) and second.is_valid(value) for value in VALUES)
        assert admits(one, other) >= both, (one, other)
    assert not admits({"type": "string"}, {"type": "object"})
    assert not admits({"const": "x"}, {"const": "y"})


@pytest.mark.parametrize("unproven", [MANY, DEEP, {"$ref": "https://other.example/x"}])
@pytest.mark.parametrize("other", [{"type": "object"}, {"required": ["p1"]}, True])
def test_where_nothing_is_proven_nothing_is_excluded(unproven: Any, other: Any) -> None:
    assert admits(unproven, other)
    assert has_place(unproven, ("anything",)) or unproven is MANY or unproven is DEEP
    assert property_names({"properties": {"b": {}, "a": {}}}) == ["a", "b"]
    assert [*impossible_parts({"type": "string", "enum": [1]})] != []
