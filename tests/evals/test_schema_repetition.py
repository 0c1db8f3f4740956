"""Which recursive schemas may judge one part of a value twice."""

from typing import Any

import pytest

from evals.schema_repetition import repeats_itself

SELF = {"$ref": "#"}
OTHER: Any = {"type": "integer"}
ONE_PART = ("items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties")
WAYS: dict[str, Any] = {
    **{keyword: {keyword: SELF} for keyword in (*ONE_PART, "then", "else")},
    **{keyword: {keyword: [OTHER, SELF]} for keyword in ("allOf", "anyOf", "oneOf", "prefixItems")},
    **{
        keyword: {keyword: {"x": SELF}}
        for keyword in ("properties", "patternProperties", "dependentSchemas")
    },
}
SAME = ("allOf", "anyOf", "oneOf", "dependentSchemas", "patternProperties")
PARTS = (*ONE_PART, "properties", "prefixItems")


@pytest.mark.parametrize("keyword", WAYS)
def test_one_way_back_does_not_repeat(keyword: str) -> None:
    assert not repeats_itself(WAYS[keyword])


@pytest.mark.parametrize("keyword", ["not", "if", "contains", "propertyNames"])
def test_what_is_only_asked_for_yes_or_no_repeats_nothing(keyword: str) -> None:
    assert not repeats_itself({keyword: {"properties": {"x": SELF}}, "properties": {"x": OTHER}})


@pytest.mark.parametrize("same", SAME)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_beside_another_judge_of_the_same_value_is_judged_twice(
    same: str, part: str
) -> None:
    assert repeats_itself({**WAYS[same], **WAYS[part]})
    assert not repeats_itself({**WAYS[part], same: {"x": OTHER}})


@pytest.mark.parametrize("one", ["allOf", "dependentSchemas", "then", "else"])
@pytest.mark.parametrize("other", ["anyOf", "oneOf", "patternProperties"])
def test_two_judges_of_the_same_value_are_a_repetition(one: str, other: str) -> None:
    assert repeats_itself({**WAYS[one], **WAYS[other]})


def test_then_and_else_exclude_each_other() -> None:
    assert not repeats_itself({**WAYS["then"], **WAYS["else"]})
    assert repeats_itself({**WAYS["then"], **WAYS["else"], **SELF})


def test_parts_do_not_overlap() -> None:
    assert not repeats_itself({**WAYS["properties"], **WAYS["items"], "prefixItems": [SELF, SELF]})
    assert not repeats_itself({"properties": {"x": SELF, "y": SELF}})


def test_two_patterns_may_match_one_name() -> None:
    assert repeats_itself({"patternProperties": {"x": SELF, "y": SELF}})
    assert not repeats_itself({"patternProperties": {"x": SELF, "y": OTHER}})


def test_only_what_is_recursive_counts() -> None:
    twice = {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}
    assert not repeats_itself({"$defs": {"a": OTHER}, **twice})
    assert not repeats_itself({"$defs": {"a": OTHER, "b": twice}, "items": SELF})
    # Whoever leads into a cycle twice is not in it.
    assert not repeats_itself({"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, **twice})
    two_references = {"$ref": "#/$defs/a", "$dynamicRef": "#/$defs/a"}
    assert not repeats_itself({"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, **two_references})
    # What a cycle leads to, and what leads back to none, is not in it either.
    assert not repeats_itself({"$defs": {"a": OTHER}, "items": {"allOf": [SELF]}, "not": twice})


def test_a_cycle_may_pass_through_several_schemas() -> None:
    def schema(last: Any) -> Any:
        a, b = {"items": {"$ref": "#/$defs/b"}}, {"allOf": [{"properties": {"x": last}}, last]}
        return {"$defs": {"a": a, "b": b}, "$ref": "#/$defs/a"}

    assert repeats_itself(schema({"$ref": "#/$defs/a"}))
    assert not repeats_itself(schema(OTHER))
