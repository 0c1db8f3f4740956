"""Violations of each kind, put into a sound proposal that is near a limit."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from tests.support.generate.alphabet import AS_OF, FORGED, HOSTILE, MODES
from tests.support.generate.drawing import Pick
from tests.support.generate.wild import twin
from tests.support.model.facts import Json

Fault = Callable[[Pick, Json], None]


def _some_step(pick: Pick, p: Json) -> Json:
    """Return a step of the plan, which is added to an empty plan."""
    if not p["plan"]["steps"]:
        p["plan"]["steps"] = [{"kind": "reason"}]
    found: Json = pick(p["plan"]["steps"])
    return found


def _tool_step(pick: Pick, p: Json) -> Json:
    steps = [step for step in p["plan"]["steps"] if step["kind"] == "tool"]
    return pick(steps) if steps else _some_step(pick, p)


def _tools(p: Json) -> list[Json]:
    found: list[Json] = p["compiled"]["manifests"]["tool_manifest"]
    return found


def _items(p: Json) -> list[Json]:
    found: list[Json] = p["compiled"]["manifests"]["evidence_manifest"]
    return found


# --- violates_decision_spec -------------------------------------------------------------------


def undeclared(_pick: Pick, p: Json) -> None:
    p["spec"]["required_outputs"] = [*p["spec"]["required_outputs"], "o3"]


def near_name(pick: Pick, p: Json) -> None:
    p["plan"]["declared_outputs"] = ["O1", *p["plan"]["declared_outputs"][1:]]
    p["spec"]["required_outputs"] = ["o1", *p["spec"]["required_outputs"][1:]]


def unproducible(pick: Pick, p: Json) -> None:
    for tool in _tools(p):
        tool["produces"] = pick(([], ["O1"]))
    p["spec"]["required_outputs"] = ["o1"]
    p["plan"]["declared_outputs"] = ["o1", *p["plan"]["declared_outputs"]]


def other_trace(pick: Pick, p: Json) -> None:
    p["plan"]["trace_id"] = pick(("T", "t1"))


def not_surfaced(pick: Pick, p: Json) -> None:
    steps = p["plan"]["steps"]
    named = {"adapter_id": pick(("a", "a.b")), "capability_id": pick(("c", "b.c.", "C"))}
    at = pick(range(len(steps) or 1))
    p["plan"]["steps"] = [*steps[:at], {"kind": "tool", "args": {}, **named}, *steps[at + 1 :]]


def against_schema(pick: Pick, p: Json) -> None:
    for tool in _tools(p):
        tool["args_schema"] = pick((False, {"required": ["w"]}, {"maxProperties": 0}))


# --- approval_mode_mismatch -------------------------------------------------------------------


def lower_safety_mode(_pick: Pick, p: Json) -> None:
    rank = MODES.index(p["ctx"]["safety_mode"])
    p["ctx"]["safety_mode"] = MODES[max(rank - 1, 0)]


def lower_ceiling(pick: Pick, p: Json) -> None:
    p["spec"]["approval_mode"] = pick(MODES[:3])


def higher_tool(pick: Pick, p: Json) -> None:
    rank = MODES.index(p["ctx"]["safety_mode"])
    for tool in _tools(p):
        tool["approval_mode"] = MODES[min(rank + 1, 4)]


def unapproved(pick: Pick, p: Json) -> None:
    p["spec"]["approval_required_from"] = pick(MODES[:2])
    p["ctx"]["approvals"] = []


def wrongly_approved(pick: Pick, p: Json) -> None:
    p["spec"]["approval_required_from"] = "read_only"
    signed = {"approval_id": "ap", "approver": "someone"}
    wrong = (
        {"plan_digest": "wrong"},
        {"plan_digest": "RIGHT"},
        {"plan_digest": "right", "steps": []},
        {"plan_digest": "right", "steps": [1]},
        {"plan_digest": "right", "expires_at": AS_OF},
        {"plan_digest": "right", "expires_at": "2026-05-09T15:30:00+05:30"},
    )
    p["ctx"]["approvals"] = [{**signed, **pick(wrong)}]


def undated_approval(_pick: Pick, p: Json) -> None:
    p["spec"]["approval_required_from"] = "read_only"
    signed = {"approval_id": "ap", "approver": "someone", "plan_digest": "right"}
    p["ctx"]["approvals"] = [{**signed, "expires_at": "2027-01-01T00:00:00Z"}]
    p["ctx"].pop("as_of", None)


# --- missing_evidence -------------------------------------------------------------------------


def unpinned(pick: Pick, p: Json) -> None:
    step = _some_step(pick, p)
    step["evidence_refs"] = step.get("evidence_refs", [])[1:]


def forged(pick: Pick, p: Json) -> None:
    step = _some_step(pick, p)
    step["evidence_refs"] = [*step.get("evidence_refs", []), pick((FORGED, "E1"))]


def expired(pick: Pick, p: Json) -> None:
    items = _items(p)
    items[0]["expires_at"] = pick(
        (AS_OF, "2026-05-09T15:30:00+05:30", "2026-05-09T09:59:59.999999Z")
    )


def undated(_pick: Pick, p: Json) -> None:
    p["ctx"].pop("as_of", None)


def other_class(pick: Pick, p: Json) -> None:
    pick(_items(p))["classification"] = pick(("K", "k.x", "k"))


def demanded_by_step(pick: Pick, p: Json) -> None:
    _some_step(pick, p)["requires_evidence"] = pick((["k", "k.x"], ["K"], ["nope", "nope"]))


def demanded_by_spec(pick: Pick, p: Json) -> None:
    p["spec"]["required_evidence"] = pick((["k.x"], ["k", "K", "k.x"]))


def unbacked(pick: Pick, p: Json) -> None:
    wrong: Sequence[Any] = (
        "pay",
        "24",
        2,
        False,
        "24500.",
        "1.00",
        24500.5,
        ["k"],
        "",
        "-",
        "PAY_1",
    )
    for tool in _tools(p):
        tool["bound_args"] = pick(({"x": ["k"]}, {"x": ["k"], HOSTILE: ["K"]}, {"x": []}))
    step = _tool_step(pick, p)
    if step["kind"] == "tool":
        step["args"] = {**step["args"], "x": pick(wrong)}


def backed_by_another_class(pick: Pick, p: Json) -> None:
    """Fresh and pinned evidence holds the value, and is of a class that may not back it."""
    step, item = _tool_step(pick, p), pick(_items(p))
    if step["kind"] != "tool":
        return
    item["content"] = 24500
    step["args"] = {**step["args"], "x": 24500}
    step["evidence_refs"] = [*step.get("evidence_refs", []), item["id"]]
    allowed = [name for name in ("k", "K", "nope") if name != item["classification"]]
    for tool in _tools(p):
        tool["bound_args"] = {"x": [pick(allowed)]}


def other_content(pick: Pick, p: Json) -> None:
    for item in _items(p):
        item["content"] = pick(
            (0, {"24500": "x"}, "PAY_1 refund", "24,500.5", [None], "pay_1\u0301")
        )


# --- loop_guard and budget_exceeded -----------------------------------------------------------


def too_many_steps(pick: Pick, p: Json) -> None:
    budget = p["ctx"].setdefault("run_budget", {"bucket_tokens": 2**53 - 1})
    spent = p["ctx"].get("spent", {}).get("steps", 0)
    budget["max_steps"] = max(spent + len(p["plan"]["steps"]) - pick((1, 2)), 0)


def much_spent(pick: Pick, p: Json) -> None:
    p["ctx"]["spent"] = {**p["ctx"].get("spent", {}), "steps": pick((12, 13, 2**53 - 1))}


def disordered(pick: Pick, p: Json) -> None:
    _some_step(pick, p)["depends_on"] = pick((["s9"], ["s1", "s9", "s9"], ["s3"]))


def same_id(_pick: Pick, p: Json) -> None:
    p["plan"]["steps"] = [{"kind": "reason", "id": "s0"}, *p["plan"]["steps"]]
    p["plan"]["steps"][-1]["id"] = "s0"
    _roomy(p)


def repeated(pick: Pick, p: Json) -> None:
    step = _tool_step(pick, p)
    p["plan"]["steps"] = [*p["plan"]["steps"], {**twin(step)}]
    for tool in _tools(p):
        tool["approval_mode"] = "destructive"
    p["ctx"]["safety_mode"] = "destructive"
    for name in ("approval_mode", "approval_required_from"):
        p["spec"].pop(name, None)
    _roomy(p)


def _roomy(p: Json) -> None:
    p["ctx"]["run_budget"] = {"max_steps": 2**53 - 1, "bucket_tokens": 2**53 - 1}


def one_token_short(pick: Pick, p: Json) -> None:
    budget = p["ctx"].get("run_budget", {})
    step = _some_step(pick, p)
    step["estimated_tokens"] = budget.get("bucket_tokens", 8000) + 1
    if budget:
        budget["max_steps"] += 1


def many_tokens_spent(pick: Pick, p: Json) -> None:
    p["ctx"]["spent"] = {**p["ctx"].get("spent", {}), "tokens": pick((2**53 - 1, 16001))}


def smaller_bucket(pick: Pick, p: Json) -> None:
    budget = p["ctx"].get("run_budget", {})
    if budget.get("bucket_tokens", 0) > 0:
        budget["bucket_tokens"] -= 1
    else:
        one_token_short(pick, p)


FAULTS: Final[dict[str, tuple[Fault, ...]]] = {
    "violates_decision_spec": (
        undeclared,
        near_name,
        unproducible,
        other_trace,
        not_surfaced,
        against_schema,
    ),
    "approval_mode_mismatch": (
        lower_safety_mode,
        lower_ceiling,
        higher_tool,
        unapproved,
        wrongly_approved,
        undated_approval,
    ),
    "missing_evidence": (
        unpinned,
        forged,
        expired,
        undated,
        other_class,
        demanded_by_step,
        demanded_by_spec,
        unbacked,
        backed_by_another_class,
        other_content,
    ),
    "loop_guard": (too_many_steps, much_spent, disordered, same_id, repeated),
    "budget_exceeded": (one_token_short, many_tokens_spent, smaller_bucket),
}
"""Most of what is put in is refused with that kind; some of it only just passes."""
