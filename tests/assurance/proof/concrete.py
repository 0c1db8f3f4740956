"""A proposal as a finite world: the meaning of each symbol, read from the wire form.

Reads plain JSON with the slow look-ups of the second model; nothing here comes from the engine.
A position outside the plan calls an unlisted tool, and an unlisted tool is destructive and dear:
a formula that forgets the bounds of the plan, or the manifest, then gives another answer.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from json import loads
from typing import Any, Final

from tests.assurance.proof.evaluate import Finite
from tests.assurance.proof.worlds import SYMBOLS
from tests.support.model.confinement import secrets, texts_of
from tests.support.model.evidence import is_about, is_empty
from tests.support.model.facts import (
    Json,
    backs,
    digest_of,
    is_digest_of,
    plan_digest,
    pointed,
    same_scalar,
    scalars,
    spelled,
    wrong_places,
)
from tests.support.model.provenance import doubts, refused_values, tool_is_refused

Meanings = dict[str, Callable[..., Any]]

STRANGER: Final = "\x00stranger"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_OUTSIDE: Final[Json] = {
    "kind": "tool",
    "adapter_id": STRANGER,
    "capability_id": STRANGER,
    "args": {},
    "id": STRANGER,
    "estimated_tokens": -1,
}
_UNLISTED: Final[Json] = {"approval_mode": "destructive", "min_tokens": 2**60}


def finite(proposal: Json) -> Finite:
    """Return the world that the wire form of a proposal describes."""
    meanings = {
        **_of_plan(proposal["plan"]),
        **_of_args(proposal),
        **_of_tools(proposal["compiled"]["manifests"]["tool_manifest"]),
        **_of_evidence(proposal["compiled"]["manifests"]["evidence_manifest"]),
        **_of_content(proposal),
        **_of_spec(proposal["spec"]),
        **_of_context(proposal["ctx"]),
        **_of_approvals(proposal),
        **_of_provenance(proposal),
    }
    meanings["tokens_before"] = _sums(proposal)
    if missing := set(SYMBOLS) ^ set(meanings):
        raise KeyError(*missing)
    return Finite(meanings, _domains(proposal))


def _micros(text: str) -> int:
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)


def _of_plan(plan: Json) -> Meanings:
    steps = dict(enumerate(plan["steps"]))

    def step(i: int) -> Json:
        found: Json = steps.get(i, _OUTSIDE)
        return found

    right = plan_digest(plan)
    return {
        "steps": lambda: len(steps),
        "calls": lambda i: step(i)["kind"] == "tool",
        "args": lambda i: spelled(step(i).get("args", {})),
        "adapter": lambda i: step(i).get("adapter_id"),
        "capability": lambda i: step(i).get("capability_id"),
        "has_id": lambda i: "id" in step(i),
        "id": lambda i: step(i).get("id"),
        "depends": lambda i, name: name in step(i).get("depends_on", ()),
        "asks": lambda i, name: name in step(i).get("requires_evidence", ()),
        "pins": lambda i, ref: ref in step(i).get("evidence_refs", ()),
        "has_estimate": lambda i: "estimated_tokens" in step(i),
        "estimate": lambda i: step(i).get("estimated_tokens", -1),
        "declares": lambda output: output in plan["declared_outputs"],
        "has_trace": lambda: "trace_id" in plan,
        "plan_trace": lambda: plan.get("trace_id"),
        "digest": lambda: right,
        "prefixed_digest": lambda: f"sha256:{right}",
    }


def _of_args(proposal: Json) -> Meanings:
    every = [step.get("args", {}) for step in proposal["plan"]["steps"]]
    found = {spelled(args): args for args in [*every, {}]}
    leaves = {
        (text, name): {spelled(leaf) for leaf in scalars(value)}
        for text, args in found.items()
        for name, value in args.items()
    }
    schemas = {
        _pair(tool): tool.get("args_schema", True)
        for tool in proposal["compiled"]["manifests"]["tool_manifest"]
    }
    return {
        "has_arg": lambda args, name: name in found[args],
        "leaf": lambda args, name, leaf: leaf in leaves.get((args, name), ()),
        "satisfies": lambda m, c, args: not wrong_places(schemas.get((m, c), True), found[args]),
    }


def _pair(entry: Json) -> tuple[str, str]:
    return entry["adapter_id"], entry["capability_id"]


def _of_tools(manifest: list[Json]) -> Meanings:
    tools = {_pair(tool): tool for tool in manifest}

    def tool(m: str, c: str) -> Json:
        return tools.get((m, c), _UNLISTED)

    def bound(m: str, c: str) -> Json:
        arguments: Json = tool(m, c).get("bound_args", {})
        return {name: _as_binding(binding) for name, binding in arguments.items()}

    def required(m: str, c: str) -> list[Any]:
        found: list[Any] = tool(m, c).get("requires_evidence", [])
        return found

    return {
        "surfaced": lambda m, c: (m, c) in tools,
        "mode": lambda m, c: tool(m, c)["approval_mode"],
        "least": lambda m, c: tool(m, c).get("min_tokens", 0),
        "requires": lambda m, c, name: name in required(m, c),
        "demands": lambda m, c, demand: loads(demand) in required(m, c),
        "binds": lambda m, c, arg: arg in bound(m, c),
        "allows": lambda m, c, arg, name: name in bound(m, c)[arg]["from"],
        "insists": lambda m, c, arg: bound(m, c).get(arg, {}).get("optional") is False,
        "spares": lambda m, c, arg: bound(m, c).get(arg, {}).get("optional") is True,
        "placed": lambda m, c, arg: "at" in bound(m, c)[arg],
        "at": lambda m, c, arg, at: at in bound(m, c)[arg].get("at", ()),
        "groups": lambda m, c, group: loads(group) in tool(m, c).get("bound_together", ()),
        "member": lambda group, arg: arg in loads(group),
        "lists": lambda m, c: "produces" in tool(m, c),
        "produces": lambda m, c, output: output in tool(m, c).get("produces", ()),
        "schemed": lambda m, c: "args_schema" in tool(m, c),
    }


def _as_binding(binding: Any) -> Json:
    """Return a binding as an object. `optional` is there in the form that says so."""
    if isinstance(binding, list):
        return {"from": binding}
    return {"optional": False, **binding}


def _of_evidence(manifest: list[Json]) -> Meanings:
    items = {item["id"]: item for item in manifest}

    def item(ref: str) -> Json:
        found: Json = items.get(ref, {"classification": STRANGER})
        return found

    return {
        "known": lambda ref: ref in items,
        "class_of": lambda ref: item(ref)["classification"],
        "expires": lambda ref: "expires_at" in item(ref),
        "expiry": lambda ref: _micros(item(ref)["expires_at"]),
    }


def _of_content(proposal: Json) -> Meanings:
    """Return what contents say. Content that is absent says nothing."""
    items = {one["id"]: one for one in _items(proposal) if "content" in one}
    every_args = {spelled(step.get("args", {})): step.get("args", {}) for step in _steps(proposal)}

    def stands(ref: str, at: str, leaf: str) -> bool:
        content = items[ref]["content"] if ref in items else ""
        found = [] if isinstance(content, str) else pointed(content, at, star=True)
        return any(same_scalar(one, loads(leaf)) for _, one in found)

    def says(ref: str, demand: str) -> bool:
        wanted = loads(demand)
        if "content_schema" not in wanted:
            return True
        return ref in items and not wrong_places(wanted["content_schema"], items[ref]["content"])

    def leaks(ref: str, args: str) -> bool:
        hidden, texts = secrets(items.get(ref, {})), texts_of(every_args.get(args, {}))
        return any(one in text for one in hidden for text in texts)

    return {
        "backs": lambda ref, leaf: ref in items and backs(items[ref]["content"], loads(leaf)),
        "stands": stands,
        "says": says,
        "class_demanded": lambda demand: loads(demand)["class"],
        "asks_about": lambda demand, arg, at: loads(demand).get("about", {}).get(arg) == at,
        "is_about": lambda ref, at, args, arg: (
            ref in items and is_about(items[ref], at, every_args[args].get(arg))
        ),
        "leaks": leaks,
        "empty": lambda args, arg: is_empty(every_args.get(args, {}).get(arg)),
    }


def _of_spec(spec: Json) -> Meanings:
    return {
        "needs_output": lambda output: output in spec["required_outputs"],
        "needs_class": lambda name: name in spec.get("required_evidence", ()),
        "confines": lambda name: name in spec.get("confined_evidence", ()),
        "has_ceiling": lambda: "approval_mode" in spec,
        "ceiling": lambda: spec.get("approval_mode"),
        "has_tier": lambda: "approval_required_from" in spec,
        "tier": lambda: spec.get("approval_required_from"),
    }


def _of_context(ctx: Json) -> Meanings:
    budget, spent = ctx.get("run_budget", {}), ctx.get("spent", {})
    now = _micros(ctx["as_of"]) if "as_of" in ctx else None
    return {
        "trace": lambda: ctx["trace_id"],
        "safety_mode": lambda: ctx["safety_mode"],
        "has_now": lambda: now is not None,
        "now": lambda: now,
        "has_budget": lambda: "run_budget" in ctx,
        "budget_steps": lambda: budget["max_steps"],
        "budget_tokens": lambda: budget["bucket_tokens"],
        "spent_steps": lambda: spent.get("steps", 0),
        "spent_tokens": lambda: spent.get("tokens", 0),
        "made_before": lambda m, c, args: any(
            _pair(one) == (m, c) and is_digest_of(one["args_digest"], loads(args))
            for one in spent.get("calls", ())
        ),
    }


def _of_approvals(proposal: Json) -> Meanings:
    approvals = proposal["ctx"].get("approvals", [])
    context = {
        "compiled": proposal["compiled"],
        "spec": proposal["spec"],
        "trace_id": proposal["ctx"]["trace_id"],
    }
    here = digest_of(context)
    return {
        "given": lambda one: one < len(approvals),
        "signed": lambda one: approvals[one]["plan_digest"],
        "lapses": lambda one: "expires_at" in approvals[one],
        "lapse": lambda one: _micros(approvals[one]["expires_at"]),
        "covers_all": lambda one: "steps" not in approvals[one],
        "covers": lambda one, i: i in approvals[one]["steps"],
        "fits": lambda one: (
            approvals[one].get("context_digest", here).removeprefix("sha256:") == here
        ),
    }


def _of_provenance(proposal: Json) -> Meanings:
    """Return what is found of each step, as if no approval were there."""
    bare = {**proposal, "ctx": {**proposal["ctx"], "approvals": []}}
    steps = dict(enumerate(_steps(proposal)))
    asked = {i: [clearable for _, clearable in doubts(bare, i)] for i in steps}
    return {
        "tool_refused": lambda i: i in steps and tool_is_refused(proposal, steps[i]),
        "value_refused": lambda i: i in steps and bool(refused_values(proposal, steps[i])),
        "doubted": lambda i: any(asked.get(i, [])),
        "doubted_twice": lambda i: not all(asked.get(i, [])),
    }


def _sums(proposal: Json) -> Callable[[int], int]:
    """Return `tokens_before`, computed here; `facts` checks that it is the sum."""
    sums, tools = [0], {}
    for tool in proposal["compiled"]["manifests"]["tool_manifest"]:
        tools[_pair(tool)] = tool.get("min_tokens", 0)
    for step in proposal["plan"]["steps"]:
        least = tools.get(_pair(step), 0) if step["kind"] == "tool" else 0
        sums.append(sums[-1] + max(least, step.get("estimated_tokens", 0)))
    return lambda i: sums[i] if 0 <= i < len(sums) else -1


def _domains(proposal: Json) -> dict[str, list[Any]]:
    manifests, spec = proposal["compiled"]["manifests"], proposal["spec"]
    steps, tools = proposal["plan"]["steps"], manifests["tool_manifest"]
    every_args = [step.get("args", {}) for step in steps]
    bound = [tool.get("bound_args", {}) for tool in tools]
    outputs = [spec["required_outputs"], proposal["plan"]["declared_outputs"]]
    classes = [spec.get("required_evidence", ()), [i["classification"] for i in _items(proposal)]]
    required = [one.get("requires_evidence", ()) for one in (*tools, *steps)]
    demands = [one for names in required for one in names if isinstance(one, dict)]
    classes += [[one for one in names if isinstance(one, str)] for names in required]
    classes += [[one["class"] for one in demands], spec.get("confined_evidence", ())]
    bindings = [_as_binding(binding) for one in bound for binding in one.values()]
    about = [one.get("about", {}) for one in demands]
    groups = [group for tool in tools for group in tool.get("bound_together", ())]
    refs = [[item["id"] for item in _items(proposal)]]
    return {
        "Int": list(range(-1, len(steps) + 2)),
        "Output": _all(*outputs, *[tool.get("produces", ()) for tool in tools]),
        "Class": _all(*classes, *[binding["from"] for binding in bindings]),
        "Demand": list(dict.fromkeys(map(spelled, demands))),
        "Group": list(dict.fromkeys(map(spelled, groups))),
        "Pointer": _all(*[binding.get("at", ()) for binding in bindings], *map(dict.values, about)),
        "Adapter": _all([tool["adapter_id"] for tool in tools]),
        "Capability": _all([tool["capability_id"] for tool in tools]),
        "Ref": _all(*refs, *[step.get("evidence_refs", ()) for step in steps]),
        "Id": _all(*[[*step.get("depends_on", ()), step.get("id", STRANGER)] for step in steps]),
        "Arg": _all(*every_args, *bound, *about, *groups),
        "Leaf": _all(*[map(spelled, scalars(args)) for args in every_args]),
        # One more than there are: what would hold if a person approved the plan.
        "Approval": list(range(1 + len(proposal["ctx"].get("approvals", [])))),
    }


def _steps(proposal: Json) -> list[Json]:
    steps: list[Json] = proposal["plan"]["steps"]
    return steps


def _items(proposal: Json) -> list[Json]:
    items: list[Json] = proposal["compiled"]["manifests"]["evidence_manifest"]
    return items


def _all(*groups: Iterable[str]) -> list[str]:
    """Return each name once, and one name that nothing uses."""
    return list(dict.fromkeys([STRANGER, *(name for group in groups for name in group)]))
