"""Where a late value may come to stand, in outputs that are not there yet."""

from typing import Any

import pytest

from critic.provenance.late_outputs import word_outputs

TAKEN = [
    ("", (), "w"),
    ("/id", ("id",), {"id": "w"}),
    ("/id", (), {"w": "w"}),
    ("/orders/*/id", ("/orders/*/id",), {"orders": [{"id": "w"}]}),
    ("/0/id", ("id",), [{"id": "w"}]),
    ("/00/id", ("id",), {"w": {"id": "w"}}),
]
"""What is taken, the fields that are declared, and the output."""
READ: list[tuple[str, tuple[str, ...], list[Any]]] = [
    ("", (), [["w"]]),
    ("", ("id", "sender"), [[{"id": "w", "sender": "w"}]]),
    ("", ("/*",), [["w"]]),
    ("", ("/lines/*/sku", "id"), [{"lines": [{"sku": "w"}]}, [{"id": "w"}]]),
    ("/*", ("id",), [[{"id": "w"}]]),
    ("/3", ("/*/id",), [[{"id": "w"}]]),
    ("/lines", ("/lines/*/sku", "/other/*/sku"), [{"lines": [{"sku": "w"}]}]),
    ("/lines", ("id", "/lines"), [{"lines": ["w"]}]),
    ("/lines/*", ("id",), [{"w": [["w"]]}]),
    ("/lines", ("/lines/sku", "/linen/*"), [{"lines": {"sku": "w"}}]),
]
"""The place that was read, the fields that are declared, and the outputs."""


@pytest.mark.parametrize(("place", "fields", "output"), TAKEN)
def test_what_is_taken_stands_at_its_place(
    place: str, fields: tuple[str, ...], output: Any
) -> None:
    assert [*word_outputs("w", place, fields, is_element=False)] == [output]


@pytest.mark.parametrize(("place", "fields", "outputs"), READ)
def test_what_is_read_may_stand_in_any_field_below(
    place: str, fields: tuple[str, ...], outputs: list[Any]
) -> None:
    assert [*word_outputs("w", place, fields, is_element=True)] == outputs
