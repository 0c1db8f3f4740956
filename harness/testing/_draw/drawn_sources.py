"""Draw where the values of a plan come from: requests, results of every standing, a session."""

from collections.abc import Iterator
from typing import Any, Final

from hypothesis import strategies as st

from critic import CompiledContext, Proposal, RunContext, ToolCapability
from harness.testing._draw.drawn_plans import Args, Drafter, reason_step
from harness.testing._draw.fixed_inputs import FixedInputs
from harness.testing._draw.primitives import ABSENT, Json, fields, pick
from harness.wire import build

_: Final = ABSENT
_MOST: Final = 8  # values, of a large plan
_LONGEST: Final = 200
_SOURCES: Final = tuple(
    {"author": author, "standing": standing, **web}
    for author in ("public", "member", "system")
    for standing in ("ambient", "named", "reached", "led")
    for web in (({}, {"web": True}) if author == "public" else ({},))
)
_TEXTS: Final = ("id {}", "see id {} now", "{}", "none")
_VALUES: Final = ("zeta-9", "mia@corp.example", "4471", "shop.example/a", "2026-05-09")
_ROLES: Final = ("recipient", "object", "secret", "code", "attribute", "locator", "content", "time")
_MODES: Final = ("network", "destructive", "local_write")


def a_sourced_proposal(draw: st.DrawFn, fixed: FixedInputs, args: Args) -> Proposal:
    """Return calls of tools with roles, with the sources of their values and a session."""
    bounds = fixed.bounds(draw)
    if fixed.compiled is None:
        wire = bounds.compiled.wire()["manifests"]["tool_manifest"]
        manifests = {"tool_manifest": _with_roles(draw, wire), "evidence_manifest": []}
        bounds = bounds._replace(compiled=build(CompiledContext, {"manifests": manifests}))
    if fixed.ctx is None:
        safety = bounds.ctx.wire() | {"safety_mode": "destructive"}
        bounds = bounds._replace(ctx=build(RunContext, safety))
    plan = _calls_of(Drafter(draw, bounds, args, approving=True))
    proposal = {
        "ctx": bounds.ctx.wire(),
        "compiled": bounds.compiled.wire(),
        "spec": bounds.spec.wire(),
        "plan": plan,
    }
    return build(Proposal, _add_sources(draw, proposal))


def _with_roles(draw: st.DrawFn, tools: list[Json]) -> list[Json]:
    """Return the tools with drawn roles, and modes at which these matter; demanding nothing."""
    return [
        {
            **{name: tool[name] for name in ("adapter_id", "capability_id")},
            "approval_mode": pick(draw, _MODES),
            **fields(draw, {"arg_roles": (*({"x": role} for role in _ROLES), _, _TWO_ROLES)}),
        }
        for tool in tools
    ]


_FIELDS: Final = ("sender", "payer")
_TWO_ROLES: Final = {"x": "recipient", "y": "object"}


def _calls_of(drafter: Drafter) -> Json:
    """Return a plan of one to three calls, each of a tool of the manifest where there is one."""
    tools = drafter.bounds.compiled.manifests.tool_manifest[:_MOST]
    count = pick(drafter.draw, (1, 2, 3))
    steps = [
        _call(drafter, pick(drafter.draw, tools)) if tools else reason_step()
        for _step in range(count)
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
        "args": {name: pick(drafter.draw, _VALUES) for name in names},
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


def _add_sources(draw: st.DrawFn, wire: Json) -> Json:
    """Return the proposal with items that say what its args say, and a session that knows some."""
    values = said_in(wire["plan"]) or ["a"]
    manifests = wire["compiled"]["manifests"]
    known = [one for one in manifests.get("classes", []) if one["class"] != "seen"]
    table = {name: pick(draw, ("system", "party")) for name in _FIELDS}
    items = [_request(draw, values), *(_result(draw, at, values) for at in _numbers(draw))]
    evidence = [*manifests["evidence_manifest"], *items]
    names = _tool_names(wire)
    session = {"id": "s", "turn": 1, **fields(draw, _session(values, names))}
    ctx = {
        **wire["ctx"],
        **fields(draw, {"scope": (_, names, names[:1], []), "session": (_, session, session)}),
    }
    classes = [*known, {"class": "seen", "fields": table}]
    manifests = {**manifests, "evidence_manifest": evidence, "classes": classes}
    compiled = {**wire["compiled"], "manifests": manifests}
    spec = {"provenance": pick(draw, ("closed", "open")), **wire["spec"]}
    return {**wire, "ctx": ctx, "compiled": compiled, "spec": spec}


def _numbers(draw: st.DrawFn) -> range:
    return range(1, 1 + pick(draw, (1, 2, 0, 3)))


def _request(draw: st.DrawFn, values: list[str]) -> Json:
    text = pick(draw, ("please", "do {}", "do {} and {}")).format(*_pick_two(draw, values))
    source = {"author": pick(draw, ("user", "user", "operator")), "standing": "named"}
    return {"id": "seen/0", "classification": "seen", "content": text, "source": source}


def _result(draw: st.DrawFn, number: int, values: list[str]) -> Json:
    first, second = _pick_two(draw, values)
    text = pick(draw, _TEXTS).format(first)
    record = {pick(draw, _FIELDS): second}
    content = pick(draw, (text, record, {**record, "body": text}, text))
    source = pick(draw, _SOURCES)
    return {"id": f"seen/{number}", "classification": "seen", "content": content, "source": source}


def _pick_two(draw: st.DrawFn, values: list[str]) -> tuple[str, str]:
    return pick(draw, values), pick(draw, values)


def _session(values: list[str], names: list[Json]) -> Json:
    own = [{"kind": kind, "value": value} for value in values for kind in ("text", "note")]
    yeses = [
        {"value": value, "role": role, "tool": name, "approval_mode": "destructive"}
        for name in names
        for value in values
        for role in ("recipient", "object", "attribute")
    ]
    waived = [{"tool": name, "targets": values[:1]} for name in names]
    return {
        "approved": (_, _, yeses[:1], yeses),
        "own": (_, _, own[:1], own),
        "sent": (_, _, _, [{"seq": 1, "values": values[:1]}]),
        "ran": (_, names[:1], names),
        "waived": (_, _, waived),
    }


def _tool_names(wire: Json) -> list[Json]:
    """Return the names of the tools that the plan calls, each once."""
    pairs = dict.fromkeys(
        (step["adapter_id"], step["capability_id"])
        for step in wire["plan"]["steps"]
        if step["kind"] == "tool"
    )
    return [{"adapter_id": pair[0], "capability_id": pair[1]} for pair in pairs][:_MOST]
