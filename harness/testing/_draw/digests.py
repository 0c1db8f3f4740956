"""Make drawn JSON exact: as `wire()` writes it, with digests in place of names."""

from hashlib import sha256
from typing import Any, Final

from evals.timestamps import format_time, parse_time
from harness.canonical import canonical_json
from harness.testing._draw.primitives import Json, items_in, name_of, tools_in

_PREFIX: Final = "sha256:"


def _digest_of(value: Any) -> str:
    """Return the SHA-256 of the canonical bytes of a JSON value, in hexadecimal digits."""
    return sha256(canonical_json(value)).hexdigest()


def args_digest(step: Json) -> str:
    """Return the digest of the args of a step."""
    return _digest_of(step.get("args", {}))


def _context_digest(proposal: Json) -> str:
    """Return the digest of what an approval may name beside the plan."""
    parts = {name: proposal[name] for name in ("compiled", "spec")}
    return _digest_of({**parts, "trace_id": proposal["ctx"]["trace_id"]})


def spent_call(step: Json, prefix: str = "") -> Json:
    """Return the call of a step as one that an earlier plan made."""
    return {**name_of(step), "args_digest": prefix + args_digest(step)}


def settle_names(proposal: Json) -> Json:
    """Return the proposal as `wire()` writes it: defaults, exact digests, no dangling names.

    A spent call may name a step of the plan. An approval may name `right`, for the digest of the
    plan or of its context; any other digest stays as it is.
    """
    _write_defaults(proposal)
    ctx = proposal["ctx"]
    if "calls" in ctx.get("spent", ()):
        tools = [step for step in proposal["plan"]["steps"] if step["kind"] == "tool"]
        calls = [_made_call(call, tools) for call in ctx["spent"]["calls"]]
        ctx = {**ctx, "spent": {**ctx["spent"], "calls": calls}}
    if ctx.get("approvals"):
        ctx = {**ctx, "approvals": _sign_approvals(proposal)}
    return {**proposal, "ctx": ctx}


def _write_defaults(proposal: Json) -> None:
    ctx = proposal["ctx"]
    if "run_budget" in ctx:
        ctx["run_budget"] = {"max_steps": 12, "bucket_tokens": 8000, **ctx["run_budget"]}
    for step in proposal["plan"]["steps"]:
        if step["kind"] == "tool":
            step.setdefault("args", {})
    for tool in tools_in(proposal):
        bound = tool.get("bound_args", {})
        if bound:
            tool["bound_args"] = {
                name: {**one, "optional": one.get("optional", False)}
                if isinstance(one, dict)
                else one
                for name, one in bound.items()
            }
        if "bound_together" in tool:
            groups = tool["bound_together"]
            tool["bound_together"] = [[name for name in one if name in bound] for one in groups]


def _made_call(call: Json, tools: list[Json]) -> Json:
    """Return the call of the step that is named; of another tool where there is none."""
    if "args_digest" in call:
        return call
    other = {"adapter_id": "a", "capability_id": "b"}
    step = tools[call["step"] % len(tools)] if tools and "step" in call else other
    return spent_call(step, call.get("prefix", ""))


def _sign_approvals(proposal: Json) -> list[Json]:
    """Return the approvals with the digest that each `right` of theirs stands for."""
    approvals: list[Json] = proposal["ctx"]["approvals"]
    written = {"plan_digest": _spellings(_digest_of(proposal["plan"]))}
    if any("context_digest" in one for one in approvals):
        for item in items_in(proposal):
            if "expires_at" in item:
                item["expires_at"] = format_time(parse_time(item["expires_at"]))
        written["context_digest"] = _spellings(_context_digest(proposal))
    return [
        {
            name: written[name].get(value, value) if name in written else value
            for name, value in one.items()
        }
        for one in approvals
    ]


def _spellings(right: str) -> dict[str, str]:
    return {"right": right, _PREFIX + "right": _PREFIX + right, "RIGHT": right.upper()}
