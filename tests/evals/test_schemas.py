"""Schemas that would end the process that compiles them, and those that would not."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from evals.schemas import JsonSchema

SCHEMA: TypeAdapter[Any] = TypeAdapter(JsonSchema)


def chain(length: int, each: dict[str, Any], last: dict[str, Any], ref: str = "$ref") -> Any:
    """A schema of `length` + 2 objects (and one for each of those in `each`)."""
    links = {f"a{at}": {ref: f"#/$defs/a{at + 1}", **each} for at in range(length)}
    return {"$defs": {**links, f"a{length}": last}, "$ref": "#/$defs/a0"}


@pytest.mark.parametrize("keyword", ["unevaluatedProperties", "unevaluatedItems"])
@pytest.mark.parametrize("ref", ["$ref", "$dynamicRef"])
def test_a_chain_of_references_with_unevaluated_values_is_refused(keyword: str, ref: str) -> None:
    for schema in (chain(3_000, {keyword: False}, {}, ref), chain(598, {}, {keyword: False}, ref)):
        with pytest.raises(ValidationError, match="schema of over 600 objects"):
            SCHEMA.validate_python(schema)


@pytest.mark.parametrize(
    "schema",
    [
        chain(597, {}, {"unevaluatedItems": False}),
        chain(200, {"unevaluatedProperties": False}, {}),
        chain(5_000, {}, {}),
        {"properties": {f"p{at}": {} for at in range(1_000)}, "unevaluatedProperties": False},
    ],
)
def test_what_is_shorter_or_does_not_follow_references_is_compiled(schema: Any) -> None:
    assert SCHEMA.validate_python(schema) == schema
