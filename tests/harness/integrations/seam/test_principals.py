"""Whom a session is for stands in its records, where the framework of an agent knows it."""

import asyncio
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from harness.guard import Guard
from harness.integrations.langchain import GuardedToolNode, guarded_agent
from harness.integrations.pydantic_ai import GuardCapability
from harness.integrations.seam.guarded import AskedCall, GuardedSession
from harness.integrations.seam.principals import Principals
from harness.integrations.seam.ruling_replies import GuardHalted
from harness.testing._seams.scene import JournalLog, policy_of_scene
from tests.support.langchain_agents import LOOKUP, THREAD, Shop, asks_for, bye, model


class Login(NamedTuple):
    """Who is logged in, as an application hands it to a run."""

    user: str
    tenant: str | None = None


EMMA = Login("emma@acme.example", "acme")


class Records:
    """A guard, and whom its records are for."""

    def __init__(self) -> None:
        self.log = JournalLog([])
        self.guard = Guard(policy_of_scene("destructive"), log=self.log)

    @property
    def names(self) -> set[tuple[str | None, str | None]]:
        found = [one.proposal.ctx for one in self.log.decisions]
        return {(ctx.user_id, ctx.tenant_id) for ctx in found}


@pytest.fixture
def records() -> Records:
    return Records()


def user_in(run: Any) -> str:
    return str(run.context.user)


def tenant_in(run: Any) -> str | None:
    tenant: str | None = run.context.tenant
    return tenant


def graph_of(node: ToolNode) -> Any:
    """Return a graph whose model asks once for a lookup of the node."""
    graph: Any = StateGraph(MessagesState, context_schema=Login)
    graph.add_node("ask", lambda _: {"messages": [asks_for(LOOKUP)]})
    graph.add_node("tools", node)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "tools")
    return graph.compile(checkpointer=InMemorySaver())


def test_an_agent_of_langchain_finds_them_in_the_context_of_a_run(records: Records) -> None:
    agent = guarded_agent(
        model(asks_for(LOOKUP), bye(), asks_for(LOOKUP)),
        Shop().tools,
        guard=records.guard,
        context_schema=Login,
        checkpointer=InMemorySaver(),
        user=user_in,
        tenant=tenant_in,
    )
    agent.invoke({"messages": "one"}, THREAD, context=EMMA)
    agent.invoke({"messages": "two"}, THREAD, context=EMMA)
    assert records.names == {(EMMA.user, EMMA.tenant)}


def test_a_node_of_tools_finds_them_in_the_context_of_a_run(records: Records) -> None:
    node = GuardedToolNode(Shop().tools, guard=records.guard, user=user_in, tenant=tenant_in)
    given: Any = {"messages": [HumanMessage("one")]}
    graph_of(node).invoke(given, THREAD, context=EMMA)
    assert records.names == {(EMMA.user, EMMA.tenant)}


def test_one_name_is_that_of_every_run(records: Records) -> None:
    node = GuardedToolNode(Shop().tools, guard=records.guard, user="emma")
    given: Any = {"messages": [HumanMessage("one")]}
    graph_of(node).invoke(given, THREAD, context=Login("raj"))
    assert records.names == {("emma", None)}


def test_what_is_no_name_begins_no_session(records: Records) -> None:
    shop = Shop()
    node = GuardedToolNode(shop.tools, guard=records.guard, user=user_in)
    given: Any = {"messages": [HumanMessage("one")]}
    with pytest.raises(GuardHalted, match="user"):
        graph_of(node).invoke(given, THREAD, context=Login("Emma Ray"))
    assert shop.ran == []


def test_an_agent_of_pydantic_ai_finds_them_in_its_dependencies(records: Records) -> None:
    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        del info
        said = sum(isinstance(one, ModelResponse) for one in messages)
        call = ToolCallPart("lookup", {"order_id": "1"}, f"c{said}")
        return ModelResponse([TextPart("bye") if said % 2 else call])

    def lookup(order_id: str) -> str:
        return order_id

    capability = GuardCapability(
        records.guard, user=lambda run: run.deps.user, tenant=lambda run: run.deps.tenant
    )
    agent = Agent(
        FunctionModel(respond), tools=[lookup], capabilities=[capability], deps_type=Login
    )

    async def talk() -> None:
        first = await agent.run("one", deps=EMMA)
        await agent.run("two", deps=EMMA, message_history=first.all_messages())

    asyncio.run(talk())
    assert len(records.log.decisions) == 4
    assert records.names == {(EMMA.user, EMMA.tenant)}


def test_a_session_is_for_those_whom_the_caller_names(records: Records) -> None:
    """So it is where an agent of the OpenAI SDK runs, whose session the caller begins."""
    session = GuardedSession(records.guard, "s1")
    session.began("one", user="emma", tenant="acme")
    session.began("two")
    session.rule([AskedCall("c1", "lookup", {"order_id": "1"})])
    assert records.names == {("emma", "acme")}


@pytest.mark.parametrize("kept", ["", " ", "emma", None])
def test_a_name_is_left_out_only_if_it_is_not_known(kept: str | None) -> None:
    """An empty one is for the guard to refuse: a session of nobody is another one."""
    for name in Principals._fields:
        for source in (kept, lambda context: context):
            found = Principals(**{name: source}).names_in(kept)
            assert found == ({} if kept is None else {name: kept})
