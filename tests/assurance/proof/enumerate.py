"""Every plan up to a size over a small alphabet: the engine against the second model.

A step is one of 24: three kinds, four lists of refs, two estimates.
    kind        a call of a + b.c, one of a.b + c (the two join to one name), a reason step
    refs        absent, e1, e2, e1 and e2
    tokens      absent, 4
So there are 1, 25, 601 and 14,425 plans of at most 0, 1, 2 and 3 steps.

A setting is one of 36.
    safety mode     network with a budget of two steps, destructive with one of three
    as_of           absent, before the expiry of e2, at it
    surface         a + b.c alone, or a.b + c as well
    approval        no tier; tier destructive without an approval, and with one of this very plan

Fixed: a + b.c is network, requires class k, lists output o and takes 3 tokens at least; a.b + c is
destructive and requires class K; e1 is of class k and never expires; e2 is of class K and does.
The spec requires output o. The budget is 8 tokens: two estimated steps just fit.
Not in the alphabet: args, schemas, ids, `spent`, the ceiling; the random cases have those.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, Final, NamedTuple

from critic import CompiledContext, DecisionSpec, Plan, RunContext, digest, verify
from tests.support.model.facts import Json
from tests.support.model.verify import verify_model

_EXPIRY: Final = "2026-05-09T10:00:00Z"
_CALLS: Final[tuple[Json, ...]] = (
    {"kind": "tool", "adapter_id": "a", "capability_id": "b.c", "args": {}},
    {"kind": "tool", "adapter_id": "a.b", "capability_id": "c", "args": {}},
    {"kind": "reason"},
)
_REFS: Final[tuple[Json, ...]] = (
    {},
    *({"evidence_refs": refs} for refs in (["e1"], ["e2"], ["e1", "e2"])),
)
_TOKENS: Final[tuple[Json, ...]] = ({}, {"estimated_tokens": 4})
STEPS: Final[tuple[Json, ...]] = tuple(
    {**call, **refs, **tokens} for call, refs, tokens in product(_CALLS, _REFS, _TOKENS)
)

_TOOLS: Final[list[Json]] = [
    {
        "adapter_id": "a",
        "capability_id": "b.c",
        "approval_mode": "network",
        "requires_evidence": ["k"],
        "produces": ["o"],
        "min_tokens": 3,
    },
    {
        "adapter_id": "a.b",
        "capability_id": "c",
        "approval_mode": "destructive",
        "requires_evidence": ["K"],
    },
]
_ITEMS: Final[list[Json]] = [
    {"id": "e1", "classification": "k"},
    {"id": "e2", "classification": "K", "expires_at": _EXPIRY},
]
LEAD: Final = ("kind", "offending_step")
VIOLATION: Final = ("check", "kind", "offending_step", "path", "approvable")
_SPEC: Final[Json] = {"id": "d", "required_outputs": ["o"]}
_BUDGETS: Final[Json] = {
    "network": {"max_steps": 2, "bucket_tokens": 8},
    "destructive": {"max_steps": 3, "bucket_tokens": 8},
}
_NOW: Final[tuple[Json, ...]] = ({}, {"as_of": "2026-05-09T09:59:59Z"}, {"as_of": _EXPIRY})
SETTINGS: Final[tuple[tuple[str, Json, int, tuple[bool, bool]], ...]] = tuple(
    product(
        tuple(_BUDGETS),
        _NOW,
        (1, 2),
        ((False, False), (True, False), (True, True)),
    )
)


class Enumerated(NamedTuple):
    """How many verdicts were compared, how many were passes, and what differs."""

    tried: int
    accepted: int
    differing: list[str]


class _Setting(NamedTuple):
    """One setting, as envelopes and as the wire form beside them."""

    compiled: CompiledContext
    spec: DecisionSpec
    wire: Json
    approved: bool
    ctx: RunContext

    def judge(self, plan: Plan, wire: Json, right: str) -> tuple[Json, Json]:
        """Return the verdicts of the engine and of the model in one shape."""
        ctx, said = self.ctx, self.wire
        if self.approved:
            one = {"approval_id": "ap", "plan_digest": right, "approver": "someone"}
            said = {**said, "ctx": {**said["ctx"], "approvals": [one]}}
            ctx = RunContext(**said["ctx"])
        return _engine(ctx, self, plan), verify_model({**said, "plan": wire})


def _engine(ctx: RunContext, setting: _Setting, plan: Plan) -> Json:
    verdict = verify(ctx, setting.compiled, setting.spec, plan)
    if verdict.ok:
        return {"ok": True, "reasons": list(verdict.reasons)}
    named: list[Json] = [_named(one, VIOLATION) for one in verdict.violations]
    return {"ok": False, **_named(verdict, LEAD), "violations": named}


def _named(one: Any, names: tuple[str, ...]) -> Json:
    """Return these fields, as far as they are set."""
    fields = {name: getattr(one, name, None) for name in names}
    return {name: value for name, value in fields.items() if value is not None}


def _setting(mode: str, now: Json, tools: int, tier: tuple[bool, bool]) -> _Setting:
    tiered, approved = tier
    spec = {**_SPEC, **({"approval_required_from": "destructive"} if tiered else {})}
    ctx: Json = {"trace_id": "t", "safety_mode": mode, "run_budget": _BUDGETS[mode], **now}
    compiled: Json = {"manifests": {"tool_manifest": _TOOLS[:tools], "evidence_manifest": _ITEMS}}
    return _Setting(
        CompiledContext(**compiled),
        DecisionSpec(**spec),
        {"ctx": ctx, "compiled": compiled, "spec": spec},
        approved,
        RunContext(**ctx),
    )


def plans(size: int) -> Iterator[tuple[Plan, Json, str]]:
    """Yield every plan of at most that many steps, its wire form and its digest."""
    for count in range(size + 1):
        for steps in product(STEPS, repeat=count):
            wire: Json = {"steps": list(steps), "declared_outputs": ["o"]}
            plan = Plan(**wire)
            yield plan, wire, digest(plan)


def compare(size: int) -> Enumerated:
    """Judge every plan of at most that many steps in every setting, twice."""
    settings = [_setting(*drawn) for drawn in SETTINGS]
    tried, accepted, differing = 0, 0, list[str]()
    for plan, wire, right in plans(size):
        for at, setting in enumerate(settings):
            found, expected = setting.judge(plan, wire, right)
            tried += 1
            accepted += expected["ok"]
            if found != expected:
                differing.append(f"setting {at}: {wire}")
    return Enumerated(tried, accepted, differing)
