"""The outline of a schema: where choices are wrapped, and which schemas have none."""

from typing import Any

import pytest

from evals.schema_outline import Outline, outline

CHOICE: Any = [{"type": "integer"}, {"type": "string"}]
ONES = ("items", "additionalProperties", "propertyNames", "then", "else")
MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
LISTS = ("allOf", "prefixItems")
BELOW: dict[tuple[str | int, ...], Any] = {
    (): lambda part: part,
    **{(keyword,): lambda part, keyword=keyword: {keyword: part} for keyword in ONES},
    **{(keyword, "x"): lambda part, keyword=keyword: {keyword: {"x": part}} for keyword in MAPS},
    **{(keyword, 1): lambda part, keyword=keyword: {keyword: [{}, part]} for keyword in LISTS},
}


def wrapped(choice: str) -> Any:
    return {"allOf": [{"not": {"not": {choice: CHOICE}}}]}


@pytest.mark.parametrize("choice", ["anyOf", "oneOf"])
@pytest.mark.parametrize("outer", BELOW, ids=str)
@pytest.mark.parametrize("inner", BELOW, ids=str)
def test_a_choice_is_wrapped_wherever_it_adds_errors(
    outer: tuple[str | int, ...], inner: tuple[str | int, ...], choice: str
) -> None:
    place = (*outer, *inner, "allOf", 0, "not")
    expected = Outline(BELOW[outer](BELOW[inner](wrapped(choice))), {place: choice})
    assert outline(BELOW[outer](BELOW[inner]({choice: CHOICE}))) == expected


def test_a_wrapped_choice_comes_after_what_all_must_hold_already() -> None:
    schema = {"allOf": [{"minimum": 1}], "oneOf": CHOICE, "anyOf": CHOICE, "maximum": 5}
    assert outline(schema) == Outline(
        {
            "allOf": [
                {"minimum": 1},
                {"not": {"not": {"anyOf": CHOICE}}},
                {"not": {"not": {"oneOf": CHOICE}}},
            ],
            "maximum": 5,
        },
        {("allOf", 1, "not"): "anyOf", ("allOf", 2, "not"): "oneOf"},
    )
    assert schema["allOf"] == [{"minimum": 1}]


@pytest.mark.parametrize("keyword", ["const", "enum", "default", "not", "if", "contains"])
def test_a_choice_that_adds_no_errors_stays(keyword: str) -> None:
    schema = {keyword: {"anyOf": CHOICE}}
    assert outline(schema) == Outline(schema, {})


@pytest.mark.parametrize("keyword", [*MAPS, *LISTS])
def test_a_name_that_looks_like_a_keyword_is_left_alone(keyword: str) -> None:
    schema = {"properties": {keyword: True}, "const": {keyword: 5}}
    assert outline(schema) == Outline(schema, {})


@pytest.mark.parametrize(
    "part",
    [
        {"unevaluatedItems": False},
        {"unevaluatedProperties": False},
        {"$id": "other"},
        {"$ref": "#/anyOf/0"},
        {"$dynamicRef": "#/oneOf/1"},
        {"$recursiveRef": "#/$defs/a/anyOf/0"},
    ],
)
def test_what_a_choice_cannot_be_wrapped_in_has_no_outline(part: Any) -> None:
    assert outline({"anyOf": CHOICE, "items": {"items": part}}) is None
    assert outline({"anyOf": CHOICE, **part}) is None or "$id" in part


@pytest.mark.parametrize("part", [{"$ref": "#/$defs/anyOf"}, {"$ref": "#"}, {"$anchor": "a"}])
def test_other_references_are_kept(part: Any) -> None:
    schema = {"$id": "this", "items": part}
    assert outline(schema) == Outline(schema, {})


def test_a_schema_that_is_a_boolean_is_its_own_outline() -> None:
    assert outline(True) == Outline(True, {})
