"""Refunds of one of two orders: sound ones, and what can be wrong with the evidence for them.

The orders are close to each other: a value of one is often a value of the other, as a number or as
text. So a value stands in the right item, in the wrong one, in both, or in none.
"""

from collections.abc import Callable
from typing import Any, Final

from tests.support.generate.alphabet import ABSENT, AS_OF, EXPIRIES, OPEN
from tests.support.generate.drawing import Pick, optional
from tests.support.model.facts import Json

_ = ABSENT

NAMED: Final = {"adapter_id": "a.b", "capability_id": "c"}
ABOUT: Final = {"order": "/order_id"}
WINDOW: Final = {"class": "win", "content_schema": OPEN}
DEMANDS: Final[tuple[list[Any], ...]] = (
    ["win"],
    [WINDOW],
    [{**WINDOW, "about": ABOUT}],
    [{"class": "win", "about": {**ABOUT, "skus": "/skus"}}],
    ["win", WINDOW, WINDOW, {"class": "ord", "about": {"order": "/id", "amount": "/amount"}}],
    [{"class": "ord", "content_schema": {"type": "object"}, "about": {"pay": "/a~1b"}}],
)
BOUND: Final[dict[str, tuple[Any, ...]]] = {
    "order": (["ord"], {"from": ["ord", "win"], "at": ["/id", "/order_id"]}),
    "pay": (
        *(["ord", "K"], {"from": ["ord"], "at": ["/pay"]}),
        *({"from": ["ord"], "at": ["/a~1b", "/x"]}, {"from": ["ord"]}),
    ),
    "amount": (
        *({"from": ["ord"], "at": ["/amount"]}, {"from": ["ord"], "at": ["/sums/0", "/amount"]}),
        {"from": ["ord"], "optional": True, "at": ["/amount"]},
    ),
    "skus": (
        *({"from": ["ord"], "at": ["/lines/*/sku"], "optional": True}, ["ord"]),
        {"from": ["ord", "win"], "at": ["/*/0/sku", "/lines/1/sku", "/skus/*"]},
    ),
}
GROUPS: Final[tuple[Any, ...]] = (
    *(_, _, [["order", "amount"]], [["order", "pay", "amount"]], [["pay"], ["skus", "order"]]),
    [["pay", "amount"], ["amount", "order"], []],
)
WRONG: Final[tuple[Any, ...]] = (
    "",
    None,
    [],
    {},
    [[]],
    "50",
    50.5,
    900,
    "pay_8",
    "ord_7",
    ["ord_8", 50],
    True,
)


def order_case(pick: Pick) -> Json:
    """Return a refund of the first order; the spec and the budget are left to the caller."""
    amount, other = pick(((50, 900), (50, 50.0), (50, "50"), (900, 50)))
    items = [*orders(pick, amount, other), *windows(pick)]
    tool = {
        **NAMED,
        "approval_mode": pick(("destructive", "destructive", "delegated", "read_only")),
        **optional("requires_evidence", pick((_, *DEMANDS))),
        "bound_args": {name: pick(options) for name, options in BOUND.items()},
        **optional("bound_together", pick(GROUPS)),
        **optional("produces", pick((_, ["o1"]))),
    }
    args = {"order": "ord_7", "pay": "pay_7", "amount": amount, "skus": ["s1"]}
    if tool["bound_args"]["skus"] == BOUND["skus"][0]:
        args.update(skus=pick((["s1", "s2"], "s1", [])))
    step = {"kind": "tool", **NAMED, "args": args, "evidence_refs": pick((["e1", "w1"], REFS))}
    return {
        "ctx": {"trace_id": "t", "as_of": AS_OF},
        "compiled": {"manifests": {"tool_manifest": [tool], "evidence_manifest": items}},
        "plan": {"steps": [step], "declared_outputs": []},
    }


REFS: Final = ["e2", "w2", "e1", "w1", "e3"]


def orders(pick: Pick, amount: Any, other: Any) -> list[Json]:
    """Return two orders, and a text that names a value of each."""
    found = []
    for ref, number, value in (("e1", "7", amount), ("e2", "8", other)):
        lines = pick(([{"sku": "s1"}, {"sku": "s2"}], [{"sku": "s2"}, {"sku": "s1"}]))
        content = {"id": f"ord_{number}", "pay": f"pay_{number}", "amount": value, "lines": lines}
        content.update({"a/b": f"pay_{number}", "sums": [value], "a": {"b": "pay_9"}})
        found.append({"id": ref, "classification": "ord", "content": content})
    text = pick(("ord_8, pay_7, 50", "refund 900 for pay_7", '{"id": "ord_7"}'))
    return [*found, {"id": "e3", "classification": pick(("ord", "K")), "content": text}]


def windows(pick: Pick) -> list[Json]:
    """Return the refund windows of both orders; that of the second is mostly closed."""
    return [
        {
            "id": ref,
            "classification": "win",
            "content": {"open": is_open, "order_id": order, "skus": skus},
            **optional("expires_at", pick((_, EXPIRIES[3]))),
        }
        for ref, is_open, order, skus in (
            ("w1", True, "ord_7", ["s1", "s2"]),
            ("w2", pick((False, 1, True)), "ord_8", "s1"),
        )
    ]


# --- what can be wrong ------------------------------------------------------------------------


def _args(p: Json) -> Json:
    args: Json = p["plan"]["steps"][0]["args"]
    return args


def _items(p: Json) -> list[Json]:
    items: list[Json] = p["compiled"]["manifests"]["evidence_manifest"]
    return items


def other_orders_value(pick: Pick, p: Json) -> None:
    second = _items(p)[1]["content"]
    field, name = pick((("order", "id"), ("pay", "pay"), ("amount", "amount")))
    _args(p)[field] = second[name]


def values_of_both(pick: Pick, p: Json) -> None:
    name = pick(("order", "pay"))
    _args(p)[name] = [f"{name[:3]}_7", f"{name[:3]}_8"]


def wrong_value(pick: Pick, p: Json) -> None:
    _args(p)[pick(tuple(BOUND))] = pick(WRONG)


def left_out(pick: Pick, p: Json) -> None:
    _args(p).pop(pick(tuple(BOUND)))


def window_of_the_other(pick: Pick, p: Json) -> None:
    p["plan"]["steps"][0]["evidence_refs"] = ["e1", "e2", pick(("w2", "e3"))]


def other_window(pick: Pick, p: Json) -> None:
    contents: tuple[Any, ...] = (
        *(_, "open ord_7", {"open": False, "order_id": "ord_7"}, {"open": True, "order_id": 7}),
        *({"open": 1, "order_id": "ord_7", "skus": [["s1"]]}, {"order_id": ["ord_7"]}),
    )
    window = next(one for one in _items(p) if one["id"] == "w1")
    window.pop("content")
    window.update(optional("content", pick(contents)))


def text_alone(pick: Pick, p: Json) -> None:
    """Only a text backs the arguments: it never does so at a place."""
    p["plan"]["steps"][0]["evidence_refs"] = ["w1", "e3", *pick(([], ["e2"]))]
    _items(p)[2].update(classification="ord", content="refund 50 for pay_7, ord_7: s1, 900")


def too_late(pick: Pick, p: Json) -> None:
    item = pick(_items(p))
    item["expires_at"] = pick(EXPIRIES[:3])


FAULTS: Final[tuple[Callable[[Pick, Json], None], ...]] = (
    *(other_orders_value, other_orders_value, values_of_both, wrong_value, wrong_value),
    *(left_out, left_out, window_of_the_other, other_window, text_alone, too_late),
)
"""Wrong evidence for a refund. Some of it only just passes."""
