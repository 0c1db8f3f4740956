"""Approvals of the SDK: a yes is to a call, of a whole turn, and good once."""

import asyncio
from typing import Any

import pytest
from agents import RunState, ToolSearchTool, function_tool, tool_namespace
from agents.testing import ScriptedModel, function_call

from harness.guard import Guard
from harness.integrations.openai import Unanswered, guarded
from harness.integrations.seam.guarded import AskedCall, GuardedSession
from tests.support.openai_shop import BYE, LOOKUP, REFUND, Shop, answered, asked, policy, told

BOTH = {"c1": True, "c2": True}
AGAIN = [function_call("issue_refund", {"order_id": "1", "cents": 5}, call_id="c3")]
TO_CLERK = function_call("ask_clerk", {"input": "refund order 1"}, call_id="c0")


def test_an_answer_to_some_calls_of_a_turn_runs_none_until_all_are_answered() -> None:
    shop = Shop(policy(asks=True))
    agent = guarded(shop.agent([LOOKUP, REFUND]))

    async def run() -> Any:
        result = await shop.run(agent)
        assert asked(result) == {"c1", "c2"}
        state = answered(result, c1=True)
        with pytest.raises(Unanswered, match="1 of 2 calls of the turn are answered: answer"):
            await shop.run(agent, state)
        assert shop.ran == []
        for one in state.get_interruptions():
            state.approve(one)
        return await shop.run(agent, state)

    result = asyncio.run(run())
    assert sorted(shop.ran) == ["issue_refund 1 5", "lookup 1"]
    assert result.final_output == "bye"


def test_an_answer_to_some_calls_of_a_sub_agent_asks_about_the_others() -> None:
    shop = Shop(policy(asks=True))
    agent = team(shop, [LOOKUP, REFUND])

    async def run() -> Any:
        result = await shop.run(agent, answered(await shop.run(agent), c1=True))
        assert asked(result) == {"c2"}
        assert shop.ran == []
        return await shop.run(agent, answered(result, c2=True))

    result = asyncio.run(run())
    assert sorted(shop.ran) == ["issue_refund 1 5", "lookup 1"]
    assert result.final_output == "bye"


@pytest.mark.parametrize("said", ["approve", "reject"])
def test_a_standing_decision_about_a_tool_is_an_answer_to_none_of_its_calls(said: str) -> None:
    shop = Shop(policy(asks=True))
    agent = guarded(shop.agent([LOOKUP, REFUND], AGAIN))

    async def run() -> None:
        result = await shop.run(agent)
        state = answered(result, c1=True)
        refund = next(one for one in state.get_interruptions() if one.call_id == "c2")
        getattr(state, said)(refund, **{f"always_{said}": True})
        result = await shop.run(agent, state)
        assert "done" not in {*told(result).values()}

    asyncio.run(run())
    assert not any("refund" in one for one in shop.ran)


def test_a_standing_approval_of_another_agent_does_not_answer_for_this_one() -> None:
    shop = Shop(policy(asks=True))
    clerk = guarded(shop.agent([AGAIN[0]], name="clerk"))
    to_clerk = function_call("transfer_to_clerk", {}, call_id="h")
    agent = guarded(shop.agent([REFUND], [to_clerk], handoffs=[clerk]))

    async def run() -> Any:
        result = await shop.run(agent)
        state = result.to_state()
        state.approve(state.get_interruptions()[0], always_approve=True)
        return await shop.run(agent, state)

    result = asyncio.run(run())
    assert shop.ran == []
    assert asked(result) <= {"c3"}


def test_calls_of_tools_in_namespaces_and_of_late_tools_can_be_approved() -> None:
    shop = Shop(policy(asks=True))
    refund = function_tool(shop.issue_refund)
    tools = [
        *tool_namespace(name="shop", description="The shop", tools=[refund]),
        function_tool(shop.issue_refund, defer_loading=True),
        ToolSearchTool(),
    ]
    late = AGAIN[0].model_copy(update={"namespace": "issue_refund"})
    calls = [REFUND.model_copy(update={"namespace": "shop"}), late]
    agent = guarded(shop.agent(calls, tools=tools), unguarded=["tool_search"])

    async def run() -> None:
        result = await shop.run(agent)
        assert (asked(result), shop.ran) == ({"c2", "c3"}, [])
        await shop.run(agent, answered(result, c2=True, c3=True))

    asyncio.run(run())
    assert shop.ran == ["issue_refund 1 5"] * 2


def test_a_state_that_is_resumed_twice_runs_what_was_approved_once() -> None:
    shop = Shop(policy(asks=True))
    model = ScriptedModel([[LOOKUP, REFUND], BYE, BYE])
    agent = guarded(shop.agent().clone(model=model))

    async def run() -> None:
        text = (await shop.run(agent)).to_state().to_string()
        for _ in range(2):
            state: Any = await RunState.from_string(agent, text)
            for one in state.get_interruptions():
                state.approve(one)
            await shop.run(agent, state)

    asyncio.run(run())
    assert shop.ran.count("issue_refund 1 5") == 1


def test_a_tool_keeps_the_approval_of_its_own() -> None:
    shop = Shop()
    refund = function_tool(shop.issue_refund, needs_approval=True)
    agent = guarded(shop.agent([LOOKUP, REFUND], tools=[function_tool(shop.lookup), refund]))

    async def run(yes: bool) -> Any:
        result = await shop.run(agent)
        assert asked(result) == {"c2"}
        assert shop.ran == ["lookup 1"]
        return await shop.run(agent, answered(result, c2=yes))

    result = asyncio.run(run(yes=True))
    assert shop.ran == ["lookup 1", "issue_refund 1 5"]
    assert result.final_output == "bye"


def team(shop: Shop, *turns: list[Any]) -> Any:
    clerk = guarded(shop.agent(*turns, name="clerk"))
    return guarded(shop.agent([TO_CLERK], tools=[clerk.as_tool("ask_clerk", "Ask the clerk")]))


@pytest.mark.parametrize("said", [{"c1": True, "c2": True}, {"c1": True, "c2": False}])
@pytest.mark.parametrize("travels", [False, True])
def test_calls_of_a_sub_agent_wait_for_a_person_and_go_on(
    said: dict[str, bool], travels: bool
) -> None:
    shop = Shop(policy(asks=True))
    agent = team(shop, [LOOKUP, REFUND])

    async def run() -> Any:
        result = await shop.run(agent)
        assert asked(result) == {"c1", "c2"}
        assert shop.ran == []
        state = answered(result, **said)
        if not travels:
            return await shop.run(agent, state)
        other = Guard(shop.policy)
        other.resume(shop.session.guard.export("s1"))
        shop.session = GuardedSession(other, "s1")
        return await shop.run(agent, await RunState.from_string(agent, state.to_string()))

    result = asyncio.run(run())
    refunded = [] if travels or not said["c2"] else ["issue_refund 1 5"]
    assert [one for one in shop.ran if "refund" in one] == refunded
    assert travels or "lookup 1" in shop.ran
    assert result.final_output == "bye"
    if not travels:
        assert shop.statuses[-1:] == ["completed"]


@pytest.mark.parametrize("yes", [True, False])
def test_a_question_that_another_turn_made_lapse_is_put_again_and_answered(yes: bool) -> None:
    shop = Shop(policy(asks=True))
    agent = guarded(shop.agent([LOOKUP, REFUND], AGAIN))

    async def run() -> Any:
        result = await shop.run(agent)
        shop.session.rule([AskedCall("another", "lookup", {"order_id": "2"})])
        assert shop.session.question is None
        return await shop.run(agent, answered(result, c1=True, c2=yes))

    result = asyncio.run(run())
    assert sorted(shop.ran) == [*(["issue_refund 1 5"] if yes else []), "lookup 1"]
    assert asked(result) == ({"c3"} if yes else set())


@pytest.mark.parametrize("yes", [True, False])
def test_sub_agents_that_ask_at_the_same_time_all_wait_for_their_answers(yes: bool) -> None:
    shop = Shop(policy(asks=True))
    model = ScriptedModel([[REFUND], [AGAIN[0]], BYE, BYE])
    clerk = guarded(shop.agent(name="clerk").clone(model=model))
    calls = [TO_CLERK, TO_CLERK.model_copy(update={"call_id": "c9"})]
    again = [one.model_copy(update={"call_id": "c4"}) for one in AGAIN]
    tools = [clerk.as_tool("ask_clerk", "Ask the clerk"), function_tool(shop.issue_refund)]
    agent = guarded(shop.agent(calls, again, tools=tools))

    async def run() -> Any:
        result = await shop.run(agent)
        assert (asked(result), shop.ran) == ({"c2", "c3"}, [])
        return await shop.run(agent, answered(result, c2=yes, c3=yes))

    result = asyncio.run(run())
    assert shop.ran == ["issue_refund 1 5"] * (2 if yes else 0)
    assert asked(result) == ({"c4"} if yes else set())  # a no holds for the session
