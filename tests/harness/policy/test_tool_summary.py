"""A summary names arguments that its tool takes: each name that it has, and braces that close."""

from itertools import permutations
from typing import Any

import pytest

from harness.policy.tool_summary import summary_fault

TOOL: dict[str, Any] = {
    "args_schema": {"properties": {"to": {}, "memo": {}}},
    "arg_roles": {"/lines/*/id": "object", "by": "content"},
    "bound_args": {"amount": ["bill"]},
}
KNOWN = ("to", "memo", "lines", "by", "amount")


@pytest.mark.parametrize("names", [*permutations(("to", "amount", "lines")), KNOWN, ()])
def test_a_summary_of_known_arguments_is_one(names: tuple[str, ...]) -> None:
    text = "Pay " + " and ".join(f"{{{name}}}" for name in names)
    assert summary_fault({**TOOL, "summary": text}) is None


@pytest.mark.parametrize("place", range(len(KNOWN) + 1))
@pytest.mark.parametrize("other", ["To", "too", "t", "id", "lines/0"])
def test_one_unknown_argument_is_told_wherever_it_stands(place: int, other: str) -> None:
    names = [*KNOWN[:place], other, *KNOWN[place:]]
    text = "Pay " + " and ".join(f"{{{name}}}" for name in names)
    fault = summary_fault({**TOOL, "summary": text})
    assert fault is not None
    assert other in fault or "write {NAME}" in fault


def test_a_tool_of_which_nothing_is_known_may_name_any() -> None:
    assert summary_fault({"summary": "Pay {anybody}"}) is None
    assert summary_fault({**TOOL}) is None
    assert summary_fault({**TOOL, "summary": "Pay {to"}) is not None
