"""What can go wrong when a plan is written down: slips of all five refusal kinds.

A draft is kept as lines, so that the planner still knows what it meant by each.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, NamedTuple

from critic import MODE_RANK, Proposal, RefusalKind, ToolCapability
from evals.context import DEFAULT_BUCKET_TOKENS, DEFAULT_MAX_STEPS
from evals.json_schemas import compile_schema
from evals.timestamps import is_unexpired
from tests.support.model.facts import Json

_PADDED_AT_MOST = 20  # steps: a larger budget is not used up by padding


@dataclass(slots=True)
class Line:
    """A step as it is written and as it was meant; None for one that was made up.

    `mistaken` names the fields that the planner believes to be right as they are written.
    """

    step: Json
    meant: Json | None
    mistaken: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Draft:
    """A plan being written. `others` are its fields besides the steps."""

    lines: list[Line]
    others: Json

    def wire(self) -> Json:
        return {"steps": [deepcopy(line.step) for line in self.lines], **self.others}


class World(NamedTuple):
    """A proposal to plan for, with what slips need to know of it."""

    proposal: Proposal
    plan: Json
    tools: list[ToolCapability]
    refs: list[str]
    stale: list[str]
    steps_left: int
    tokens_left: int

    def tool(self, step: Json) -> ToolCapability | None:
        known = self.proposal.compiled.manifests.tools
        return known.get((step.get("adapter_id", ""), step.get("capability_id", "")))

    def clean(self) -> Draft:
        """Return the intended plan."""
        steps = deepcopy(self.plan["steps"])
        others = {name: value for name, value in self.plan.items() if name != "steps"}
        return Draft([Line(step, deepcopy(step)) for step in steps], deepcopy(others))


def world_of(proposal: Proposal) -> World:
    """Return a world whose intended plan is the plan of a passing proposal."""
    ctx, manifests = proposal.ctx, proposal.compiled.manifests
    items = manifests.evidence_manifest
    budget, spent = ctx.run_budget, ctx.spent
    return World(
        proposal,
        proposal.plan.wire(),
        list(manifests.tool_manifest),
        [item.id for item in items],
        [item.id for item in items if not is_unexpired(item.expires_at, ctx.as_of)],
        (budget.max_steps if budget else DEFAULT_MAX_STEPS) - ((spent and spent.steps) or 0),
        (budget.bucket_tokens if budget else DEFAULT_BUCKET_TOKENS)
        - ((spent and spent.tokens) or 0),
    )


# Slips in a step: the fields as they get written, or None if the slip is impossible.

Change = Json | None


def _misnamed(step: Json, _world: World, _draft: Draft, _random: Random) -> Change:
    return {"capability_id": f"{step['capability_id'][:120]}_v2"} if "args" in step else None


def _incomplete(step: Json, world: World, _draft: Draft, random: Random) -> Change:
    tool = world.tool(step)
    if tool is None or tool.args_schema is None or not step["args"]:
        return None
    lost = random.choice(sorted(step["args"]))
    args = {name: value for name, value in step["args"].items() if name != lost}
    return None if compile_schema(tool.args_schema).is_valid(args) else {"args": args}


def _misread(step: Json, world: World, _draft: Draft, random: Random) -> Change:
    tool = world.tool(step)
    bound = sorted({*step.get("args", ())} & {*((tool and tool.bound_args) or ())})
    if not bound:
        return None
    name = random.choice(bound)
    value = step["args"][name]
    wrong = value + 1 if type(value) is int else f"{value}0"
    return {"args": {**step["args"], name: wrong}}


def _misspelt(step: Json, _world: World, _draft: Draft, random: Random) -> Change:
    refs = [*step.get("evidence_refs", ())]
    if not refs:
        return None
    at = random.randrange(len(refs))
    return {"evidence_refs": [*refs[:at], f"{refs[at][:120]}0", *refs[at + 1 :]]}


def _unpinned(step: Json, _world: World, _draft: Draft, random: Random) -> Change:
    refs = [*step.get("evidence_refs", ())]
    if refs:
        refs.pop(random.randrange(len(refs)))
        return {"evidence_refs": refs}
    return None


def _outdated(step: Json, world: World, _draft: Draft, random: Random) -> Change:
    refs = [*step.get("evidence_refs", ())]
    return {"evidence_refs": [*refs, random.choice(world.stale)]} if world.stale else None


def _claimed(step: Json, _world: World, _draft: Draft, _random: Random) -> Change:
    return {"requires_evidence": [*step.get("requires_evidence", ()), "manager_sign_off"]}


def _dangling(step: Json, _world: World, _draft: Draft, _random: Random) -> Change:
    return {"depends_on": [*step.get("depends_on", ()), "preparation"]}


def _same_id(step: Json, _world: World, draft: Draft, _random: Random) -> Change:
    first = draft.lines[0].step
    return {"id": first["id"]} if "id" in first and step is not first else None


def _inflated(_step: Json, world: World, _draft: Draft, random: Random) -> Change:
    return {"estimated_tokens": world.tokens_left + random.randint(1, 1000)}


StepSlip = Callable[[Json, World, Draft, Random], Change]

_IN_A_STEP: list[tuple[RefusalKind, str, StepSlip]] = [
    ("violates_decision_spec", "tool", _misnamed),
    ("violates_decision_spec", "args", _incomplete),
    ("missing_evidence", "args", _misread),
    ("missing_evidence", "evidence_refs", _misspelt),
    ("missing_evidence", "evidence_refs", _unpinned),
    ("missing_evidence", "evidence_refs", _outdated),
    ("missing_evidence", "requires_evidence", _claimed),
    ("loop_guard", "depends_on", _dangling),
    ("loop_guard", "id", _same_id),
    ("budget_exceeded", "estimated_tokens", _inflated),
]


# Slips in the plan: steps that nobody needs, and what the plan says of itself.


def _overreaching(draft: Draft, world: World, random: Random) -> bool:
    limit = MODE_RANK[world.proposal.ctx.safety_mode]
    above = [tool for tool in world.tools if MODE_RANK[tool.approval_mode] > limit]
    if above:
        tool = random.choice(above)
        names = {"adapter_id": tool.adapter_id, "capability_id": tool.capability_id}
        draft.lines.append(Line({"kind": "tool", **names, "args": {}}, None))
    return bool(above)


def _padded(draft: Draft, world: World, _random: Random) -> bool:
    missing = world.steps_left + 1 - len(draft.lines)
    if not 0 < missing <= _PADDED_AT_MOST:
        return False
    draft.lines += [Line({"kind": "reason", "summary": "think"}, None) for _ in range(missing)]
    return True


def _forgotten(draft: Draft, world: World, random: Random) -> bool:
    required = world.proposal.spec.required_outputs
    declared = [name for name in draft.others["declared_outputs"] if name in required]
    if declared:
        lost = random.choice(declared)
        kept = [name for name in draft.others["declared_outputs"] if name != lost]
        draft.others["declared_outputs"] = kept
    return bool(declared)


def _of_another_trace(draft: Draft, world: World, _random: Random) -> bool:
    draft.others["trace_id"] = f"{world.proposal.ctx.trace_id[:120]}0"
    return True


PlanSlip = Callable[[Draft, World, Random], bool]

_IN_THE_PLAN: list[tuple[RefusalKind, PlanSlip]] = [
    ("approval_mode_mismatch", _overreaching),
    ("loop_guard", _padded),
    ("violates_decision_spec", _forgotten),
    ("violates_decision_spec", _of_another_trace),
]


def slip(draft: Draft, world: World, random: Random, mistaken: float) -> RefusalKind | None:
    """Get one thing wrong: first the kind is drawn, then the way. None if nothing would go wrong.

    With chance `mistaken` the planner believes what it wrote.
    """
    believed = random.random() < mistaken
    at_hand = (draft, world, random)
    ways = [
        *((kind, partial(_in_step, *at_hand, part, one)) for kind, part, one in _IN_A_STEP),
        *((kind, partial(_in_plan, *at_hand, one)) for kind, one in _IN_THE_PLAN),
    ]
    kinds = sorted({kind for kind, _ in ways})
    random.shuffle(kinds)
    random.shuffle(ways)
    for kind in kinds:
        if any(go_wrong(believed=believed) for one, go_wrong in ways if one == kind):
            return kind
    return None


def _in_step(
    draft: Draft, world: World, random: Random, part: str, go_wrong: StepSlip, *, believed: bool
) -> bool:
    meant = [line for line in draft.lines if line.step and line.meant is not None]
    if not meant:
        return False
    line = random.choice(meant)
    change = go_wrong(line.step, world, draft, random)
    if change is None:
        return False
    line.step.update(change)
    line.mistaken |= {part} if believed else set()
    return True


def _in_plan(
    draft: Draft, world: World, random: Random, go_wrong: PlanSlip, *, believed: bool
) -> bool:
    before = len(draft.lines)
    done = go_wrong(draft, world, random)
    for line in draft.lines[before:]:
        line.mistaken |= {"step"} if believed else set()
    return done


def differs(line: Line, part: str) -> bool:
    """Return whether a part of a step differs from what was intended."""
    if line.meant is None:
        return part == "step"
    return any(line.step.get(name) != line.meant.get(name) for name in fields_of(part))


def fields_of(part: str) -> tuple[str, ...]:
    """Return the fields of a step that make up a part."""
    return ("adapter_id", "capability_id") if part == "tool" else (part,)


def restore(line: Line, part: str) -> None:
    """Write a part as it was meant."""
    meant: dict[str, Any] = line.meant or {}
    for name in fields_of(part):
        line.step.pop(name, None)
        if name in meant:
            line.step[name] = deepcopy(meant[name])
