"""Draw manifests, specs and contexts in wire form, from a small alphabet.

The alphabet is small so that names collide: tools whose joined names are the same string, evidence
classes that several tools share, evidence that expires before and after the time of the context.
"""

from datetime import timedelta
from typing import Any, Final

from evals.kinds import MODES
from evals.timestamps import format_time, parse_time
from harness.testing._draw.edge_alphabet import AS_OF, LAPSED, LATER
from harness.testing._draw.primitives import ABSENT, Json, Pick, chance, fields

_: Final = ABSENT

_PAIRS: Final = (("a", "b"), ("a", "b.c"), ("a.b", "c"), ("b", "a"))
_REFS: Final = ("e", "f", "g")
_CLASSES: Final = ("k", "m")
_OUTPUTS: Final = ("o", "p")

_SCHEMAS: Final = (
    {"type": "object"},
    {"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}}},
    {"properties": {"x": {"type": "integer", "minimum": 1}}, "additionalProperties": False},
    {"required": ["x"], "properties": {"x": {"enum": ["v", 1]}, "y": {"type": "array"}}},
)
_CONTENTS: Final = ("v", {"id": "v", "n": 1}, [1, "v", None], "order v of 2 items", 1)

_SOURCES: Final = (
    *({"author": "user", "standing": "named"}, {"author": "public", "standing": "ambient"}),
    {"author": "system", "standing": "named"},
)
_ABOUT_X: Final = {"class": "k", "about": {"x": "/id"}}
_WITH_AN_ID: Final = {"class": "k", "content_schema": {"required": ["id"]}}
_POINTED: Final = {"from": ["k"], "at": ["/id", "/0"]}
_BOTH: Final = {"x": _POINTED, "y": {"from": ["k", "m"], "at": ["/*"], "optional": True}}
_TOOL: Final = {
    "approval_mode": MODES,
    "requires_evidence": (_, _, ["k"], ["k", "m"], [_ABOUT_X], [_WITH_AN_ID, "m"]),
    "bound_args": (_, _, {"x": ["k"]}, {"x": ["m", "k"], "y": ["k"]}, {"x": _POINTED}, _BOTH),
    "args_schema": (_, *_SCHEMAS),
    "produces": (_, ["o"], [], ["o", "p"]),
    "min_tokens": (_, _, 1, 1000),
    "arg_roles": (_, _, _, {"x": "recipient"}, {"x": "content", "y": "object"}),
}
_ITEM: Final = {
    "classification": _CLASSES,
    "content": (_, *_CONTENTS),
    "expires_at": (_, _, LATER[-1], LAPSED[-1]),
    "source": (_, _, _, *_SOURCES),
}
_CTX: Final = {
    "safety_mode": MODES,
    "run_id": (_, _, "r"),
}
_BUDGET: Final = {
    "max_steps": (_, 12, 1, 2, 4),
    "bucket_tokens": (_, 8000, 2000),
    "wall_ms": (_, _, 100),
    "cost_micros": (_, _, 100),
}
_SPENT: Final = {"steps": (_, 0, 1), "tokens": (_, 0, 500)}


def a_manifest(pick: Pick, least: int = 1) -> Json:
    """Return a manifest of `least` to four tools and up to three evidence items."""
    pairs = _PAIRS[: pick(range(least, len(_PAIRS) + 1))]
    refs = _REFS[: pick(range(len(_REFS) + 1))]
    tools = [
        _group_bindings(
            pick, {"adapter_id": pair[0], "capability_id": pair[1], **fields(pick, _TOOL)}
        )
        for pair in pairs
    ]
    items = [{"id": ref, **fields(pick, _ITEM)} for ref in refs]
    return {"manifests": {"tool_manifest": tools, "evidence_manifest": items}}


def _group_bindings(pick: Pick, tool: Json) -> Json:
    """Return the tool; where it binds several arguments, perhaps together."""
    names = list(tool.get("bound_args", ()))
    together = len(names) > 1 and chance(pick)
    return {**tool, "bound_together": [names]} if together else tool


def a_context(pick: Pick, compiled: Json | None = None) -> Json:
    """Return a context that leaves room for a step; evidence may have expired at its time."""
    budget, spent = fields(pick, _BUDGET), fields(pick, _SPENT)
    if spent.get("steps", 0) >= budget.get("max_steps", 12):
        del spent["steps"]
    return {
        "trace_id": "t",
        **fields(pick, {**_CTX, "as_of": moments(compiled)}),
        **({"run_budget": budget} if budget else {}),
        **({"spent": spent} if spent else {}),
    }


def moments(compiled: Json | None) -> tuple[Any, ...]:
    """Return options for `as_of`: while the evidence is fresh, absent, and after it expired."""
    items = compiled["manifests"]["evidence_manifest"] if compiled else ()
    expiries = sorted(parse_time(item["expires_at"]) for item in items if "expires_at" in item)
    if not expiries:
        return _, AS_OF
    second = timedelta(seconds=1)
    return format_time(expiries[0] - second), _, format_time(expiries[-1])


def a_spec(pick: Pick, compiled: Json | None = None) -> Json:
    """Return a spec that uses the names of the manifest, if one is given."""
    manifests = (compiled or {}).get("manifests", {})
    tools = manifests.get("tool_manifest", ())
    items = manifests.get("evidence_manifest", ())
    made = list(dict.fromkeys(name for tool in tools for name in tool.get("produces", ())))
    outputs = made[:3] or list(_OUTPUTS)
    classes = list(dict.fromkeys(item["classification"] for item in items))[:3]
    table = {
        "required_evidence": (_, _, _, classes[:1], classes) if classes else (_,),
        "approval_mode": (_, _, *MODES),
        "approval_required_from": (_, _, *MODES),
        "output_schemas": (_, _, {outputs[0]: {"type": "integer"}}),
        "confined_evidence": (_, _, classes[:1]),
        "provenance": (_, _, _, "closed", "open"),
    }
    required = pick(([], outputs[:1], outputs))
    return {"id": "d", "required_outputs": required, **fields(pick, table)}


# What a near miss needs to be possible. A world holds the inputs that may be changed for it.


def ensure_applicable(world: Json, compiled: Json, way: str) -> None:
    """Change the inputs that are not fixed so that one near miss is possible.

    Args:
        world: those of `compiled`, `spec` and `ctx` that are not fixed, in wire form.
        compiled: the manifest, fixed or not.
        way: the name of the near miss.
    """
    need = _NEEDS.get(way, {})
    if "compiled" in world:
        manifests = world["compiled"]["manifests"]
        if "tool" in need:
            manifests["tool_manifest"].append({**_EXTRA, **need["tool"]})
        if "item" in need:
            manifests["evidence_manifest"].append({"id": "h", **need["item"]})
        if "another" in need:
            manifests["evidence_manifest"].append({"id": "j", **need["another"]})
    if "spec" in world:
        _prepare_spec(world["spec"], compiled, need)
    if "ctx" in world:
        _prepare_context(world["ctx"], compiled, need)


def _prepare_spec(spec: Json, compiled: Json, need: Json) -> None:
    lifted = ("approval_mode", "required_evidence") if "mode" in need or "item" in need else ()
    for name in lifted:
        spec.pop(name, None)
    spec.update(need.get("spec", {}))
    for name in [name for name, value in spec.items() if value is ABSENT]:
        del spec[name]
    if "outputs" in need:
        spec["required_outputs"] = spec["required_outputs"][: need["outputs"]] or ["o"]
    tools = compiled["manifests"]["tool_manifest"]
    listed = [name for tool in tools for name in tool.get("produces", ())]
    if need.get("listed") and listed:
        spec["required_outputs"] = listed[-1:]
    items = compiled["manifests"]["evidence_manifest"]
    if need.get("class") and items:
        spec["required_evidence"] = [items[-1]["classification"]]


def _prepare_context(ctx: Json, compiled: Json, need: Json) -> None:
    if need.get("mode") == "low" and ctx["safety_mode"] == "destructive":
        ctx["safety_mode"] = "delegated"
    elif need.get("mode") == "high":
        ctx["safety_mode"] = "destructive"
    if need.get("room"):
        ctx.pop("run_budget", None)
    if need.get("short"):
        spent = ctx.get("spent", {}).get("steps", 0)
        ctx["run_budget"] = {**ctx.get("run_budget", {}), "max_steps": spent + 1}
    as_of = moments(compiled)[-1 if "stale" in need else 0]
    if "item" in need and as_of is not ABSENT:
        ctx["as_of"] = as_of


_ONLY_V: Final = {"required": ["x"], "properties": {"x": {"enum": ["v", "w"]}}}
_EXTRA: Final = {"adapter_id": "c", "capability_id": "d", "approval_mode": "read_only"}
_NEEDS: Final[dict[str, Json]] = {
    "undeclared_output": {"outputs": 9},
    "unproducible_output": {"outputs": 1, "tool": {"produces": []}},
    "toolless_output": {
        "tool": {"produces": ["o"]},
        "mode": "high",
        "listed": True,
    },
    "broken_args": {"tool": {"args_schema": _SCHEMAS[1]}},
    "confined_content": {
        "tool": {"approval_mode": "network"},
        "item": {"classification": "k", "content": "a confined text"},
        "mode": "high",
        "spec": {"confined_evidence": ["k"]},
    },
    "over_safety_mode": {"tool": {"approval_mode": "destructive"}, "mode": "low"},
    "over_ceiling": {
        "tool": {"approval_mode": "network"},
        "mode": "high",
        "spec": {"approval_mode": "read_only"},
    },
    "unapproved": {
        "tool": {"approval_mode": "network"},
        "mode": "high",
        "spec": {"approval_required_from": "network"},
    },
    "approved_elsewhere": {
        "tool": {"approval_mode": "network"},
        "mode": "high",
        "spec": {"approval_required_from": "network"},
    },
    "unpinned_class": {
        "tool": {"requires_evidence": ["k"]},
        "item": {"classification": "k"},
        "mode": "high",
    },
    "expired_ref": {"item": {"classification": "k", "expires_at": LAPSED[-1]}, "stale": True},
    "unbacked_argument": {
        "tool": {"bound_args": {"x": ["k"]}},
        "item": {"classification": "k", "content": "v"},
        "mode": "high",
    },
    "demand_unmet": {
        "tool": {"requires_evidence": [_WITH_AN_ID]},
        "item": {"classification": "k", "content": {"id": "v"}},
        "another": {"classification": "k", "content": {"n": 1}},
        "mode": "high",
    },
    "demand_about_another": {
        "tool": {"requires_evidence": [_ABOUT_X], "args_schema": _ONLY_V},
        "item": {"classification": "k", "content": {"id": "v"}},
        "another": {"classification": "k", "content": {"id": "w"}},
        "mode": "high",
    },
    "wrong_place": {
        "tool": {"bound_args": {"x": {"from": ["k"], "at": ["/id"]}}},
        "item": {"classification": "k", "content": {"id": "v", "n": 1}},
        "mode": "high",
    },
    "missing_argument": {
        "tool": {"bound_args": {"x": {"from": ["k"]}}},
        "item": {"classification": "k", "content": {"id": "v"}},
        "mode": "high",
    },
    "divided_group": {
        "tool": {
            "bound_args": {"x": {"from": ["k"], "at": ["/id"]}, "y": {"from": ["k"], "at": ["/n"]}},
            "bound_together": [["x", "y"]],
        },
        "item": {"classification": "k", "content": {"id": "v", "n": 1}},
        "another": {"classification": "k", "content": {"id": "w", "n": 2}},
        "mode": "high",
    },
    "unpinned_spec_class": {"item": {"classification": "k"}, "class": True},
    "repeated_id": {"room": True},
    "too_many_steps": {"short": True},
    "repeated_over_turns": {
        "tool": {"approval_mode": "destructive"},
        "mode": "high",
        "spec": {"approval_required_from": ABSENT},
    },
    "repeated_call": {"tool": {"approval_mode": "destructive"}, "mode": "high", "room": True},
}
"""By the name of the near miss: an extra tool and evidence item for the manifest, the least safety
mode, fields of the spec, the most outputs to require. A near miss that is absent needs nothing.
"""

BRINGS_A_TOOL: Final = frozenset(name for name, need in _NEEDS.items() if "tool" in need)
"""The near misses that add a tool to the manifest, so that it may be drawn without tools."""
