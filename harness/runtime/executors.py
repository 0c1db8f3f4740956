"""Two executors: one that plays a recorded run back, one that calls Python functions."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import partial
from inspect import isawaitable, signature
from math import isfinite
from typing import Any, Final

from critic import Plan, Proposal, Run, ToolCall, ToolCapability, ToolStep
from evals.escaping import escape_name
from evals.plan import is_late_plan
from harness.canonical import digest
from harness.failures import call_status, class_name, describe_error, type_name
from harness.runtime.permit import Permit, read_late_plan, redeem
from harness.runtime.ports import Execution, Recorder
from harness.runtime.time_limits import call_within
from harness.single_use import PermitError
from harness.tool_results import NotJson, to_json_value

Tool = Callable[..., Any]
"""A Python function for one capability, called with the step's args as keywords; may be async.

What it returns is recorded as JSON (see `harness.tool_results`). Of an object, the entries that
are declared outputs, and that the capability may produce, become outputs of the run.

Keywords that are bound with `functools.partial` cannot be set by a plan.

What it raises decides the status of the call. A time-out is `timed_out`. ToolNotRun is `failed`,
and so is any exception of a read-only tool: nothing happened. Any other exception is `unknown`:
what the tool did before it raised is not known, so a retry needs an idempotency key.
"""

_MOST_LAYERS: Final = 100  # a function may be wrapped in itself


class TranscriptExecutor:
    """Plays back the calls of a recorded run. Nothing is called; the facts are those recorded."""

    def __init__(self, transcript: Run) -> None:
        """Play back this run."""
        self._transcript = transcript

    @property
    def transcript(self) -> Run:
        """Return the recorded run."""
        return self._transcript

    def execute(self, permit: Permit, proposal: Proposal, record: Recorder) -> Execution:
        """Return the recorded outputs and measures, having recorded each call again.

        Raises:
            PermitError: the transcript is of another proposal, trace or run than the permit.
        """
        redeem(permit, proposal)
        transcript = self._transcript
        if digest(transcript.proposal) != permit.digest:
            raise PermitError("the transcript is of another proposal")
        if problem := foreign_transcript(transcript):
            raise PermitError(problem[1])
        for call in transcript.calls:
            record(call)
        return Execution(
            outputs=transcript.outputs,
            wall_ms=transcript.wall_ms,
            tokens=transcript.tokens,
            cost_micros=transcript.cost_micros,
            played_back=True,
        )


def permitted_plan(permit: Permit, proposal: Proposal) -> Plan:
    """Return the plan to execute: redeemed, or a late one, whose steps are still to be opened.

    Raises:
        PermitError: it is not a permit that was issued, or covers another proposal.
    """
    late = is_late_plan(proposal.plan)
    return read_late_plan(permit, proposal) if late else redeem(permit, proposal)


async def permitted_step(permit: Permit, plan: Plan, index: int, planned: ToolStep) -> ToolStep:
    """Return a step as it is to be sent: of a late plan once it is opened, with its values.

    Raises:
        PermitError: it cannot be opened now.
        StepRefused: its opening is refused.
    """
    return (await permit.step(index)).redeem() if is_late_plan(plan) else planned


def foreign_transcript(run: Run) -> tuple[str, str] | None:
    """Return where and why a run does not belong to its own proposal, or None.

    The loop names a run after the proposal's context, so that another name would be lost.
    """
    ctx = run.proposal.ctx
    if run.trace_id != ctx.trace_id:
        return "/trace_id", f"the transcript is of trace {run.trace_id}, not of {ctx.trace_id}"
    if ctx.run_id is not None and run.run_id != ctx.run_id:
        return "/run_id", f"the transcript is of run {run.run_id}, not of {ctx.run_id}"
    return None


class CallableExecutor:
    """Runs a plan step by step on a table of functions, one per (adapter_id, capability_id).

    It stops at the first call that does not complete: later steps may depend on it. The steps of a
    late plan are opened one by one.
    """

    opens_steps: Final = True

    def __init__(
        self, tools: Mapping[tuple[str, str], Tool], *, timeout_s: float | None = None
    ) -> None:
        """Call these functions.

        Args:
            tools: the functions by (adapter_id, capability_id).
            timeout_s: the longest that one call may take, in seconds. A call that takes longer is
                recorded as `timed_out` and not waited for. With a limit, a synchronous function
                runs in a thread of its own, which goes on after the limit.

        Raises:
            ValueError: the limit is not a positive, finite number.
        """
        if timeout_s is not None and not (isfinite(timeout_s) and timeout_s > 0):
            raise ValueError(f"timeout_s must be a positive number of seconds, not {timeout_s}")
        self._tools = dict(tools)
        self._timeout_s = timeout_s

    async def execute(self, permit: Permit, proposal: Proposal, record: Recorder) -> Execution:
        """Call the tool of every step in order and record each call as it ends.

        Raises:
            PermitError: the permit covers another proposal.
            StepRefused: the opening of a step was refused. Those before it were called.
            LookupError: a step's capability has no function here; nothing was called.
        """
        plan = permitted_plan(permit, proposal)
        steps = [(index, step) for index, step in enumerate(plan.steps) if type(step) is ToolStep]
        self._require_tools([step for _, step in steps])
        begin = getattr(record, "begin", _ignore)
        outputs: dict[str, Any] = {}
        for index, planned in steps:
            step = await permitted_step(permit, plan, index, planned)
            tool = permit.capability(step.adapter_id, step.capability_id)
            begin(index)
            call = await self._make_call(index, step, tool, record)
            if call.status != "completed":
                break
            outputs |= {
                name: value
                for name, value in produced_outputs(call, tool)
                if name in plan.declared_outputs
            }
        return Execution(outputs=outputs)

    def _require_tools(self, steps: list[ToolStep]) -> None:
        for step in steps:
            if (step.adapter_id, step.capability_id) not in self._tools:
                name = f"{step.adapter_id}.{step.capability_id}"
                raise LookupError(f"no function for {name}: add it to the executor's table")

    async def _make_call(
        self, index: int, step: ToolStep, tool: ToolCapability | None, record: Recorder
    ) -> ToolCall:
        facts: dict[str, Any] = {
            "step": index,
            "adapter_id": step.adapter_id,
            "capability_id": step.capability_id,
            "args": step.args,
        }
        function = self._tools[step.adapter_id, step.capability_id]
        if problem := _binding_problem(function, step.args):
            call = ToolCall(**facts, status="failed", error=problem)
            record(call)
            return call
        try:
            # A copy: what a tool does to its arguments must not change what is on record.
            output = await self._call_function(function, deepcopy(step.args))
        except Exception as error:
            call = ToolCall(**facts, status=call_status(error, tool), error=describe_error(error))
        except BaseException as interrupt:  # cancelled, or the program has to end
            cancelled = isinstance(interrupt, asyncio.CancelledError)
            reason = "cancelled" if cancelled else f"ended by {class_name(interrupt)}"
            record(ToolCall(**facts, status="unknown", error=reason))
            raise
        else:
            call = _completed_call(facts, output)
        record(call)
        return call

    async def _call_function(self, function: Tool, args: dict[str, Any]) -> Any:
        if self._timeout_s is not None:
            return await call_within(self._timeout_s, function, args)
        output = function(**args)
        return await output if isawaitable(output) else output


def _ignore(_step: int) -> None:
    """Do nothing: this recorder does not ask for the start of a call."""


def produced_outputs(call: ToolCall, tool: ToolCapability | None) -> Iterator[tuple[str, Any]]:
    """Yield the entries of a call's output that the manifest lets its capability produce."""
    if tool is None or type(call.output) is not dict:
        return
    for name, value in call.output.items():
        if tool.produces is None or name in tool.produces:
            yield name, value


def _binding_problem(function: Tool, args: Mapping[str, Any]) -> str | None:
    """Return why the function cannot be called with these args, or None. It is not called."""
    if taken := sorted(_bound_names(function) & args.keys()):
        return f"argument {escape_name(taken[0])} is bound by the executor: a plan cannot set it"
    try:
        # Without following `__wrapped__`: a decorator may take other arguments than it passes on.
        expected = signature(function, follow_wrapped=False)
    except Exception:  # a function without a signature, such as some built-in ones
        return None
    try:
        expected.bind(**args)
    except TypeError as error:
        return describe_error(error)
    return None


def _bound_names(function: Any) -> set[str]:
    """Return the keywords bound with `partial`, also within methods and decorated functions."""
    names = set[str]()
    for _ in range(_MOST_LAYERS):
        if isinstance(function, partial):
            names |= function.keywords.keys()
            function = function.func
        else:
            inner = getattr(function, "__wrapped__", None) or getattr(function, "__func__", None)
            if inner is None:
                break
            function = inner
    return names


def _completed_call(facts: dict[str, Any], output: Any) -> ToolCall:
    """Return the completed call, or one of unknown effect if its output cannot be recorded."""
    try:
        value = to_json_value(output)
        optional = {} if value is None else {"output": value}
        return ToolCall(**facts, status="completed", **optional)
    except Exception as error:
        kind = type_name(type(output))
        why = str(error) if isinstance(error, NotJson) else describe_error(error)
        reason = f"the tool returned {kind}, which cannot be recorded as JSON: {why}"
        return ToolCall(**facts, status="unknown", error=reason)
