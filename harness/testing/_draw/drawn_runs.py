"""Draw runs of a proposal in wire form: faithful ones, and some with deviations."""

from typing import Any, Final

from critic import Proposal
from harness.testing._draw.json_values import NoValue, value_for
from harness.testing._draw.primitives import ABSENT, HypothesisPick, Json, Pick, chance, fields

_: Final = ABSENT

_STATUSES: Final = ("completed", "failed", "timed_out", "unknown")
_MEASURES: Final = (_, 0, 1, 100, 100_000)
_DEVIATIONS: Final = ("again", "retry", "drop", "first", "args", "tool", "step", "measure", "stray")


def a_run(pick: HypothesisPick, proposal: Proposal, *, faithful: bool) -> Json:
    """Return a run of the proposal.

    Args:
        proposal: a proposal of any verdict.
        faithful: whether every tool step is called once and in order; else calls may deviate.
    """
    wire = proposal.wire()
    calls = _faithful_calls(wire)
    outputs = _wanted_outputs(pick, wire["spec"])
    ids = {"run_id": wire["ctx"].get("run_id", "r"), "trace_id": wire["ctx"]["trace_id"]}
    if not faithful:
        for _deviation in range(pick(range(4))):
            calls = _disturb_calls(pick, calls)
        outputs = {**outputs, **fields(pick, {"o": (_, None, "a", ["abcdef"])})}
        ids = {name: pick((value, f"{value}0")) for name, value in ids.items()}
        ids = ids if chance(pick) else {**ids, "trace_id": wire["ctx"]["trace_id"]}
    measures = dict.fromkeys(("wall_ms", "tokens", "cost_micros"), _MEASURES)
    return {
        "proposal": wire,
        "calls": calls,
        "outputs": outputs,
        **ids,
        **fields(pick, {**measures, "intent": (_, _, "to test")}),
    }


def _wanted_outputs(pick: HypothesisPick, spec: Json) -> Json:
    """Return a value for each required output, valid if one was found for its schema."""
    schemas, outputs = spec.get("output_schemas", {}), {}
    for name in spec["required_outputs"]:
        try:
            outputs[name] = value_for(pick, schemas[name]) if name in schemas else 1
        except NoValue:
            outputs[name] = 1
    return outputs


def _faithful_calls(proposal: Json) -> list[Json]:
    return [
        {
            "step": index,
            "adapter_id": step["adapter_id"],
            "capability_id": step["capability_id"],
            "args": step["args"],
            "status": "completed",
        }
        for index, step in enumerate(proposal["plan"]["steps"])
        if step["kind"] == "tool"
    ]


def _disturb_calls(pick: Pick, calls: list[Json]) -> list[Json]:
    """Return the calls with one repeated, retried, dropped, moved, changed or invented."""
    deviation = pick(_DEVIATIONS)
    stray = {"step": 0, "adapter_id": "zz", "capability_id": "zz", "args": {}}
    if deviation == "stray" or not calls:
        return [*calls, {**stray, "status": pick(_STATUSES)}]
    index = pick(range(len(calls)))
    before, call, after = calls[:index], calls[index], calls[index + 1 :]
    key = fields(pick, {"idempotency_key": (_, "i")})
    failed = {**call, **key, "status": pick(_STATUSES[1:])}
    deviations: dict[str, list[Json]] = {
        "again": [*calls, call],
        "retry": [*before, failed, {**call, **key, "attempt": 2}, *after],
        "drop": [*before, *after],
        "first": [call, *before, *after],
        "args": [*before, {**call, "args": {**call["args"], "zz": 1}}, *after],
        "tool": [*before, {**call, "capability_id": "zz"}, *after],
        "step": [*before, {**call, "step": call["step"] + 1}, *after],
        "measure": [*before, {**call, **_draw_measures(pick)}, *after],
    }
    return deviations[deviation]


def _draw_measures(pick: Pick) -> dict[str, Any]:
    return {
        "status": pick(_STATUSES),
        **fields(pick, {"tokens": _MEASURES, "cost_micros": _MEASURES, "duration_ms": _MEASURES}),
    }
