"""What a schema costs: its references in a chain, and the alternatives for one value."""

import json
from typing import Any

import pytest

from evals.schema_budget import (
    MAX_ALTERNATIVES,
    MAX_PATTERN_BYTES,
    Targets,
    costs_of,
    pattern_memory,
)
from evals.schema_keywords import REFERENCES

INTEGER = {"type": "integer"}


def over_budget(schema: Any, size: int) -> str | None:
    """Return why the schema is refused, if it is."""
    try:
        pattern_memory(schema, size)
    except ValueError as error:
        return str(error)
    return None


SAME = ("not", "if", "then", "else")
SAME_MANY = ("allOf", "anyOf", "oneOf")
PART = (
    *("items", "contains", "additionalProperties", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
PART_MAPS = ("properties", "patternProperties")


@pytest.mark.parametrize("reference", REFERENCES)
def test_references_that_follow_one_another_are_a_chain(reference: str) -> None:
    schema = {
        "$defs": {"a": {reference: "#/$defs/b"}, "b": {reference: "#/$defs/c"}, "c": INTEGER},
        reference: "#/$defs/a",
    }
    assert costs_of(schema)[:2] == (3, 4)


@pytest.mark.parametrize("keyword", SAME)
def test_what_judges_the_same_value_is_an_alternative(keyword: str) -> None:
    assert costs_of({keyword: INTEGER})[:2] == (0, 2)
    assert costs_of({keyword: {keyword: INTEGER}, "dependentSchemas": {"x": INTEGER}})[:2] == (0, 4)


@pytest.mark.parametrize("keyword", SAME_MANY)
def test_each_schema_of_a_list_is_an_alternative(keyword: str) -> None:
    assert costs_of({keyword: [INTEGER, INTEGER, {"not": INTEGER}]})[:2] == (0, 5)


def test_each_dependent_schema_is_an_alternative() -> None:
    assert costs_of({"dependentSchemas": {"x": INTEGER, "y": INTEGER}})[:2] == (0, 3)


@pytest.mark.parametrize("keyword", PART)
def test_what_judges_a_part_counts_by_its_deepest_path(keyword: str) -> None:
    assert costs_of({keyword: {"anyOf": [INTEGER, INTEGER]}})[:2] == (0, 4)


@pytest.mark.parametrize("keyword", PART_MAPS)
def test_parts_beside_each_other_are_different_values(keyword: str) -> None:
    schema = {keyword: {"x": INTEGER, "y": {"not": INTEGER}, "z": INTEGER}}
    assert costs_of(schema)[:2] == (0, 3)
    assert costs_of({"prefixItems": [INTEGER, {"not": INTEGER}, INTEGER]})[:2] == (0, 3)


def test_the_longest_chain_below_counts() -> None:
    schema = {
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": INTEGER},
        "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/b"}},
    }
    assert costs_of(schema)[:2] == (2, 4)
    assert costs_of({"not": schema, "$defs": schema["$defs"]})[:2] == (2, 5)


@pytest.mark.parametrize(
    "below", [{"not": None}, {"properties": {"x": None}}], ids=["same", "part"]
)
def test_a_chain_goes_on_below_what_it_leads_to(below: Any) -> None:
    (keyword, value), a = next(iter(below.items())), {"$ref": "#/$defs/a"}
    between = {keyword: a if value is None else {"x": a}}
    schema = {"$defs": {"between": between, "a": INTEGER}, "$ref": "#/$defs/between"}
    assert costs_of(schema).chain == 2


def test_of_two_references_the_longer_chain_counts() -> None:
    end, long = {"$ref": "#/$defs/end"}, {"$dynamicRef": "#/$defs/long"}
    schema = {"$defs": {"end": INTEGER, "long": end, "fork": {**end, **long}}}
    assert costs_of({**schema, "$ref": "#/$defs/fork"}).chain == 3


def test_a_hundred_thousand_alternatives_are_within_the_budget() -> None:
    assert over_budget({"anyOf": [INTEGER] * 99_999}, 0) is None
    assert over_budget({"anyOf": [INTEGER] * 100_000}, 0) is not None


SELF = {"$ref": "#"}
WAYS: dict[str, Any] = {
    **{keyword: {keyword: SELF} for keyword in (*SAME, *PART)},
    **{keyword: {keyword: [INTEGER, SELF]} for keyword in (*SAME_MANY, "prefixItems")},
    **{keyword: {keyword: {"x": SELF}} for keyword in (*PART_MAPS, "dependentSchemas")},
}


@pytest.mark.parametrize("keyword", WAYS)
@pytest.mark.parametrize("outer", WAYS)
def test_what_leads_back_to_itself_is_recursive(outer: str, keyword: str) -> None:
    through: Any = json.loads(json.dumps(WAYS[outer]).replace("#", "#/$defs/b"))
    assert costs_of(WAYS[keyword]).recursive
    assert costs_of({"items": {"items": WAYS[keyword]}}).recursive
    assert costs_of({"$defs": {"b": WAYS[keyword]}, **through}).recursive
    assert costs_of({"$defs": {"a": WAYS[keyword]}, "items": {"$ref": "#/$defs/a"}}).recursive
    assert not costs_of({"$defs": {"b": INTEGER, "c": through}, **through}).recursive


def test_a_cycle_may_pass_through_several_schemas() -> None:
    def schema(last: Any) -> Any:
        a, b = {"items": {"$ref": "#/$defs/b"}}, {"allOf": [{"properties": {"x": last}}, last]}
        return {"$defs": {"a": a, "b": b}, "$ref": "#/$defs/a"}

    assert costs_of(schema({"$ref": "#/$defs/a"})).recursive
    assert not costs_of(schema(INTEGER)).recursive


def test_what_is_reached_along_two_ways_is_not_recursive() -> None:
    twice = [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]
    schema = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": INTEGER}, "allOf": twice}
    assert not costs_of(schema).recursive


def test_a_schema_that_is_a_boolean_costs_one_question() -> None:
    assert costs_of(True) == costs_of(False) == costs_of({}) == (0, 1, 1, False, 1, 0)


def test_a_reference_back_adds_nothing() -> None:
    assert costs_of({"properties": {"x": {"$ref": "#"}}})[:2] == (1, 2)


def test_alternatives_are_counted_up_to_the_limit() -> None:
    links: dict[str, Any] = {
        f"a{at}": {"anyOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(40)
    }
    schema = {"$defs": {**links, "a40": INTEGER}, "$ref": "#/$defs/a0"}
    assert costs_of(schema)[:2] == (41, MAX_ALTERNATIVES + 1)
    assert over_budget(schema, 0) == "over the budget of 100000 alternatives for one value"


FOUND: dict[str, Any] = {
    "#": "root",
    "": "root",
    "#/$defs/a": "a",
    "#/%24defs/%61": "a",
    "#/$defs/a~1b~0c": "slash",
    "#/list/1": "second",
    "#name": "anchored",
    "#dynamic": "dynamic",
    "https://example.org/inner.json": "inner",
    "inner.json": "inner",
    "inner.json/#": "inner",
    "inner.json#/$defs/a": "inner a",
}
ROOT: Any = {
    "title": "root",
    "$defs": {"a": {"title": "a"}, "a/b~c": {"title": "slash"}},
    "list": [{"title": "first"}, {"title": "second"}],
    "named": {"title": "anchored", "$anchor": "name"},
    "again": {"title": "dynamic", "$dynamicAnchor": "dynamic"},
    "inner": {
        "title": "inner",
        "$id": "https://example.org/inner.json",
        "$defs": {"i": {"title": "inner i"}, "a": {"title": "inner a"}},
    },
}


def titles(reference: Any, keyword: str = "$ref") -> list[str]:
    return [str(target["title"]) for target in Targets(ROOT).targets_of({keyword: reference})]


@pytest.mark.parametrize("keyword", REFERENCES)
@pytest.mark.parametrize("reference", FOUND)
def test_a_reference_leads_to_its_schema(reference: str, keyword: str) -> None:
    assert titles(reference, keyword)[0] == FOUND[reference]


def test_a_pointer_may_count_from_any_resource() -> None:
    assert titles("#/$defs/a") == ["a", "inner a"]
    assert titles("#/$defs/i") == ["inner i"]
    assert titles("#") == ["root", "inner"]


@pytest.mark.parametrize(
    "reference",
    [
        *("#/$defs/none", "#/list/2", "#/list/x", "#/list/-1", "#none", "other.json", 5, None),
        *("#/title", "#/title/0", "inner.json#/$defs/none", "#/$defs/a/title"),
    ],
)
def test_a_reference_to_nothing_leads_nowhere(reference: Any) -> None:
    assert titles(reference) == []


def test_every_reference_of_a_schema_is_followed() -> None:
    schema = {"$ref": "#/$defs/a", "$dynamicRef": "#name", "$recursiveRef": "#"}
    found = [target["title"] for target in Targets(ROOT).targets_of(schema)]
    assert found == ["a", "inner a", "anchored", "root", "inner"]


def test_one_schema_is_named_once() -> None:
    inner = {"$id": "x", "$defs": {"a": {}}}
    root = {"$id": "x", "$defs": inner["$defs"], "inner": inner}
    assert len([*Targets(root).targets_of({"$ref": "#/$defs/a"})]) == 1


def charged(tiny: int, medium: int, large: int, refused: int) -> str | None:
    """Judge so many patterns that compile within 64 KiB, 1 MiB, 10 MiB, or not at all."""
    kinds = (
        (r"a", tiny),
        (r"\p{L}{1,4}", medium),
        (r"\p{L}{1,40}", large),
        (r"(?=a)", refused),
    )
    names = {f"{pattern}{at}": True for pattern, count in kinds for at in range(count)}
    return over_budget({"patternProperties": names}, 0)


@pytest.mark.parametrize(
    "tiny, medium, large, refused", [(1024, 0, 0, 0), (0, 64, 0, 0), (0, 4, 6, 0), (0, 4, 0, 6)]
)
def test_patterns_are_charged_the_size_they_compile_within(
    tiny: int, medium: int, large: int, refused: int
) -> None:
    assert charged(tiny, medium, large, refused) is None
    assert charged(tiny + 1, medium, large, refused) is not None


BROAD = r"(?:\p{L}{1,8}){1,8}"


@pytest.mark.slow
@pytest.mark.parametrize("place", ["pattern", "patternProperties"])
def test_patterns_count_wherever_they_are_each_once(place: str) -> None:
    def schema(count: int, distinct: bool) -> Any:
        names = [f"{BROAD}{at if distinct else ''}" for at in range(count)]
        parts = [{place: name if place == "pattern" else {name: True}} for name in names]
        return {"allOf": parts}

    assert over_budget(schema(8, distinct=True), 0) is not None
    assert over_budget(schema(8, distinct=False), 0) is None
    assert over_budget(schema(5, distinct=True), 0) is None


def test_what_is_over_a_limit_is_named_with_the_limit() -> None:
    assert over_budget({}, 1_048_577) == (
        "1048577 bytes is over the budget of 1048576 bytes for a schema"
    )
    assert over_budget({}, 1_048_576) is None
    assert over_budget(True, 1) is None
    names = {f"{BROAD}{at}": True for at in range(80)}
    assert over_budget({"patternProperties": names}, 0) == (
        f"over the budget of {MAX_PATTERN_BYTES} bytes for compiled patterns"
    )


def test_schemas_within_one_another_that_judge_one_value_are_counted() -> None:
    schema = {"allOf": [{"not": {"$ref": "#/$defs/a"}}], "$defs": {"a": {"items": {"not": {}}}}}
    assert costs_of(schema).in_place == 4
    assert costs_of({"properties": {"x": schema}}).in_place == 3, "the reference leads nowhere"
