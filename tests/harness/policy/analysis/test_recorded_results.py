"""Types of results from results that were recorded: what they were satisfies them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.json_schemas import compile_schema
from harness.policy import parse_policy
from harness.policy.analysis.derive_tools import ResultType, ToolDraft
from harness.policy.analysis.policy_writing import derived_policy
from harness.policy.analysis.recorded_results import schema_of_values, with_recorded_results
from tests.support.patience import PATIENT

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=12,
)


@PATIENT
@given(st.lists(VALUES, max_size=5))
def test_every_value_satisfies_the_schema_that_was_made_of_all(values: list[Any]) -> None:
    fits = compile_schema(schema_of_values(values)).is_valid
    assert all(map(fits, values))


def test_the_schema_is_as_narrow_as_the_types() -> None:
    schema = schema_of_values([{"id": "a", "eur": 1}, {"id": "b", "eur": 1.5, "tags": ["x"]}])
    assert schema == {
        "type": "object",
        "required": ["id", "eur"],
        "properties": {
            "id": {"type": "string"},
            "eur": {"type": "number"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
    }
    assert schema_of_values([True, None]) == {"anyOf": [{"type": "boolean"}, {"type": "null"}]}
    assert schema_of_values([{"a": 1}, {"b": 2}]) == {"type": "object"}
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    assert compile_schema(schema_of_values([deep])).is_valid(deep)


def draft(result: ResultType | None = None) -> ToolDraft:
    return ToolDraft("a", "get_order", "", {"type": "object"}, (), result)


def test_a_recorded_type_is_a_guess_and_its_author_is_not() -> None:
    order = {"order_id": "o", "note": "n"}
    drafts = [with_recorded_results(draft(), [{"order_id": "o", "note": None}, order])]
    document = parse_policy(derived_policy("x", "x", drafts).encode())
    (one,) = document.policy.class_
    assert (one.fields, one.example) == ({"order_id": "system"}, order)
    assert "/class/0/schema" in (document.policy.guessed or ())
    drafts = [with_recorded_results(draft(), [7])]
    (tool,) = parse_policy(derived_policy("x", "x", drafts).encode()).policy.tool
    assert tool.result is not None
    assert tool.result.author == "public"


def test_a_long_recorded_type_is_marked_at_its_table() -> None:
    results = [{f"field_{count}_id": "x" for count in range(20)}]
    document = parse_policy(
        derived_policy("x", "x", [with_recorded_results(draft(), results)]).encode()
    )
    assert "/class/0/schema" in (document.policy.guessed or ())


@pytest.mark.parametrize("results", [[], [{"order_id": 7}], [{"order_id": "x" * 3000}]])
def test_a_known_type_stays_and_takes_only_an_example_that_fits(results: list[Any]) -> None:
    schema = {"type": "object", "properties": {"order_id": {"type": "string"}}}
    known = draft(ResultType("Order", schema))
    assert with_recorded_results(known, results) == known
    found = with_recorded_results(known, [*results, {"order_id": "o"}]).result
    assert found == ResultType("Order", schema, example={"order_id": "o"})
