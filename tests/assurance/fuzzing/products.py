"""Documents below a megabyte whose cost is a product: many parts, and much that each asks for."""

from collections.abc import Mapping
from typing import Any, Final

import orjson


def _names(many: int) -> list[str]:
    return [f"country-{at}" for at in range(many)]


_JUDGED: Final[Mapping[str, tuple[Any, Any]]] = {
    "enum": ({"items": {"enum": _names(250)}}, ["z"] * 65_000),
    "required": ({"items": {"required": _names(1_000)}}, [{}] * 1_000),
    "text": ({"required": _names(2_000)}, {"a": "x" * 900_000}),
    "alternatives": ({"items": {"oneOf": [{"minimum": n} for n in range(9_000)]}}, [0.5] * 90_000),
    "objects": ({"items": {"enum": [{"a": n} for n in range(9_000)]}}, [{"a": 1}] * 40_000),
    "dependent": (
        {"items": {"dependentRequired": {name: [] for name in _names(9_000)}}},
        [{}] * 90_000,
    ),
    "patterns": (
        {"allOf": [{"pattern": f"[a-q][^u-z]{{13}}x{n}|b"} for n in range(400)]},
        "abcdefgh" * 60_000,
    ),
}


def _proposal(schema: Any, args: list[Any]) -> dict[str, Any]:
    tool = {"adapter_id": "a", "capability_id": "b", "approval_mode": "network"}
    step = {"kind": "tool", "adapter_id": "a", "capability_id": "b"}
    manifests = {"tool_manifest": [{**tool, "args_schema": schema}], "evidence_manifest": []}
    return {
        "ctx": {"trace_id": "t", "safety_mode": "destructive"},
        "compiled": {"manifests": manifests},
        "spec": {"id": "s", "required_outputs": []},
        "plan": {"steps": [{**step, "args": one} for one in args], "declared_outputs": []},
    }


def products() -> dict[str, tuple[str, bytes]]:
    """Return the documents by name, each with its entry."""
    found = {}
    for name, (schema, value) in _JUDGED.items():
        args = {"properties": {"x": schema}}
        found[f"args, {name}"] = "proposal", _proposal(args, [{"x": value}])
        ran = {**_proposal(True, []), "calls": [], "outputs": {"o": value}}
        ran["spec"] = {"id": "s", "required_outputs": ["o"], "output_schemas": {"o": schema}}
        ran["plan"] = {"steps": [], "declared_outputs": ["o"]}
        given = {key: ran.pop(key) for key in ("ctx", "compiled", "spec", "plan")}
        found[f"outputs, {name}"] = (
            "run",
            {"run_id": "r", "trace_id": "t", "proposal": given, **ran},
        )
    steps = _proposal({"properties": {"x": _JUDGED["required"][0]}}, [{"x": [{}] * 130}] * 1_500)
    found["args of many steps"] = "proposal", steps
    return {name: (entry, orjson.dumps(document)) for name, (entry, document) in found.items()}
