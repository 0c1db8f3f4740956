"""Nothing that a loop hands out is what it decides by: changing it changes no decision."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from critic import Finding, Refused, ToolStep, Verified, verify
from evals.envelope import Envelope
from harness.loops.actor_critic import ActorCritic
from harness.loops.agents.agent import Event
from harness.loops.agents.journal import MemoryStore
from harness.loops.agents.journaled import Journaled
from harness.loops.verifying_planner import VerifyingPlanner
from tests.harness.loops.agents.journals import CLOCK, journal_of
from tests.harness.loops.plans import (
    GOOD,
    ScriptedAdvisor,
    ScriptedPlanner,
    a_loop,
    plan_with,
    revised,
    rulings,
)
from tests.harness.loops.scripted import Scripted, verdict
from tests.support.examples import good_proposal, proposal_of

WRONG = Finding(severity="error", message="this pays the wrong person")
PASSES = verify(GOOD.ctx, GOOD.compiled, GOOD.spec, GOOD.plan)


def parts(value: Any) -> Iterator[Any]:
    """Everything within a value, the value first."""
    yield value
    if isinstance(value, Envelope):
        inner: Any = value.__dict__.values()
    elif is_dataclass(value):
        inner = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, dict):
        inner = value.values()
    else:
        inner = value if isinstance(value, list | tuple) else ()
    for item in [*inner]:
        yield from parts(item)


def through_dict(value: Any) -> None:
    """Turn refusals into approvals in the fields of envelopes."""
    for part in parts(value):
        if isinstance(part, Refused):
            part.__dict__.clear()
            part.__dict__.update(PASSES.__dict__)


def through_class(value: Any) -> None:
    """Have refusals say that they are something else."""
    for part in parts(value):
        if isinstance(part, Refused):
            object.__setattr__(part, "__class__", Verified)
            object.__setattr__(part, "__dict__", {**PASSES.__dict__})


def through_setattr(value: Any) -> None:
    """Approve in the slots of judgements and attempts."""
    for part in parts(value):
        for name, approving in (("ruling", "approved"), ("rank", (9.0, 9.0)), ("verdict", PASSES)):
            if is_dataclass(part) and hasattr(part, name):
                object.__setattr__(part, name, approving)


def nested(value: Any) -> None:
    """Empty every list and dict, and change the args of every step."""
    for part in parts(value):
        if isinstance(part, ToolStep):
            part.args["amount_inr"] = 10**6
        elif isinstance(part, dict):
            part.clear()


MUTATIONS = [through_dict, through_class, through_setattr, nested]
every_mutation = pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
Mutation = Callable[[Any], None]


@every_mutation
def test_an_advisor_cannot_overrule_a_refusal_by_what_it_is_handed(mutate: Mutation) -> None:
    class Meddling(ScriptedAdvisor):
        def review(self, *given: Any) -> Any:
            mutate(given)
            mutate(loop.revision)
            return super().review(*given)

    loop = a_loop(ScriptedPlanner(*map(plan_with, (3, 2, 1))), advisor=Meddling([], [], []))
    revision = asyncio.run(loop.run())
    assert (revision.stop_reason, revision.plan) == ("max_rounds", None)
    assert rulings(revision) == ["refused"] * 3
    assert [len(verdict.violations) for _, verdict in revision.refused] == [3, 2, 1]
    assert [attempt.draft for attempt in revision.attempts] == [*map(plan_with, (3, 2, 1))]
    assert revision.best_attempt == revision.attempts[2]


@every_mutation
def test_a_planner_cannot_overrule_a_refusal_by_what_it_is_handed(mutate: Mutation) -> None:
    class Meddling(ScriptedPlanner):
        def plan(self, *given: Any) -> Any:
            mutate(given)
            mutate(loop.revision)
            return super().plan(*given)

    loop = a_loop(Meddling(*map(plan_with, (3, 2, 1))))
    revision = asyncio.run(loop.run())
    assert revision.plan is None
    assert [len(verdict.violations) for _, verdict in revision.refused] == [3, 2, 1]
    assert revision.best_attempt == revision.attempts[2]


@every_mutation
def test_an_advisor_cannot_change_the_plan_that_is_approved(mutate: Mutation) -> None:
    class Meddling(ScriptedAdvisor):
        def review(self, *given: Any) -> Any:
            mutate(given)
            mutate(loop.revision)
            return super().review(*given)

    loop = a_loop(ScriptedPlanner(plan_with(0)), advisor=Meddling([]))
    assert asyncio.run(loop.run()).plan == plan_with(0)
    mutate(loop.revision)
    assert loop.revision.plan == plan_with(0)


@every_mutation
def test_whoever_holds_the_inputs_cannot_change_them_in_a_running_loop(mutate: Mutation) -> None:
    world = proposal_of(good_proposal())
    forged = plan_with(0)
    step = forged.steps[1]
    assert isinstance(step, ToolStep)
    step.args["amount_inr"] = 24499

    class Holding(ScriptedPlanner):
        def plan(self, *given: Any) -> Any:
            for tool in world.compiled.manifests.tool_manifest:
                (tool.bound_args or {}).clear()
            mutate(world)
            return super().plan(*given)

    planner = Holding(forged, forged)
    inputs = {"ctx": world.ctx, "compiled": world.compiled, "spec": world.spec}
    assert revised(planner, **inputs).plan is None


def test_a_finding_that_was_spoilt_approves_nothing() -> None:
    spoilt = WRONG.model_copy()
    spoilt.__dict__["severity"] = "harmless"
    advisor = ScriptedAdvisor([spoilt], [spoilt])
    revision = revised(ScriptedPlanner(GOOD.plan), advisor=advisor)
    assert (revision.plan, rulings(revision)) == (None, ["rejected"])


@every_mutation
def test_a_consumer_of_events_decides_nothing(mutate: Mutation) -> None:
    async def main() -> None:
        loop = a_loop(ScriptedPlanner(*map(plan_with, (2, 1))), max_rounds=2)
        async for event in loop.stream():
            event.__dict__["ruling"] = "approved"
            event.__dict__["stop_reason"] = "approved"
            mutate(loop.revision)
        assert (loop.revision.stop_reason, loop.revision.plan) == ("max_rounds", None)
        assert loop.revision.best_attempt == loop.revision.attempts[1]

    asyncio.run(main())


@every_mutation
def test_the_attempts_of_a_refusing_planner_are_copies(mutate: Mutation) -> None:
    planner = VerifyingPlanner(ScriptedPlanner(*map(plan_with, (3, 1, 2))))
    asyncio.run(_planned(planner))
    mutate(planner.revision)
    mutate(planner.refused_attempts())
    assert [plan for plan, _ in planner.refused_attempts()] == [*map(plan_with, (3, 1, 2))]
    assert [len(verdict.violations) for _, verdict in planner.refused_attempts()] == [3, 1, 2]


async def _planned(planner: VerifyingPlanner) -> Any:
    return await planner.plan(GOOD.ctx, GOOD.compiled, GOOD.spec)


@every_mutation
def test_what_a_model_loop_hands_out_decides_nothing(mutate: Mutation) -> None:
    async def main() -> None:
        critic = Scripted(verdict(0.6, "a"), verdict(0.4, "b"), verdict(0.5, "c"))
        loop = ActorCritic(actor=Scripted("v0", "v1", "v2"), critic=critic)
        stream = loop.stream("task")
        async for event in stream:
            if event.kind != "completed":
                event.__dict__["data"] = {"ruling": "approved"}
            for attempt in stream.attempts[1:]:
                mutate(attempt)
                if attempt.judgement is not None:
                    attempt.judgement.critique.__dict__.update(score=1.0, issues=())
            stream.result.__dict__["stop_reason"] = "approved"
        result = stream.result
        assert (result.output, result.stop_reason) == ("v0", "max_rounds")

    asyncio.run(main())


def test_what_a_consumer_does_to_an_event_is_not_recorded() -> None:
    def run(store: MemoryStore, spoil: bool) -> list[Event]:
        async def main() -> list[Event]:
            agent = Journaled(Scripted("v0"), journal_of(store))
            kept = []
            async for event in agent.stream("task", session_id="S"):
                kept.append(event.model_copy(deep=True))
                if spoil:
                    event.data["text"] = "forged"
                    event.__dict__["session_id"] = "T"
            return kept

        return asyncio.run(main())

    store = MemoryStore()
    first = run(store, spoil=True)
    assert run(store, spoil=False) == first
    assert b"forged" not in b"".join(store.lines())
    assert CLOCK.now()
