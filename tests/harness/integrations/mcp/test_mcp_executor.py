"""The MCP executor in the canonical loop, with the real client and real servers, in both eras."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, get_args

import pytest
from mcp import Client
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent

from critic import ToolCall
from evals.run import CallStatus
from harness.integrations.mcp import McpExecutor, mcp_executor
from harness.runtime.canonical_loop import Outcome
from harness.runtime.permit import issue_permit
from harness.single_use import PermitError
from tests.harness.integrations.mcp.mcp_shop import ERAS
from tests.harness.runtime.world import OUTPUTS, KeptLog, turn
from tests.support.effort import sampled_rows
from tests.support.examples import good_proposal, proposal_of, refused_proposal

eras = pytest.mark.parametrize("era", ERAS)


def lookup(id: str) -> dict[str, str]:
    return {"order_status": f"{id} delivered", "status": "paid"}


def issue_refund(id: str, amount_inr: int) -> dict[str, Any]:
    return {**OUTPUTS, "refund_amount_inr": amount_inr, "order_status": "not for this tool"}


def server(function: Callable[..., Any], name: str) -> MCPServer:
    app = MCPServer("s")
    app.add_tool(function, name=name)
    return app


async def run(
    era: str, refund: Callable[..., Any] = issue_refund, proposal: Any = None, **limits: Any
) -> tuple[Outcome, list[ToolCall]]:
    mode: Any = "legacy" if era == "legacy" else "auto"
    log = KeptLog()
    async with AsyncExitStack() as stack:
        orders = await stack.enter_async_context(Client(server(lookup, "lookup"), mode=mode))
        app = server(refund, "issue_refund")
        payments = await stack.enter_async_context(Client(app, mode=mode))
        servers = {"adp_orders": orders, "adp_payments": payments}
        outcome = await turn(McpExecutor(servers, **limits), log=log, proposal=proposal)
    ran = log.decisions[-1].run
    return outcome, [] if ran is None else list(ran.calls)


@eras
def test_a_plan_runs_on_its_servers_and_its_outputs_are_those_of_its_tools(era: str) -> None:
    outcome, calls = asyncio.run(run(era))
    assert outcome.report.status == "completed"
    assert [call.status for call in calls] == ["completed", "completed"]
    assert calls[0].output == {"order_status": "ord_881 delivered", "status": "paid"}
    assert outcome.run is not None
    assert outcome.run.outputs == OUTPUTS


@eras
def test_a_refused_plan_reaches_no_server(era: str) -> None:
    outcome, calls = asyncio.run(run(era, proposal=proposal_of(refused_proposal())))
    assert (outcome.report.status, calls) == ("refused_by_critic", [])


async def never(id: str, amount_inr: int) -> str:
    await asyncio.sleep(60)
    return "late"


def crashes(id: str, amount_inr: int) -> str:
    raise RuntimeError("a secret of the server")


def as_if_late(id: str, amount_inr: int) -> str:
    raise MCPError(code=-32001, message="denied")


FAILING = [(crashes, "failed"), (as_if_late, "unknown"), (never, "timed_out")]


@pytest.mark.parametrize(
    ("era", "refund", "status"),
    sampled_rows([(era, *how) for how in FAILING for era in ERAS], one_in=len(ERAS)),
)
def test_a_call_that_does_not_complete_is_recorded_as_what_it_is(
    era: str, refund: Callable[..., Any], status: str
) -> None:
    _, calls = asyncio.run(run(era, refund, timeout_s=0.5 if refund is never else 10))
    assert [call.status for call in calls] == ["completed", status]
    assert "secret" not in str(calls[1].error)


@pytest.mark.parametrize("status", [one for one in get_args(CallStatus) if one != "completed"])
def test_the_first_call_that_does_not_complete_is_the_last(
    status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later steps may depend on it, and nobody knows what one of unknown end did."""

    class Failing:
        async def call_tool(self, *_: Any) -> Any:
            raise ConnectionError

    monkeypatch.setattr(mcp_executor, "call_status", lambda *_: status)
    proposal, calls = proposal_of(good_proposal()), list[ToolCall]()
    executor = McpExecutor({"adp_orders": Failing(), "adp_payments": Failing()})
    done = asyncio.run(executor.execute(issue_permit(proposal), proposal, calls.append))
    assert ([call.status for call in calls], done.outputs) == ([status], {})


def test_what_is_not_connected_is_missed_before_the_first_call() -> None:
    proposal, calls = proposal_of(good_proposal()), list[ToolCall]()
    executor = McpExecutor({})
    with pytest.raises(LookupError, match="no server for adp_orders"):
        asyncio.run(executor.execute(issue_permit(proposal), proposal, calls.append))
    permit = issue_permit(proposal)
    permit.withdraw()
    with pytest.raises(PermitError):
        asyncio.run(executor.execute(permit, proposal, calls.append))
    assert calls == []


def test_a_cancelled_call_is_recorded_as_unknown() -> None:
    class Waiting:
        async def call_tool(self, *_: Any) -> Any:
            await asyncio.sleep(60)

    async def cancelled() -> list[ToolCall]:
        proposal, calls = proposal_of(good_proposal()), list[ToolCall]()
        executor = McpExecutor({"adp_orders": Waiting(), "adp_payments": Waiting()})
        task = asyncio.ensure_future(
            executor.execute(issue_permit(proposal), proposal, calls.append)
        )
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return calls

    (call,) = asyncio.run(cancelled())
    assert (call.status, call.error) == ("unknown", "cancelled")


class Echo:
    """A client whose tools return the arguments, each only after the calls of others."""

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        for _ in range(3):
            await asyncio.sleep(0)
        text = json.dumps({"tool": name, "args": arguments})
        return CallToolResult(content=[TextContent(type="text", text=text)])


def test_two_runs_of_one_executor_are_each_recorded_as_they_are_alone() -> None:
    async def recorded(count: int) -> list[list[ToolCall]]:
        executor = McpExecutor({"adp_orders": Echo(), "adp_payments": Echo()})
        proposal, runs = proposal_of(good_proposal()), [list[ToolCall]() for _ in range(count)]
        permits = [issue_permit(proposal) for _ in runs]
        pairs = zip(permits, runs, strict=True)
        await asyncio.gather(*(executor.execute(one, proposal, run.append) for one, run in pairs))
        return runs

    (alone,) = asyncio.run(recorded(1))
    assert [call.capability_id for call in alone] == ["lookup", "issue_refund"]
    assert asyncio.run(recorded(2)) == [alone, alone]


@pytest.mark.parametrize("limit", [0, -1, float("inf"), float("nan")])
def test_a_limit_is_a_positive_number_of_seconds(limit: float) -> None:
    with pytest.raises(ValueError, match="positive number of seconds"):
        McpExecutor({}, timeout_s=limit)
