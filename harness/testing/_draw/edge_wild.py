"""Proposals on the edge with every field drawn on its own, and single fields drawn again."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from harness.testing._draw import edge_alphabet
from harness.testing._draw.bounds import Pair
from harness.testing._draw.edge_alphabet import REFS, TOOL_PAIRS
from harness.testing._draw.primitives import (
    ABSENT,
    FieldOptions,
    Json,
    Pick,
    fields,
    items_in,
    one_in,
    set_field,
    tools_in,
)

_: Final = ABSENT


def wild_step(
    pick: Pick,
    pairs: Sequence[Pair],
    args_of: Callable[[Pair], FieldOptions],
    claims: FieldOptions,
    earlier: Sequence[Json],
) -> Json:
    """Return a step with every field drawn on its own, or a twin of an earlier one."""
    kind = pick(("tool", "tool", "tool", "reason", "twin"))
    if kind == "twin" and earlier:
        return twin_of(pick(earlier))
    if kind == "reason":
        return {"kind": "reason", **fields(pick, claims)}
    pair = pick(pairs)
    named = {"kind": "tool", "adapter_id": pair[0], "capability_id": pair[1]}
    return {**named, "args": fields(pick, args_of(pair)), **fields(pick, claims)}


def twin_of(step: Json) -> Json:
    """Return the same step without an id, with its whole numbers in the other type."""
    kept = {name: value for name, value in step.items() if name != "id"}
    if "args" in step:
        kept["args"] = {name: retype_number(value) for name, value in step["args"].items()}
    return kept


def retype_number(value: Any) -> Any:
    """Return the equal number of the other type, if there is one."""
    if type(value) is int:
        return float(value)
    return int(value) if type(value) is float and value.is_integer() and value < 1e15 else value


def wild_proposal(pick: Pick) -> Json:
    """Return a proposal of the alphabet with every field drawn on its own."""
    tools = [
        {"adapter_id": pair[0], "capability_id": pair[1], **fields(pick, edge_alphabet.TOOL)}
        for pair in pick((TOOL_PAIRS, TOOL_PAIRS[:2], TOOL_PAIRS[1:3]))
    ]
    items = [
        {"id": ref, **fields(pick, edge_alphabet.ITEM)} for ref in pick((REFS, REFS[:2], REFS[1:]))
    ]
    steps: list[Json] = []
    for _step in range(pick((1, 2, 2, 3, 3, 4, 0, 13))):
        steps.append(wild_step(pick, TOOL_PAIRS, _args_of, edge_alphabet.STEP, steps))
    return {
        "ctx": _wild_context(pick),
        "compiled": {"manifests": {"tool_manifest": tools, "evidence_manifest": items}},
        "spec": {"id": "d", **fields(pick, edge_alphabet.SPEC)},
        "plan": {"steps": steps, **fields(pick, edge_alphabet.PLAN)},
    }


def _args_of(_pair: Pair) -> FieldOptions:
    return edge_alphabet.ARGS


def _wild_context(pick: Pick) -> Json:
    context = fields(pick, edge_alphabet.CTX)
    if pick((True, True, False)):
        context["run_budget"] = fields(pick, edge_alphabet.BUDGET)
    if one_in(pick, 4):
        context["spent"] = fields(pick, edge_alphabet.SPENT)
    approvals = pick((_, [1], [1], [1, 2], []))
    if approvals is not ABSENT:
        context["approvals"] = [fields(pick, edge_alphabet.APPROVAL) for _one in approvals]
    return context


def alter_field(pick: Pick, proposal: Json) -> Json:
    """Return the proposal with one field, somewhere, drawn again."""
    ctx, plan = proposal["ctx"], proposal["plan"]
    steps = plan["steps"]
    places: list[tuple[Json, FieldOptions]] = [
        (ctx, edge_alphabet.CTX),
        (ctx.setdefault("run_budget", {}), edge_alphabet.BUDGET),
        (ctx.setdefault("spent", {}), edge_alphabet.SPENT),
        (proposal["spec"], edge_alphabet.SPEC),
        (plan, edge_alphabet.PLAN),
        *((one, edge_alphabet.APPROVAL) for one in ctx.get("approvals", [])),
        *((tool, edge_alphabet.TOOL) for tool in tools_in(proposal)),
        *((item, edge_alphabet.ITEM) for item in items_in(proposal)),
        *((step, edge_alphabet.STEP) for step in steps),
        *((step["args"], edge_alphabet.ARGS) for step in steps if step["kind"] == "tool"),
    ]
    redraw_field(pick, *pick(places))
    if steps and one_in(pick, 4):
        plan["steps"] = [*steps, twin_of(pick(steps))]
    return proposal


def redraw_field(pick: Pick, place: Json, table: FieldOptions) -> None:
    """Draw one field of a place anew."""
    name = pick(tuple(table))
    set_field(place, name, pick(table[name]))
