"""Guardrails, retries, structured output and sessions at once: none of them opens a way."""

import asyncio
import dataclasses
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrail,
    InputGuardrailTripwireTriggered,
    ModelSettings,
    RunConfig,
    Runner,
    ToolsToFinalOutputResult,
    function_tool,
)
from agents.testing import ModelStep, ScriptedModel, function_call

from harness.errors import HarnessError
from harness.integrations.openai import guarded, guarding
from harness.integrations.seam.guarded import GuardedSession
from tests.support.openai_shop import BYE, LOOKUP, QUIET, REFUND, Shop, policy, told


def test_nothing_runs_outside_of_a_session() -> None:
    shop = Shop()
    with pytest.raises(HarnessError, match=r"run it in `with guarding\(session\)`"):
        asyncio.run(Runner.run(guarded(shop.agent([LOOKUP])), "go", run_config=QUIET))
    assert shop.ran == []


@pytest.mark.parametrize("is_guarded", [False, True])
def test_an_input_guardrail_in_parallel_does_not_let_a_refused_turn_run(is_guarded: bool) -> None:
    shop = Shop(policy("local_write"))

    def ruled_on() -> bool:
        status = shop.session.guard.status("s1")
        return status is not None and status.turn == 1

    async def slow(_context: Any, _agent: Any, _input: Any) -> GuardrailFunctionOutput:
        while not (ruled_on() if is_guarded else len(shop.ran) == 2):
            await asyncio.sleep(0.01)
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    agent = shop.agent([REFUND, LOOKUP], input_guardrails=[InputGuardrail(slow)])
    with pytest.raises(InputGuardrailTripwireTriggered):
        asyncio.run(shop.run(guarded(agent) if is_guarded else agent))
    assert bool(shop.ran) is not is_guarded


def test_a_model_that_is_asked_again_is_ruled_on_once() -> None:
    shop = Shop()
    failing = ModelStep.raise_error(ConnectionError("busy"), retry_advice=None)
    model = ScriptedModel([failing, [LOOKUP], BYE])
    settings = ModelSettings(retry={"max_retries": 2, "policy": lambda _attempt: True})
    agent = guarded(Agent("desk", tools=shop.tools, model=model, model_settings=settings))
    asyncio.run(shop.run(agent))
    assert shop.ran == ["lookup 1"]
    assert shop.session.guard.status("s1").turn == 1  # type: ignore[union-attr]


@dataclasses.dataclass
class Bill:
    cents: int


def bill(_context: Any, _results: list[Any]) -> Any:
    return ToolsToFinalOutputResult(is_final_output=True, final_output=Bill(5))


def test_structured_output_opens_no_way() -> None:
    shop = Shop(policy("local_write"))
    output = function_call("json_tool_call", {"cents": 5}, call_id="c3")
    result = shop.play([LOOKUP, REFUND, output], [output], output_type=Bill, tool_use_behavior=bill)
    assert shop.ran == []
    assert "not allowed here" in told(result)["c1"]


def test_a_tool_with_the_name_of_structured_output_is_guarded() -> None:
    known = policy("local_write")
    named = known.tool[-1].model_copy(update={"capability_id": "json_tool_call"})
    shop = Shop(known.model_copy(update={"tool": (*known.tool, named)}))
    tool = function_tool(shop.issue_refund, name_override="json_tool_call")
    call = function_call("json_tool_call", {"order_id": "1", "cents": 5}, call_id="c3")
    shop.play([call], tools=[tool], output_type=Bill, tool_use_behavior=bill)
    assert shop.ran == []


def test_a_refusal_may_be_the_last_word_of_an_agent_that_stops_at_tools() -> None:
    shop = Shop(policy("local_write"))
    result = shop.play([REFUND], tool_use_behavior="stop_on_first_tool")
    assert shop.ran == []
    assert "not allowed here" in result.final_output


def test_a_tool_that_is_not_there_does_not_take_the_turn_with_it() -> None:
    shop = Shop()
    agent = guarded(shop.agent([LOOKUP, function_call("nothing", {}, call_id="c3")]))
    config = RunConfig(tracing_disabled=True, tool_not_found_behavior="return_error_to_model")
    result = asyncio.run(shop.run(agent, run_config=config))
    assert shop.ran == ["lookup 1"]
    assert "not" in told(result)["c3"]


def test_sessions_at_the_same_time_do_not_mix() -> None:
    shop, strict = Shop(), Shop(policy("local_write"))
    agent = guarded(shop.agent())

    async def run(session: GuardedSession) -> Any:
        model = ScriptedModel([[LOOKUP, REFUND], BYE])
        with guarding(session):
            config = RunConfig(tracing_disabled=True, model=model)
            return told(await Runner.run(agent, "go", run_config=config))

    async def both() -> Any:
        return await asyncio.gather(run(strict.session), run(shop.session), run(strict.session))

    answers = asyncio.run(both())
    assert [answer["c1"] == "paid" for answer in answers] == [False, True, False]
    assert sorted(shop.ran) == ["issue_refund 1 5", "lookup 1"]
