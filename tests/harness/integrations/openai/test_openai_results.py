"""What comes of a call: the guard is told, and the model and the hooks notice no difference."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from agents import (
    Agent,
    AgentHooks,
    FunctionTool,
    RunHooks,
    Runner,
    ToolOutputText,
    function_tool,
)
from agents.testing import ScriptedModel, function_call

from harness.failures import ToolNotRun
from harness.integrations.openai import GuardHalted, guarded, guarding
from tests.support.effort import sampled
from tests.support.openai_shop import BYE, LOOKUP, QUIET, REFUND, Shop, told


async def closed(order_id: str) -> str:
    raise RuntimeError("the shop is closed")


async def never_began(order_id: str) -> str:
    raise ToolNotRun("the shop is closed")


async def slow(order_id: str) -> str:
    await asyncio.sleep(30)
    return "paid"


async def by_hand(_context: Any, _args: str) -> str:
    raise RuntimeError("the shop is closed")


def words(_context: Any, error: Exception) -> str:
    return f"sorry: {error}"


def tool(function: Any, **options: Any) -> Any:
    return function_tool(function, name_override="lookup", **options)


SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}}
FAILING = {
    "with the words of the SDK": (tool(closed), "unknown"),
    "with the words of the tool": (tool(closed, failure_error_function=words), "unknown"),
    "with an error": (tool(closed, failure_error_function=None), "unknown"),
    "before it began": (tool(never_began), "failed"),
    "made by hand": (FunctionTool("lookup", "", SCHEMA, by_hand, False), "unknown"),
    "too slow": (tool(slow, timeout=0.4), "unknown"),
    "too slow, with an error": (
        tool(slow, timeout=0.4, timeout_behavior="raise_exception"),
        "unknown",
    ),
}


def seen(shop: Shop, agent: Any) -> Any:
    """Return what the model was told, or what the run raised."""
    try:
        return told(asyncio.run(shop.run(agent)))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("how", sampled(reversed(FAILING), one_in=2))
def test_a_failure_is_told_to_the_guard_and_changes_nothing_for_the_model(how: str) -> None:
    failing, status = FAILING[how]
    plain, shop = Shop(), Shop()
    agent = guarded(shop.agent([LOOKUP], tools=[failing]))
    assert seen(shop, agent) == seen(plain, plain.agent([LOOKUP], tools=[failing]))
    assert shop.statuses == [status]


PAID = {"paid": 5}
OUTPUTS = [
    (PAID, PAID),
    (["paid", 5], ["paid", 5]),
    ("paid", "paid"),
    (None, None),
    (5, 5),
    (object, None),
    ('{"paid": 5}', '{"paid": 5}'),
    ('["US64"]', '["US64"]'),
    (ToolOutputText(text='{"paid": 5}'), '{"paid": 5}'),
    ({"type": "text", "text": "paid"}, "paid"),
]


@pytest.mark.parametrize(("output", "evidence"), OUTPUTS, ids=repr)
def test_a_result_is_kept_as_evidence_and_reaches_the_model_as_it_would(
    output: Any, evidence: Any
) -> None:
    def lookup(order_id: str) -> Any:
        return output

    plain, shop = Shop(), Shop()
    agent = guarded(shop.agent([LOOKUP], tools=[function_tool(lookup)]))
    plain_agent = plain.agent([LOOKUP], tools=[function_tool(lookup)])
    assert seen(shop, agent) == seen(plain, plain_agent)
    (call,) = shop.log.decisions[-1].run.calls  # type: ignore[union-attr]
    assert (call.status, call.output) == ("completed", evidence)


MALFORMED = ['{"order_id": ', "[1]", '{"order_id": "1", "order_id": "2"}', '{"order_id": NaN}']


@pytest.mark.parametrize("args", MALFORMED)
def test_the_model_is_told_what_is_wrong_with_arguments_and_goes_on(args: str) -> None:
    shop = Shop()
    malformed = REFUND.model_copy(update={"arguments": args})
    result = shop.play([LOOKUP, malformed])
    assert all("cannot be read" in told(result)[name] for name in ("c1", "c2"))
    assert (shop.ran, result.final_output) == ([], "bye")


@pytest.mark.parametrize("text", ["", "{}"])
def test_a_call_without_arguments_is_made(text: str) -> None:
    shop = Shop()
    call = LOOKUP.model_copy(update={"arguments": text})
    result = shop.play([call], tools=[function_tool(lambda: "paid", name_override="lookup")])
    assert told(result) == {"c1": "paid"}


def test_defaults_are_filled_in_after_the_ruling() -> None:
    def lookup(order_id: str = "7") -> str:
        return f"order {order_id}"

    shop = Shop()
    call = function_call("lookup", {}, call_id="c1")
    tools = [function_tool(lookup, strict_mode=False)]
    assert told(shop.play([call], tools=tools)) == {"c1": "order 7"}


class Notes:
    """Notes the moments of a run."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("on_"):
            return super().__getattribute__(name)

        async def note(*given: Any, **_named: Any) -> None:
            context = given[0] if given else _named["context"]
            self.noted.append(f"{name} {getattr(context, 'tool_name', '')}")

        return note


class NotesOfAgent(Notes, AgentHooks[Any]):
    pass


class NotesOfRun(Notes, RunHooks[Any]):
    pass


def test_hooks_of_the_agent_and_of_the_run_are_called_as_without_a_guard() -> None:
    noted = []
    for is_guarded in (True, False):
        shop, of_agent, of_run = Shop(), NotesOfAgent(), NotesOfRun()
        agent = shop.agent([LOOKUP], hooks=of_agent)
        asyncio.run(shop.run(guarded(agent) if is_guarded else agent, hooks=of_run))
        noted.append((of_agent.noted, of_run.noted))
    assert noted[0] == noted[1]
    assert len(noted[0][0]) == 8


def test_a_call_of_a_run_that_is_cancelled_has_an_unknown_end() -> None:
    shop = Shop()

    async def run() -> None:
        began = asyncio.Event()

        async def lookup(order_id: str) -> str:
            began.set()
            return await slow(order_id)

        agent = guarded(shop.agent([LOOKUP], tools=[function_tool(lookup)]))
        task = asyncio.create_task(shop.run(agent))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(30):
            while not shop.statuses:
                await asyncio.sleep(0.01)

    asyncio.run(run())
    assert shop.statuses == ["unknown"]


def test_where_the_guard_does_not_take_a_result_the_run_ends() -> None:
    shop = Shop()

    def lookup(order_id: str) -> str:
        shop.log.is_full = True
        return "paid"

    with pytest.raises(GuardHalted, match="the disk is full"):
        shop.play([LOOKUP], tools=[function_tool(lookup)])


@pytest.fixture
def loop() -> Iterator[None]:
    """The loop that the synchronous runner takes, and leaves open."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield
    made.close()
    asyncio.set_event_loop(None)


@pytest.mark.usefixtures("loop")
def test_a_guarded_agent_works_with_the_synchronous_runner() -> None:
    shop = Shop()
    agent = guarded(Agent("desk", tools=shop.tools, model=ScriptedModel([[LOOKUP], BYE])))
    with guarding(shop.session):
        assert Runner.run_sync(agent, "go", run_config=QUIET).final_output == "bye"
    assert shop.ran == ["lookup 1"]
