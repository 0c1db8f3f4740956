"""Each keyword of a schema that is not valid has its own fault, at its own place."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.json_schemas import compile_schema
from harness.policy.schema_faults import faults_of_schema
from tests.support.examples import is_safe
from tests.support.patience import PATIENT

FAULTS: dict[str, tuple[Any, tuple[str | int, ...], str]] = {
    "a": ({"type": "strng"}, ("type",), "did you mean string?"),
    "b": ({"type": "q"}, ("type",), "q is not a type: types are array"),
    "c": ({"pattern": "[a"}, ("pattern",), "[a is not a regular expression"),
    "d": ({"patternProperties": {"(?=x)": {}}}, ("patternProperties", "(?=x)"), "linear time"),
    "e": ({"$ref": "https://example.org/x"}, ("$ref",), "lies outside the schema"),
    "f": ({"$ref": "#/$defs/gone"}, ("$ref",), "leads nowhere in this schema"),
    "g": ({"minimum": "3"}, ("minimum",), "is not of type"),
    "h": ({"items": [{}]}, ("items",), "is not of types"),
    "i": ({"anyOf": [{}, {"enum": 3}]}, ("anyOf", 1, "enum"), "is not of type"),
    "j": ({"required": ["a", "a"]}, ("required",), "non-unique"),
    "k": (3, (), "is not of types"),
}


def test_every_fault_of_a_schema_is_found_at_its_place() -> None:
    schema = {"properties": {name: part for name, (part, _, _) in FAULTS.items()}, "required": "a"}
    found = dict(faults_of_schema(schema))
    places = {("properties", name, *path): words for name, (_, path, words) in FAULTS.items()}
    assert found.keys() == {*places, ("required",)}
    for place, words in places.items():
        assert words in found[place]
        assert is_safe(found[place])


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_what_has_a_fault_is_refused_by_the_compiler(name: str) -> None:
    with pytest.raises(Exception):  # noqa: B017 - its errors have no common base
        compile_schema({"properties": {name: FAULTS[name][0]}})


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#a", "$defs": {"x": {"$anchor": "a", "type": "string"}}},
        {"type": ["string", "null"], "not": {"items": False}},
        *(True, 3, None, {"properties": {"type": {"type": "string"}}}),
    ],
)
def test_a_valid_schema_and_what_is_no_schema_have_none(schema: Any) -> None:
    assert list(faults_of_schema(schema)) == []


@PATIENT
@given(st.lists(st.sampled_from(sorted(FAULTS)), unique=True, min_size=1), st.booleans())
def test_no_fault_hides_another(names: list[str], nested: bool) -> None:
    parts = {name: FAULTS[name][0] for name in names}
    schema = {"items": {"properties": parts}} if nested else {"properties": parts}
    assert len(list(faults_of_schema(schema))) == len(names)
