"""A slow, obvious second statement of `verify`, over plain JSON values.

Written from the design alone, so that it can disagree with the engine: it shares no code with the
checks, builds no index, and says each rule once with a loop over everything. Input is the wire form
of a Proposal (`envelope.wire()`), which is taken to be valid.
"""

from collections.abc import Callable, Iterator

from tests.support.model.confinement import leaks
from tests.support.model.evidence import bad_refs, has_class, torn_groups, unbacked_args, unmet
from tests.support.model.facts import (
    RANKS,
    Json,
    approved,
    digest_of,
    distinct,
    find_tool,
    is_called,
    joined,
    same_args,
    same_pair,
    tier_faults,
)
from tests.support.model.late import (
    bindings,
    conditions,
    demands,
    early_places,
    equal_takes,
    first_promise,
    groups,
    is_late,
    misfits,
    occupied,
    unknown_sources,
)
from tests.support.model.late_words import LateDoubts, judged_takes, late_doubts
from tests.support.model.provenance import doubts, refused_values, tool_is_refused

KINDS = {
    "coverage": "violates_decision_spec",
    "surface": "violates_decision_spec",
    "approval": "approval_mode_mismatch",
    "evidence": "missing_evidence",
    "loop": "loop_guard",
}
LISTED = 1000

Found = tuple[int | None, str, bool]
"""The offending step (None: the whole), the place in the plan, and whether a person may clear it"""


def at(index: int, *place: str | int) -> Found:
    """Return a violation of a step, that no approval clears, at a place in it."""
    return index, joined("steps", index, *place), False


# --- the five checks: each yields once per violation -------------------------------------------


def coverage(p: Json) -> Iterator[Found]:
    for output in distinct(p["spec"]["required_outputs"]):
        if output not in p["plan"]["declared_outputs"]:
            yield None, "/declared_outputs", False
        if not any(can_produce(p, step, output) for step in p["plan"]["steps"]):
            yield None, "/declared_outputs", False
    if "trace_id" in p["plan"] and p["plan"]["trace_id"] != p["ctx"]["trace_id"]:
        yield None, "/trace_id", False


def can_produce(p: Json, step: Json, output: str) -> bool:
    """Return whether the step's tool lists the output; if no tool does, whether it may make it."""
    tools = p["compiled"]["manifests"]["tool_manifest"]
    tool = find_tool(p, step)
    if any(output in one.get("produces", []) for one in tools):
        return tool is not None and output in tool.get("produces", [])
    return tool is None or "produces" not in tool


def surface(p: Json) -> Iterator[Found]:
    late = late_doubts(p)
    for index, step in enumerate(p["plan"]["steps"]):
        tool = find_tool(p, step)
        if step["kind"] == "tool" and tool is None:
            yield at(index)
        yield from faulty_takes(p, index)
        if tool is None:
            continue
        for place in early_places(p, index, tool.get("args_schema", True)):
            yield at(index, "args", *place)
        if any(RANKS.index(one["approval_mode"]) >= 2 for one in acts(p, index)):
            leaking = [name for name, value in step["args"].items() if leaks(p, {name: value})]
            for name in sorted(leaking)[:1]:
                yield at(index, "args", name)
        doubted = index in late
        if late[index].tool_is_refused if doubted else tool_is_refused(p, step):
            yield at(index)


def acts(p: Json, index: int) -> list[Json]:
    """Return the tool of a step, and those of what its command does."""
    steps = [one for at, one in enumerate(p["plan"]["steps"]) if index in (at, one.get("of"))]
    return [tool for one in steps if (tool := find_tool(p, one)) is not None]


def faulty_takes(p: Json, index: int) -> Iterator[Found]:
    """Yield late steps that the spec does not allow, places that are not free, and misfits."""
    if is_late(p, index) and "late" not in p["spec"]:
        yield at(index, "takes" if "takes" in p["plan"]["steps"][index] else "evidence_steps")
    for position in occupied(p, index):
        yield at(index, "takes", position, "arg")
    for position in misfits(p, index):
        yield at(index, "takes", position, "at")


def approval(p: Json) -> Iterator[Found]:
    late = late_doubts(p)
    for index, step in enumerate(p["plan"]["steps"]):
        tool = find_tool(p, step)
        if tool is None:
            continue
        for fault in tier_faults(p, tool, index):
            yield (*at(index)[:2], fault == "approval_required_from")
        for place, clearable in asked_of(p, index, late.get(index)):
            yield index, joined("steps", index) + place, clearable


def asked_of(p: Json, index: int, late: LateDoubts | None) -> list[tuple[str, bool]]:
    """Return what asks: of a late step its late values only where no approval clears them."""
    if late is None:
        return doubts(p, index)
    waiting = [f"/takes/{position}" for position in late.late_asked] if late.clearable else []
    places = [""] if late.tool == "ask" else []
    places += [place for place in late.asked if place not in waiting]
    cleared = late.beyond or (late.clearable and approved(p, index))
    return [] if cleared else [(place, late.clearable) for place in places]


def evidence(p: Json) -> Iterator[Found]:
    steps, late = p["plan"]["steps"], late_doubts(p)
    for index, step in enumerate(steps):
        tool, args = find_tool(p, step) or {}, step.get("args", {})
        if is_late(p, index):
            yield from late_evidence(p, index, tool, late.get(index))
            continue
        for _ in unmet(p, tool, step, args):
            yield at(index)
        for ref in bad_refs(p, step):
            yield at(index, "evidence_refs", step["evidence_refs"].index(ref))
        for name in unbacked_args(p, tool, step, args):
            yield at(index, "args", *([name] if name in args else []))
        for _ in torn_groups(p, tool, step, args):
            yield at(index, "args")
        for place in refused_values(p, step):
            yield index, joined("steps", index) + place, False
    for name in distinct(p["spec"].get("required_evidence", [])):
        if not any(has_class(p, step, name) for step in steps) and first_promise(p, name) is None:
            yield None, "/steps", False


def late_evidence(p: Json, index: int, tool: Json, doubted: LateDoubts | None) -> Iterator[Found]:
    """Yield what the evidence of a late step lacks, whatever comes."""
    step = p["plan"]["steps"][index]
    for _ in [one for one in demands(p, index, tool) if one == "missing"]:
        yield at(index)
    for ref in bad_refs(p, step):
        yield at(index, "evidence_refs", step["evidence_refs"].index(ref))
    for place, answer in bindings(p, index, tool):
        if answer == "missing":
            yield index, joined("steps", index) + place, False
    for _ in [one for one in groups(p, index, tool) if one == "missing"]:
        yield at(index, "args")
    for place in doubted.refused_places if doubted else ():
        yield index, joined("steps", index) + place, False


def loop(p: Json) -> Iterator[Found]:
    steps = p["plan"]["steps"]
    spent, budget = p["ctx"].get("spent", {}), p["ctx"].get("run_budget", {})
    called = [step for step in steps if is_called(p, step)]
    if spent.get("steps", 0) + len(called) > budget.get("max_steps", 12):
        yield None, "/steps", False
    for index, step in enumerate(steps):
        earlier_ids = [earlier["id"] for earlier in steps[:index] if "id" in earlier]
        if step.get("id") in earlier_ids:
            yield at(index, "id")
        for name in distinct(step.get("depends_on", [])):
            if name not in earlier_ids:
                yield at(index, "depends_on", step["depends_on"].index(name))
        for place in unknown_sources(p, index):
            yield index, joined("steps", index) + place, False
        if is_repeat(p, index):
            yield at(index)
        elif "takes" not in step and is_repeat_over_turns(p, step) and not approved(p, index):
            yield (*at(index)[:2], True)


def is_destructive(p: Json, step: Json) -> bool:
    tool = find_tool(p, step)
    return tool is not None and tool["approval_mode"] == "destructive"


def is_repeat(p: Json, index: int) -> bool:
    """Return whether an earlier step of the plan makes the same destructive call."""
    step = p["plan"]["steps"][index]
    if not is_destructive(p, step) or not is_called(p, step):
        return False
    earlier = [one for one in p["plan"]["steps"][:index] if is_called(p, one)]
    same_tool = [one for one in earlier if same_pair(one, step)]
    return any(same_args(one, step) and equal_takes(one, step) for one in same_tool)


def is_repeat_over_turns(p: Json, step: Json) -> bool:
    """Return whether an earlier plan of the trace made the same destructive call."""
    if not is_destructive(p, step) or not is_called(p, step):
        return False
    made = [one for one in p["ctx"].get("spent", {}).get("calls", []) if same_pair(one, step)]
    digest = digest_of(step["args"])
    return any(one["args_digest"] in (digest, "sha256:" + digest) for one in made)


def plan_tokens(p: Json) -> int:
    """Return the tokens of all steps: the larger of the estimate and the capability's minimum."""
    total = 0
    for step in p["plan"]["steps"]:
        tool = find_tool(p, step) or {}
        total += max(step.get("estimated_tokens", 0), tool.get("min_tokens", 0))
    return total


def over_token_budget(p: Json) -> bool:
    spent, budget = p["ctx"].get("spent", {}), p["ctx"].get("run_budget", {})
    return bool(spent.get("tokens", 0) + plan_tokens(p) > budget.get("bucket_tokens", 8000))


CHECKS: list[tuple[str, Callable[[Json], Iterator[Found]]]] = [
    ("coverage", coverage),
    ("surface", surface),
    ("approval", approval),
    ("evidence", evidence),
    ("loop", loop),
]


def violation(check: str, kind: str, found: Found) -> Json:
    step, path, approvable = found
    said: Json = {"check": check, "kind": kind, "path": path}
    if step is not None:
        said["offending_step"] = step
    if approvable:
        said["approvable"] = True
    return said


def capped(violations: list[Json]) -> list[Json]:
    """Return the first 1,000, and one that speaks for all that are left out."""
    left = violations[LISTED:]
    if not left:
        return violations
    last = {"check": left[0]["check"], "kind": left[0]["kind"], "path": ""}
    if all("approvable" in one for one in left):
        last["approvable"] = True
    return [*violations[:LISTED], last]


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def verify_model(proposal: Json) -> Json:
    """Return `{"ok": True, "reasons"}`, or the refusal with its violations in check order."""
    violations: list[Json] = []
    for name, check in CHECKS:
        violations += [violation(name, KINDS[name], found) for found in check(proposal)]
    if over_token_budget(proposal):
        violations.append(violation("loop", "budget_exceeded", (None, "/steps", False)))
    if violations:
        lead = ("kind", "offending_step")
        first = {name: violations[0][name] for name in lead if name in violations[0]}
        return {"ok": False, **first, "violations": capped(violations)}
    steps = counted(len(proposal["plan"]["steps"]), "step")
    outputs = counted(len(distinct(proposal["spec"]["required_outputs"])), "required output")
    verdict: Json = {"ok": True, "reasons": [f"{steps}, {outputs} covered"]}
    late = late_doubts(proposal)
    asking = [(index, one) for index in late for one in late[index].late_asked]
    found = conditions(proposal, asking, judged_takes(proposal))
    return {**verdict, "conditions": found} if found and is_late_plan(proposal) else verdict


def is_late_plan(p: Json) -> bool:
    return any(is_late(p, index) for index, _ in enumerate(p["plan"]["steps"]))


def is_approvable(verdict: Json) -> bool:
    """Return whether a person can clear a refusal: then the answer is to ask."""
    return all(one.get("approvable", False) for one in verdict["violations"])
