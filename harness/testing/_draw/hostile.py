"""Plans of a malicious or confused planner: valid envelopes with untrustworthy content.

They use the names of the manifest, so that they reach all checks instead of failing the first one.
Some of them pass: the critic decides.
"""

from typing import Any, Final

from harness.testing._draw.bounds import Bounds
from harness.testing._draw.drawn_plans import Drafter
from harness.testing._draw.near_miss import similar_name
from harness.testing._draw.primitives import ABSENT, Json, Pick, chance, fields

_: Final = ABSENT

_NASTY: Final = "<b>\n\u001b[31m'\u202e\u0000"
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
    names = _Names(bounds)
    steps: list[Json] = []
    for _step in range(pick(range(5))):
        steps.append(_a_step(drafter, names, steps))
    if steps and chance(pick) and chance(pick):
        steps = [*steps, *(steps[-1] for _again in range(pick((1, _LONG))))]
    trace = bounds.ctx.trace_id
    table = {
        "declared_outputs": (bounds.required, [], ["zz"], [*bounds.required, "zz", "zz"]),
        "trace_id": (_, _, trace, similar_name(trace)),
        "plan_id": (_, "p"),
    }
    return {"steps": steps, **fields(pick, table)}


class _Names:
    """Names of a manifest that a planner could use, and some that it could invent."""

    def __init__(self, bounds: Bounds) -> None:
        manifests = bounds.compiled.manifests
        pairs = [(tool.adapter_id, tool.capability_id) for tool in manifests.tool_manifest[:8]]
        self.tools = manifests.tools
        lookalikes = [(adapter, similar_name(capability)) for adapter, capability in pairs[:2]]
        self.pairs = [*pairs, ("zz", "zz"), *lookalikes]
        refs = [item.id for item in manifests.evidence_manifest[:8]]
        self.classes = [*bounds.fresh, "zz"][:8]
        self.refs = [*refs, "zz", *(f"kg:{name}:1" for name in self.classes[:2])]


def _a_step(drafter: Drafter, names: _Names, earlier: list[Json]) -> Json:
    pick = drafter.pick
    kind = pick(("known", "made up", "reason", "again"))
    if kind == "again" and earlier:
        return dict(pick(earlier))
    step: Json = {"kind": "reason", **fields(pick, {"summary": (_, _NASTY)})}
    if kind in ("known", "made up"):
        pair = pick(names.pairs)
        tool = names.tools.get(pair)
        step = (drafter.step(tool) if tool is not None and kind == "known" else None) or {
            "kind": "tool",
            "adapter_id": pair[0],
            "capability_id": pair[1],
            "args": _args(pick, list((tool and tool.bound_args) or ())),
        }
    return {**step, **_claims(pick, names)}


def _args(pick: Pick, bound: list[str]) -> Json:
    table: dict[str, tuple[Any, ...]] = {"x": (_, *_VALUES), _NASTY: (_, _, _, 1)}
    args = fields(pick, {**table, **dict.fromkeys(bound, (_, *_VALUES))})
    return {**args, "deep": _deep_value()} if chance(pick) and chance(pick) else args


def _claims(pick: Pick, names: _Names) -> Json:
    """Return optional fields of a step: its claims about order, evidence and tokens."""
    refs, classes = names.refs, names.classes
    table: dict[str, tuple[Any, ...]] = {
        "id": (_, _, "s0", "s1"),
        "depends_on": (_, _, [], ["s0"], ["s1", "s1", "zz"]),
        "evidence_refs": (_, _, refs[:1], refs, refs[-1:], [*refs[:1], *refs[:1]]),
        "requires_evidence": (_, _, [], classes[:1], classes),
        "estimated_tokens": (_, _, 0, 1, 8001, 2**53 - 1),
    }
    return fields(pick, table)
