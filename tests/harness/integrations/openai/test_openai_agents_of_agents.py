"""Handoffs and agents as tools: what they do is guarded, or they are not run."""

import asyncio
import dataclasses
from typing import Any

import pytest
from agents import Runner, function_tool, handoff
from agents.testing import function_call

from harness.integrations.openai import GuardHalted, Unguardable, guarded
from tests.support.openai_shop import LOOKUP, QUIET, REFUND, Shop, answered, policy, told

TO_CLERK = function_call("transfer_to_clerk", {}, call_id="h")
UNKNOWN = function_call("transfer_to_boss", {}, call_id="h")
ASK_CLERK = function_call("ask_clerk", {"input": "x"}, call_id="c0")


@pytest.mark.parametrize("call", [TO_CLERK, UNKNOWN])
def test_a_handoff_that_is_refused_does_not_happen(call: Any) -> None:
    shop = Shop(policy("local_write"))
    clerk, boss = shop.agent([LOOKUP], name="clerk"), shop.agent([LOOKUP], name="boss")
    with pytest.raises(GuardHalted) as halted:
        shop.play([REFUND, call], handoffs=[clerk, boss])
    assert halted.value.ruling.kind
    assert clerk.model.calls == boss.model.calls == ()
    assert shop.ran == []


def test_the_function_of_a_handoff_that_is_refused_does_not_run() -> None:
    shop = Shop()
    clerk = shop.agent(name="boss")
    to_boss = handoff(clerk, on_handoff=lambda _context: shop.ran.append("handed off"))
    with pytest.raises(GuardHalted):
        shop.play([UNKNOWN], handoffs=[to_boss])
    assert shop.ran == []


def test_what_an_agent_asks_for_after_a_handoff_is_ruled_on() -> None:
    shop = Shop(policy("local_write"))
    clerk = shop.agent([REFUND, LOOKUP], name="clerk")
    result = shop.play([TO_CLERK], handoffs=[handoff(clerk)])
    assert shop.ran == []
    assert "not allowed here" in told(result)["c1"]
    assert (result.last_agent.name, result.final_output) == ("clerk", "bye")


def test_agents_that_hand_off_to_one_another_are_all_guarded() -> None:
    shop = Shop(policy("local_write"))
    to_desk = function_call("transfer_to_desk", {}, call_id="h2")
    clerk = shop.agent([to_desk], name="clerk")
    desk = shop.agent([TO_CLERK], [REFUND, LOOKUP], handoffs=[clerk])
    clerk.handoffs.append(desk)
    result = asyncio.run(shop.run(guarded(desk)))
    assert (shop.ran, result.last_agent.name) == ([], "desk")


def test_a_handoff_of_an_agent_that_is_guarded_again_is_ruled_on_once() -> None:
    shop = Shop()
    agent = guarded(shop.agent([TO_CLERK], handoffs=[shop.agent(name="clerk")]))
    agent.hooks = None
    result = asyncio.run(shop.run(guarded(agent)))
    assert result.last_agent.name == "clerk"
    status = shop.session.guard.status("s1")
    assert status is not None
    assert status.turn == 1


def test_a_handoff_to_an_agent_that_is_made_on_the_way_is_guarded() -> None:
    shop = Shop(policy("local_write"))
    known = handoff(shop.agent(name="clerk"))

    async def another(_context: Any, _text: str) -> Any:
        return shop.agent([REFUND, LOOKUP], name="another")

    made = dataclasses.replace(known, on_invoke_handoff=another)
    result = shop.play([TO_CLERK], handoffs=[made])
    assert (shop.ran, result.last_agent.name) == ([], "another")


@pytest.mark.parametrize("yes", [True, False])
def test_a_handoff_waits_with_the_turn_that_a_person_is_asked_about(yes: bool) -> None:
    shop = Shop(policy(asks=True))
    clerk = shop.agent(name="clerk")
    agent = guarded(shop.agent([REFUND, TO_CLERK], handoffs=[clerk]))

    async def run() -> Any:
        result = await shop.run(agent)
        assert clerk.model.calls == ()
        return await shop.run(agent, answered(result, c2=yes))

    result = asyncio.run(run())
    assert shop.ran == (["issue_refund 1 5"] if yes else [])
    assert result.last_agent.name == "clerk"
    status = shop.session.guard.status("s1")
    assert status is not None
    assert (status.turn == 1) is yes  # a yes is to the turn as a whole


def test_a_handoff_that_needs_a_yes_itself_does_not_happen() -> None:
    shop = Shop(policy(asks=True))
    vault = shop.agent(name="vault")
    to_vault = function_call("transfer_to_vault", {}, call_id="h")
    agent = guarded(shop.agent([REFUND, to_vault], handoffs=[vault]))

    async def run() -> None:
        result = await shop.run(agent)
        with pytest.raises(GuardHalted):
            await shop.run(agent, answered(result, c2=True))

    asyncio.run(run())
    assert vault.model.calls == ()


def test_an_agent_as_a_tool_has_to_be_guarded_itself() -> None:
    shop = Shop()
    clerk = shop.agent([REFUND], name="clerk").as_tool("ask_clerk", "Ask the clerk")
    with pytest.raises(Unguardable, match=r"make it by guarded\(agent\)\.as_tool"):
        guarded(shop.agent([ASK_CLERK], tools=[clerk]))
    agent = guarded(shop.agent([ASK_CLERK], tools=[]))
    agent.tools.append(clerk)
    with pytest.raises(Unguardable):
        asyncio.run(shop.run(agent))
    assert agent.model.calls == ()


def test_an_agent_as_a_tool_that_streams_is_guarded() -> None:
    shop, events = Shop(policy("local_write")), list[Any]()
    clerk = guarded(shop.agent([REFUND, LOOKUP], name="clerk"))
    tool = clerk.as_tool("ask_clerk", "Ask the clerk", on_stream=events.append)
    result = shop.play([ASK_CLERK], tools=[tool])
    assert (shop.ran, told(result)["c0"]) == ([], "bye")
    assert events


def test_a_halt_in_a_sub_agent_ends_the_whole_run() -> None:
    shop = Shop(policy("local_write", on_refusal="halt"))
    clerk = guarded(shop.agent([REFUND], name="clerk")).as_tool("ask_clerk", "Ask the clerk")
    with pytest.raises(GuardHalted, match="approval_mode_mismatch"):
        shop.play([ASK_CLERK], tools=[clerk])
    assert shop.ran == []


def test_an_agent_that_a_run_left_waiting_is_ruled_on_when_it_is_asked_for_anew() -> None:
    """Its call has the id and the arguments of the one that waits."""
    shop = Shop(policy(asks=True, budget={"max_steps": 3, "bucket_tokens": 1000}))
    clerk = guarded(shop.agent([REFUND], name="clerk")).as_tool("ask_clerk", "Ask the clerk")
    more = function_call("lookup", {"order_id": "2"}, call_id="c9")
    turns = [LOOKUP, ASK_CLERK], [ASK_CLERK, more]
    agent = guarded(shop.agent(*turns, tools=[*shop.tools, clerk]))

    async def run() -> Any:
        assert (await shop.run(agent)).interruptions
        return await shop.run(agent, "never mind")

    answers = told(asyncio.run(run()))
    assert "no steps left" in answers["c0"]
    assert shop.ran == ["lookup 1"]


def test_an_agent_that_a_tool_runs_acts_in_the_same_session() -> None:
    shop = Shop(policy("local_write"))
    clerk = guarded(shop.agent([REFUND, LOOKUP], name="clerk"))

    async def ask_clerk(input: str) -> str:
        return str((await Runner.run(clerk, input, run_config=QUIET)).final_output)

    result = shop.play([ASK_CLERK], tools=[function_tool(ask_clerk)])
    assert (shop.ran, told(result)["c0"]) == ([], "bye")
