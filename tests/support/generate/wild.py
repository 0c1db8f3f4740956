"""Proposals with every field drawn on its own, and single fields drawn again."""

from typing import Any

from tests.support.generate import alphabet
from tests.support.generate.alphabet import ABSENT, PAIRS, REFS, Table
from tests.support.generate.drawing import Pick, record
from tests.support.model.facts import Json


def wild_proposal(pick: Pick) -> Json:
    tools = [
        {"adapter_id": pair[0], "capability_id": pair[1], **record(pick, alphabet.TOOL)}
        for pair in pick((PAIRS, PAIRS[:2], PAIRS[1:3]))
    ]
    items = [{"id": ref, **record(pick, alphabet.ITEM)} for ref in pick((REFS, REFS[:2], REFS[1:]))]
    steps: list[Json] = []
    for _ in range(pick((1, 2, 2, 3, 3, 4, 0, 13))):
        steps.append(a_step(pick, steps))
    return {
        "ctx": a_context(pick),
        "compiled": {"manifests": {"tool_manifest": tools, "evidence_manifest": items}},
        "spec": {"id": "d", **record(pick, alphabet.SPEC)},
        "plan": {"steps": steps, **record(pick, alphabet.PLAN)},
    }


def a_step(pick: Pick, earlier: list[Json]) -> Json:
    kind = pick(("tool", "tool", "tool", "reason", "twin"))
    if kind == "twin" and earlier:
        return twin(pick(earlier))
    if kind == "reason":
        return {"kind": "reason", **record(pick, alphabet.STEP)}
    pair, args = pick(PAIRS), record(pick, alphabet.ARGS)
    named = {"kind": "tool", "adapter_id": pair[0], "capability_id": pair[1], "args": args}
    return {**named, **record(pick, alphabet.STEP)}


def twin(step: Json) -> Json:
    """Return the same step without an id, with its whole numbers in the other type."""
    kept = {name: value for name, value in step.items() if name != "id"}
    if "args" in step:
        kept["args"] = {name: retyped(value) for name, value in step["args"].items()}
    return kept


def retyped(value: Any) -> Any:
    """Return the equal number of the other type, if there is one."""
    if type(value) is int:
        return float(value)
    return int(value) if type(value) is float and value.is_integer() and value < 1e15 else value


def a_context(pick: Pick) -> Json:
    context = record(pick, alphabet.CTX)
    if pick((True, True, False)):
        context["run_budget"] = record(pick, alphabet.BUDGET)
    if pick((False, False, False, True)):
        context["spent"] = record(pick, alphabet.SPENT)
    approvals = pick((ABSENT, 0, 1, 1, 2))
    if approvals is not ABSENT:
        context["approvals"] = [record(pick, alphabet.APPROVAL) for _ in range(approvals)]
    return context


def altered(pick: Pick, proposal: Json) -> Json:
    """Return the proposal with one field, somewhere, drawn again."""
    manifests, plan = proposal["compiled"]["manifests"], proposal["plan"]
    steps = plan["steps"]
    places: list[tuple[Json, Table]] = [
        (proposal["ctx"], alphabet.CTX),
        (proposal["ctx"].setdefault("run_budget", {}), alphabet.BUDGET),
        (proposal["ctx"].setdefault("spent", {}), alphabet.SPENT),
        (proposal["spec"], alphabet.SPEC),
        (plan, alphabet.PLAN),
        *((one, alphabet.APPROVAL) for one in proposal["ctx"].get("approvals", [])),
        *((tool, alphabet.TOOL) for tool in manifests["tool_manifest"]),
        *((item, alphabet.ITEM) for item in manifests["evidence_manifest"]),
        *((step, alphabet.STEP) for step in steps),
        *((step["args"], alphabet.ARGS) for step in steps if step["kind"] == "tool"),
    ]
    redraw(pick, *pick(places))
    if steps and pick((False, False, False, True)):
        plan["steps"] = [*steps, twin(pick(steps))]
    return proposal


def redraw(pick: Pick, place: Json, table: Table) -> None:
    name = pick(tuple(table))
    value = pick(table[name])
    place.pop(name, None)
    if value is not ABSENT:
        place[name] = value
