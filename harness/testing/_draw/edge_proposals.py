"""Proposals in their wire form, by the hundred thousand: on the edge between yes and no.

A sound proposal is built as tightly as it can be: set_budget without slack, evidence that expires a
microsecond after `as_of`, values that the evidence holds in part of a text. Then it is left alone,
or one violation of one kind is put in, or some fields are drawn again. A few are wild throughout.
Plain dicts, and every choice made by one `Pick`: see `primitives`.
"""

from typing import Any, Final

from evals.kinds import MODES
from harness.testing._draw import edge_refunds
from harness.testing._draw.digests import settle_names
from harness.testing._draw.edge_alphabet import AS_OF, LATER, TOOL_PAIRS
from harness.testing._draw.edge_faults import FAULTS
from harness.testing._draw.edge_seen import seen_case
from harness.testing._draw.edge_wild import alter_field, wild_proposal
from harness.testing._draw.primitives import (
    ABSENT,
    FieldOptions,
    Json,
    Pick,
    fields,
    items_in,
    name_of,
    one_in,
    optional,
    tools_in,
)

_: Final = ABSENT

_KINDS: Final = tuple(FAULTS)
_STYLES: Final = (
    *("sound",) * 6,
    *("violation",) * 11,
    *("near",) * 2,
    *("seen",) * 8,
    *("wild",) * 2,
)

# Content beside values that it backs; a violation or a new draw makes most of them unbacked.
_BACKED: Final[tuple[tuple[Any, tuple[Any, ...]], ...]] = (
    ("refund 24500 for pay_1.", (24500, 24500.0, "24500", "pay_1", "refund", "24500 for")),
    *(("24,500 and 1,2", ("24,500", "and", "1,2")), ("(-1) -0.1 +1 ..5", (-1, "-1", -0.1, "+1"))),
    ("true null 1.0 1", (True, None, 1, 1.0, "1.0")),
    ("pay_1-x,1.0 pay-1", ("pay_1-x", "pay-1")),
    ({"n": 1, "id": "pay_1", "no": None}, (1, 1.0, "pay_1", None)),
    (["24500", {"x": None, "y": [True, 0.1]}], ("24500", True, 0.1, None)),
    *(([24500.0, "1", "a b", ""], (24500, "1", "a b", "")), (0, (0, -0.0))),
    ({"s": ["abcdefg", -0.0]}, ("abcdefg", 0)),
    *(({"s": ["abcdefgh"], "n": 244500}, ("abcdefgh", 244500.0)), (1e21, (1e21,))),
    ("e\u0301 pay_1\u200dx", ("e\u0301", "pay_1\u200dx")),
)
_EXTRA: Final = (1, "1", True, "pay_1", [1, "pay_1"], {"1": "pay_1"}, None, 0.1, "abcdefgh", 244500)
_TOOL: Final[FieldOptions] = {
    "approval_mode": MODES,
    "requires_evidence": (_, _, ["k"], ["k"], ["k", "K"], ["K"], []),
    "bound_args": (_, _, _, {"x": ["k"]}, {"x": ["K", "k"]}, {"y": []}),
    "args_schema": (
        *(_,) * 28,
        *({"type": "object"}, {"properties": {"x": {}}}, True),
        {"not": {"required": ["w"]}},
    ),
    "produces": (_, ["o1"], ["o1", "O1"], []),
    "min_tokens": (_, _, 0, 1, 4000),
}
_COUNTS: Final = (0, 1, 1, 4, 4, 2)


def make_proposal(pick: Pick, styles: tuple[str, ...] = _STYLES) -> Json:
    """Return a proposal, with its approvals bound to its final plan."""
    return settle_names(_draw_case(pick, styles))


def _draw_case(pick: Pick, styles: tuple[str, ...]) -> Json:
    """Return a proposal of one of the styles, with names in place of digests."""
    style = pick(styles)
    if style == "wild":
        return wild_proposal(pick)
    if style == "seen":
        proposal = seen_case(pick)
        return alter_field(pick, proposal) if one_in(pick, 10) else proposal
    refund = one_in(pick, 3)
    proposal = _sound_proposal(pick, edge_refunds.order_case(pick) if refund else _some_case(pick))
    if style == "violation" and refund and pick((True, True, False)):
        pick(edge_refunds.REFUND_FAULTS)(pick, proposal)
    elif style == "violation":
        pick(FAULTS[pick(_KINDS)])(pick, proposal)
    return alter_field(pick, proposal) if style == "near" else proposal


def _sound_proposal(pick: Pick, proposal: Json) -> Json:
    """Return the case with a spec, limits and approvals that let it pass, most of them just so."""
    plan = proposal["plan"]
    spec = proposal["spec"] = _a_spec(pick, tools_in(proposal), plan["steps"], items_in(proposal))
    plan["declared_outputs"] = spec["required_outputs"] + pick(([], [], ["o9"]))
    plan.update(optional("trace_id", pick((_, _, "t"))))
    _set_limits(pick, proposal)
    _set_budget(pick, proposal)
    return proposal


def _some_case(pick: Pick) -> Json:
    """Return up to four steps of a few tools, with most of their fields near a limit."""
    items, backed = _evidence(pick)
    tools = [
        {"adapter_id": pair[0], "capability_id": pair[1], **fields(pick, _TOOL)}
        for pair in pick((TOOL_PAIRS[:2], TOOL_PAIRS[1:3], TOOL_PAIRS[:3]))
    ]
    steps: list[Json] = []
    for _position in range(pick(_COUNTS)):
        steps.append(_a_step(pick, tools, items, backed, len(steps)))
    _vary_repeats(steps, tools)
    return {
        "ctx": {"trace_id": "t", "as_of": AS_OF, **optional("run_id", pick((_, "r")))},
        "compiled": {"manifests": {"tool_manifest": tools, "evidence_manifest": items}},
        "plan": {"steps": steps},
    }


def _evidence(pick: Pick) -> tuple[list[Json], dict[str, tuple[Any, ...]]]:
    """Return the evidence manifest, and what each item backs."""
    items, backed = [], {}
    for ref, name in zip(
        pick((("e1", "e2"), ("e2", "e1", "kg:k:e1"))), ("k", "K", "k"), strict=False
    ):
        content, values = pick(_BACKED)
        item = {"id": ref, "classification": name, "content": content}
        items.append({**item, **optional("expires_at", pick((_, *LATER)))})
        backed[ref] = values
    if pick((True, False, False)):
        items.append({"id": "e3", "classification": "k.x"})
    return items, backed


def _a_step(
    pick: Pick, tools: list[Json], items: list[Json], backed: dict[str, tuple[Any, ...]], at: int
) -> Json:
    step: Json = {"kind": "reason"}
    refs = [item["id"] for item in items if item["id"] != "e3"]
    if pick((True, True, True, False)):
        tool = pick(tools)
        step = {"kind": "tool", **name_of(tool)}
        step["args"] = _arguments(pick, tool, items, backed)
        if not (tool.get("requires_evidence") or tool.get("bound_args")):
            refs = pick((refs, refs[:1], []))
    table = {
        "evidence_refs": (refs,) if refs else (_, []),
        "requires_evidence": (_, _, _, ["k"]) if refs else (_,),
        "estimated_tokens": (_, 0, 1, 3999, 4000, 4001),
        "id": (_, f"s{at}"),
    }
    return {**step, **fields(pick, table)}


def _arguments(
    pick: Pick, tool: Json, items: list[Json], backed: dict[str, tuple[Any, ...]]
) -> Json:
    """Return args that the pinned evidence backs if they are bound, and anything elsewhere."""
    bound = tool.get("bound_args", {})
    args = {}
    for name in pick((("x",), ("x", "y"), ("y", "w"), ())):
        refs = [item["id"] for item in items if item["classification"] in bound.get(name, ())]
        if name not in bound:
            args[name] = pick(_EXTRA)
        elif refs := [ref for ref in refs if ref in backed]:
            value = pick(backed[pick(refs)])
            args[name] = pick((value, value, [value, value], {"1": value}))
        else:
            empty: tuple[Any, ...] = ([], {})
            args[name] = pick(empty)
    if "args_schema" in tool:
        args.pop("w", None)
    return args


def _vary_repeats(steps: list[Json], tools: list[Json]) -> None:
    """Remove repeated destructive calls; let every step depend on the one before it."""
    destructive = {
        (tool["adapter_id"], tool["capability_id"])
        for tool in tools
        if tool["approval_mode"] == "destructive"
    }
    earlier: list[str] = []
    for at, step in enumerate(steps):
        if step["kind"] == "tool" and (step["adapter_id"], step["capability_id"]) in destructive:
            step["args"]["n"] = at
        if earlier and at % 2:
            step["depends_on"] = earlier[-1:]
        if "id" in step:
            earlier.append(step["id"])


def _a_spec(pick: Pick, tools: list[Json], steps: list[Json], items: list[Json]) -> Json:
    called = [_tool_of(tools, step) for step in steps]
    listed = [name for tool in tools for name in tool.get("produces", [])]
    made = [name for tool in called for name in tool.get("produces", [])]
    if any("produces" not in tool for tool in called):
        made += [name for name in ("o1", "O1", "o2", "o2") if name not in listed]
    required = made[: pick((0, 1, 2, 9))]
    pinned = {ref for step in steps for ref in step.get("evidence_refs", ())}
    classes = sorted({item["classification"] for item in items if item["id"] in pinned})
    table = {
        "required_evidence": (_, _, classes, classes[:1]),
        "output_schemas": (_, _, _, {"o1": True}, {"o1": {"type": "integer"}}),
        "confined_evidence": (_, _, _, ["k.x"], ["k.x"], ["K"], ["k"]),
    }
    return {"id": "d", "required_outputs": required, **fields(pick, table)}


def _tool_of(tools: list[Json], step: Json) -> Json:
    pair = step.get("adapter_id"), step.get("capability_id")
    found = (tool for tool in tools if (tool["adapter_id"], tool["capability_id"]) == pair)
    return next(found, {})


def _set_limits(pick: Pick, proposal: Json) -> None:
    """Set the limits to the highest mode that is called, or above it, or add an approval for it."""
    called = [_tool_of(tools_in(proposal), step) for step in proposal["plan"]["steps"]]
    highest = max([MODES.index(tool["approval_mode"]) for tool in called if tool], default=0)
    above = MODES[highest:]
    proposal["ctx"]["safety_mode"] = pick((above[0], above[0], pick(above)))
    proposal["spec"].update(optional("approval_mode", pick((_, _, above[0], above[-1]))))
    how = pick(("none", "none", "beyond", "needed"))
    if how == "beyond" and len(above) > 1:
        proposal["spec"]["approval_required_from"] = above[1]
    if how == "needed":
        proposal["spec"]["approval_required_from"] = pick(MODES[: highest + 1])
        table = {
            "plan_digest": ("right", "sha256:right"),
            "steps": (_, list(range(len(called)))),
            "expires_at": (_, LATER[0]),
        }
        signed = {"approval_id": "ap", "approver": "someone", **fields(pick, table)}
        proposal["ctx"]["approvals"] = [signed]


def _set_budget(pick: Pick, proposal: Json) -> None:
    """Grant the steps and tokens that are needed, sometimes some more."""
    steps, ctx = proposal["plan"]["steps"], proposal["ctx"]
    needed = _tokens_of(proposal)
    spent = pick(({}, {"steps": 0, "tokens": 1}, {"steps": 9}, {"tokens": 4000}))
    total = needed + spent.get("tokens", 0)
    if spent:
        ctx["spent"] = dict(spent)
    if total <= 8000 and pick((True, False, False)):
        return
    ctx["run_budget"] = {
        "max_steps": spent.get("steps", 0) + len(steps) + pick((0, 0, 0, 1)),
        "bucket_tokens": total + pick((0, 0, 0, 1, 500)),
        **fields(pick, {"wall_ms": (_, 0, 100, 100), "cost_micros": (_, 0, 100)}),
    }


def _tokens_of(proposal: Json) -> int:
    tools = tools_in(proposal)
    return sum(
        max(step.get("estimated_tokens", 0), _tool_of(tools, step).get("min_tokens", 0))
        for step in proposal["plan"]["steps"]
    )
