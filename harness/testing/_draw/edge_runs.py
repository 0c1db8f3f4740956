"""Runs in their wire form, by the hundred thousand: on the edges of the evaluators."""

from typing import Any, Final

from harness.testing._draw.drawn_confinement import secrets_in
from harness.testing._draw.edge_alphabet import ARGS, CALL, TOOL_PAIRS
from harness.testing._draw.edge_proposals import make_proposal
from harness.testing._draw.edge_wild import redraw_field, retype_number
from harness.testing._draw.primitives import (
    ABSENT,
    Json,
    Pick,
    chance,
    fields,
    items_in,
    name_of,
    one_in,
    optional,
    set_field,
)

_: Final = ABSENT

_STYLES: Final = ("sound",) * 9 + ("violation",) * 2 + ("near",) * 2 + ("wild",)


def make_run(pick: Pick) -> Json:
    """Return a run of a proposal: faithful, retry_call, disturbed, measured at every limit."""
    proposal = make_proposal(pick, _STYLES)
    required = proposal["spec"]["required_outputs"]
    if one_in(pick, 3):
        _confine_the_unknown(proposal)
    calls = faithful_calls(proposal)
    if one_in(pick, 3):
        calls = [one for call in calls for one in _retry_call(pick, call)]
    if calls and one_in(pick, 25):
        calls = [*_insist_on(pick, calls[0]), *calls[1:]]
    for _time in range(pick((0, 0, 0, 0, 1, 1, 2))):
        calls = disturb_calls(pick, calls)
    if one_in(pick, 16):
        calls = []
    if one_in(pick, 6):
        _leak_by_key(pick, proposal, calls)
    for call in calls:
        call.setdefault("attempt", 1)
    budget = proposal["ctx"].get("run_budget")
    if budget is None and pick((True, True, False)):
        budget = proposal["ctx"]["run_budget"] = {"max_steps": 12, "bucket_tokens": 8000}
    if budget is not None and not chance(pick):
        budget["wall_ms"] = pick((0, 1, 100, 2**52))
    trace = proposal["ctx"]["trace_id"]
    return {
        "run_id": pick((*("r",) * 19, "R")),
        "trace_id": pick((*(trace,) * 19, "T")),
        "proposal": proposal,
        "calls": calls,
        "outputs": _outputs(pick, required),
        **_measures(pick, proposal, budget or {}),
    }


def faithful_calls(proposal: Json) -> list[Json]:
    """Return one completed call for each tool step, in order."""
    return [
        {
            "step": index,
            **name_of(step),
            "args": step["args"],
            "status": "completed",
            "tokens": 1,
        }
        for index, step in enumerate(proposal["plan"]["steps"])
        if step["kind"] == "tool"
    ]


def _stray_call(pick: Pick) -> Json:
    adapter, name = pick(TOOL_PAIRS)
    named = {"adapter_id": adapter, "capability_id": name}
    return {**named, "args": fields(pick, ARGS), **fields(pick, CALL)}


def disturb_calls(pick: Pick, calls: list[Json]) -> list[Json]:
    """Return the calls with one of them added, dropped, repeated, moved or changed."""
    how = pick(("retry", "redraw", "again", "retype", "drop", "swap", "args", "pair", "add"))
    if not calls or how == "add":
        return [*calls, _stray_call(pick)]
    place = pick(tuple(range(len(calls))))
    before, call, after = calls[:place], dict(calls[place]), calls[place + 1 :]
    if how == "drop":
        return before + after
    if how == "swap":
        return [call, *before, *after]
    if how in ("retry", "again"):
        first, second = _retry_call(pick, call)
        return [*before, first, *pick(([], after)), second]
    if how == "retype":
        call["args"] = {name: retype_number(value) for name, value in call["args"].items()}
    if how == "args":
        call["args"] = dict(call["args"])
        redraw_field(pick, call["args"], ARGS)
    if how == "pair":
        call["adapter_id"], call["capability_id"] = pick(TOOL_PAIRS)
    if how == "redraw":
        redraw_field(pick, call, CALL)
    return [*before, call, *after]


def _confine_the_unknown(proposal: Json) -> None:
    """Confined evidence that has no content, so that no one can look for it."""
    items = items_in(proposal)
    if all(item["id"] != "e9" for item in items):
        items.append({"id": "e9", "classification": "secret"})
    spec = proposal["spec"]
    spec["confined_evidence"] = [*spec.get("confined_evidence", []), "secret"]


def _retry_call(pick: Pick, call: Json) -> list[Json]:
    """Return the call after one that failed, timed out, or ended with unknown status."""
    first = {**call, "status": pick(("failed", "timed_out", "unknown", "completed"))}
    keys = pick((("i1", "i1"), ("i1", "i1"), ("i1", "i2"), (_, _), ("", "")))
    second = {**call, "attempt": pick((2, 2, 2, 1, 3))}
    return [
        {**one, **optional("idempotency_key", key)}
        for one, key in zip((first, second), keys, strict=True)
    ]


def _leak_by_key(pick: Pick, proposal: Json, calls: list[Json]) -> None:
    """Put confined content into the idempotency key of a call, if there is any."""
    classes = proposal["spec"].get("confined_evidence", ())
    kept_in = [item for item in items_in(proposal) if item["classification"] in classes]
    found = [text for item in kept_in for text in secrets_in(item.get("content"))]
    if calls and found:
        pick(calls)["idempotency_key"] = f"pay-{pick(found)}"


def _insist_on(pick: Pick, call: Json) -> list[Json]:
    """Return about as many attempts of the call as are allowed, often each with other args."""
    last = pick((10, 11, 11, 12, 12, 13))
    differing = pick((False, True, True))
    tries = [
        {**call, "status": "failed", "attempt": attempt, "idempotency_key": "i1"}
        for attempt in range(1, last + 1)
    ]
    for attempt in range(last if differing else 0):
        tries[attempt]["args"] = {**call["args"], "v": min(attempt, pick((4, 10, 11, 12)))}
    return [*tries[:-1], {**tries[-1], "status": pick(("completed", "failed"))}]


def _outputs(pick: Pick, required: list[str]) -> Json:
    delivered: Json = {name: pick((1, 1, 1, 1, "xxabcdefghxx")) for name in required}
    if required and one_in(pick, 4):
        values: tuple[Any, ...] = (_, None, "1", 1.0, [], {"refund 24500 for pay_1.": 0})
        set_field(delivered, pick(required), pick(values))
    return {**delivered, **fields(pick, {"o9": (_, _, _, ["a refund 24500 for pay_1. b"], "1,2")})}


def _around(pick: Pick, budget: int) -> Any:
    """Return zero, within, at, just over, twice, and just over twice the budget."""
    edges = (_, 0, budget, budget, budget + 1, 2 * budget, 2 * budget + 1)
    value = pick(edges)
    return value if value is ABSENT or value < 2**53 else budget


def _measures(pick: Pick, proposal: Json, budget: Json) -> Json:
    spent = proposal["ctx"].get("spent", {}).get("tokens", 0)
    tokens = _around(pick, budget.get("bucket_tokens", 8000))
    if tokens is not ABSENT and pick((True, False)):
        tokens = max(tokens - spent, 0)
    return {
        **optional("tokens", pick((_, tokens))),
        **optional("wall_ms", _around(pick, budget.get("wall_ms", 100))),
        **optional("cost_micros", _around(pick, budget.get("cost_micros", 100))),
    }
