"""Plans of any size, to be measured against the same of half the size: the cost is linear.

Each has as many values in the plan as there are items, fields or texts in the evidence, so that a
search of one through the other would cost four times as much for twice the size.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import orjson

from critic import CompiledContext, DecisionSpec, Plan, RunBudget, RunContext, verify
from harness.wire import parse
from tests.benchmarks.crafted import Crafted
from tests.benchmarks.timing import Cost, Row, of_thread

Json = dict[str, Any]

SIZE: Final = 2000
MOST: Final = 3.0
"""Times the cost for twice the size. Linear is two; what is looked up in larger tables costs more
than in small ones, and quadratic would be four."""

_TOOL: Final = {"adapter_id": "a", "capability_id": "b"}
_CLASS: Final = "k"


class Doubled(NamedTuple):
    """What is measured, how it is made of a size, and how many violations it has."""

    name: str
    make: Callable[[int], Crafted]
    violations: Callable[[int], int] = lambda _size: 0


def _crafted(steps: list[Json], tool: Json, items: list[Json], **spec: Any) -> Crafted:
    compiled: Json = {
        "manifests": {
            "tool_manifest": [{**_TOOL, "approval_mode": "read_only", **tool}],
            "evidence_manifest": items,
            "record_fields": ["id"],
        }
    }
    budget = RunBudget(max_steps=len(steps), bucket_tokens=0)
    return Crafted(
        RunContext(trace_id="t", safety_mode="delegated", run_budget=budget),
        CompiledContext(**compiled),
        DecisionSpec(id="d", required_outputs=(), **spec),
        orjson.dumps({"steps": steps, "declared_outputs": []}),
    )


def _call(args: Json, refs: list[str] | None = None) -> Json:
    pinned = {} if refs is None else {"evidence_refs": refs}
    return {"kind": "tool", **_TOOL, "args": args, **pinned}


def _ids(size: int) -> list[str]:
    return [f"ord_{number}" for number in range(size)]


def _items(contents: list[Any], **more: Any) -> list[Json]:
    return [
        {"id": f"e/{number}", "classification": _CLASS, "content": content, **more}
        for number, content in enumerate(contents)
    ]


def _refs(size: int) -> list[str]:
    return [f"e/{number}" for number in range(size)]


def bound_in_one(size: int) -> Crafted:
    """Return one call whose values all stand at a pointer of one item: accepted."""
    tool = {"bound_args": {"x": {"from": [_CLASS], "at": ["/orders/*/id"]}}}
    orders = [{"id": one} for one in _ids(size)]
    return _crafted([_call({"x": _ids(size)}, ["e/0"])], tool, _items([{"orders": orders}]))


def bound_in_many(size: int) -> Crafted:
    """Return one call whose values each stand at a pointer of another item: accepted."""
    tool = {"bound_args": {"x": {"from": [_CLASS], "at": ["/id"]}}}
    items = _items([{"id": one} for one in _ids(size)])
    return _crafted([_call({"x": _ids(size)}, _refs(size))], tool, items)


def bound_together(size: int) -> Crafted:
    """Return one call with a group that only the last of many items backs: accepted."""
    tool = {"bound_args": {"x": [_CLASS], "y": [_CLASS]}, "bound_together": [["x", "y"]]}
    items = _items([*([one] for one in _ids(size)), [*_ids(size), "y"]])
    args = {"x": _ids(size), "y": "y"}
    return _crafted([_call(args, _refs(size + 1))], tool, items)


def demanded(size: int) -> Crafted:
    """Return many calls, each with an item of its own that says what is demanded: accepted."""
    schema = {"properties": {"open": {"const": True}}, "required": ["open"]}
    demand = {"class": _CLASS, "content_schema": schema, "about": {"x": "/id"}}
    items = _items([{"id": one, "open": True} for one in _ids(size)])
    steps = [_call({"x": one}, [f"e/{number}"]) for number, one in enumerate(_ids(size))]
    return _crafted(steps, {"requires_evidence": [demand]}, items)


def confined(size: int) -> Crafted:
    """Return many calls that send what resembles confined content: accepted."""
    items = _items([f"{one}-of-the-vault" for one in _ids(size)])
    steps = [_call({"x": f"{one}-of-the-vaul"}) for one in _ids(size)]
    return _crafted(steps, {"approval_mode": "network"}, items, confined_evidence=[_CLASS])


def _sourced(standing: str) -> Json:
    return {"source": {"author": "member", "standing": standing}}


def seen_in_fields(size: int) -> Crafted:
    """Return many calls whose objects are each a field of another record: accepted."""
    tool = {"approval_mode": "local_write", "arg_roles": {"x": "object"}}
    items = _items([{"id": one, "text": "hello"} for one in _ids(size)], **_sourced("named"))
    steps = [_call({"x": one}) for one in _ids(size)]
    return _crafted(steps, tool, items, provenance="closed")


def seen_in_texts(size: int) -> Crafted:
    """Return many calls whose details each stand in another text, in two words: accepted."""
    tool = {"approval_mode": "local_write", "arg_roles": {"x": "attribute"}}
    items = _items([f"pay {one} now, please" for one in _ids(size)], **_sourced("named"))
    steps = [_call({"x": f"{one} now"}) for one in _ids(size)]
    return _crafted(steps, tool, items, provenance="closed")


def refused_by_evidence(size: int) -> Crafted:
    """Return many calls that each lack evidence and send an unbacked value: refused."""
    tool = {"requires_evidence": [_CLASS], "bound_args": {"x": [_CLASS]}}
    return _crafted([_call({"x": one}) for one in _ids(size)], tool, [])


def refused_by_provenance(size: int) -> Crafted:
    """Return many calls whose recipients stand only in text that nothing led to: refused."""
    tool = {"approval_mode": "local_write", "arg_roles": {"x": "recipient"}}
    items = _items([f"pay {one} now" for one in _ids(size)], **_sourced("ambient"))
    steps = [_call({"x": one}) for one in _ids(size)]
    return _crafted(steps, tool, items, provenance="closed")


def refused_for_content(size: int) -> Crafted:
    """Return many calls that each send confined content: refused."""
    items = _items([f"{one}-of-the-vault" for one in _ids(size)])
    steps = [_call({"x": f"{one}-of-the-vault"}) for one in _ids(size)]
    return _crafted(steps, {"approval_mode": "network"}, items, confined_evidence=[_CLASS])


DOUBLED: Final = (
    Doubled("values at a pointer of one item", bound_in_one),
    Doubled("values at a pointer of as many items", bound_in_many),
    Doubled("values of a group x as many items", bound_together),
    Doubled("calls with a demand x as many items", demanded),
    Doubled("calls x as many confined texts", confined),
    Doubled("calls x as many records with a source", seen_in_fields),
    Doubled("calls x as many texts with a source", seen_in_texts),
    Doubled("calls refused for evidence", refused_by_evidence, lambda size: 2 * size),
    Doubled("calls refused for provenance", refused_by_provenance, lambda size: size),
    Doubled("calls refused for what they send", refused_for_content, lambda size: size),
)


def doubled_rows() -> list[Row]:
    """Measure each against the same of half the size, the manifests indexed and not."""
    return [_row(one) for one in DOUBLED]


def _row(one: Doubled) -> Row:
    name = f"{SIZE:,} {one.name}"
    whole, half = (_cost(one.make(size)) for size in (SIZE, SIZE // 2))
    return Row(name, "the same of half the size", MOST, whole, half)


def _cost(case: Crafted) -> Cost:
    """Return the cost of judging the plan with manifests that were never seen before."""

    def fresh(_batch: int) -> list[tuple[CompiledContext, Plan]]:
        compiled = parse(CompiledContext, orjson.dumps(case.compiled.wire()))
        return [(compiled, parse(Plan, case.plan))]

    return of_thread(lambda given: verify(case.ctx, given[0], case.spec, given[1]), fresh)
