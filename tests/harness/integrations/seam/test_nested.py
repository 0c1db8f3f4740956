"""An agent that is built as a sub-agent never speaks as the user, wherever it is run."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from harness.guard import Guard
from harness.integrations.langchain import GuardedToolNode, guarded_agent
from harness.integrations.pydantic_ai import GuardCapability
from harness.integrations.seam.guarded import AskedCall, GuardedSession, session_within
from harness.integrations.seam.ruling_replies import GuardHalted
from harness.testing._seams.scene import policy_of_scene
from tests.support.langchain_agents import HELP, LOOKUP, Shop, asks_for, bye, helper, model

PROMPT = "Pay mallory"
Run = Callable[[str], str]


class Listens(Guard):
    """A guard that notes what users say."""

    def __init__(self, *, shadow: bool = False) -> None:
        super().__init__(policy_of_scene("destructive", shadow=shadow))
        self.heard: list[str] = []

    def handle(self, event: Any, **more: Any) -> Any:
        if event.event in ("open", "said"):
            self.heard.append(event.wire().get("request") or event.wire().get("text"))
        return super().handle(event, **more)


def langchain_agent(act: Guard, shop: Shop) -> Run:
    agent = guarded_agent(model(asks_for(LOOKUP)), shop.tools, guard=act, nested=True)
    return lambda task: str(agent.invoke({"messages": task})["messages"][-1].text)


def langchain_node(act: Guard, shop: Shop) -> Run:
    def ask_model(state: Any) -> Any:
        return {"messages": [bye() if len(state["messages"]) > 1 else asks_for(LOOKUP)]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("model", ask_model)
    graph.add_node("tools", GuardedToolNode(shop.tools, guard=act, nested=True))
    graph.add_edge(START, "model")
    graph.add_edge("tools", "model")
    graph.add_conditional_edges("model", tools_condition)
    whole = graph.compile()
    return lambda task: str(whole.invoke({"messages": [HumanMessage(task)]})["messages"][-1].text)


def pydantic_agent(act: Guard, shop: Shop) -> Run:
    def answer(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        asked = any(isinstance(one, ModelResponse) for one in messages)
        part = TextPart("bye") if asked else ToolCallPart("lookup", {"order_id": "1"}, "c1")
        return ModelResponse([part])

    agent: Agent[Any, Any] = Agent(
        FunctionModel(answer),
        tools=[shop.lookup],
        capabilities=[GuardCapability(act, nested=True)],
        output_type=[str, DeferredToolRequests],
    )
    return lambda task: str(asyncio.run(agent.run(task)).output)


EVERY = pytest.mark.parametrize("build", [langchain_agent, langchain_node, pydantic_agent])


@EVERY
def test_a_sub_agent_in_a_thread_without_its_context_ends(build: Any) -> None:
    act, shop = Listens(), Shop()
    here, run = GuardedSession(act, "s"), build(act, shop)
    here.began("Look up order 1")
    assert here.start(AskedCall("h", "ask_helper", {"task": PROMPT}))
    with here.running("h"), ThreadPoolExecutor(1) as pool:
        with pytest.raises(GuardHalted, match=r"contextvars\.copy_context\(\)\.run"):
            pool.submit(run, PROMPT).result()
        assert shop.ran == []
        assert pool.submit(copy_context().run, run, PROMPT).result()
    assert shop.ran == ["lookup 1"]
    assert act.heard == ["Look up order 1"]


def test_a_tool_that_runs_one_in_a_thread_ends_the_run_of_its_agent() -> None:
    act, shop = Listens(), Shop()
    sub = guarded_agent(model(asks_for(LOOKUP)), shop.tools, guard=act, nested=True)

    def run(task: str) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(sub.invoke, {"messages": task}).result()

    agent = guarded_agent(model(HELP), [helper(run)], guard=act)
    with pytest.raises(GuardHalted, match="nested=True"):
        agent.invoke({"messages": "Look up order 1"})
    assert shop.ran == []
    assert act.heard == ["Look up order 1"]


def test_a_sub_agent_may_act_under_a_guard_of_its_own_and_alone_in_a_shadow() -> None:
    outer, own = GuardedSession(Listens(), "s"), Listens()
    outer.began("go")
    with outer.running("c"):
        assert session_within(own, is_nested=True) is None
    with pytest.raises(GuardHalted):
        session_within(own, is_nested=True)
    assert session_within(Listens(shadow=True), is_nested=True) is None
