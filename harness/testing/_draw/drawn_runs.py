"""Draw runs of a proposal in wire form: faithful ones, and some with deviations."""

from typing import Final

from critic import Proposal
from harness.testing._draw.edge_runs import disturb_calls, faithful_calls
from harness.testing._draw.json_values import NoValue, value_for
from harness.testing._draw.primitives import ABSENT, HypothesisPick, Json, chance, fields

_: Final = ABSENT

_MEASURES: Final = (_, 0, 1, 100, 100_000)


def a_run(pick: HypothesisPick, proposal: Proposal, *, faithful: bool) -> Json:
    """Return a run of the proposal.

    Args:
        proposal: a proposal of any verdict.
        faithful: whether every tool step is called once and in order; else calls may deviate.
    """
    wire = proposal.wire()
    calls = faithful_calls(wire)
    outputs = _wanted_outputs(pick, wire["spec"])
    ids = {"run_id": wire["ctx"].get("run_id", "r"), "trace_id": wire["ctx"]["trace_id"]}
    if not faithful:
        for _deviation in range(pick(range(4))):
            calls = disturb_calls(pick, calls)
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
