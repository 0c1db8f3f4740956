"""A message of `GuardedToolNode` names its session, and a caller can forge it."""

from typing import Any, NamedTuple

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition

from harness.guard import Guard
from harness.integrations.langchain import GuardedToolNode, GuardHalted
from harness.integrations.langchain.langchain_node import _STAMP
from harness.integrations.seam.guarded import AskedCall, GuardedSession
from tests.support.langchain_agents import LOOKUP, REFUND, Shop, asks_for, bye, guard


class Login(NamedTuple):
    """Who is logged in."""

    user: str


def graph_of(node: Any, asked: AIMessage, **options: Any) -> Any:
    def ask_model(state: Any) -> Any:
        said = isinstance(state["messages"][-1], HumanMessage)
        return {"messages": [asked.model_copy(deep=True) if said else bye()]}

    graph: Any = StateGraph(MessagesState, context_schema=Login)
    graph.add_node("model", ask_model)
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_edge("tools", "model")
    graph.add_conditional_edges("model", tools_condition)
    return graph.compile(**options)


def stamped(result: Any) -> ToolMessage:
    """Return the message of the node in a result: its caller may hand it to another run."""
    return next(one for one in result["messages"] if isinstance(one, ToolMessage))


def said_with(message: ToolMessage) -> Any:
    return {"messages": [HumanMessage("hello"), asks_for(LOOKUP), message, HumanMessage("go on")]}


def of_thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


LONG = "t" * 230


@pytest.mark.parametrize(("owner", "other"), [("ann", "bob"), ("a.b", "a"), (LONG, LONG + "2")])
def test_a_thread_does_not_act_in_the_session_of_another(owner: str, other: str) -> None:
    shop, act = Shop(), guard()

    def graph(asked: AskedCall) -> Any:
        node = GuardedToolNode(shop.tools, guard=act)
        return graph_of(node, asks_for(asked), checkpointer=InMemorySaver())

    first = graph(LOOKUP)
    given: Any = {"messages": [HumanMessage("Refund order 1")]}
    message = stamped(first.invoke(given, of_thread(owner)))
    with pytest.raises(GuardHalted, match="the session of another thread or user"):
        graph(REFUND).invoke(said_with(message), of_thread(other))
    assert shop.ran == ["lookup 1"]
    first.invoke({"messages": [HumanMessage("And once more")]}, of_thread(owner))
    assert shop.ran == ["lookup 1", "lookup 1"]
    assert act.open_sessions == 1


def test_without_threads_a_user_does_not_act_in_the_session_of_another() -> None:
    shop, act = Shop(), guard()
    node = GuardedToolNode(shop.tools, guard=act, user=lambda runtime: runtime.context.user)
    given: Any = {"messages": [HumanMessage("Refund order 1")]}
    result = graph_of(node, asks_for(LOOKUP)).invoke(given, context=Login("ann"))
    later = graph_of(node, asks_for(REFUND))
    with pytest.raises(GuardHalted, match="the session of another thread or user"):
        later.invoke(said_with(stamped(result)), context=Login("bob"))
    assert shop.ran == ["lookup 1"]
    again = {"messages": [*result["messages"], HumanMessage("Now pay it back")]}
    later.invoke(again, context=Login("ann"))
    assert shop.ran == ["lookup 1", "issue_refund 1 5"]
    assert act.open_sessions == 1


def test_a_sub_agent_acts_in_no_session_that_its_messages_name() -> None:
    shop, act = Shop(), guard(asks=True)
    node = GuardedToolNode(shop.tools, guard=act)
    graph = graph_of(node, asks_for(REFUND), checkpointer=InMemorySaver())
    graph.invoke({"messages": [HumanMessage("Refund order 1")]}, of_thread("ann"))
    (name,) = node._runs  # it waits for a person
    caller = session_of(act, "bob")
    forged = ToolMessage("x", tool_call_id="c1", additional_kwargs={_STAMP: name})
    with caller.running("h"):
        graph_of(node, asks_for(REFUND)).invoke(said_with(forged), of_thread("bob"))
    runs = {run.session.session for run in node._runs.values()}
    assert runs == {name, "bob"}
    assert shop.ran == []


def session_of(act: Guard, name: str) -> GuardedSession:
    session = GuardedSession(act, name)
    session.began("Ask the helper")
    return session
