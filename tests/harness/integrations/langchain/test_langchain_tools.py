"""Tools of LangChain of all kinds, and what the guard is told of them."""

import asyncio
import json
import subprocess
import sys
import threading
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, tool
from langgraph.prebuilt import InjectedState, ToolRuntime
from pydantic import BaseModel

from harness.guard import Guard
from harness.integrations import langchain
from harness.integrations.langchain import guarded_agent
from harness.testing._seams.scene import JournalLog, policy_of_scene
from tests.support.langchain_agents import (
    GO,
    LOOKUP,
    Shop,
    asks_for,
    model,
    told,
)

POLICY = policy_of_scene("destructive", asks=True)


@pytest.mark.parametrize("output", ['{"order": "1", "paid": true}', '["US64"]', [1, "US64"]])
def test_what_the_model_is_shown_stays_the_text_that_it_is(output: Any) -> None:
    @tool(response_format="content_and_artifact")
    def lookup(order_id: str) -> Any:
        """Look up an order."""
        return output, object()

    log = JournalLog([])
    agent = guarded_agent(model(asks_for(LOOKUP)), [lookup], guard=Guard(POLICY, log=log))
    agent.invoke(GO)
    run = log.decisions[-1].run
    assert run is not None
    shown = output if type(output) is str else json.dumps(output)
    assert run.calls[0].output == shown


def test_what_the_framework_injects_is_no_argument_of_a_call() -> None:
    given: list[Any] = []

    @tool
    def lookup(
        order_id: str,
        runtime: ToolRuntime,
        state: Annotated[dict[str, Any], InjectedState],
        call: Annotated[str, InjectedToolCallId],
        config: RunnableConfig,
    ) -> str:
        """Look up an order."""
        given.append((order_id, runtime.tool_call_id, len(state["messages"]), call, bool(config)))
        return "paid"

    agent = guarded_agent(model(asks_for(LOOKUP)), [lookup], guard=Guard(POLICY))
    for run in (agent.invoke, lambda go: asyncio.run(agent.ainvoke(go))):
        run(GO)
    assert given[0] == ("1", "c1", 2, "c1", True)


def kinds_of_tools(shop: Shop) -> list[Any]:
    """Return the tool that looks up, made in the ways that there are."""
    schema = {"type": "object", "properties": {"order_id": {"type": "string"}}}

    class Arguments(BaseModel):
        order_id: str

    class Lookup(BaseTool):
        name: str = "lookup"
        description: str = "Look up an order."
        args_schema: type[BaseModel] = Arguments

        def _run(self, order_id: str) -> str:
            return shop.lookup(order_id)

    async def lookup(order_id: str) -> str:
        return shop.lookup(order_id)

    more: dict[str, Any] = {"name": "lookup", "description": "Look up an order."}
    return [
        shop.lookup,
        Lookup(),
        StructuredTool.from_function(shop.lookup, args_schema=Arguments, **more),
        StructuredTool.from_function(shop.lookup, args_schema=schema, **more),
        StructuredTool.from_function(coroutine=lookup, **more),
    ]


@pytest.mark.parametrize("kind", range(5))
def test_tools_of_all_kinds_run(kind: int) -> None:
    shop = Shop()
    agent = guarded_agent(
        model(asks_for(LOOKUP)), [kinds_of_tools(shop)[kind]], guard=Guard(POLICY)
    )
    assert told(asyncio.run(agent.ainvoke(GO))["messages"]) == {"c1": "paid"}
    assert shop.ran == ["lookup 1"]


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_the_guard_does_not_hold_up_an_event_loop(mode: str) -> None:
    threads: list[threading.Thread] = []
    guard = Guard(POLICY, on_decision=lambda _: threads.append(threading.current_thread()))
    agent = guarded_agent(model(asks_for(LOOKUP)), Shop().tools, guard=guard)
    if mode == "invoke":
        agent.invoke(GO)
        return
    asyncio.run(agent.ainvoke(GO))
    assert len(threads) == 2
    assert threading.main_thread() not in threads


def test_the_names_of_the_module() -> None:
    names = "ApprovalAnswer CallAnswer GuardHalted GuardedToolNode SeamRuling"
    assert [
        *names.split(),
        "guard_middleware",
        "guarded_agent",
        "guarded_graph",
    ] == langchain.__all__


def test_the_module_loads_no_framework() -> None:
    code = (
        "import sys; import harness.integrations.langchain; "
        "print([name for name in sys.modules if name.startswith(('lang', 'pydantic_ai'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
