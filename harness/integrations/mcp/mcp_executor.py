"""The executor whose tools are those of MCP servers."""

import asyncio
from collections.abc import Mapping
from copy import deepcopy
from math import isfinite
from typing import Any, Final, Protocol

from critic import Proposal, ToolCall, ToolCapability, ToolStep
from harness.failures import call_status, class_name, describe_error
from harness.integrations.mcp.mcp_results import ended_with
from harness.runtime.executors import permitted_plan, permitted_step, produced_outputs
from harness.runtime.permit import Permit
from harness.runtime.ports import Execution, Recorder


class McpClient(Protocol):
    """The methods that a client must have: `mcp.Client` is one."""

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """Call a tool and return its result, a model of the SDK."""
        ...


class McpExecutor:
    """Runs a plan step by step on MCP servers, one for each adapter_id.

    It stops at the first call that does not complete: later steps may depend on it. A call that the
    tool itself calls an error is `failed`. One that the protocol ends with an error, or that is not
    answered, is `unknown`, or `failed` where the tool only reads. The steps of a late plan are
    opened one by one.
    """

    opens_steps: Final = True

    def __init__(self, servers: Mapping[str, McpClient], *, timeout_s: float | None = None) -> None:
        """Call the tools of these servers, by the capability_id.

        Args:
            servers: clients that are connected, by adapter_id.
            timeout_s: the longest that one call may take, in seconds.

        Raises:
            ValueError: the limit is not a positive, finite number.
        """
        if timeout_s is not None and not (isfinite(timeout_s) and timeout_s > 0):
            raise ValueError(f"timeout_s must be a positive number of seconds, not {timeout_s}")
        self._servers: Final = dict(servers)
        self._timeout_s: Final = timeout_s

    async def execute(self, permit: Permit, proposal: Proposal, record: Recorder) -> Execution:
        """Call the tool of every step in order and record each call as it ends.

        Raises:
            PermitError: the permit covers another proposal.
            StepRefused: the opening of a step was refused. Those before it were called.
            LookupError: a step is of an adapter that has no server here; nothing was called.
        """
        plan = permitted_plan(permit, proposal)
        steps = [(index, step) for index, step in enumerate(plan.steps) if type(step) is ToolStep]
        for _, step in steps:
            if step.adapter_id not in self._servers:
                raise LookupError(f"no server for {step.adapter_id}: add it to the executor")
        begin = getattr(record, "begin", lambda _step: None)
        outputs: dict[str, Any] = {}
        for index, planned in steps:
            step = await permitted_step(permit, plan, index, planned)
            tool = permit.capability(step.adapter_id, step.capability_id)
            begin(index)
            call = await self._make_call(index, step, tool, record)
            if call.status != "completed":
                break
            produced = dict(produced_outputs(call, tool))
            outputs |= {name: produced[name] for name in produced if name in plan.declared_outputs}
        return Execution(outputs=outputs)

    async def _make_call(
        self, index: int, step: ToolStep, tool: ToolCapability | None, record: Recorder
    ) -> ToolCall:
        facts: dict[str, Any] = {
            "step": index,
            "adapter_id": step.adapter_id,
            "capability_id": step.capability_id,
            "args": step.args,
        }
        try:
            ended = await self._call_tool(step, tool)
        except BaseException as interrupt:  # cancelled, or the program has to end
            cancelled = isinstance(interrupt, asyncio.CancelledError)
            reason = "cancelled" if cancelled else f"ended by {class_name(interrupt)}"
            record(ToolCall(**facts, status="unknown", error=reason))
            raise
        call = ToolCall(**facts, **ended)
        record(call)
        return call

    async def _call_tool(self, step: ToolStep, tool: ToolCapability | None) -> dict[str, Any]:
        """Call a tool and return how that ended. What the client raises is how it ended."""
        client = self._servers[step.adapter_id]
        try:
            async with asyncio.timeout(self._timeout_s):
                result = await client.call_tool(step.capability_id, deepcopy(step.args))
            wire = result.model_dump(mode="json", by_alias=True, exclude_none=True)
            return ended_with({"result": wire})
        except Exception as error:
            return {"status": call_status(error, tool), "error": describe_error(error)}
