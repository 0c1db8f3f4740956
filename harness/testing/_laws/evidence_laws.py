"""The laws of what evidence says: for the argument at hand, at the place asked for, in one item.

Each gives a step of the proposal a tool with one need, and evidence that meets it or nearly does.
"""

from collections.abc import Iterable
from typing import Any, Final

from harness.testing._draw.primitives import Json
from harness.testing._laws.called_steps import (
    blamed_violations,
    pick_call,
    with_demands,
    with_items,
)
from harness.testing._laws.law_context import LawContext

_OPEN: Final = {"required": ["open"], "properties": {"open": {"const": True}}}
_DEMAND: Final = {"class": "zz", "content_schema": _OPEN, "about": {"order": "/order"}}
_POINTED: Final = {"x": {"from": ["zz"], "at": ["/id"]}}
_OPTIONAL: Final = {"x": {**_POINTED["x"], "optional": True}}
_TOGETHER: Final = {"bound_args": {"x": ["zz"], "y": ["zz"]}, "bound_together": [["x", "y"]]}

_Case = tuple[str, int, dict[str, Any], Json, dict[str, Any]]
"""What it shows, how many violations, contents by ref, args, needs of the tool."""


def a_demand_is_met_by_what_content_says(context: LawContext) -> None:
    """A demand is met only by content that satisfies its schema and is about the argument."""
    needs = {"requires_evidence": [_DEMAND]}
    good = {"open": True, "order": "o1"}
    args: Json = {"order": "o1"}
    _check(
        context,
        (
            ("evidence that says so", 0, {"zz1": good}, args, needs),
            ("evidence that says the opposite", 1, {"zz1": {**good, "open": False}}, args, needs),
            ("evidence of another order", 1, {"zz1": {**good, "order": "o2"}}, args, needs),
            ("no argument", 1, {"zz1": good}, {}, needs),
            ("two halves", 1, {"zz1": {"open": True}, "zz2": {"order": "o1"}}, args, needs),
        ),
    )


def a_binding_looks_where_it_points(context: LawContext) -> None:
    """A binding is backed at its pointers only, and absent only where it is optional."""
    needs, optional = {"bound_args": _POINTED}, {"bound_args": _OPTIONAL}
    held, elsewhere = {"zz1": {"id": "v"}}, {"zz1": {"other": "v"}}
    _check(
        context,
        (
            ("a value at the pointer", 0, held, {"x": "v"}, needs),
            ("a value at another place", 1, elsewhere, {"x": "v"}, needs),
            ("text, which has no places", 1, {"zz1": "v"}, {"x": "v"}, needs),
            ("no argument", 1, held, {}, needs),
            ("an empty argument", 1, held, {"x": ""}, needs),
            ("no optional argument", 0, held, {}, optional),
            ("another value, though optional", 1, held, {"x": "w"}, optional),
        ),
    )


def a_group_needs_one_item(context: LawContext) -> None:
    """Arguments that are bound together are backed by one and the same item."""
    both, apart = {"zz1": ["v", "w"]}, {"zz1": ["v"], "zz2": ["w"]}
    args: Json = {"x": "v", "y": "w"}
    _check(
        context,
        (
            ("one item", 0, both, args, _TOGETHER),
            ("two items", 1, apart, args, _TOGETHER),
            ("two items without a group", 0, apart, args, {"bound_args": _TOGETHER["bound_args"]}),
        ),
    )


def _check(context: LawContext, cases: Iterable[_Case]) -> None:
    """Require as many violations of check 4 at the step as each case says."""
    place = pick_call(context)
    if place is None:
        return
    for what, count, contents, args, needs in cases:
        altered = with_demands(
            with_items(context.wire, **contents), place, args, list(contents), **needs
        )
        found = len(blamed_violations(context.judge(altered), place[0], "evidence"))
        context.require(found == count, f"{what}: {found} violations, not {count}", altered)
