"""Calls from within: what is forwarded, what is kept back, what a single model call gives."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harness.clock import FixedClock
from harness.loops.actor_critic import ActorCritic
from harness.loops.agents.agent import AgentFailed, AgentResult, Event
from harness.loops.agents.command_agent import CommandAgent
from harness.loops.agents.invocation import SubagentInvocation, run_agent
from harness.loops.agents.journal import Journal, MemoryStore, ReplayDivergence
from harness.loops.agents.journaled import Journaled
from harness.loops.agents.model import (
    Dependencies,
    Message,
    ModelAgent,
    Reply,
    text_only_model_call,
)
from harness.loops.agents.retrying import Retrying
from harness.loops.agents.usage import UNLIMITED, Usage
from tests.harness.loops.scripted import Call, Scripted, verdict

ONE = Usage(tokens_in=1, tokens_out=1, cost_micros=0)


class Telling:
    """Tells exactly these events."""

    name = "telling"

    def __init__(self, *events: Event) -> None:
        self.events = events
        self.told = 0

    async def stream(self, prompt: str, **how: Any) -> AsyncGenerator[Event, None]:
        assert (prompt, {*how}) == ("task", {"session_id", "budget", "text_only"})
        for event in self.events:
            self.told += 1
            yield event


def event(kind: Any, session_id: str = "S") -> Event:
    ended = AgentResult(output=session_id, usage=ONE)
    result: dict[str, Any] = {"result": ended} if kind == "completed" else {}
    return Event(kind=kind, session_id=session_id, **result)


def heard(call: SubagentInvocation) -> list[Event]:
    async def main() -> list[Event]:
        return [event async for event in call.events()]

    return asyncio.run(main())


def test_all_but_the_frame_is_forwarded() -> None:
    inner = [
        event(kind)
        for kind in (
            *("model_chunk", "tool_call", "tool_result", "budget_warning"),
            *("budget_exceeded", "error", "architecture_event"),
        )
    ]
    agent = Telling(event("started"), *inner, event("completed"))
    call = SubagentInvocation(agent, "task", session_id="S")
    assert heard(call) == inner
    assert heard(call) == []  # it is over
    assert call.result is not None
    assert call.result.output == "S"


def test_the_result_is_that_of_the_own_session() -> None:
    agent = Telling(event("completed", "other"), event("completed"), event("completed"))
    call = SubagentInvocation(agent, "task", session_id="S")
    assert heard(call) == []
    assert call.result is not None
    assert call.result.output == "S"
    assert agent.told == 2  # what comes after the end is not listened to


def test_an_agent_that_ends_without_a_result_failed() -> None:
    call = SubagentInvocation(Telling(event("started")), "task", session_id="S")
    with pytest.raises(AgentFailed, match="without a result"):
        heard(call)
    assert call.result is None


def test_what_is_not_an_event_is_a_failure_of_the_agent() -> None:
    critic = Telling(42)  # type: ignore[arg-type] # on purpose
    loop = ActorCritic(actor=Scripted("v0"), critic=critic)
    result = asyncio.run(loop.run("task"))
    assert (result.output, result.stop_reason) == ("v0", "unrecoverable")


def test_an_agent_that_cannot_even_begin_is_a_failure_of_the_agent() -> None:
    class Broken:
        name = "broken"

        def stream(self, prompt: str, **how: Any) -> AsyncGenerator[Event, None]:
            raise OSError(f"no route for {prompt}: {len(how)}")

    result = asyncio.run(ActorCritic(actor=Broken(), critic=Scripted()).run("task"))
    assert result.interruption_reason == "planner_error:round_0: OSError: no route for task: 3"


def test_the_session_is_the_name_unless_given() -> None:
    agent = Scripted("v0", name="writer")
    assert asyncio.run(run_agent(agent, "task")).output == "v0"
    assert agent.calls == [Call("writer", "task", UNLIMITED, text_only=False)]


def test_a_loop_tells_what_it_has_before_its_end() -> None:
    loop = ActorCritic(actor=Scripted("v0"), critic=Scripted(verdict(1.0)))
    call = SubagentInvocation(loop, "task", session_id="S")
    assert call.result is None

    async def main() -> None:
        async for happened in call.events():
            if happened.session_id == "S__critic_1":
                assert call.result is not None
                assert (call.result.output, call.result.stop_reason) == ("v0", "cancelled")
        assert call.result is not None
        assert call.result.approved

    asyncio.run(main())


class Counting:
    """A model that counts its calls."""

    def __init__(self) -> None:
        self.asked: list[Sequence[Message]] = []

    async def __call__(self, messages: Sequence[Message]) -> Reply:
        self.asked.append(messages)
        return Reply(text=f"reply {len(self.asked)}", usage=ONE)


HELLO = [Message(role="system", content="Be brief."), Message(role="user", content="Hello")]


def test_a_model_call_returns_the_reply_and_its_usage() -> None:
    model = Counting()
    call = text_only_model_call(Dependencies(model, "P"), "greet", HELLO)
    assert asyncio.run(call) == ("reply 1", ONE)
    assert model.asked == [HELLO]


def test_a_journaled_model_call_is_made_once() -> None:
    model, journal = (
        Counting(),
        Journal(MemoryStore(), FixedClock(datetime(2026, 1, 1, tzinfo=UTC))),
    )

    async def main() -> None:
        deps = Dependencies(model, "P", journal)
        for _ in range(2):
            assert await text_only_model_call(deps, "greet", HELLO) == ("reply 1", ONE)
        with pytest.raises(ReplayDivergence):
            await text_only_model_call(deps, "greet", HELLO[:1])
        assert await text_only_model_call(deps, "leave", HELLO) == ("reply 2", ONE)

    asyncio.run(main())
    assert len(model.asked) == 2


def test_a_model_is_an_agent_of_one_turn() -> None:
    model = Counting()
    result = asyncio.run(run_agent(ModelAgent("writer", model), "task", session_id="S"))
    assert result == AgentResult(output="reply 1", turns=1, usage=ONE)
    assert model.asked == [[Message(role="user", content="task")]]
    (chunk,) = heard(SubagentInvocation(ModelAgent("writer", model), "task"))
    assert (chunk.kind, chunk.session_id, chunk.data) == (
        *("model_chunk", "writer"),
        {"text": "reply 2"},
    )


# --- a context and tools of the caller ----------------------------------------------------------


def lookup(name: str) -> str:
    """Look a name up."""
    return name


def test_a_model_agent_is_handed_the_context_as_a_message() -> None:
    model = Counting()
    agent = ModelAgent("writer", model)
    context = {"tenant": "t1", "roles": ["reader"]}
    asyncio.run(run_agent(agent, "task", context=context))
    asyncio.run(run_agent(agent, "task"))
    text = 'Context of the caller, as JSON:\n{"roles":["reader"],"tenant":"t1"}'
    task = Message(role="user", content="task")
    assert model.asked == [[Message(role="system", content=text), task], [task]]


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        (ModelAgent("writer", Counting()), "writer cannot be handed tools: a ModelAgent has none"),
        (CommandAgent(["true"], Path()), "true cannot be handed a context or tools"),
        (Scripted("v0"), "scripted cannot be handed a context or tools"),
        (Retrying(Scripted("v0")), "scripted cannot be handed a context or tools"),
        (ActorCritic(actor=Scripted(), critic=Scripted()), "actor-critic cannot be handed"),
    ],
)
def test_an_agent_that_has_no_use_for_tools_refuses_them(agent: Any, why: str) -> None:
    with pytest.raises(AgentFailed, match=why):
        asyncio.run(run_agent(agent, "task", extra_tools=[lookup]))


def test_a_context_is_a_json_object() -> None:
    with pytest.raises(AgentFailed, match="the context is not a JSON object"):
        asyncio.run(run_agent(ModelAgent("w", Counting()), "task", context={"a": object()}))


def test_a_call_without_tools_is_handed_none() -> None:
    with pytest.raises(ValueError, match="text_only"):
        SubagentInvocation(Scripted("v0"), "task", text_only=True, extra_tools=[lookup])


def test_what_a_journaled_agent_is_handed_is_an_input() -> None:
    model, store = Counting(), MemoryStore()
    clock = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))

    def run(**handed: Any) -> str:
        agent = Retrying(Journaled(ModelAgent("w", model), Journal(store, clock)))
        return asyncio.run(run_agent(agent, "task", session_id="S", **handed)).output

    assert [run(context={"a": 1}), run(context={"a": 1})] == ["reply 1", "reply 1"]
    others: list[dict[str, Any]] = [{"context": {"a": 2}}, {}]
    for other in others:
        with pytest.raises(ReplayDivergence):
            run(**other)
