"""Violations of each kind, put into a sound proposal that is near a limit, in place.

Most of what is put in is refused with that kind; some of it only just passes.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from evals.kinds import MODE_RANK, MODES
from harness.testing._draw.edge_alphabet import AS_OF, FORGED, HOSTILE, LAPSED, LATER
from harness.testing._draw.edge_wild import retype_number, twin_of
from harness.testing._draw.primitives import (
    ABSENT,
    Json,
    Pick,
    items_in,
    name_of,
    one_in,
    set_field,
    tools_in,
)

PutFault = Callable[[Pick, Json], None]
"""Puts a violation into a proposal."""

_MOST: Final = 2**53 - 1
_SIGNED: Final = {"approval_id": "ap", "approver": "someone", "plan_digest": "right"}
_FREE: Final = ("requires_evidence", "bound_args", "bound_together", "args_schema")


def _steps_of(p: Json) -> list[Json]:
    """Return the steps of the plan; an empty plan is given one."""
    p["plan"]["steps"] = p["plan"]["steps"] or [{"kind": "reason"}]
    found: list[Json] = p["plan"]["steps"]
    return found


def _some_call(pick: Pick, p: Json) -> Json:
    """Return a tool step of the plan, or another where there is none."""
    steps = _steps_of(p)
    return pick([step for step in steps if step["kind"] == "tool"] or steps)


def _spent_of(p: Json) -> list[Json]:
    p["ctx"]["spent"] = {**p["ctx"].get("spent", {})}
    return [p["ctx"]["spent"]]


def _draw_field(
    places: Callable[[Json], Sequence[Json]], name: str, *options: Any, one: bool = False
) -> PutFault:
    """Return the fault that draws a field of each place, or of one, among the options."""

    def put(pick: Pick, p: Json) -> None:
        found = places(p)
        for place in [pick(found)] if one else found:
            set_field(place, name, pick(options))

    return put


def _lift_limits(p: Json, mode: str | None = None) -> None:
    """Let the context and the spec allow every mode; give all tools the mode."""
    p["ctx"]["safety_mode"] = "destructive"
    for name in ("approval_mode", "approval_required_from"):
        p["spec"].pop(name, None)
    for tool in tools_in(p) if mode else ():
        tool["approval_mode"] = mode


def _make_room(p: Json) -> None:
    p["ctx"]["run_budget"] = {"max_steps": _MOST, "bucket_tokens": _MOST}


# --- violates_decision_spec -------------------------------------------------------------------


def _require_more(_pick: Pick, p: Json) -> None:
    p["spec"]["required_outputs"] = [*p["spec"]["required_outputs"], "o3"]


def _swap_near_names(_pick: Pick, p: Json) -> None:
    p["plan"]["declared_outputs"] = ["O1", *p["plan"]["declared_outputs"][1:]]
    p["spec"]["required_outputs"] = ["o1", *p["spec"]["required_outputs"][1:]]


def _require_one(p: Json) -> None:
    p["spec"]["required_outputs"] = ["o1"]
    p["plan"]["declared_outputs"] = ["o1", *p["plan"]["declared_outputs"]]


def _withhold_output(pick: Pick, p: Json) -> None:
    for tool in tools_in(p):
        tool["produces"] = pick(([], ["O1"]))
    _require_one(p)


def _think_instead(pick: Pick, p: Json) -> None:
    """Nothing but a reason step, or a tool without a list, for what another tool lists."""
    first, *others = tools_in(p)
    first["produces"] = ["o1", *first.get("produces", [])]
    for tool in others:
        set_field(tool, "produces", pick((ABSENT, ["o2"])))
    p["plan"]["steps"] = [*p["plan"]["steps"][:1], {"kind": "reason"}]
    _require_one(p)


def _call_unknown_tool(pick: Pick, p: Json) -> None:
    steps = p["plan"]["steps"]
    named = {"adapter_id": pick(("a", "a.b")), "capability_id": pick(("c", "b.c.", "C"))}
    at = pick(range(len(steps) or 1))
    p["plan"]["steps"] = [*steps[:at], {"kind": "tool", "args": {}, **named}, *steps[at + 1 :]]


_CONFINED: Final[tuple[tuple[Any, Any], ...]] = (
    *(("abcdefgh", "abcdefgh"), ("abcdefgh", ["no", {"w": "xxabcdefghxx"}])),
    *(("abcdefg", "abcdefg"), ("abcdefgh", {"abcdefgh": 1}), ({"x": ["Abcdefgh"]}, "abcdefgh")),
    *(({"x": ["note abcdefgh", 244500]}, "abcdefgh"), ({"x": ["note abcdefgh", 244500]}, 244500.0)),
    *(({"x": 244500}, "pin 244500!"), ({"x": 24500}, 24500), (-244500, {"n": [-244500]})),
    *(("244500", 244500), ({"244500": 1, "abcdefgh": True}, "abcdefgh")),
)
"""Content and an argument: some of it is too short, or only close to what is confined."""


def _send_confined(pick: Pick, p: Json) -> None:
    """Confined content in an argument; most tools would send it away."""
    content, sent = pick(_CONFINED)
    step = _some_call(pick, p)
    if step["kind"] == "tool":
        step["args"] = {**step["args"], "z": sent}
    for ref in pick((("s1",), ("s1", "s2"))):
        expiry = pick(({}, {"expires_at": AS_OF}))
        items_in(p).append({"id": ref, "classification": "secret", "content": content, **expiry})
    p["spec"]["confined_evidence"] = ["secret", *p["spec"].get("confined_evidence", [])]
    for tool in tools_in(p):
        tool["approval_mode"] = pick((tool["approval_mode"], "network"))
        tool.pop("args_schema", None)
    _lift_limits(p)


# --- approval_mode_mismatch -------------------------------------------------------------------


def _lower_safety_mode(_pick: Pick, p: Json) -> None:
    p["ctx"]["safety_mode"] = MODES[max(MODE_RANK[p["ctx"]["safety_mode"]] - 1, 0)]


def _raise_tools(_pick: Pick, p: Json) -> None:
    for tool in tools_in(p):
        tool["approval_mode"] = MODES[min(MODE_RANK[p["ctx"]["safety_mode"]] + 1, 4)]


def _require_approval(pick: Pick, p: Json) -> None:
    p["spec"]["approval_required_from"] = pick(MODES[:2])
    p["ctx"]["approvals"] = []


def _sign_with(*changes: Json) -> PutFault:
    """Return the fault that needs an approval of every step, and has one with such a change."""

    def put(pick: Pick, p: Json) -> None:
        p["spec"]["approval_required_from"] = "read_only"
        p["ctx"]["approvals"] = [{**_SIGNED, **pick(changes)}]

    return put


def _undated_approval(pick: Pick, p: Json) -> None:
    _sign_with({"expires_at": LATER[-1]})(pick, p)
    p["ctx"].pop("as_of", None)


def _crowd_refusal(pick: Pick, p: Json) -> None:
    """Mostly one step without an approval; now and then about a thousand."""
    _require_approval(pick, p)
    tool = tools_in(p)[0]
    tool.update(approval_mode="network", produces=["o1"])
    for name in _FREE:
        tool.pop(name, None)
    step = name_of(tool)
    p["ctx"]["safety_mode"] = "destructive"
    p["plan"]["steps"] = [{"kind": "tool", **step}] * pick((*(1,) * 30, 1000, 1001, 1002))
    _make_room(p)


# --- missing_evidence -------------------------------------------------------------------------


def _pin(step: Json, *refs: str) -> None:
    step["evidence_refs"] = [*step.get("evidence_refs", []), *refs]


def _unpin_ref(pick: Pick, p: Json) -> None:
    step = pick(_steps_of(p))
    step["evidence_refs"] = step.get("evidence_refs", [])[1:]


def _forge_ref(pick: Pick, p: Json) -> None:
    _pin(pick(_steps_of(p)), pick((FORGED, "E1")))


def _flood_refs(pick: Pick, p: Json) -> None:
    """Mostly a few forge_ref refs; now and then about a thousand."""
    count = pick((*(2,) * 30, 997, 999, 1000, 1001, 1500))
    _pin(pick(_steps_of(p)), *(f"f{n}" for n in range(count)))


def _unback_argument(pick: Pick, p: Json) -> None:
    for tool in tools_in(p):
        tool["bound_args"] = pick(({"x": ["k"]}, {"x": ["k"], HOSTILE: ["K"]}, {"x": []}))
    step = _some_call(pick, p)
    if step["kind"] == "tool":
        step["args"] = {**step["args"], "x": pick(_UNBACKED)}


_OTHER_CONTENTS: Final = (0, {"24500": "x"}, "PAY_1 refund", "24,500.5", [None], "pay_1\u0301")
_UNBACKED: Final[Sequence[Any]] = (
    *("pay", "24", 2, False, "24500.", "1.00", 24500.5, ["k"], "", "-", "PAY_1"),
)


def _back_by_another_class(pick: Pick, p: Json) -> None:
    """Fresh and pinned evidence holds the value, and is of a class that may not back it."""
    step, item = _some_call(pick, p), pick(items_in(p))
    if step["kind"] != "tool":
        return
    item["content"] = 24500
    step["args"] = {**step["args"], "x": 24500}
    _pin(step, item["id"])
    allowed = [name for name in ("k", "K", "nope") if name != item["classification"]]
    for tool in tools_in(p):
        tool["bound_args"] = {"x": [pick(allowed)]}


# --- loop_guard and budget_exceeded -----------------------------------------------------------


def _too_many_steps(pick: Pick, p: Json) -> None:
    budget = p["ctx"].setdefault("run_budget", {"bucket_tokens": _MOST})
    spent = p["ctx"].get("spent", {}).get("steps", 0)
    budget["max_steps"] = max(spent + len(p["plan"]["steps"]) - pick((1, 2)), 0)


def _same_id(_pick: Pick, p: Json) -> None:
    p["plan"]["steps"] = [{"kind": "reason", "id": "s0"}, *p["plan"]["steps"]]
    p["plan"]["steps"][-1]["id"] = "s0"
    _make_room(p)


def _repeat_call(pick: Pick, p: Json) -> None:
    p["plan"]["steps"] = [*p["plan"]["steps"], twin_of(_some_call(pick, p))]
    _lift_limits(p, "destructive")
    _make_room(p)


def _repeat_spent_call(pick: Pick, p: Json) -> None:
    """A destructive call that an earlier plan made, approved or not, spelled in another way."""
    step = _some_call(pick, p)
    if step["kind"] == "tool":
        again = {name: retype_number(value) for name, value in reversed(step["args"].items())}
        step["args"] = again
    if one_in(pick, 3):
        _repeat_call(pick, p)
    calls = ([{"step": 0}, {"step": 1}], [{"step": 0, "prefix": "sha256:"}], [{}, {"step": 2}])
    _draw_field(_spent_of, "calls", *calls)(pick, p)
    _lift_limits(p, "destructive")
    p["ctx"]["approvals"] = pick(([], [], [{**_SIGNED}], [{**_SIGNED, "steps": [1]}]))


def _one_token_short(pick: Pick, p: Json) -> None:
    budget = p["ctx"].get("run_budget", {})
    pick(_steps_of(p))["estimated_tokens"] = budget.get("bucket_tokens", 8000) + 1
    if budget:
        budget["max_steps"] += 1


def _smaller_bucket(pick: Pick, p: Json) -> None:
    budget = p["ctx"].get("run_budget", {})
    if budget.get("bucket_tokens", 0) > 0:
        budget["bucket_tokens"] -= 1
    else:
        _one_token_short(pick, p)


FAULTS: Final[dict[str, tuple[PutFault, ...]]] = {
    "violates_decision_spec": (
        *(
            _require_more,
            _swap_near_names,
            _withhold_output,
            _call_unknown_tool,
            _think_instead,
            _send_confined,
            _send_confined,
        ),
        _draw_field(lambda p: [p["plan"]], "trace_id", "T", "t1"),
        _draw_field(tools_in, "args_schema", False, {"required": ["w"]}, {"maxProperties": 0}),
    ),
    "approval_mode_mismatch": (
        *(_lower_safety_mode, _raise_tools, _require_approval, _undated_approval, _crowd_refusal),
        _draw_field(lambda p: [p["spec"]], "approval_mode", *MODES[:3]),
        _sign_with(
            *({"plan_digest": "wrong"}, {"plan_digest": "RIGHT"}, {"steps": []}, {"steps": [1]}),
            *({"expires_at": moment} for moment in LAPSED[:2]),
        ),
        _sign_with(*({"context_digest": named} for named in ("wrong", "wrong", "right"))),
    ),
    "missing_evidence": (
        *(_unpin_ref, _forge_ref, _flood_refs, _unback_argument, _back_by_another_class),
        _draw_field(lambda p: items_in(p)[:1], "expires_at", *LAPSED),
        _draw_field(lambda p: [p["ctx"]], "as_of", ABSENT),
        _draw_field(items_in, "classification", "K", "k.x", "k", one=True),
        _draw_field(
            _steps_of, "requires_evidence", ["k", "k.x"], ["K"], ["nope", "nope"], one=True
        ),
        _draw_field(lambda p: [p["spec"]], "required_evidence", ["k.x"], ["k", "K", "k.x"]),
        _draw_field(items_in, "content", *_OTHER_CONTENTS),
    ),
    "loop_guard": (
        *(_too_many_steps, _same_id, _repeat_call, _repeat_spent_call),
        _draw_field(_spent_of, "steps", 12, 13, _MOST),
        _draw_field(_steps_of, "depends_on", ["s9"], ["s1", "s9", "s9"], ["s3"], one=True),
    ),
    "budget_exceeded": (
        *(_one_token_short, _smaller_bucket),
        _draw_field(_spent_of, "tokens", _MOST, 16001),
    ),
}
