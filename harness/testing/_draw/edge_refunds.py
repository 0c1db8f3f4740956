"""Refunds of one of two orders: sound ones, and what can be wrong with the evidence for them.

The orders are close to each other: a value of one is often a value of the other, as a number or as
text. So a value stands in the right item, in the wrong one, in both, or in none.
"""

from typing import Any, Final

from harness.testing._draw.edge_alphabet import AS_OF, LAPSED, LATER, OPEN
from harness.testing._draw.edge_faults import PutFault
from harness.testing._draw.primitives import (
    ABSENT,
    Json,
    Pick,
    fields,
    items_in,
    optional,
    set_field,
)

_: Final = ABSENT

_NAMED: Final = {"adapter_id": "a.b", "capability_id": "c"}
_ABOUT: Final = {"order": "/order_id"}
_WINDOW: Final = {"class": "win", "content_schema": OPEN}
_DEMANDS: Final[tuple[list[Any], ...]] = (
    *(["win"], [_WINDOW], [{**_WINDOW, "about": _ABOUT}]),
    [{"class": "win", "about": {**_ABOUT, "skus": "/skus"}}],
    ["win", _WINDOW, _WINDOW, {"class": "ord", "about": {"order": "/id", "amount": "/amount"}}],
    [{"class": "ord", "content_schema": {"type": "object"}, "about": {"pay": "/a~1b"}}],
)
_BOUND: Final[dict[str, tuple[Any, ...]]] = {
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
_GROUPS: Final[tuple[Any, ...]] = (
    *(_, _, [["order", "amount"]], [["order", "pay", "amount"]], [["pay"], ["skus", "order"]]),
    [["pay", "amount"], ["amount", "order"], []],
)
_WRONG: Final[tuple[Any, ...]] = (
    *("", None, [], {}, [[]], "50", 50.5, 900, "pay_8", "ord_7", ["ord_8", 50], True),
)


def order_case(pick: Pick) -> Json:
    """Return a refund of the first order; the spec and the budget are left to the caller."""
    amount, other = pick(((50, 900), (50, 50.0), (50, "50"), (900, 50)))
    items = [*_orders(pick, amount, other), *_windows(pick)]
    tool = {
        **_NAMED,
        "approval_mode": pick(("destructive", "destructive", "delegated", "read_only")),
        **optional("requires_evidence", pick((_, *_DEMANDS))),
        "bound_args": fields(pick, _BOUND),
        **optional("bound_together", pick(_GROUPS)),
        **optional("produces", pick((_, ["o1"]))),
    }
    args = {"order": "ord_7", "pay": "pay_7", "amount": amount, "skus": ["s1"]}
    if tool["bound_args"]["skus"] == _BOUND["skus"][0]:
        args.update(skus=pick((["s1", "s2"], "s1", [])))
    step = {"kind": "tool", **_NAMED, "args": args, "evidence_refs": pick((["e1", "w1"], _REFS))}
    return {
        "ctx": {"trace_id": "t", "as_of": AS_OF},
        "compiled": {"manifests": {"tool_manifest": [tool], "evidence_manifest": items}},
        "plan": {"steps": [step], "declared_outputs": []},
    }


_REFS: Final = ["e2", "w2", "e1", "w1", "e3"]


def _orders(pick: Pick, amount: Any, other: Any) -> list[Json]:
    """Return two orders, and a text that names a value of each."""
    found = []
    for ref, number, value in (("e1", "7", amount), ("e2", "8", other)):
        lines = pick(([{"sku": "s1"}, {"sku": "s2"}], [{"sku": "s2"}, {"sku": "s1"}]))
        content = {"id": f"ord_{number}", "pay": f"pay_{number}", "amount": value, "lines": lines}
        content.update({"a/b": f"pay_{number}", "sums": [value], "a": {"b": "pay_9"}})
        found.append({"id": ref, "classification": "ord", "content": content})
    text = pick(("ord_8, pay_7, 50", "refund 900 for pay_7", '{"id": "ord_7"}'))
    return [*found, {"id": "e3", "classification": pick(("ord", "K")), "content": text}]


def _windows(pick: Pick) -> list[Json]:
    """Return the refund windows of both orders; that of the second is mostly closed."""
    return [
        {
            "id": ref,
            "classification": "win",
            "content": {"open": is_open, "order_id": order, "skus": skus},
            **optional("expires_at", pick((_, LATER[0]))),
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


def _other_orders_value(pick: Pick, p: Json) -> None:
    second = items_in(p)[1]["content"]
    field, name = pick((("order", "id"), ("pay", "pay"), ("amount", "amount")))
    _args(p)[field] = second[name]


def _values_of_both(pick: Pick, p: Json) -> None:
    name = pick(("order", "pay"))
    _args(p)[name] = [f"{name[:3]}_7", f"{name[:3]}_8"]


def _wrong_value(pick: Pick, p: Json) -> None:
    _args(p)[pick(tuple(_BOUND))] = pick(_WRONG)


def _leave_out(pick: Pick, p: Json) -> None:
    _args(p).pop(pick(tuple(_BOUND)))


def _window_of_the_other(pick: Pick, p: Json) -> None:
    p["plan"]["steps"][0]["evidence_refs"] = ["e1", "e2", pick(("w2", "e3"))]


def _other_window(pick: Pick, p: Json) -> None:
    contents: tuple[Any, ...] = (
        *(_, "open ord_7", {"open": False, "order_id": "ord_7"}, {"open": True, "order_id": 7}),
        *({"open": 1, "order_id": "ord_7", "skus": [["s1"]]}, {"order_id": ["ord_7"]}),
    )
    window = next(one for one in items_in(p) if one["id"] == "w1")
    set_field(window, "content", pick(contents))


def _text_alone(pick: Pick, p: Json) -> None:
    """Only a text backs the arguments: it never does so at a place."""
    p["plan"]["steps"][0]["evidence_refs"] = ["w1", "e3", *pick(([], ["e2"]))]
    items_in(p)[2].update(classification="ord", content="refund 50 for pay_7, ord_7: s1, 900")


def _too_late(pick: Pick, p: Json) -> None:
    item = pick(items_in(p))
    item["expires_at"] = pick(LAPSED)


REFUND_FAULTS: Final[tuple[PutFault, ...]] = (
    *(_other_orders_value, _other_orders_value, _values_of_both, _wrong_value, _wrong_value),
    *(_leave_out, _leave_out, _window_of_the_other, _other_window, _text_alone, _too_late),
)
"""Wrong evidence for a refund. Some of it only just passes."""
