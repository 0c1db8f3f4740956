"""Planners and advisors that follow a script, in the world of the refund."""

import asyncio
from collections.abc import Sequence
from typing import Any

from critic import Plan, Refused, Verified
from harness.loops.plan_loop import PlanLoop
from harness.loops.plan_types import PlanRevision, RevisionRequest
from tests.support.examples import good_proposal, proposal_of
from tests.support.judging import with_changes
from tests.support.model.facts import Json

GOOD = proposal_of(good_proposal())
FORGED = [{"kind": "reason", "evidence_refs": [f"forged{n}"]} for n in range(9)]


def plan_with(violations: int, name: str = "p") -> Plan:
    """Return a plan with that many violations: a forged ref each, in separate steps."""
    wire = good_proposal()
    steps = [*wire["plan"]["steps"], *FORGED[:violations]]
    return proposal_of(with_changes(wire, "plan", steps=steps, plan_id=name)).plan


class ScriptedPlanner:
    """Replies as the script says, one line a call; an exception in it is raised."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.requests: list[RevisionRequest | None] = []

    def plan(
        self, _ctx: Any, _compiled: Any, _spec: Any, request: RevisionRequest | None = None, /
    ) -> Any:
        self.requests.append(request)
        return said(self.script.pop(0))


class AsyncPlanner(ScriptedPlanner):
    """The same, in its own time."""

    async def plan(self, *given: Any) -> Any:
        await asyncio.sleep(0)
        return super().plan(*given)


class ScriptedAdvisor:
    """Says of each plan what the script says, and remembers what it was asked."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.asked: list[tuple[Plan, Verified | Refused]] = []

    def review(
        self, _ctx: Any, _compiled: Any, _spec: Any, plan: Plan, verdict: Verified | Refused, /
    ) -> Any:
        self.asked.append((plan, verdict))
        return said(self.script.pop(0))


def said(line: Any) -> Any:
    if isinstance(line, BaseException):
        raise line
    return line


def a_loop(planner: Any, **options: Any) -> PlanLoop:
    """Return a loop over the refund."""
    inputs: Json = {"ctx": GOOD.ctx, "compiled": GOOD.compiled, "spec": GOOD.spec}
    return PlanLoop(**{**inputs, "planner": planner, **options})


def revised(planner: Any, **options: Any) -> PlanRevision:
    """Return the outcome of such a loop."""
    return asyncio.run(a_loop(planner, **options).run())


def rulings(revision: PlanRevision) -> Sequence[str | None]:
    judgements = [one.judgement for one in revision.attempts]
    return [None if one is None else one.ruling for one in judgements]
