"""Draw where the values of a plan come from: requests, results of every standing, a session."""

from collections.abc import Iterator
from typing import Any, Final

from critic import CompiledContext, Proposal, RunContext, ToolCapability
from harness.testing._draw.drawn_plans import Args, Drafter, reason_step
from harness.testing._draw.edge_seen import VALUES, a_judged_tool, a_request, a_result, a_session
from harness.testing._draw.fixed_inputs import FixedInputs
from harness.testing._draw.primitives import ABSENT, HypothesisPick, Json, Pick, optional
from harness.wire import build

_MOST: Final = 8  # values, of a large plan
_LONGEST: Final = 200
_FIELDS: Final = ("sender", "payer")


def a_sourced_proposal(pick: HypothesisPick, fixed: FixedInputs, args: Args) -> Proposal:
    """Return calls of tools with roles, with the sources of their values and a session."""
    bounds = fixed.bounds(pick)
    if fixed.compiled is None:
        value = pick(VALUES)
        tools = [a_judged_tool(pick, pair, value) for pair in bounds.compiled.manifests.tools]
        manifests = {"tool_manifest": tools, "evidence_manifest": []}
        bounds = bounds._replace(compiled=build(CompiledContext, {"manifests": manifests}))
    if fixed.ctx is None:
        safety = bounds.ctx.wire() | {"safety_mode": "destructive"}
        bounds = bounds._replace(ctx=build(RunContext, safety))
    plan = _calls_of(Drafter(pick, bounds, args, approving=True))
    proposal = {
        "ctx": bounds.ctx.wire(),
        "compiled": bounds.compiled.wire(),
        "spec": bounds.spec.wire(),
        "plan": plan,
    }
    return build(Proposal, _add_sources(pick, proposal))


def _calls_of(drafter: Drafter) -> Json:
    """Return a plan of one to three calls, each of a tool of the manifest where there is one."""
    tools = drafter.bounds.compiled.manifests.tool_manifest[:_MOST]
    count = drafter.pick((1, 2, 3))
    steps = [
        _call(drafter, drafter.pick(tools)) if tools else reason_step() for _step in range(count)
    ]
    return {"steps": steps, "declared_outputs": drafter.bounds.required}


def _call(drafter: Drafter, tool: ToolCapability) -> Json:
    demanding = tool.args_schema is not None or tool.bound_args
    step = drafter.step(tool) if demanding else None
    names = [name for name in tool.arg_roles or () if not name.startswith("/")] or ["x"]
    return step or {
        "kind": "tool",
        "adapter_id": tool.adapter_id,
        "capability_id": tool.capability_id,
        "args": {name: drafter.pick(VALUES) for name in names},
    }


def said_in(plan: Json) -> list[str]:
    """Return the texts and numbers in the args of a plan, as text, each once and a few of them."""
    found = dict.fromkeys(
        str(value)
        for step in plan["steps"]
        for value in _scalars(step.get("args", {}))
        if len(str(value)) <= _LONGEST
    )
    return list(found)[:_MOST]


def _scalars(value: Any) -> Iterator[str | float]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _scalars(part)
    elif isinstance(value, str | int | float) and type(value) is not bool and value != "":
        yield value


def _add_sources(pick: Pick, wire: Json) -> Json:
    """Return the proposal with items that say what its args say, and a session that knows some."""
    values = said_in(wire["plan"]) or ["a"]
    manifests = wire["compiled"]["manifests"]
    kept = [one for one in manifests.get("classes", []) if one["class"] != "r"]
    writers = {
        "class": "r",
        "fields": {name: pick(("system", "party", "public")) for name in _FIELDS},
    }
    numbers = range(1, 1 + pick((1, 2, 0, 3)))
    results = [a_result(pick, f"seen/{number}", values, pick(_FIELDS)) for number in numbers]
    evidence = [*manifests["evidence_manifest"], a_request(pick, "seen/0", values), *results]
    pairs = _tool_names(wire)
    known = {
        **optional("scope", pick((ABSENT, pairs, pairs[:1], []))),
        **optional("session", pick((ABSENT, a_session(pick, values, pairs)))),
    }
    manifests = {**manifests, "evidence_manifest": evidence, "classes": [*kept, writers]}
    return {
        **wire,
        "ctx": {**wire["ctx"], **known},
        "compiled": {**wire["compiled"], "manifests": manifests},
        "spec": {"provenance": pick(("closed", "open")), **wire["spec"]},
    }


def _tool_names(wire: Json) -> list[Json]:
    """Return the names of the tools that the plan calls, each once."""
    pairs = dict.fromkeys(
        (step["adapter_id"], step["capability_id"])
        for step in wire["plan"]["steps"]
        if step["kind"] == "tool"
    )
    return [{"adapter_id": pair[0], "capability_id": pair[1]} for pair in pairs][:_MOST]
