"""Agents of Pydantic AI in the loops: driven by functions, and once through real HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent as FrameworkAgent
from pydantic_ai import RunContext
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError, UserError
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from harness.loops.actor_critic import ActorCritic
from harness.loops.agents.agent import AgentResult, Event
from harness.loops.agents.invocation import SubagentInvocation
from harness.loops.agents.journal import ReplayDivergence
from harness.loops.agents.pydantic_ai import PydanticAIAgent
from harness.loops.agents.retry import CallPolicy
from harness.loops.agents.usage import NO_USAGE, Budget, Usage
from harness.loops.self_refine import SelfRefine
from tests.harness.loops.agents.openai_stub import serving
from tests.harness.loops.agents.test_retry import Waits
from tests.harness.loops.scripted import verdict

GOOD, BAD = verdict(0.95), verdict(0.4, "fix it")


class Speaking:
    """The function of a model: replies in order, a dict as a tool call."""

    def __init__(self, *replies: Any) -> None:
        self.replies = replies
        self.tools: list[list[str]] = []
        self.instructions: str | None = None

    async def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        assert messages
        reply = self.replies[len(self.tools)]
        self.instructions = info.instructions
        self.tools.append([tool.name for tool in (*info.function_tools, *info.output_tools)])
        if isinstance(reply, Exception):
            yield "so far"
            raise reply
        if isinstance(reply, dict):
            (name, args), *_ = reply.items()
            yield {0: DeltaToolCall(name=name, json_args=json.dumps(args), tool_call_id="c1")}
            return
        for word in reply.split(" "):
            yield word if reply.startswith(word) else f" {word}"


def agent(*replies: Any, **how: Any) -> tuple[PydanticAIAgent, Speaking]:
    speaking = Speaking(*replies)
    made: Any = FrameworkAgent(FunctionModel(stream_function=speaking), **how)
    return PydanticAIAgent(made), speaking


def events_of(an_agent: Any, **how: Any) -> list[Event]:
    async def main() -> list[Event]:
        return [event async for event in an_agent.stream("task", session_id="S", **how)]

    return asyncio.run(main())


def final(events: list[Event]) -> AgentResult:
    assert events[-1].result is not None
    return events[-1].result


def test_text_comes_in_chunks() -> None:
    events = events_of(agent("one two three")[0])
    kinds = ["started", "model_chunk", "model_chunk", "model_chunk", "completed"]
    assert [event.kind for event in events] == kinds
    assert [event.data["text"] for event in events[1:-1]] == ["one", " two", " three"]
    result = final(events)
    assert (result.output, result.turns, result.interrupted) == ("one two three", 1, False)
    assert result.usage.tokens_out == 3
    assert result.usage.cost_micros is None  # a function has no price


def adder(one: int, two: int) -> int:
    """Add two numbers."""
    return one + two


def test_calls_of_tools_are_reported_as_events() -> None:
    made, speaking = agent({"adder": {"one": 2, "two": 3}}, "it is 5", tools=[adder])
    events = events_of(made)
    called, returned = (event for event in events if event.kind.startswith("tool_"))
    assert (called.kind, called.data["tool"]) == ("tool_call", "adder")
    assert json.loads(called.data["args"]) == {"one": 2, "two": 3}
    assert (returned.kind, returned.data["output"]) == ("tool_result", "5")
    assert called.data["call_id"] == returned.data["call_id"] == "c1"
    assert final(events).turns == 2
    assert speaking.tools == [["adder"], ["adder"]]


class Answer(BaseModel):
    number: int


def test_an_output_that_is_not_text_is_json() -> None:
    made, _ = agent({"final_result": {"number": 5}}, output_type=Answer)
    assert final(events_of(made)).output == '{"number":5}'


def test_without_tools_there_is_text_only() -> None:
    made, speaking = agent("no issues", tools=[adder], output_type=Answer)
    assert final(events_of(made, text_only=True)).output == "no issues"
    assert speaking.tools == [[]]


def test_text_that_has_no_form_in_bytes_is_repaired() -> None:
    assert final(events_of(agent("a\ud800b")[0])).output == "a?b"


def test_a_limit_of_tokens_ends_the_run() -> None:
    made, _ = agent({"adder": {"one": 2, "two": 3}}, "never", tools=[adder])
    events = events_of(made, budget=Budget(max_tokens=5))
    result = final(events)
    assert [event.kind for event in events][-2:] == ["budget_exceeded", "completed"]
    assert (result.stop_reason, result.interruption_reason) == ("budget", "budget:max_tokens")
    assert result.usage.tokens is not None
    assert result.usage.tokens > 5


def test_a_run_that_fails_is_interrupted_with_what_it_used() -> None:
    made, _ = agent(ModelHTTPError(503, "gpt"))
    events = events_of(made)
    result = final(events)
    assert events[-2].kind == "error"
    assert result.interrupted
    assert result.output == "so far"
    assert "503" in str(result.interruption_reason)
    assert result.stop_reason is None


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (ModelHTTPError(503, "gpt"), True),
        (ModelHTTPError(429, "gpt"), True),
        (ModelConnectionError("gpt", "reset"), True),
        (ConnectionError("reset"), True),
        (ModelHTTPError(400, "gpt"), None),
        (ModelHTTPError(401, "gpt"), None),
        (ValueError("no"), None),
    ],
)
def test_a_failure_that_may_pass_is_transient(error: Exception, transient: bool | None) -> None:
    assert final(events_of(agent(error)[0])).transient is transient


def test_a_busy_server_does_not_end_a_loop() -> None:
    actor, _ = agent(ModelHTTPError(503, "gpt"), "v0")
    loop = ActorCritic(actor=actor, critic=agent(GOOD)[0], calls=CallPolicy(sleep=Waits()))
    result = final(events_of(loop))
    assert (result.output, result.stop_reason) == ("v0", "approved")


def looking_up(context: RunContext[Any], name: str) -> str:
    """Look a customer up."""
    return f"{name} of {(context.metadata or {})['tenant']}"


def test_it_can_be_handed_a_context_and_tools() -> None:
    made, speaking = agent({"looking_up": {"name": "Ada"}}, "done", tools=[adder])
    call = SubagentInvocation(
        made, "task", session_id="S", context={"tenant": "t1"}, extra_tools=[looking_up]
    )

    async def main() -> list[Event]:
        return [event async for event in call.events()]

    events = asyncio.run(main())
    assert speaking.tools[0] == ["adder", "looking_up"]
    (returned,) = (event for event in events if event.kind == "tool_result")
    assert returned.data["output"] == "Ada of t1"
    assert '{"tenant":"t1"}' in str(speaking.instructions)
    again, plain = agent("done", tools=[adder])
    events_of(again)
    assert plain.tools == [["adder"]]


def test_a_tool_that_raises_interrupts_with_what_was_used() -> None:
    def broken() -> None:
        raise KeyError("gone")

    made, _ = agent({"broken": {}}, "never", tools=[broken])
    events = events_of(made)
    result = final(events)
    assert [event.kind for event in events][-2:] == ["error", "completed"]
    assert str(result.interruption_reason).startswith("KeyError: ")
    assert result.turns == 1
    assert result.usage.tokens


def test_what_a_journal_in_a_tool_refuses_is_not_a_failure_of_the_run() -> None:
    def diverging() -> None:
        raise ReplayDivergence("other inputs")

    with pytest.raises(ReplayDivergence):
        events_of(agent({"diverging": {}}, "never", tools=[diverging])[0])


def test_an_agent_that_cannot_be_run_raises() -> None:
    with pytest.raises(UserError):
        events_of(PydanticAIAgent(FrameworkAgent(), name="unset"))


def test_the_name_may_be_given() -> None:
    assert agent("x", name="writer")[0].name == "writer"
    assert agent("x")[0].name == "pydantic-ai"


def test_a_consumer_that_leaves_is_left_alone() -> None:
    made, _ = agent("one two three")

    async def main() -> None:
        stream = made.stream("task", session_id="S")
        async for event in stream:
            if event.kind == "model_chunk":
                break
        await stream.aclose()
        await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        assert asyncio.all_tasks() == {task}

    asyncio.run(main())


def test_two_of_them_work_in_a_loop() -> None:
    loop = ActorCritic(actor=agent("v0", "v1")[0], critic=agent(BAD, GOOD)[0])
    result = final(events_of(loop))
    assert (result.output, result.stop_reason, result.turns) == ("v1", "approved", 4)


def test_one_of_them_refines_itself_without_tools() -> None:
    made, speaking = agent("v0", "wrong", "v1", "no issues", tools=[adder])
    assert final(events_of(SelfRefine(base=made))).output == "v1"
    assert speaking.tools == [["adder"], [], [], []]


# --- over HTTP ------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def over_http(url: str, name: str) -> PydanticAIAgent:
    provider = OpenAIProvider(base_url=url, api_key="none")
    made: Any = FrameworkAgent(OpenAIChatModel("gpt-4o-mini", provider=provider), name=name)
    return PydanticAIAgent(made)


def test_a_loop_works_over_a_server() -> None:
    with serving("first draft", BAD, "second draft", GOOD) as stub:
        loop = ActorCritic(actor=over_http(stub.url, "actor"), critic=over_http(stub.url, "critic"))
        events = events_of(loop)
    result = final(events)
    assert (result.output, result.stop_reason) == ("second draft", "approved")
    assert (result.usage.tokens_in, result.usage.tokens_out, result.turns) == (80, 20, 4)
    assert [ask["path"] for ask in stub.asked] == ["/v1/chat/completions"] * 4
    assert all(ask["stream"] for ask in stub.asked)
    assert "fix it" in stub.asked[2]["messages"][-1]["content"]
    said = [event.data["text"] for event in events if event.session_id == "S__actor_0"]
    assert said == ["first", " draft"]


def test_money_is_counted_where_the_price_is_known() -> None:
    with serving("hello") as stub:
        usage = final(events_of(over_http(stub.url, "actor"))).usage
    assert usage.cost_micros is not None
    assert 0 < usage.cost_micros < 100


@pytest.mark.parametrize(
    ("tokens", "micros"), [((20, 5), 6), ((1, 0), 1), ((7, 0), 2), ((20, 0), 3)]
)
def test_a_fraction_of_a_micro_counts_as_a_whole_one(tokens: tuple[int, int], micros: int) -> None:
    # gpt-4o-mini: 0.15 micros for a token that it reads, 0.6 for one that it writes.
    with serving("hello") as stub:
        stub.tokens = tokens
        usage = final(events_of(over_http(stub.url, "actor"))).usage
    assert usage.cost_micros == micros


# The framework says the same in its own way; a loop says it by its reason to stop.
@pytest.mark.filterwarnings("ignore::pydantic_ai.exceptions.UsageLimitUnavailableWarning")
def test_what_a_server_does_not_count_is_absent() -> None:
    with serving("v0", counts=False) as stub:
        loop = ActorCritic(actor=over_http(stub.url, "actor"), critic=over_http(stub.url, "critic"))
        result = final(events_of(loop, budget=Budget(max_tokens=10**6)))
    assert result.usage == Usage()
    assert (result.output, result.interruption_reason) == ("v0", "budget:max_tokens")


def test_a_server_that_refuses() -> None:
    with serving(400) as stub:
        loop = ActorCritic(actor=over_http(stub.url, "actor"), critic=over_http(stub.url, "critic"))
        result = final(events_of(loop))
    assert (result.stop_reason, result.round) == ("planner_error", 0)
    assert result.usage == NO_USAGE
    assert "400" in str(result.interruption_reason)


@pytest.mark.parametrize("why", ["length", "content_filter"])
def test_a_reply_that_is_cut_short_approves_nothing(why: str) -> None:
    with serving("v0", "no issues") as stub:
        stub.ended = why
        draft = final(events_of(over_http(stub.url, "actor")))
        review = final(events_of(SelfRefine(base=over_http(stub.url, "critic"))))
    assert (draft.output, draft.interrupted) == ("v0", True)
    assert str(draft.interruption_reason).endswith(why)
    assert not review.approved
