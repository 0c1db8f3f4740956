"""Agents and graphs within agents of LangChain, and tools that others run: none goes around."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
)
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Send

from harness.integrations.langchain import (
    GuardHalted,
    guarded_agent,
    guarded_graph,
)
from harness.integrations.seam.guarded import AskedCall
from tests.support.langchain_agents import (
    GO,
    HELP,
    LOOKUP,
    REFUND,
    THREAD,
    Quiet,
    Shop,
    answer,
    asks_for,
    guard,
    helper,
    helper_of,
    model,
    told,
)


def test_an_unguarded_sub_agent_is_ruled_on() -> None:
    for mode, ran in (("local_write", []), ("destructive", ["issue_refund 1 5"])):
        shop = Shop()
        sub = create_agent(model(asks_for(REFUND)), shop.tools)
        agent = guarded_agent(model(HELP), [helper_of(sub)], guard=guard(mode))
        messages = agent.invoke(GO)["messages"]
        assert shop.ran == ran
        assert ("not allowed here" in told(messages)["c2"]) is not bool(ran)


def test_a_sub_agent_with_a_guard_of_its_own_is_ruled_on_by_that() -> None:
    shop = Shop()
    sub = guarded_agent(model(asks_for(REFUND)), shop.tools, guard=guard("local_write"))
    agent = guarded_agent(model(HELP), [helper_of(sub)], guard=guard())
    messages = agent.invoke(GO)["messages"]
    assert shop.ran == []
    assert told(messages)["c2"] == "bye"
    sub = guarded_agent(model(asks_for(REFUND)), shop.tools, guard=guard())
    guarded_agent(model(HELP), [helper_of(sub)], guard=guard("local_write")).invoke(GO)
    assert shop.ran == ["issue_refund 1 5"]


def test_a_person_is_asked_by_a_sub_agent() -> None:
    for yes in (True, False):
        shop, act = Shop(), guard(asks=True)
        sub = guarded_agent(model(), shop.tools, guard=act)

        @tool
        def ask_helper(task: str, sub: Any = sub) -> str:
            """Ask a sub-agent."""
            return str(sub.invoke({"messages": task})["messages"][-1].text)

        asked = asks_for(AskedCall("c2", "ask_helper", {"task": "do it"}))
        agent = guarded_agent(model(asked), [ask_helper], guard=act, checkpointer=InMemorySaver())
        asks = agent.invoke(GO, THREAD)["__interrupt__"][0].value
        assert shop.ran == []
        messages = agent.invoke(Command(resume=answer(asks, yes=yes)), THREAD)["messages"]
        assert sorted(shop.ran) == (["issue_refund 1 5", "lookup 1"] if yes else [])
        assert messages[-1].text == "bye"


def test_of_two_sub_agents_that_ask_at_once_one_is_heard() -> None:
    shop, act = Shop(), guard(asks=True)
    refunds = {"t1": REFUND, "t2": REFUND._replace(args={"order_id": "2", "cents": 7})}
    subs = {
        task: guarded_agent(model(asks_for(refund)), shop.tools, guard=act)
        for task, refund in refunds.items()
    }
    within = helper(lambda task: subs[task].invoke({"messages": task}))
    both = asks_for(*(AskedCall(f"c{at}", "ask_helper", {"task": f"t{at}"}) for at in (1, 2)))
    agent = guarded_agent(model(both), [within], guard=act, checkpointer=InMemorySaver())
    questions = agent.invoke(GO, THREAD)["__interrupt__"]
    assert len(questions) == 2
    given = {question.id: answer(question.value) for question in questions}
    messages = agent.invoke(Command(resume=given), THREAD)["messages"]
    assert len(shop.ran) == 1, "a question lapses with the next, and its answer comes too late"
    assert messages[-1].text == "bye"


def test_without_a_checkpointer_nobody_is_asked_and_nothing_runs() -> None:
    shop = Shop()
    agent = guarded_agent(model(), shop.tools, guard=guard(asks=True))
    assert agent.invoke(GO)["__interrupt__"]
    assert shop.ran == []


def test_a_person_is_asked_by_an_agent_that_is_a_node_of_another_graph() -> None:
    shop = Shop()
    graph = StateGraph(MessagesState)
    graph.add_node("agent", guarded_agent(model(), shop.tools, guard=guard(asks=True)))
    graph.add_edge(START, "agent")
    whole = graph.compile(checkpointer=InMemorySaver())
    asks = whole.invoke(GO, THREAD)["__interrupt__"][0].value
    assert shop.ran == []
    messages = whole.invoke(Command(resume=answer(asks)), THREAD)["messages"]
    assert sorted(shop.ran) == ["issue_refund 1 5", "lookup 1"]
    assert messages[-1].text == "bye"


@pytest.mark.parametrize("is_guarded", [False, True])
def test_a_sub_agent_in_an_event_loop_is_ruled_on(is_guarded: bool) -> None:
    for mode, ran in (("local_write", []), ("destructive", ["issue_refund 1 5"])):
        shop, act, inner = Shop(), guard(mode), model(asks_for(REFUND))
        sub: Any = create_agent(inner, shop.tools)
        if is_guarded:
            sub = guarded_agent(inner, shop.tools, guard=act)
        agent = guarded_agent(model(HELP), [awaiting(sub)], guard=act)
        asyncio.run(agent.ainvoke(GO))
        assert shop.ran == ran


def awaiting(agent: Any) -> StructuredTool:
    """Return the tool whose body awaits an agent."""

    async def ask_helper(task: str) -> str:
        """Ask a sub-agent."""
        return str((await agent.ainvoke({"messages": task}))["messages"][-1].text)

    return StructuredTool.from_function(coroutine=ask_helper)


def bare(shop: Shop, asked: AIMessage, *, sends: bool = False) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(shop.tools))
    if sends:
        graph.add_conditional_edges(
            START, lambda _: [Send("tools", [call]) for call in asked.tool_calls], ["tools"]
        )
    else:
        graph.add_edge(START, "tools")
    return graph.compile()


@pytest.mark.parametrize("sends", [False, True])
def test_a_node_of_tools_without_an_agent_halts(sends: bool) -> None:
    shop, asked = Shop(), asks_for(LOOKUP)
    graph = guarded_graph(bare(shop, asked, sends=sends), guard())
    with pytest.raises(GuardHalted, match="outside of the calls of a guarded agent"):
        graph.invoke({"messages": [HumanMessage("go"), asked]})
    assert shop.ran == []


def test_a_node_of_tools_within_a_tool_is_ruled_on() -> None:
    shop, asked = Shop(), asks_for(REFUND)
    within = helper(lambda _: bare(shop, asked).invoke({"messages": [asked]}))
    agent = guarded_agent(model(HELP), [within], guard=guard("local_write"))
    messages = agent.invoke(GO)["messages"]
    assert shop.ran == []
    assert "not allowed here" in told(messages)["c2"]


class Meddles(AgentMiddleware[Any]):
    """Runs a tool itself."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop

    def before_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
        self.shop.tools[0].invoke({"order_id": "7"})


def test_a_tool_that_a_middleware_runs_halts_unless_it_is_a_shadow() -> None:
    shop = Shop()
    agent = guarded_agent(model(), shop.tools, guard=guard(), middleware=[Meddles(shop)])
    with pytest.raises(GuardHalted, match="outside of the calls of a guarded agent"):
        agent.invoke(GO)
    assert shop.ran == []
    act = guard("local_write", shadow=True)
    guarded_agent(model(), shop.tools, guard=act, middleware=[Meddles(shop)]).invoke(GO)
    assert sorted(shop.ran) == ["issue_refund 1 5", "lookup 1", "lookup 7", "lookup 7"]


@pytest.mark.parametrize("callbacks", [[], [Quiet()]])
def test_callbacks_of_a_caller_do_not_displace_the_gate(callbacks: list[Any]) -> None:
    shop = Shop()
    sub: Any = create_agent(model(asks_for(REFUND)), shop.tools)
    within = helper(lambda task: sub.invoke({"messages": task}, {"callbacks": callbacks}))
    agent = guarded_agent(model(HELP), [within], guard=guard("local_write"))
    messages = agent.invoke(GO, {"callbacks": callbacks})["messages"]
    assert shop.ran == []
    assert "not allowed here" in told(messages)["c2"]


class OfItsOwn(StructuredTool):
    """A tool that does not call back."""

    def invoke(self, input: Any, config: Any = None, **_: Any) -> Any:  # noqa: ARG002
        assert self.func is not None
        return ToolMessage(self.func(**input["args"]), tool_call_id=input["id"])


def test_a_tool_that_does_not_call_back_halts() -> None:
    shop = Shop()
    own = OfItsOwn.from_function(shop.lookup)
    agent = guarded_agent(model(asks_for(LOOKUP)), [own], guard=guard())
    with pytest.raises(GuardHalted, match="the tool lookup has its own invoke or run"):
        agent.invoke(GO)
    assert shop.ran == []
    guarded_agent(model(asks_for(LOOKUP)), [own], guard=guard(shadow=True)).invoke(GO)
    assert shop.ran == ["lookup 1"]
