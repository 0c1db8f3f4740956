"""Violations of each kind, put into a sound proposal that is near a limit."""

from collections.abc import Sequence
from typing import Any, Final

from tests.support.generate.alphabet import AS_OF, MODES
from tests.support.generate.drawing import Pick
from tests.support.generate.missing import FAULTS_OF_EVIDENCE
from tests.support.generate.parts import Fault, items, some_step, tool_step, tools
from tests.support.generate.wild import retyped, twin
from tests.support.model.facts import Json

# --- violates_decision_spec -------------------------------------------------------------------


def undeclared(_pick: Pick, p: Json) -> None:
    p["spec"]["required_outputs"] = [*p["spec"]["required_outputs"], "o3"]


def near_name(pick: Pick, p: Json) -> None:
    p["plan"]["declared_outputs"] = ["O1", *p["plan"]["declared_outputs"][1:]]
    p["spec"]["required_outputs"] = ["o1", *p["spec"]["required_outputs"][1:]]


def unproducible(pick: Pick, p: Json) -> None:
    for tool in tools(p):
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


def thought_up(pick: Pick, p: Json) -> None:
    """Nothing but a reason step, or a tool without a list, for what another tool lists."""
    first, *others = tools(p)
    first["produces"] = ["o1", *first.get("produces", [])]
    for tool in others:
        tool.update(produces=["o2"])
        if pick((True, False)):
            tool.pop("produces")
    p["plan"]["steps"] = [*p["plan"]["steps"][:1], {"kind": "reason"}]
    p["spec"]["required_outputs"] = ["o1"]
    p["plan"]["declared_outputs"] = ["o1", *p["plan"]["declared_outputs"]]


CONFINED: Sequence[tuple[Any, Any]] = (
    ("abcdefgh", "abcdefgh"),
    ("abcdefgh", ["no", {"w": "xxabcdefghxx"}]),
    ("abcdefg", "abcdefg"),
    ("abcdefgh", {"abcdefgh": 1}),
    ({"x": ["Abcdefgh"]}, "abcdefgh"),
    ({"x": ["note abcdefgh", 244500]}, "abcdefgh"),
    ({"x": ["note abcdefgh", 244500]}, 244500.0),
    ({"x": 244500}, "pin 244500!"),
    ({"x": 24500}, 24500),
    (-244500, {"n": [-244500]}),
    ("244500", 244500),
    ({"244500": 1, "abcdefgh": True}, "abcdefgh"),
)
"""Content and an argument: some of it is too short, or only close to what is confined."""


def sent_out(pick: Pick, p: Json) -> None:
    """Confined content in an argument; most tools would send it away."""
    content, sent = pick(CONFINED)
    step = tool_step(pick, p)
    if step["kind"] == "tool":
        step["args"] = {**step["args"], "z": sent}
    for ref in pick((("s1",), ("s1", "s2"))):
        expiry = pick(({}, {"expires_at": AS_OF}))
        items(p).append({"id": ref, "classification": "secret", "content": content, **expiry})
    p["spec"]["confined_evidence"] = ["secret", *p["spec"].get("confined_evidence", [])]
    for tool in tools(p):
        tool["approval_mode"] = pick((tool["approval_mode"], "network"))
        tool.pop("args_schema", None)
    p["ctx"]["safety_mode"] = "destructive"
    for name in ("approval_mode", "approval_required_from"):
        p["spec"].pop(name, None)


def against_schema(pick: Pick, p: Json) -> None:
    for tool in tools(p):
        tool["args_schema"] = pick((False, {"required": ["w"]}, {"maxProperties": 0}))


# --- approval_mode_mismatch -------------------------------------------------------------------


def lower_safety_mode(_pick: Pick, p: Json) -> None:
    rank = MODES.index(p["ctx"]["safety_mode"])
    p["ctx"]["safety_mode"] = MODES[max(rank - 1, 0)]


def lower_ceiling(pick: Pick, p: Json) -> None:
    p["spec"]["approval_mode"] = pick(MODES[:3])


def higher_tool(pick: Pick, p: Json) -> None:
    rank = MODES.index(p["ctx"]["safety_mode"])
    for tool in tools(p):
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


def approved_elsewhere(pick: Pick, p: Json) -> None:
    """An approval of this plan in another context, or in this one."""
    p["spec"]["approval_required_from"] = "read_only"
    signed = {"approval_id": "ap", "approver": "someone", "plan_digest": "right"}
    p["ctx"]["approvals"] = [{**signed, "context_digest": pick(("wrong", "wrong", "right"))}]


def crowded(pick: Pick, p: Json) -> None:
    """Mostly one step without an approval; now and then about a thousand."""
    unapproved(pick, p)
    tool = tools(p)[0]
    tool.update(approval_mode="network", produces=["o1"])
    for name in ("requires_evidence", "bound_args", "bound_together", "args_schema"):
        tool.pop(name, None)
    step = {name: tool[name] for name in ("adapter_id", "capability_id")}
    p["ctx"]["safety_mode"] = "destructive"
    p["plan"]["steps"] = [{"kind": "tool", **step}] * pick((*(1,) * 30, 1000, 1001, 1002))
    _roomy(p)


# --- loop_guard and budget_exceeded -----------------------------------------------------------


def too_many_steps(pick: Pick, p: Json) -> None:
    budget = p["ctx"].setdefault("run_budget", {"bucket_tokens": 2**53 - 1})
    spent = p["ctx"].get("spent", {}).get("steps", 0)
    budget["max_steps"] = max(spent + len(p["plan"]["steps"]) - pick((1, 2)), 0)


def much_spent(pick: Pick, p: Json) -> None:
    p["ctx"]["spent"] = {**p["ctx"].get("spent", {}), "steps": pick((12, 13, 2**53 - 1))}


def disordered(pick: Pick, p: Json) -> None:
    some_step(pick, p)["depends_on"] = pick((["s9"], ["s1", "s9", "s9"], ["s3"]))


def same_id(_pick: Pick, p: Json) -> None:
    p["plan"]["steps"] = [{"kind": "reason", "id": "s0"}, *p["plan"]["steps"]]
    p["plan"]["steps"][-1]["id"] = "s0"
    _roomy(p)


def repeated(pick: Pick, p: Json) -> None:
    step = tool_step(pick, p)
    p["plan"]["steps"] = [*p["plan"]["steps"], {**twin(step)}]
    for tool in tools(p):
        tool["approval_mode"] = "destructive"
    p["ctx"]["safety_mode"] = "destructive"
    for name in ("approval_mode", "approval_required_from"):
        p["spec"].pop(name, None)
    _roomy(p)


def made_before(pick: Pick, p: Json) -> None:
    """A destructive call that an earlier plan made, approved or not, spelled in another way."""
    step = tool_step(pick, p)
    if step["kind"] == "tool":
        again = {name: retyped(value) for name, value in reversed(step["args"].items())}
        step["args"] = again
    if pick((False, False, True)):
        repeated(pick, p)
    calls = ([{"step": 0}, {"step": 1}], [{"step": 0, "prefix": "sha256:"}], [{}, {"step": 2}])
    p["ctx"]["spent"] = {**p["ctx"].get("spent", {}), "calls": pick(calls)}
    for tool in tools(p):
        tool["approval_mode"] = "destructive"
    p["ctx"]["safety_mode"] = "destructive"
    signed = {"approval_id": "ap", "approver": "someone", "plan_digest": "right"}
    p["ctx"]["approvals"] = pick(([], [], [signed], [{**signed, "steps": [1]}]))
    for name in ("approval_mode", "approval_required_from"):
        p["spec"].pop(name, None)


def _roomy(p: Json) -> None:
    p["ctx"]["run_budget"] = {"max_steps": 2**53 - 1, "bucket_tokens": 2**53 - 1}


def one_token_short(pick: Pick, p: Json) -> None:
    budget = p["ctx"].get("run_budget", {})
    step = some_step(pick, p)
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
        thought_up,
        sent_out,
        sent_out,
    ),
    "approval_mode_mismatch": (
        lower_safety_mode,
        lower_ceiling,
        higher_tool,
        unapproved,
        wrongly_approved,
        undated_approval,
        approved_elsewhere,
        crowded,
    ),
    "missing_evidence": FAULTS_OF_EVIDENCE,
    "loop_guard": (too_many_steps, much_spent, disordered, same_id, repeated, made_before),
    "budget_exceeded": (one_token_short, many_tokens_spent, smaller_bucket),
}
"""Most of what is put in is refused with that kind; some of it only just passes."""
