"""Three dependent calls of one turn, in each framework: run in order, whichever way it runs them.

With `turns = "ordered"` the refund waits for the reads before it. Each framework starts all calls
of a turn at once, and each call is opened when its turn has come.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

import pytest
from agents import Agent as SdkAgent
from agents import RunConfig, Runner, function_tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic_ai import Agent

from harness.guard import Guard
from harness.integrations.langchain import guarded_agent
from harness.integrations.openai import guarded, guarding
from harness.integrations.pydantic_ai import GuardCapability
from harness.integrations.seam.guarded import AskedCall, GuardedSession
from harness.policy import Policy
from harness.testing.seams import ScriptedTurn
from harness.wire import build
from tests.support.langchain_agents import ScriptedModel, asks_for, bye
from tests.support.late_refund import ORDER, SENT, WINDOW, late_policy
from tests.support.model.facts import Json
from tests.support.openai_scenes import scripted
from tests.support.pydantic_ai_agent import Script

CALLS: Final = (
    AskedCall("a", "lookup", {"id": "ord_881"}),
    AskedCall("b", "refund_window", {"id": "ord_881"}),
    AskedCall("c", "issue_refund", SENT),
)
REQUEST: Final = "Refund order ord_881"


class Shop:
    """The tools, which take their time, and what they were called with."""

    def __init__(self, order: Any = ORDER) -> None:
        self.made: list[str] = []
        self.refunds: list[Json] = []
        self._order = order

    def tools(self) -> list[Callable[..., Any]]:
        def lookup(id: str) -> Any:
            """Look an order up."""
            time.sleep(0.05)
            self.made.append("lookup")
            return self._order

        def refund_window(id: str) -> Any:
            """Tell whether an order can be paid back."""
            time.sleep(0.02)
            self.made.append("refund_window")
            return WINDOW

        def issue_refund(id: str, amount_inr: int) -> Any:
            """Pay back."""
            self.made.append("issue_refund")
            self.refunds.append({"id": id, "amount_inr": amount_inr})
            return {"ok": True}

        return [lookup, refund_window, issue_refund]


def guard_of(*, ordered: bool) -> Guard:
    wire = late_policy().wire()
    turns = {"turns": "ordered"} if ordered else {}
    for tool in wire["tool"]:  # a framework passes records on as texts
        tool["result"] = {"author": "system", "format": "json"}
    return Guard(build(Policy, {**wire, "guard": {**wire["guard"], **turns}}))


def run_langgraph(guard: Guard, shop: Shop, *, is_async: bool = False) -> None:
    model = ScriptedModel(messages=[asks_for(*CALLS), bye()])
    agent: Any = guarded_agent(model, shop.tools(), guard=guard, checkpointer=InMemorySaver())
    place: Any = {"configurable": {"thread_id": "s"}}
    if is_async:
        asyncio.run(agent.ainvoke({"messages": REQUEST}, place))
    else:
        agent.invoke({"messages": REQUEST}, place)


def run_pydantic_ai(guard: Guard, shop: Shop) -> None:
    agent = Agent(Script([ScriptedTurn(CALLS)]).model, tools=shop.tools())
    asyncio.run(agent.run(REQUEST, capabilities=[GuardCapability(guard)]))


def run_openai(guard: Guard, shop: Shop) -> None:
    tools: Any = [function_tool(one) for one in shop.tools()]
    agent: Any = guarded(SdkAgent("worker", tools=tools, model=scripted(ScriptedTurn(CALLS))))
    session = GuardedSession(guard, "s")
    session.began(REQUEST)

    async def run() -> None:
        with guarding(session, approver="ada"):
            await Runner.run(agent, REQUEST, run_config=RunConfig(tracing_disabled=True))

    asyncio.run(run())


RUNS: Final[dict[str, Callable[[Guard, Shop], None]]] = {
    "LangGraph": run_langgraph,
    "LangGraph, async": lambda guard, shop: run_langgraph(guard, shop, is_async=True),
    "Pydantic AI": run_pydantic_ai,
    "OpenAI Agents": run_openai,
}


@pytest.mark.parametrize("framework", RUNS)
def test_three_dependent_calls_of_one_turn_run_in_order(framework: str) -> None:
    shop = Shop()
    RUNS[framework](guard_of(ordered=True), shop)
    assert shop.refunds == [SENT]
    assert shop.made[-1] == "issue_refund"


@pytest.mark.parametrize("framework", RUNS)
def test_what_the_reads_do_not_show_is_not_paid(framework: str) -> None:
    shop = Shop({"payment": {"id": "pay_8861", "amount_inr": 1}})
    RUNS[framework](guard_of(ordered=True), shop)
    assert sorted(shop.made) == ["lookup", "refund_window"]


@pytest.mark.parametrize("framework", RUNS)
def test_without_an_order_the_turn_is_refused(framework: str) -> None:
    shop = Shop()
    RUNS[framework](guard_of(ordered=False), shop)
    assert shop.made == []


def test_a_call_that_starts_too_early_is_not_made() -> None:
    session = GuardedSession(guard_of(ordered=True), "s")
    session.began(REQUEST)
    assert session.rule(CALLS)
    assert not session.start(CALLS[2])
    assert session.start(CALLS[0])


def test_an_edited_call_is_ruled_on_anew() -> None:
    session = GuardedSession(guard_of(ordered=True), "s")
    session.began(REQUEST)
    session.rule(CALLS)
    for call, output in zip(CALLS, (ORDER, WINDOW), strict=False):
        assert session.start(call)
        session.ended(call.id, "completed", output=output)
    assert not session.start(CALLS[2]._replace(args={**SENT, "amount_inr": 5}))


def test_what_waited_for_a_refused_call_is_refused() -> None:
    session = GuardedSession(guard_of(ordered=True), "s")
    session.began(REQUEST)
    again = CALLS[2]._replace(id="d", args={**SENT, "amount_inr": 7})
    session.rule([*CALLS, again])
    for call in CALLS[:2]:
        assert session.start(call)
        session.ended(call.id, "completed", output={})
    refused = session.start(CALLS[2])
    assert not refused
    assert session.start(again).reply == "Not run: a call before it in its turn was not run."


def test_nobody_waits_for_what_does_not_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.integrations.seam.guarded._PATIENCE_S", 0.05)
    session = GuardedSession(guard_of(ordered=True), "s")
    session.began(REQUEST)
    session.rule(CALLS)
    session.wait_turn("c")
    session.wait_turn("a")
    session.wait_turn("unknown")
    assert not session.start(CALLS[2])
