"""Plans of a malicious or confused planner: valid envelopes with untrustworthy content.

They use the names of a manifest, so that they reach all checks instead of failing the first one.
Some of them pass: the critic decides.
"""

from collections.abc import Sequence
from typing import Any, Final

from harness.testing._draw.bounds import Bounds, Pair
from harness.testing._draw.drawn_plans import Drafter
from harness.testing._draw.edge_alphabet import HOSTILE
from harness.testing._draw.edge_wild import wild_step
from harness.testing._draw.near_miss import similar_name
from harness.testing._draw.primitives import ABSENT, FieldOptions, Json, chance, fields

_: Final = ABSENT

_NASTY: Final = f"{HOSTILE}\u0000"
_DEEP_LEVELS: Final = 60
_LONG: Final = 60  # steps: well over the default limit of 12


def _deep_value() -> Any:
    value: Any = 1
    for _level in range(_DEEP_LEVELS):
        value = [value]
    return value


_VALUES: Final[tuple[Any, ...]] = (
    1,
    "a",
    *(1.0, True, "1", -0.0, 2**53 - 1, 1e21, None, "", _NASTY, "\ud7ff"),
    *([], {}, [1, [2]], {_NASTY: 1}, {"a": {"b": "c"}}),
)


def hostile_plan(drafter: Drafter) -> Json:
    """Return an arbitrary plan in the names of the manifest, so that it can get past the checks."""
    pick, bounds = drafter.pick, drafter.bounds
    steps: list[Json] = []
    for _step in range(pick(range(5))):
        steps.append(_hostile_step(drafter, steps))
    if steps and chance(pick) and chance(pick):
        steps = [*steps, *(steps[-1] for _again in range(pick((1, _LONG))))]
    trace = bounds.ctx.trace_id
    table = {
        "declared_outputs": (bounds.required, [], ["zz"], [*bounds.required, "zz", "zz"]),
        "trace_id": (_, _, trace, similar_name(trace)),
        "plan_id": (_, "p"),
    }
    return {"steps": steps, **fields(pick, table)}


def _hostile_step(drafter: Drafter, earlier: Sequence[Json]) -> Json:
    """Return a step in names of a manifest that a planner could use, or invent."""
    pick, manifests = drafter.pick, drafter.bounds.compiled.manifests
    tools = manifests.tool_manifest[:8]
    claims = _claims(drafter.bounds)
    if tools and not pick(range(4)):
        step = drafter.step(pick(tools))
        if step is not None:
            return {**step, **fields(pick, claims)}
    pairs = [(tool.adapter_id, tool.capability_id) for tool in tools]
    lookalikes = [(adapter, similar_name(name)) for adapter, name in pairs[:2]]

    def args_of(pair: Pair) -> FieldOptions:
        tool = manifests.tools.get(pair)
        bound = dict.fromkeys((tool and tool.bound_args) or (), (_, *_VALUES))
        return {"x": (_, *_VALUES), _NASTY: (_, _, _, 1), **bound}

    step = wild_step(pick, [*pairs, ("zz", "zz"), *lookalikes], args_of, claims, earlier)
    if step["kind"] == "reason":
        return {**step, **fields(pick, {"summary": (_, _NASTY)})}
    deep = chance(pick) and chance(pick)
    return {**step, "args": {**step.get("args", {}), "deep": _deep_value()}} if deep else step


def _claims(bounds: Bounds) -> FieldOptions:
    """Return optional fields of a step: its claims about order, evidence and tokens."""
    classes = [*bounds.fresh, "zz"][:8]
    held = [item.id for item in bounds.compiled.manifests.evidence_manifest[:8]]
    refs = [*held, "zz", *(f"kg:{name}:1" for name in classes[:2])]
    return {
        "id": (_, _, "s0", "s1"),
        "depends_on": (_, _, [], ["s0"], ["s1", "s1", "zz"]),
        "evidence_refs": (_, _, refs[:1], refs, refs[-1:], [*refs[:1], *refs[:1]]),
        "requires_evidence": (_, _, [], classes[:1], classes),
        "estimated_tokens": (_, _, 0, 1, 8001, 2**53 - 1),
    }
