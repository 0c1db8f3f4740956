"""The guard for agents of LangChain 1.4 and LangGraph 1.2.

    agent = guarded_agent(model, tools, guard=guard, checkpointer=InMemorySaver())
    graph.add_node("tools", GuardedToolNode(tools, guard=guard))  # in a graph of your own

Needs the extra `langchain`: `pip install 'plan-critic[langchain]'`. Tested with langchain 1.4.7,
langchain-core 1.7.2 and langgraph 1.2.22.

Plan seam: the calls of a message are ruled on as one plan, before other middleware or a tool has
them. Approval: an `interrupt` for the whole message, resumed with an `ApprovalAnswer`. Call seam:
each tool of LangChain that starts within the run, with the arguments that reach it, whoever starts
it: a retry, another middleware, a graph of your own, a sub-agent.

Not guarded: what a tool does that is not itself a tool of LangChain, what it does in a thread that
it starts without its context, and tools that a provider runs within its model: a message that shows
one ends the run. Build a sub-agent with `nested=True`: in such a thread it ends.
"""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from harness.integrations.langchain.langchain_approval import ApprovalAnswer, CallAnswer
    from harness.integrations.langchain.langchain_guard import (
        guard_middleware,
        guarded_agent,
        guarded_graph,
    )
    from harness.integrations.langchain.langchain_node import GuardedToolNode
    from harness.integrations.seam.ruling_replies import GuardHalted, SeamRuling

__all__ = [
    "ApprovalAnswer",
    "CallAnswer",
    "GuardHalted",
    "GuardedToolNode",
    "SeamRuling",
    "guard_middleware",
    "guarded_agent",
    "guarded_graph",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "harness.integrations.langchain.langchain_approval": "ApprovalAnswer CallAnswer",
            "harness.integrations.langchain.langchain_guard": (
                "guard_middleware guarded_agent guarded_graph"
            ),
            "harness.integrations.langchain.langchain_node": "GuardedToolNode",
            "harness.integrations.seam.ruling_replies": "GuardHalted SeamRuling",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
