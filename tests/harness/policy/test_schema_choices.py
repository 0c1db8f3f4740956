"""Which schemas have too much to multiply for their canonical form."""

from typing import Any

import pytest

from harness.policy.schema_choices import has_many_choices


def multiples(count: int) -> list[dict[str, Any]]:
    return [{"multipleOf": number + 2} for number in range(count)]


@pytest.mark.parametrize(
    ("schema", "is_much"),
    [
        ({"allOf": multiples(100)}, False),
        ({"allOf": multiples(101)}, True),
        ({"$ref": "#/$defs/0", "$defs": dict(zip("0123", [{}] * 4, strict=True))}, False),
        ({"properties": {str(at): one for at, one in enumerate(multiples(900))}}, False),
        ({"anyOf": [{"const": at} for at in range(1_001)]}, True),
        ({"anyOf": [{"const": at} for at in range(1_000)]}, False),
        (True, False),
    ],
)
def test_what_is_multiplied_has_a_limit(schema: Any, is_much: bool) -> None:
    assert has_many_choices(schema) == is_much
