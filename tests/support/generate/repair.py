"""Mends a generated proposal until the model lets it pass, as tightly as it can.

Each round mends every violation the model finds, more bluntly than the round before.
"""

from collections.abc import Callable
from typing import Any

from tests.support.model.facts import (
    Json,
    find_tool,
    pinned_fresh,
    scalars,
    unbacked_args,
    unexpired,
)
from tests.support.model.verify import plan_tokens, verify_model

ROUNDS = 5


def repaired(proposal: Json, settled: Callable[[Json], Json]) -> Json:
    """A proposal that passes, or the nearest one that was reached."""
    for blunt in range(ROUNDS):
        verdict = verify_model(settled(proposal))
        if verdict["ok"]:
            break
        for violation in verdict["violations"]:
            MEND[violation["check"]](proposal, violation.get("offending_step"), blunt)
    return proposal


def mend_coverage(p: Json, _step: int | None, blunt: int) -> None:
    plan, required = p["plan"], p["spec"]["required_outputs"]
    plan["declared_outputs"] = [*dict.fromkeys([*plan["declared_outputs"], *required])]
    plan.pop("trace_id", None)
    if blunt:
        plan["steps"] = [*plan["steps"], {"kind": "reason"}]


def mend_surface(p: Json, step: int | None, _blunt: int) -> None:
    tool = stored_tool(p, step)
    if tool is None:
        to_reason(p, step)
    else:
        tool.pop("args_schema", None)


def mend_approval(p: Json, _step: int | None, blunt: int) -> None:
    p["ctx"]["safety_mode"] = "destructive"
    p["spec"].pop("approval_mode", None)
    if blunt:
        approval = {"approval_id": "ap", "approver": "someone", "plan_digest": "right"}
        p["ctx"]["approvals"] = [*p["ctx"].get("approvals", []), approval]


def mend_evidence(p: Json, step: int | None, blunt: int) -> None:
    fresh = [one for one in p["compiled"]["manifests"]["evidence_manifest"] if unexpired(p, one)]
    refs = [one["id"] for one in fresh]
    if step is None:
        p["plan"]["steps"] = [*p["plan"]["steps"], {"kind": "reason", "evidence_refs": refs}]
        if blunt:
            p["spec"].pop("required_evidence", None)
        return
    place, tool = p["plan"]["steps"][step], stored_tool(p, step)
    if blunt == 0:
        place["evidence_refs"] = refs
    elif blunt == 1 and tool is not None:
        bind_to_evidence(p, tool, place)
    else:
        place.pop("requires_evidence", None)
        for name in ("requires_evidence", "bound_args"):
            (tool or {}).pop(name, None)


def bind_to_evidence(p: Json, tool: Json, step: Json) -> None:
    """Gives each unbacked argument a value that the evidence holds, where it holds any."""
    for name in unbacked_args(p, tool, step, step["args"]):
        allowed = tool["bound_args"][name]
        found = [one for one in pinned_fresh(p, step) if one["classification"] in allowed]
        values = [value for one in found if "content" in one for value in held(one["content"])]
        step["args"] = (
            {**step["args"], name: values[len(step["args"]) % len(values)]} if values else {}
        )


def held(content: Any) -> list[Any]:
    return content.split() if isinstance(content, str) else scalars(content)


def mend_loop(p: Json, step: int | None, blunt: int) -> None:
    if step is None:
        spent = p["ctx"].setdefault("spent", {})
        spent.update({name: 1 for name, count in spent.items() if count > 9000})
        p["ctx"]["run_budget"] = {
            **p["ctx"].get("run_budget", {}),
            "max_steps": spent.get("steps", 0) + len(p["plan"]["steps"]),
            "bucket_tokens": spent.get("tokens", 0) + plan_tokens(p),
        }
    elif blunt == 0:
        for name in ("id", "depends_on"):
            p["plan"]["steps"][step].pop(name, None)
    else:
        to_reason(p, step)


def stored_tool(p: Json, step: int | None) -> Json | None:
    """The manifest's own entry for the step, to be changed in place."""
    tool = find_tool(p, p["plan"]["steps"][step])
    if tool is None:
        return None
    manifest: list[Json] = p["compiled"]["manifests"]["tool_manifest"]
    return manifest[manifest.index(tool)]


def to_reason(p: Json, step: int | None) -> None:
    old = p["plan"]["steps"][step]
    kept = {name: old[name] for name in ("id", "depends_on", "evidence_refs") if name in old}
    p["plan"]["steps"][step] = {"kind": "reason", **kept}


MEND: dict[str, Callable[[Json, int | None, int], None]] = {
    "coverage": mend_coverage,
    "surface": mend_surface,
    "approval": mend_approval,
    "evidence": mend_evidence,
    "loop": mend_loop,
}
