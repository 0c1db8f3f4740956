"""Plans drawn from steps that repeat, in a few contexts, and changes of what they are judged by."""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from critic import Plan, Proposal, RunContext
from critic.session import RESERVED_IDS
from evals.kinds import ApprovalMode
from evals.plan import Step, ToolStep
from harness.canonical import canonical_json
from harness.policy import Policy
from harness.record import sha256
from harness.testing._draw.edge_alphabet import AS_OF
from harness.testing._draw.edge_proposals import make_proposal
from harness.testing._draw.primitives import seeded_pick
from harness.what_if.recorded_change import Alteration, KeptEvidence
from harness.wire import InvalidInput, build

Json = dict[str, Any]

TIMES: Final = (
    *(None, AS_OF, AS_OF, AS_OF, "2026-05-09T10:00:00.000001Z", "2026-05-09T10:00:00.5Z"),
    *("2025-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"),
)
MODES: Final[tuple[ApprovalMode, ...]] = (
    "read_only",
    "local_write",
    "network",
    "delegated",
    "destructive",
)


def base(rng: Random) -> Proposal:
    """Return a proposal on the edge between yes and no."""
    return Proposal(**make_proposal(seeded_pick(rng.getrandbits(40))))


class World:
    """A context with steps to make plans of: mostly its own, and some of other contexts."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self.base = _with_steps(rng)
        own, others = list(self.base.plan.steps), [base(rng) for _ in range(4)]
        strange = [step for other in others for step in other.plan.steps]
        self._steps: list[Step] = [*own * 9, *strange[:6]]
        self._outputs = [*self.base.spec.required_outputs, *self.base.plan.declared_outputs, "o8"]
        self._contexts = [self._context() for _ in range(24)]

    def proposals(self, count: int) -> Iterator[Proposal]:
        """Yield proposals that differ as wholes and share their steps."""
        rng = self._rng
        for number in range(count):
            steps = rng.choices(self._steps, k=rng.randrange(7)) if self._steps else []
            ctx = rng.choice(self._contexts)
            if rng.random() < 0.4:
                steps = list(self.base.plan.steps)
            declared = list(self.base.plan.declared_outputs)
            if rng.random() < 0.2:
                declared = rng.sample(self._outputs, rng.randrange(len(self._outputs) + 1))
            trace = {"trace_id": rng.choice((ctx.trace_id, "u"))} if rng.random() < 0.1 else {}
            plan_id = {"plan_id": f"p{number}"} if rng.random() < 0.5 else {}
            plan = Plan(steps=tuple(steps), declared_outputs=tuple(declared), **trace, **plan_id)
            yield Proposal(ctx=ctx, compiled=self.base.compiled, spec=self.base.spec, plan=plan)

    def _context(self) -> RunContext:
        rng, wire = self._rng, self.base.ctx.wire()
        if rng.random() < 0.9:
            wire.pop("approvals", None)
        if rng.random() < 0.7:
            wire.pop("as_of", None)
            moment = rng.choice(TIMES)
            wire |= {} if moment is None else {"as_of": moment}
        if rng.random() < 0.4:
            wire["run_budget"] = {"max_steps": rng.randrange(9), "bucket_tokens": rng.randrange(99)}
        if rng.random() < 0.3:
            spent = wire.setdefault("spent", {})
            spent |= {"steps": rng.randrange(4), "tokens": rng.randrange(60)}
        if rng.random() < 0.3:
            wire.setdefault("spent", {})["calls"] = [*self._made()]
        return build(RunContext, wire)

    def _made(self) -> Iterator[Json]:
        """Yield the calls of the own steps, as made before."""
        for step in self.base.plan.steps:
            if isinstance(step, ToolStep):
                ids = {"adapter_id": step.adapter_id, "capability_id": step.capability_id}
                yield {**ids, "args_digest": sha256(canonical_json(step.args))}


def _with_steps(rng: Random) -> Proposal:
    while not (found := base(rng)).plan.steps:
        pass
    return found


def a_change(rng: Random, near: Proposal | None = None) -> Alteration:
    """Return a change: of the mode, of the budget, or a policy near a proposal."""
    mode: ApprovalMode | None = rng.choice((None, *MODES))
    budget: Json = {}
    if rng.random() < 0.5:
        budget["max_steps"] = rng.randrange(6)
    if rng.random() < 0.5:
        budget["bucket_tokens"] = rng.randrange(80)
    if rng.random() < 0.25:
        return Alteration(None, mode, budget)
    policy = _a_policy(rng, near or base(rng))
    kept: KeptEvidence = rng.choice(("both", "recorded", "policy"))
    if rng.random() < 0.6:
        return Alteration(policy, evidence=kept)
    return Alteration(policy, mode, budget, kept)


def _a_policy(rng: Random, near: Proposal) -> Policy:
    for _ in range(50):
        own, other = near.wire(), base(rng).wire()
        wire = _policy_wire(rng, own, other)
        try:
            return build(Policy, wire)
        except InvalidInput:
            continue
    return build(Policy, {"spec": {"id": "s", "required_outputs": []}, "tool": []})


def _policy_wire(rng: Random, own: Json, other: Json) -> Json:
    tools = {}
    for one in (*own["compiled"]["manifests"]["tool_manifest"], *_tools(rng, other)):
        tools[one["adapter_id"], one["capability_id"]] = copy.deepcopy(one)
    listed = list(tools.values())
    if listed and rng.random() < 0.1:
        listed.pop(rng.randrange(len(listed)))
    for one in listed:
        if rng.random() < 0.15:
            one["approval_mode"] = rng.choice(MODES)
        if rng.random() < 0.15:
            one.pop(rng.choice(list(_RESTRICTIONS)), None)
    guard: Json = {"safety_mode": rng.choice((own["ctx"]["safety_mode"], *MODES[2:]))}
    if rng.random() < 0.4:
        guard["budget"] = {"max_steps": rng.randrange(9), "bucket_tokens": rng.randrange(200)}
    spec = other["spec"] if rng.random() < 0.15 else own["spec"]
    if rng.random() < 0.3:
        spec = {**spec, "approval_required_from": rng.choice(MODES[2:])}
    if rng.random() < 0.15:
        spec = {**spec, "provenance": rng.choice(("closed", "open"))}
    evidence = rng.choice((own, own, own, other))["compiled"]["manifests"]["evidence_manifest"]
    kept = [one for one in evidence if not one["id"].startswith(RESERVED_IDS)]
    named = [{**one, "name": f"t{number}"} for number, one in enumerate(listed)]
    return {"guard": guard, "spec": spec, "tool": named, "evidence": kept}


_RESTRICTIONS: Final = (
    *("requires_evidence", "bound_together", "args_schema", "produces", "min_tokens", "arg_roles"),
)


def _tools(rng: Random, other: Json) -> list[Json]:
    found: list[Json] = other["compiled"]["manifests"]["tool_manifest"]
    return found if rng.random() < 0.3 else []
