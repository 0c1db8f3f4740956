"""Make a drawn proposal exact: digests in place of names, defaults written, no dangling name."""

from collections.abc import Callable
from typing import Any, Final

from tests.support.model.facts import Json, digest_of
from tests.support.model.report import utc

_PREFIX: Final = "sha256:"


def settled(proposal: Json) -> Json:
    """Return the proposal as `wire()` writes it, with exact digests and without dangling names."""
    _write_defaults(proposal)
    _bind_groups(proposal)
    _name_spent_calls(proposal)
    return _sign(proposal)


def _write_defaults(proposal: Json) -> None:
    budget = proposal["ctx"].get("run_budget")
    if budget is not None:
        proposal["ctx"]["run_budget"] = {"max_steps": 12, "bucket_tokens": 8000, **budget}
    for step in proposal["plan"]["steps"]:
        if step["kind"] == "tool":
            step.setdefault("args", {})
    for tool in proposal["compiled"]["manifests"]["tool_manifest"]:
        if "bound_args" in tool:
            tool["bound_args"] = {
                name: {**bound, "optional": bound.get("optional", False)}
                if isinstance(bound, dict)
                else bound
                for name, bound in tool["bound_args"].items()
            }


def _bind_groups(proposal: Json) -> None:
    """Take the names that are not bound out of the groups."""
    for tool in proposal["compiled"]["manifests"]["tool_manifest"]:
        bound = tool.get("bound_args", {})
        if "bound_together" in tool:
            groups = tool["bound_together"]
            tool["bound_together"] = [[name for name in one if name in bound] for one in groups]


def _name_spent_calls(proposal: Json) -> None:
    """Replace each call that names a step by the call of that step."""
    spent = proposal["ctx"].get("spent", {})
    steps = proposal["plan"]["steps"]
    if "calls" in spent:
        spent["calls"] = [_spent_call(call, steps) for call in spent["calls"]]


def _spent_call(call: Json, steps: list[Json]) -> Json:
    if "args_digest" in call:
        return call
    tools = [step for step in steps if step["kind"] == "tool"]
    other = {"adapter_id": "a", "capability_id": "b", "args": {}}
    step = tools[call["step"] % len(tools)] if tools and "step" in call else other
    named = {name: step[name] for name in ("adapter_id", "capability_id")}
    return {**named, "args_digest": call.get("prefix", "") + digest_of(step["args"])}


def _sign(proposal: Json) -> Json:
    """Return the proposal with the digest that each `right` of an approval stands for."""
    approvals = proposal["ctx"].get("approvals")
    if not approvals:
        return proposal
    if any("context_digest" in one for one in approvals):
        _write_expiries(proposal)
    parts = {name: proposal[name] for name in ("compiled", "spec")}
    context = {**parts, "trace_id": proposal["ctx"]["trace_id"]}
    write: dict[str, Callable[[Any], Any]] = {
        "plan_digest": _spell(digest_of(proposal["plan"])),
        "context_digest": _spell(digest_of(context)),
    }
    signed = [
        {name: write[name](value) if name in write else value for name, value in one.items()}
        for one in approvals
    ]
    return {**proposal, "ctx": {**proposal["ctx"], "approvals": signed}}


def _write_expiries(proposal: Json) -> None:
    """Write the expiry of each item in UTC, as `wire()` does: the digest of the context has it."""
    for item in proposal["compiled"]["manifests"]["evidence_manifest"]:
        if "expires_at" in item:
            item["expires_at"] = utc(item["expires_at"])


def _spell(right: str) -> Callable[[Any], Any]:
    spellings = {"right": right, _PREFIX + "right": _PREFIX + right, "RIGHT": right.upper()}
    return lambda value: spellings.get(value, value)
