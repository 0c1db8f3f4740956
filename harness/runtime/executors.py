"""Two executors: one that plays a recorded run back, one that calls Python functions."""

import asyncio
from collections.abc import Callable, Mapping
from copy import deepcopy
from inspect import isawaitable
from typing import Any

from pydantic import ValidationError

from critic import Proposal, Run, ToolCall, ToolStep
from evals.escaping import escape_name
from evals.run import CallStatus
from harness.canonical import digest
from harness.runtime.permit import Permit, PermitError, redeem
from harness.runtime.ports import Execution, Recorder

Tool = Callable[..., Any]
"""A Python function for one capability, called with the step's args as keywords; may be async.

A dict it returns adds its entries, where they are declared outputs, to the run's outputs.
"""


class TranscriptExecutor:
    """Plays back the calls of a recorded run. Nothing is called; the facts are those recorded."""

    def __init__(self, transcript: Run) -> None:
        self._transcript = transcript

    def execute(self, permit: Permit, proposal: Proposal, record: Recorder) -> Execution:
        """The recorded calls and outputs, if this transcript is of the permitted proposal.

        Raises:
            PermitError: the permit covers another proposal than the transcript's.
        """
        redeem(permit, proposal)
        played = self._transcript
        if digest(played.proposal) != permit.digest:
            raise PermitError("the transcript is of another proposal")
        for call in played.calls:
            record(call)
        return Execution(
            outputs=played.outputs,
            wall_ms=played.wall_ms,
            tokens=played.tokens,
            cost_micros=played.cost_micros,
        )


class CallableExecutor:
    """Runs a plan step by step on a table of functions, one per (adapter_id, capability_id).

    It stops at the first call that does not complete: what follows may depend on it.
    """

    def __init__(self, tools: Mapping[tuple[str, str], Tool]) -> None:
        self._tools = dict(tools)

    async def execute(self, permit: Permit, proposal: Proposal, record: Recorder) -> Execution:
        """Call the tool of every step in order and record each call as it ends.

        Raises:
            PermitError: the permit covers another proposal.
            LookupError: a step's capability has no function here; nothing was called.
        """
        plan = redeem(permit, proposal)
        steps = [(at, step) for at, step in enumerate(plan.steps) if type(step) is ToolStep]
        self._require_tools([step for _, step in steps])
        outputs: dict[str, Any] = {}
        for at, step in steps:
            call = await self._call(at, step, record)
            if call.status != "completed":
                break
            if type(call.output) is dict:
                declared = plan.declared_outputs
                outputs |= {k: v for k, v in call.output.items() if k in declared}
        return Execution(outputs=outputs)

    def _require_tools(self, steps: list[ToolStep]) -> None:
        for step in steps:
            if (step.adapter_id, step.capability_id) not in self._tools:
                name = f"{step.adapter_id}.{step.capability_id}"
                raise LookupError(f"no function for {name}: add it to the executor's table")

    async def _call(self, at: int, step: ToolStep, record: Recorder) -> ToolCall:
        facts: dict[str, Any] = {
            "step": at,
            "adapter_id": step.adapter_id,
            "capability_id": step.capability_id,
            "args": step.args,
        }
        try:
            # A copy: what a tool does to its arguments must not change what is on record.
            args = deepcopy(step.args)
            output = self._tools[step.adapter_id, step.capability_id](**args)
            output = await output if isawaitable(output) else output
        except Exception as error:
            status: CallStatus = "timed_out" if isinstance(error, TimeoutError) else "failed"
            reason = _told(error)
            call = ToolCall(**facts, status=status, error=reason)
        except BaseException as interrupt:  # cancelled, or the program is told to end
            cancelled = isinstance(interrupt, asyncio.CancelledError)
            reason = "cancelled" if cancelled else f"ended by {type(interrupt).__name__}"
            record(ToolCall(**facts, status="unknown", error=reason))
            raise
        else:
            call = _completed(facts, output)
        record(call)
        return call


def _told(error: Exception) -> str:
    """What the error says of itself, if it can."""
    try:
        return escape_name(f"{type(error).__name__}: {error}")
    except Exception:
        return escape_name(type(error).__name__)


def _completed(facts: dict[str, Any], output: Any) -> ToolCall:
    """The call with its output; an output that is no JSON value is named as an error instead."""
    if output is None:
        return ToolCall(**facts, status="completed")
    try:
        call = ToolCall(**facts, status="completed", output=output)
        # A copy: what the tool keeps and changes later must not change what is on record.
        return call.model_copy(deep=True)
    except ValidationError:
        reason = f"the tool returned {type(output).__name__}, which is no JSON value"
        return ToolCall(**facts, status="completed", error=reason)
