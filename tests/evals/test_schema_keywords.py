"""The table of keywords that hold schemas agrees with the draft and with the compiler."""

from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta

from evals.schema_keywords import (
    KEYWORDS,
    Form,
    JudgedPart,
    every_object,
    keywords_judging,
    parts_of,
    schemas_in,
    subschemas,
)
from harness.policy.schema_lint import KNOWN

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FORMS: dict[Form, Any] = {
    "one": lambda part: part,
    "list": lambda part: [part],
    "names": lambda part: {"x": part},
}


def is_schema(schema: Any) -> bool:
    return meta.is_valid({"$schema": DIALECT, **schema})


@pytest.mark.parametrize("keyword", KNOWN)
def test_a_keyword_has_a_row_if_the_draft_lets_it_hold_schemas(keyword: str) -> None:
    holds = [
        form
        for form, held in FORMS.items()
        if is_schema({keyword: held({"minimum": 3})})
        and not is_schema({keyword: held({"type": {}})})
    ]
    assert holds == ([KEYWORDS[keyword].form] if keyword in KEYWORDS else [])


def judged(keyword: str) -> JudgedPart:
    """Return what a schema under this keyword judges, asked of the compiler."""
    around: dict[str, Any] = {
        "if": {"else": False},
        "then": {"if": True},
        "else": {"if": False},
    }

    def refuses(part: Any, value: Any) -> bool:
        part = {"not": part} if keyword == "not" else part
        held = FORMS[KEYWORDS[keyword].form](part)
        return not Draft202012Validator({keyword: held, **around.get(keyword, {})}).is_valid(value)

    container = {"type": ["object", "array"]}
    if refuses(container, {"x": 1}):
        return "member"
    if refuses(container, [1]):
        return "element"
    return "same" if refuses(False, {"x": 1}) else "nothing"


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_the_schemas_of_a_keyword_judge_what_its_row_says(keyword: str) -> None:
    assert judged(keyword) == KEYWORDS[keyword].judges
    assert keyword in keywords_judging(KEYWORDS[keyword].judges)
    others = {row.judges for row in KEYWORDS.values()} - {KEYWORDS[keyword].judges}
    assert keyword not in keywords_judging(*others)


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_every_schema_in_a_schema_is_seen_at_its_place(keyword: str) -> None:
    inner = FORMS[KEYWORDS[keyword].form]({"type": "string"})
    (place,) = (place for place, _ in parts_of({keyword: inner}))
    assert list(schemas_in({"allOf": [True, {keyword: inner}]}, "args")) == [
        (("args",), {"allOf": [True, {keyword: inner}]}),
        (("args", "allOf", 0), True),
        (("args", "allOf", 1), {keyword: inner}),
        (("args", "allOf", 1, *place), {"type": "string"}),
    ]


def test_names_in_a_constant_are_no_keywords() -> None:
    schema = {"const": {"items": {}}, "enum": [{"not": {}}], "properties": {"items": True}}
    assert [place for place, _ in schemas_in(schema)] == [(), ("properties", "items")]


def test_what_is_no_schema_has_no_parts() -> None:
    assert [*parts_of(True)] == [*parts_of([{"items": {}}])] == []
    assert [*parts_of({"allOf": 5, "properties": None, "not": 3})] == [(("not",), 3)]


def test_subschemas_are_the_objects_under_keywords() -> None:
    schema = {
        "not": {"a": 1},
        "if": True,
        "anyOf": [{"b": 1}, False],
        "properties": {"c": {"d": 1}},
    }
    found = [*subschemas(schema, ("not", "if", "else", "anyOf", "properties", "allOf"))]
    assert found == [{"a": 1}, {"b": 1}, {"d": 1}]
    odd = {"anyOf": {"x": 5}, "allOf": 5, "not": []}
    assert [*subschemas(odd, ("not", "anyOf", "allOf"))] == []


def test_every_object_of_a_value_is_seen_once() -> None:
    value = {"a": [{"b": {}}, [{"c": 1}], 5], "d": None}
    assert sorted(map(str, every_object(value))) == sorted(
        map(str, [value, {"b": {}}, {}, {"c": 1}])
    )
    assert [*every_object("text")] == []
