"""Proposals in their wire form, by the hundred thousand: on the edge between yes and no.

A sound proposal is built as tightly as it can be: budgets without slack, evidence that expires a
microsecond after `as_of`, values that the evidence holds in part of a text. Then it is left alone,
or one violation of one kind is put in, or some fields are drawn again. A few are wild throughout.
Plain dicts, and every choice made by one `Pick`: see `drawing`.
"""

from typing import Any, Final

from tests.support.generate import orders
from tests.support.generate.alphabet import ABSENT, AS_OF, MODES, PAIRS
from tests.support.generate.drawing import Pick, optional
from tests.support.generate.seen import seen_case
from tests.support.generate.settle import settled
from tests.support.generate.violations import FAULTS
from tests.support.generate.wild import altered, wild_proposal
from tests.support.model.facts import Json

_ = ABSENT

KINDS: Final = tuple(FAULTS)
STYLES: Final = (
    *("sound",) * 6,
    *("violation",) * 11,
    *("near",) * 2,
    *("seen",) * 8,
    *("wild",) * 2,
)

# Content beside values that it backs; a violation or a new draw makes most of them unbacked.
BACKED: Final[tuple[tuple[Any, tuple[Any, ...]], ...]] = (
    ("refund 24500 for pay_1.", (24500, 24500.0, "24500", "pay_1", "refund", "24500 for")),
    ("24,500 and 1,2", ("24,500", "and", "1,2")),
    ("(-1) -0.1 +1 ..5", (-1, "-1", -0.1, "+1")),
    ("true null 1.0 1", (True, None, 1, 1.0, "1.0")),
    ("pay_1-x,1.0 pay-1", ("pay_1-x", "pay-1")),
    ({"n": 1, "id": "pay_1", "no": None}, (1, 1.0, "pay_1", None)),
    (["24500", {"x": None, "y": [True, 0.1]}], ("24500", True, 0.1, None)),
    ([24500.0, "1", "a b", ""], (24500, "1", "a b", "")),
    (0, (0, -0.0)),
    ({"s": ["abcdefg", -0.0]}, ("abcdefg", 0)),
    ({"s": ["abcdefgh"], "n": 244500}, ("abcdefgh", 244500.0)),
    (1e21, (1e21,)),
    ("e\u0301 pay_1\u200dx", ("e\u0301", "pay_1\u200dx")),
)
LATER: Final = (
    "2026-05-09T10:00:00.000001Z",
    "2026-05-09T12:00:00.5+02:00",
    "2027-01-01T00:00:00Z",
)
CLASSES: Final[tuple[list[str], ...]] = (["k"], ["k"], ["k", "K"], ["K"], [])
EXTRA: Final = (1, "1", True, "pay_1", [1, "pay_1"], {"1": "pay_1"}, None, 0.1, "abcdefgh", 244500)
SCHEMAS: Final[tuple[Any, ...]] = (
    {"type": "object"},
    {"properties": {"x": {}}},
    True,
    {"not": {"required": ["w"]}},
)
COUNTS: Final = (0, 1, 1, 4, 4, 7)


def make_proposal(pick: Pick, styles: tuple[str, ...] = STYLES) -> Json:
    """Return a proposal, with its approvals bound to its final plan."""
    proposal = drawn(pick, styles)
    return settled(proposal)


def drawn(pick: Pick, styles: tuple[str, ...]) -> Json:
    """Return a proposal of one of the styles, with names in place of digests."""
    style = pick(styles)
    if style == "wild":
        return wild_proposal(pick)
    if style == "seen":
        proposal = seen_case(pick)
        return altered(pick, proposal) if pick((False,) * 9 + (True,)) else proposal
    refund = pick((False, False, True))
    proposal = sound_refund(pick) if refund else sound(pick)
    if style == "violation" and refund and pick((True, True, False)):
        pick(orders.FAULTS)(pick, proposal)
    elif style == "violation":
        pick(FAULTS[pick(KINDS)])(pick, proposal)
    if style == "near":
        proposal = altered(pick, proposal)
    return proposal


def sound(pick: Pick) -> Json:
    """Return a proposal that passes, with most of its fields near a limit."""
    items, backed = evidence(pick)
    held = sorted({item["classification"] for item in items})
    tools = [a_tool(pick, pair, held) for pair in pick((PAIRS[:2], PAIRS[1:3], PAIRS[:3]))]
    steps: list[Json] = []
    for _position in range(pick(COUNTS) % 5):
        steps.append(a_step(pick, tools, items, backed, len(steps)))
    without_repeats(steps, tools)
    proposal: Json = {
        "ctx": {"trace_id": "t", **run_id(pick), **optional("as_of", AS_OF)},
        "compiled": {"manifests": {"tool_manifest": tools, "evidence_manifest": items}},
        "spec": a_spec(pick, tools, steps, items),
        "plan": {"steps": steps, "declared_outputs": []},
    }
    declared = proposal["spec"]["required_outputs"] + pick(([], [], ["o9"]))
    proposal["plan"].update(declared_outputs=declared, **optional("trace_id", pick((_, _, "t"))))
    tiers(pick, proposal)
    budgets(pick, proposal)
    return proposal


def sound_refund(pick: Pick) -> Json:
    """Return a refund that passes, within limits like those of all sound proposals."""
    proposal = orders.order_case(pick)
    manifests, plan = proposal["compiled"]["manifests"], proposal["plan"]
    tools, items = manifests["tool_manifest"], manifests["evidence_manifest"]
    proposal["spec"] = a_spec(pick, tools, plan["steps"], items)
    plan["declared_outputs"] = list(proposal["spec"]["required_outputs"])
    tiers(pick, proposal)
    budgets(pick, proposal)
    return proposal


def run_id(pick: Pick) -> Json:
    return optional("run_id", pick((_, "r")))


def evidence(pick: Pick) -> tuple[list[Json], dict[str, tuple[Any, ...]]]:
    """Return the evidence manifest, and what each item backs."""
    items, backed = [], {}
    for ref, name in zip(
        pick((("e1", "e2"), ("e2", "e1", "kg:k:e1"))), ("k", "K", "k"), strict=False
    ):
        content, values = pick(BACKED)
        item = {"id": ref, "classification": name, "content": content}
        items.append({**item, **optional("expires_at", pick((_, *LATER)))})
        backed[ref] = values
    if pick((True, False, False)):
        items.append({"id": "e3", "classification": "k.x"})
    return items, backed


def a_tool(pick: Pick, pair: tuple[str, str], held: list[str]) -> Json:
    tool: Json = {
        "adapter_id": pair[0],
        "capability_id": pair[1],
        "approval_mode": pick(MODES),
        **optional("requires_evidence", pick((_, _, *CLASSES))),
        **optional("bound_args", pick((_, _, _, {"x": ["k"]}, {"x": ["K", "k"]}, {"y": []}))),
        **optional("args_schema", pick((_, _, _, _, _, _, _, pick(SCHEMAS)))),
        **optional("produces", pick((_, ["o1"], ["o1", "O1"], []))),
        **optional("min_tokens", pick((_, _, 0, 1, 4000))),
    }
    return tool


def a_step(
    pick: Pick, tools: list[Json], items: list[Json], backed: dict[str, tuple[Any, ...]], at: int
) -> Json:
    step: Json = {"kind": "reason"}
    refs = [item["id"] for item in items if item["id"] != "e3"]
    if pick((True, True, True, False)):
        tool = pick(tools)
        step = {"kind": "tool", **{name: tool[name] for name in ("adapter_id", "capability_id")}}
        step["args"] = arguments(pick, tool, items, backed)
        if not (tool.get("requires_evidence") or tool.get("bound_args")):
            refs = pick((refs, refs[:1], []))
    step.update(optional("evidence_refs", refs or pick((_, []))))
    step.update(optional("requires_evidence", pick((_, _, _, ["k"])) if refs else _))
    step.update(optional("estimated_tokens", pick((_, 0, 1, 3999, 4000, 4001))))
    step.update(optional("id", pick((_, f"s{at}"))))
    return step


def arguments(
    pick: Pick, tool: Json, items: list[Json], backed: dict[str, tuple[Any, ...]]
) -> Json:
    """Return args that the pinned evidence backs if they are bound, and anything elsewhere."""
    bound = tool.get("bound_args", {})
    args = {}
    for name in pick((("x",), ("x", "y"), ("y", "w"), ())):
        refs = [item["id"] for item in items if item["classification"] in bound.get(name, ())]
        if name not in bound:
            args[name] = pick(EXTRA)
        elif refs := [ref for ref in refs if ref in backed]:
            value = pick(backed[pick(refs)])
            args[name] = pick((value, value, [value, value], {"1": value}))
        else:
            args[name] = pick(([], {}))
    if "args_schema" in tool:
        args.pop("w", None)
    return args


def without_repeats(steps: list[Json], tools: list[Json]) -> None:
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


def a_spec(pick: Pick, tools: list[Json], steps: list[Json], items: list[Json]) -> Json:
    called = [tool_of(tools, step) for step in steps]
    listed = [name for tool in tools for name in tool.get("produces", [])]
    made = [name for tool in called for name in tool.get("produces", [])]
    if any("produces" not in tool for tool in called):
        made += [name for name in ("o1", "O1", "o2", "o2") if name not in listed]
    required = made[: pick((0, 1, 2, 9))]
    pinned = {ref for step in steps for ref in step.get("evidence_refs", ())}
    classes = sorted({item["classification"] for item in items if item["id"] in pinned})
    return {
        "id": "d",
        "required_outputs": required,
        **optional("required_evidence", pick((_, _, classes, classes[:1]))),
        **optional("output_schemas", pick((_, _, _, {"o1": True}, {"o1": {"type": "integer"}}))),
        **optional("confined_evidence", pick((_, _, _, ["k.x"], ["k.x"], ["K"], ["k"]))),
    }


def tool_of(tools: list[Json], step: Json) -> Json:
    for tool in tools:
        if (tool["adapter_id"], tool["capability_id"]) == (
            step.get("adapter_id"),
            step.get("capability_id"),
        ):
            return tool
    return {}


def tiers(pick: Pick, proposal: Json) -> None:
    """Set the limits to the highest mode that is called, or above it, or add an approval for it."""
    tools = proposal["compiled"]["manifests"]["tool_manifest"]
    called = [tool_of(tools, step) for step in proposal["plan"]["steps"]]
    highest = max([MODES.index(tool["approval_mode"]) for tool in called if tool], default=0)
    above = MODES[highest:]
    proposal["ctx"]["safety_mode"] = pick((above[0], above[0], pick(above)))
    proposal["spec"].update(optional("approval_mode", pick((_, _, above[0], above[-1]))))
    how = pick(("none", "none", "beyond", "needed"))
    if how == "beyond" and len(above) > 1:
        proposal["spec"]["approval_required_from"] = above[1]
    if how == "needed":
        proposal["spec"]["approval_required_from"] = pick(MODES[: highest + 1])
        signed = {"approval_id": "ap", "approver": "someone"}
        signed["plan_digest"] = pick(("right", "sha256:right"))
        every = list(range(len(called)))
        extra = {
            **optional("steps", pick((_, every))),
            **optional("expires_at", pick((_, LATER[0]))),
        }
        proposal["ctx"]["approvals"] = [{**signed, **extra}]


def budgets(pick: Pick, proposal: Json) -> None:
    """Grant the steps and tokens that are needed, sometimes some more."""
    steps, ctx = proposal["plan"]["steps"], proposal["ctx"]
    needed = tokens_of(proposal)
    spent = pick(({}, {"steps": 0, "tokens": 1}, {"steps": 9}, {"tokens": 4000}))
    total = needed + spent.get("tokens", 0)
    if spent:
        ctx["spent"] = dict(spent)
    if total <= 8000 and pick((True, False, False)):
        return
    ctx["run_budget"] = {
        "max_steps": spent.get("steps", 0) + len(steps) + pick((0, 0, 0, 1)),
        "bucket_tokens": total + pick((0, 0, 0, 1, 500)),
        **optional("wall_ms", pick((_, 0, 100, 100))),
        **optional("cost_micros", pick((_, 0, 100))),
    }


def tokens_of(proposal: Json) -> int:
    tools = proposal["compiled"]["manifests"]["tool_manifest"]
    return sum(
        max(step.get("estimated_tokens", 0), tool_of(tools, step).get("min_tokens", 0))
        for step in proposal["plan"]["steps"]
    )
