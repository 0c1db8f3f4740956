"""The inputs of `verify` that a policy leaves to its sessions: results as evidence, and a context.

A policy says which class the results of a tool have, and what tools demand of that class. One item
is made of each class that a tool needs and that the policy does not hold: it says what is demanded.
"""

from collections.abc import Iterator
from typing import Any, Final

from critic import CompiledContext, RunContext
from evals.needs import Needs, needs_of
from evals.pointers import segments
from harness.policy import Policy
from harness.testing._draw.bounds import required_classes
from harness.testing._draw.edge_alphabet import AS_OF
from harness.testing._draw.primitives import Json
from harness.wire import build

_VALUES: Final = {"string": "v", "integer": 1, "number": 1, "boolean": True, "array": []}


def context_of(policy: Policy) -> RunContext:
    """Return a context with the safety mode and the budget of the guard."""
    budget = policy.guard.budget
    ctx = {"trace_id": "t", "safety_mode": policy.guard.safety_mode, "as_of": AS_OF}
    return build(RunContext, {**ctx, **({"run_budget": budget.wire()} if budget else {})})


def with_results(policy: Policy) -> CompiledContext:
    """Return the manifests of a policy, with an item of each class that no item has yet."""
    compiled: Json = policy.compiled().wire()
    manifests = compiled["manifests"]
    there = {item["classification"] for item in manifests["evidence_manifest"]}
    contents: dict[str, Any] = {}
    for tool in policy.tool:
        schema = tool.args_schema if isinstance(tool.args_schema, dict) else {}
        needs = needs_of(tool)
        for name, path, value in _held_values(needs, schema):
            if name not in there:
                content = contents.setdefault(name, {})
                _put(content, segments(path), value)
        for name in (*required_classes(tool), *(policy.spec.required_evidence or ())):
            if name not in there:
                contents.setdefault(name, {})
    made = [
        {"id": f"made:{number}", "classification": name, "content": content}
        for number, (name, content) in enumerate(contents.items())
    ]
    items = [*manifests["evidence_manifest"], *made]
    return build(
        CompiledContext, {**compiled, "manifests": {**manifests, "evidence_manifest": items}}
    )


def _held_values(needs: Needs, schema: Json) -> Iterator[tuple[str, str, Any]]:
    """Yield what evidence must hold: class, pointer and value, for each bound argument."""
    for name, bound in needs.bound.items():
        value = _value(schema.get("properties", {}).get(name, {}))
        for kind in bound.classes:
            yield kind, (bound.at or (f"/{name}",))[0], value
    for need in needs.demands:
        for name, path in need.about:
            yield need.classification, path, _value(schema.get("properties", {}).get(name, {}))


def _value(schema: Any) -> Any:
    """Return a value that a plain schema accepts."""
    if not isinstance(schema, dict):
        return "v"
    if "const" in schema or schema.get("enum"):
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type", "string")
    return schema.get("minimum", _VALUES.get(kind, "v")) if isinstance(kind, str) else "v"


def _put(content: Any, path: tuple[str, ...], value: Any) -> None:
    """Set a value at a pointer of an object; a segment `*` becomes a member of that name."""
    for segment in path[:-1]:
        inner = content.setdefault(segment, {})
        if not isinstance(inner, dict):
            return
        content = inner
    if path:
        content.setdefault(path[-1], value)
