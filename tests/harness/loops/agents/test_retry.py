"""A call is tried again after a transient failure only, as often and as long as its policy says."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.loops.actor_critic import ActorCritic
from harness.loops.agents.agent import AgentFailed, AgentResult, Event, TransientFailure
from harness.loops.agents.invocation import SubagentInvocation
from harness.loops.agents.journal import JournalError, MemoryStore, ReplayDivergence
from harness.loops.agents.journaled import Journaled, with_policy
from harness.loops.agents.retry import CallPolicy, OutOfTime, call_with_retries
from harness.loops.agents.retrying import Retrying
from harness.loops.agents.usage import UNLIMITED, Budget, Usage
from harness.loops.self_refine import SelfRefine
from tests.harness.loops.agents.journals import CLOCK, journal_of
from tests.harness.loops.scripted import Scripted, verdict

ONE = Usage(tokens_in=9, tokens_out=1, cost_micros=2)
DOWN = ConnectionError("connection reset")
GOOD = verdict(0.95)


class Flaky:
    """Follows a script, one entry a call: an error is raised, a result or a text is given."""

    name = "flaky"

    def __init__(self, *script: Any, delay: float = 0.0) -> None:
        self.script = list(script)
        self.budgets: list[Budget] = []
        self.sessions: list[str] = []
        self.closed = 0
        self.delay = delay

    async def stream(
        self, prompt: str, *, session_id: str, budget: Budget = UNLIMITED, **_: Any
    ) -> AsyncGenerator[Event, None]:
        assert prompt
        self.budgets.append(budget)
        self.sessions.append(session_id)
        entry = self.script.pop(0)
        try:
            yield Event(kind="started", session_id=session_id)
            if entry == "hang":
                await asyncio.Event().wait()
            await asyncio.sleep(self.delay)
            if isinstance(entry, Exception):
                raise entry
            done = entry if isinstance(entry, AgentResult) else AgentResult(output=entry, usage=ONE)
            yield Event(kind="completed", session_id=session_id, result=done)
        finally:
            self.closed += 1


def interrupted(**facts: Any) -> AgentResult:
    return AgentResult(
        output="half", usage=ONE, interrupted=True, interruption_reason="busy", **facts
    )


class Waits:
    """Keeps how long it was to wait, and does not wait."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def policy(waits: Waits | None = None, **facts: Any) -> CallPolicy:
    return CallPolicy(sleep=waits or Waits(), **facts)


def called(agent: Any, how: CallPolicy, **facts: Any) -> tuple[list[Event], AgentResult | None]:
    call = SubagentInvocation(Retrying(agent, how), "task", session_id="S", **facts)

    async def main() -> list[Event]:
        return [event async for event in call.events()]

    return asyncio.run(main()), call.result


# --- which failures, how often, how long ------------------------------------------------------


@pytest.mark.parametrize(
    "failure", [DOWN, TimeoutError(), BrokenPipeError(), TransientFailure("busy")]
)
def test_a_transient_failure_is_tried_again(failure: Exception) -> None:
    agent, waits = Flaky(failure, failure, "done"), Waits()
    events, result = called(agent, policy(waits))
    assert result is not None
    assert (result.output, waits.seconds) == ("done", [0.5, 1.0])
    assert [(e.data["event"], e.data["attempt"], e.data["wait_s"]) for e in events] == [
        ("retrying", 1, 0.5),
        ("retrying", 2, 1.0),
    ]
    assert agent.sessions == ["S"] * 3
    assert agent.closed == 3


@pytest.mark.parametrize(
    "failure",
    [
        *(RuntimeError("no"), AgentFailed("no"), OSError("disk"), ValueError("no")),
        *(ReplayDivergence("no"), JournalError("no")),
    ],
)
def test_any_other_failure_ends_the_call(failure: Exception) -> None:
    agent = Flaky(failure, "never")
    with pytest.raises(type(failure)):
        called(agent, policy(transient=(ConnectionError, JournalError)))
    assert agent.script == ["never"]


def test_the_last_error_is_raised_when_all_tries_failed() -> None:
    agent = Flaky(DOWN, DOWN, TimeoutError("last"), "never")
    with pytest.raises(TimeoutError, match="last"):
        called(agent, policy())
    assert agent.script == ["never"]


@pytest.mark.parametrize("kind", ["tool_call", "tool_result"])
def test_a_try_that_has_called_a_tool_is_not_made_again(kind: Any) -> None:
    class Acting(Flaky):
        async def stream(
            self, prompt: str, *, session_id: str, budget: Budget = UNLIMITED, **_: Any
        ) -> AsyncGenerator[Event, None]:
            yield Event(kind=kind, session_id=session_id, data={"tool": "send_mail"})
            async for event in super().stream(prompt, session_id=session_id, budget=budget):
                yield event

    for failure in (DOWN, interrupted(transient=True)):
        agent = Acting(failure, "never")
        with suppress(ConnectionError):
            called(agent, policy())
        assert agent.script == ["never"]


def test_an_interrupted_result_is_tried_again_only_if_it_is_transient() -> None:
    agent = Flaky(interrupted(transient=True), "done")
    _, result = called(agent, policy())
    assert result is not None
    assert (result.output, result.usage.tokens, result.turns) == ("done", 20, 2)
    agent = Flaky(interrupted(), "never")
    _, result = called(agent, policy())
    assert result is not None
    assert (result.interruption_reason, agent.script) == ("busy", ["never"])


@given(st.integers(1, 6), st.integers(0, 8), st.floats(0, 4), st.floats(0, 9))
def test_waits_double_up_to_the_longest(tries: int, fails: int, first: float, most: float) -> None:
    waits = Waits()
    agent = Flaky(*[DOWN] * fails, "done")
    how = policy(waits, tries=tries, first_wait=first, longest_wait=most)
    try:
        called(agent, how)
    except ConnectionError:
        assert fails >= tries
    expected = [min(most, first * 2**n) for n in range(min(fails, tries - 1))]
    assert waits.seconds == [wait for wait in expected if wait]
    assert len(agent.sessions) == min(fails + 1, tries)


@pytest.mark.parametrize(
    "facts",
    [
        *({"tries": 0}, {"tries": True}, {"tries": 1.5}, {"first_wait": -1}, {"time_limit": 0}),
        *({"longest_wait": float("nan")}, {"time_limit": float("inf")}),
    ],
)
def test_a_policy_is_checked(facts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(facts))):
        CallPolicy(**facts)


# --- usage, budgets and time ------------------------------------------------------------------


def test_no_try_begins_that_the_budget_does_not_allow() -> None:
    agent = Flaky(interrupted(transient=True), "never")
    _, result = called(agent, policy(), budget=Budget(max_tokens=10))
    assert result is not None
    assert (result.usage.tokens, agent.script) == (10, ["never"])


def test_the_next_try_is_given_what_the_first_left() -> None:
    agent = Flaky(interrupted(transient=True), "done")
    called(agent, policy(), budget=Budget(max_tokens=30, max_cost_micros=9))
    assert [(b.max_tokens, b.max_cost_micros) for b in agent.budgets] == [(30, 9), (20, 7)]


def test_a_try_that_takes_too_long_is_cancelled_and_made_again() -> None:
    agent = Flaky("hang", "done")
    events, result = called(agent, policy(time_limit=0.01))
    assert result is not None
    assert (result.output, agent.closed) == ("done", 2)
    assert "took longer than its time limit" in events[0].data["why"]
    assert result.usage.tokens is None, "what the cancelled try used is not known"


def test_the_time_of_the_budget_ends_the_call_and_all_its_tries() -> None:
    for script in (["hang"], [DOWN] * 9):
        agent = Flaky(*script)
        how = CallPolicy(tries=9, first_wait=0.02)
        _, result = called(agent, how, budget=Budget(max_seconds=0.05))
        assert result is not None
        assert (result.stop_reason, result.interruption_reason) == ("budget", "budget:max_seconds")
    assert agent.script, "there was no time for all nine tries"


def test_a_plain_call_has_the_same_rules() -> None:
    script: list[Any] = [DOWN, "done"]
    noted: list[tuple[int, float, Exception]] = []

    async def call() -> Any:
        entry = script.pop(0)
        if isinstance(entry, Exception):
            raise entry
        return entry

    async def hang() -> None:
        await asyncio.Event().wait()

    def note(*facts: Any) -> None:
        noted.append(facts)

    assert asyncio.run(call_with_retries(call, policy(), on_failure=note)) == "done"
    assert noted == [(1, 0.5, DOWN)]
    with pytest.raises(OutOfTime, match="budget:max_seconds"):
        asyncio.run(call_with_retries(hang, policy(), seconds=0.01, on_failure=note))
    with pytest.raises(TimeoutError, match="time limit"):
        asyncio.run(call_with_retries(hang, policy(tries=2, time_limit=0.01), on_failure=note))


# --- in loops, and beside a journal -----------------------------------------------------------


def looped(actor: Any, critic: Any, **facts: Any) -> ActorCritic:
    return ActorCritic(actor=actor, critic=critic, clock=CLOCK, **facts)


def test_one_dropped_connection_does_not_end_a_loop() -> None:
    loop = looped(Flaky(DOWN, "v0"), Flaky(TimeoutError(), GOOD), calls=policy())
    assert asyncio.run(loop.run("task")).approved
    loop = looped(Flaky(DOWN, "v0"), Flaky(GOOD), calls=policy(tries=1))
    assert asyncio.run(loop.run("task")).stop_reason == "planner_error"
    refine = SelfRefine(base=Flaky(DOWN, "v0", DOWN, "no issues"), calls=policy())
    assert asyncio.run(refine.run("task")).approved


def test_the_usage_of_every_try_counts_in_a_loop() -> None:
    loop = looped(Flaky(interrupted(transient=True), "v0"), Flaky(GOOD), calls=policy())
    result = asyncio.run(loop.run("task"))
    assert (result.usage.tokens, result.usage.cost_micros, result.turns) == (30, 6, 3)
    failing = Flaky(interrupted(transient=True), interrupted(transient=True), RuntimeError("no"))
    result = asyncio.run(looped(failing, Flaky(), calls=policy()).run("task"))
    assert (result.stop_reason, result.usage.tokens) == ("planner_error", 20)


def test_a_loop_ends_when_its_time_is_over() -> None:
    loop = looped(Flaky("v0"), Flaky("hang"), calls=policy())
    result = asyncio.run(loop.run("task", budget=Budget(max_seconds=0.05)))
    assert (result.output, result.stop_reason) == ("v0", "budget")
    assert result.interruption_reason == "budget:max_seconds"


def test_the_retries_of_a_journaled_agent_are_replayed_as_they_were() -> None:
    def run(store: MemoryStore, mode: Any, *script: Any) -> list[Event]:
        agent = Journaled(Flaky(*script), journal_of(store, mode))
        stream = looped(agent, Flaky(GOOD), calls=policy()).stream("task", session_id="P")

        async def main() -> list[Event]:
            return [event async for event in stream]

        return asyncio.run(main())

    store = MemoryStore()
    events = run(store, "resume", DOWN, interrupted(transient=True), "v0")
    assert [e.data.get("event") for e in events].count("retrying") == 2
    assert run(store, "replay") == events
    assert len(store.lines()) == 1


def test_an_agent_with_a_policy_of_its_own_keeps_it() -> None:
    agent = Retrying(Flaky(DOWN, "v0"), policy())
    assert with_policy(agent, policy(tries=1)) is agent
    assert asyncio.run(looped(agent, Flaky(GOOD), calls=policy(tries=1)).run("task")).approved


def test_a_retrying_agent_that_is_left_is_closed() -> None:
    agent = Flaky("hang")

    async def main() -> None:
        stream = Retrying(agent).stream("task", session_id="S")
        assert (await anext(stream)).kind == "started"
        task = asyncio.create_task(stream.__anext__())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(StopAsyncIteration):
            await anext(stream)

    asyncio.run(main())
    assert agent.closed == 1


def test_a_scripted_agent_has_one_frame_under_the_wrapper() -> None:
    events, _ = called(Scripted("v0"), policy())
    assert [event.kind for event in events] == ["model_chunk"]
