"""Guard agents of the OpenAI Agents SDK: their tools, handoffs and sub-agents."""

import asyncio
import copy
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final
from weakref import ref

from harness.canonical import canonical_json
from harness.errors import HarnessError
from harness.failures import call_status, describe_error
from harness.guard import Guard
from harness.integrations.openai.openai_run import (
    RUN,
    GuardedSdkRun,
    current_run,
    sdk_halted,
)
from harness.integrations.seam.guarded import AskedCall, session_within
from harness.integrations.seam.ruling_replies import GuardHalted, reply_without_person

_MARK: Final = "_is_guarded_by_critic"
_BY_THE_PROVIDER: Final = (
    "WebSearchTool",
    "FileSearchTool",
    "CodeInterpreterTool",
    "ImageGenerationTool",
    "HostedMCPTool",
    "ToolSearchTool",
    "ProgrammaticToolCallingTool",
)


class Unguardable(HarnessError, ValueError):
    """An agent could act around the guard. The message says how, and what to do."""


def guarded(agent: Any, *, unguarded: Collection[str] = (), guard: Guard | None = None) -> Any:
    """Return an agent that is guarded, with the agents that it hands off to.

    Args:
        unguarded: names of tools that the provider runs, which are left to it.
        guard: checks its tools now. Otherwise, the guard of a run does when that begins.

    Raises:
        Unguardable: it has a tool that would act around the guard.
        UnknownTool: the policy of the guard lacks one of its tools.
    """
    from agents import Agent  # noqa: PLC0415 - seconds

    if not isinstance(agent, Agent):
        raise Unguardable(f"{type(agent).__name__} is not an agents.Agent: it cannot be guarded")
    graph = _Graph(frozenset(unguarded), {})
    held = graph.agent(agent)
    for _, one in graph.made.values():
        _check_tools(guard, one)
    return held


def _check_tools(guard: Guard | None, agent: Any) -> None:
    """Check that the policy has the tools that an agent declares. A shadow refuses none.

    Raises:
        UnknownTool: it lacks some.
    """
    if guard is not None and not guard.is_shadow:
        held = [
            tool for tool in agent.tools if isinstance(getattr(tool, "on_invoke_tool", None), _Call)
        ]
        guard.check_tools(_policy_name(tool.name, tool._tool_namespace) for tool in held)


def _is_guarded(agent: Any) -> bool:
    """Return True for an agent that `_agent_type` made, with its own hooks and handoffs."""
    ways = [getattr(one, "on_invoke_handoff", None) for one in agent.handoffs]
    is_held = hasattr(type(agent), _MARK) and isinstance(agent.hooks, _hooks_type())
    return is_held and all(isinstance(way, _Transfer) for way in ways)


@dataclass(frozen=True)
class _Graph:
    """Agents that hand off to one another. `made` has each with its guarded one, by its `id`."""

    unguarded: frozenset[str]
    made: dict[int, tuple[Any, Any]]

    def agent(self, agent: Any) -> Any:
        if _is_guarded(agent):
            return agent
        if id(agent) not in self.made:
            held = agent.clone(tools=[], handoffs=[], hooks=_hooks_type()(agent.hooks))
            held.__class__ = _agent_type(type(agent), self.unguarded)  # type: ignore[arg-type]
            self.made[id(agent)] = (agent, held)
            held.tools = [_guard_tool(tool, self.unguarded) for tool in agent.tools]
            held.handoffs = [self.handoff(one) for one in agent.handoffs]
        return self.made[id(agent)][1]

    def handoff(self, given: Any) -> Any:
        from agents import Handoff, handoff  # noqa: PLC0415 - seconds

        known = given if isinstance(given, Handoff) else handoff(given)
        if isinstance(known.on_invoke_handoff, _Transfer):
            return known
        target = known._agent_ref and known._agent_ref()
        held = replace(known, on_invoke_handoff=_Transfer(known, self))
        held._agent_ref = None if target is None else ref(self.agent(target))
        return held


@cache
def _agent_type(base: Any, unguarded: frozenset[str]) -> Any:
    class GuardedAgent(base):  # type: ignore[misc]
        async def get_all_tools(self, run_context: Any) -> list[Any]:
            """Take in what a person said, and return the tools of a turn, all guarded."""
            if not _is_guarded(self):
                raise Unguardable("this agent was changed after it was guarded: guard it again")
            if (run := RUN.get()) is not None:
                _check_tools(run.session.guard, self)
                await run.settle(run_context, {one.tool_name for one in self.handoffs})
            return [
                _guard_tool(tool, unguarded) for tool in await super().get_all_tools(run_context)
            ]

    setattr(GuardedAgent, _MARK, True)
    return GuardedAgent


@cache
def _hooks_type() -> Any:
    """Return hooks that are the plan seam, and forward to those that the agent had."""
    from agents.lifecycle import AgentHooksBase  # noqa: PLC0415 - seconds

    def forward_hook(name: str) -> Callable[..., Any]:
        async def call(self: Any, *given: Any, **named: Any) -> None:
            if self.inner is not None:
                await getattr(self.inner, name)(*given, **named)

        return call

    async def on_llm_end(self: Any, context: Any, agent: Any, response: Any) -> None:
        if calls := [*_asked_calls(agent, response.output)]:
            await current_run().rule(calls)
        if self.inner is not None:
            await self.inner.on_llm_end(context, agent, response)

    def __init__(self: Any, inner: Any) -> None:
        self.inner = inner

    names = (name for name in dir(AgentHooksBase) if name.startswith("on_"))
    own = {"__init__": __init__, "on_llm_end": on_llm_end}
    return type("GuardHooks", (AgentHooksBase,), {name: forward_hook(name) for name in names} | own)


def _asked_calls(agent: Any, output: Collection[Any]) -> Iterator[AskedCall]:
    """Yield the calls of a turn. Structured output that comes as a call has no effect."""
    from openai.types.responses import ResponseFunctionToolCall  # noqa: PLC0415 - seconds

    for item in output:
        if not isinstance(item, ResponseFunctionToolCall):
            continue
        if item.name != "json_tool_call" or agent.output_type in (None, str):
            name = _policy_name(item.name, item.namespace)
            yield AskedCall(item.call_id, name, item.arguments or "{}")


def _policy_name(name: str, namespace: str | None) -> str:
    """Return the name of a tool in the policy. A tool that is loaded late is its own namespace."""
    return name if namespace in (None, "", name) else f"{namespace}.{name}"


def _guard_tool(tool: Any, unguarded: Collection[str]) -> Any:
    """Return a tool that is guarded, or that the provider may run.

    Raises:
        Unguardable: it is neither.
    """
    from agents import FunctionTool  # noqa: PLC0415 - seconds

    if not isinstance(tool, FunctionTool):
        if type(tool).__name__ in _BY_THE_PROVIDER and tool.name in unguarded:
            return tool
        raise Unguardable(f"tool {tool.name} cannot be guarded: leave it out of the agent")
    if isinstance(tool.on_invoke_tool, _Call):
        return tool
    runs = tool._agent_instance
    if runs is not None and not _is_guarded(runs):
        raise Unguardable(f"tool {tool.name} runs an agent: make it by guarded(agent).as_tool()")
    held = copy.copy(tool)
    held.__class__ = _tool_type(type(tool))  # type: ignore[arg-type]
    held.on_invoke_tool = _Call(tool)
    return held


@cache
def _tool_type(base: Any) -> Any:
    """Return tools whose calls wait for a person where the guard asks about their turn."""

    def needs_approval(self: Any) -> Any:
        run = RUN.get()
        if run is not None and run.asks_about(_policy_name(self.name, self._tool_namespace)):
            return True
        return vars(self)["needs_approval"]

    def keep(self: Any, value: Any) -> None:
        vars(self)["needs_approval"] = value

    return type("GuardedTool", (base,), {"needs_approval": property(needs_approval, keep)})


class _Call:
    """The call seam: runs a tool with the arguments that were ruled on, and tells what it gave."""

    def __init__(self, tool: Any) -> None:
        self._tool = tool
        self._name = _policy_name(tool.name, tool._tool_namespace)
        # What comes before the SDK makes a text of an error.
        self._invoke = getattr(tool.on_invoke_tool, "_invoke_tool_impl", tool.on_invoke_tool)

    async def __call__(self, context: Any, arguments: str) -> Any:
        run = current_run()
        call = AskedCall(context.tool_call_id, self._name, arguments or "{}")
        if (waiting := await run.take_waiting(call)) is not None:
            return await self._make_call(context, call, arguments, replace(run, session=waiting))
        ruling = await run.start(call)
        if not ruling:
            return reply_without_person(ruling)
        with run.session.running(call.id):
            nested = session_within(run.session.guard) or run.session
        text = canonical_json(ruling.args).decode()
        return await self._make_call(context, call, text, replace(run, session=nested))

    async def _make_call(
        self, context: Any, call: AskedCall, text: str, inner: GuardedSdkRun
    ) -> Any:
        run, token = current_run(), RUN.set(inner)
        try:
            output = await self._invoke(context, text)
        except GuardHalted:
            raise
        except asyncio.CancelledError:
            await run.report_end(call, "unknown", error="the call was cancelled")
            raise
        except Exception as error:
            await run.report_end(call, call_status(error, None), error=describe_error(error))
            return await self._report_failure(context, text, error)
        finally:
            RUN.reset(token)
        if _waits(context):
            run.memory.nested[call.id] = (call, inner.session)
        else:
            await run.report_end(call, "completed", output=_read_evidence(output))
        return output

    async def _report_failure(self, context: Any, text: str, error: Exception) -> Any:
        """Do what the tool would have done about an error without a guard."""
        handler = self._tool.on_invoke_tool
        if self._invoke is handler:
            raise error

        async def raises(_context: Any, _text: str) -> Any:
            raise error

        report = handler._on_handled_error
        return await type(handler)(raises, report, function_tool=self._tool)(context, text)


def _read_evidence(output: Any) -> Any:
    """Return a result as the model is given it: the text of a part that is text, or the value."""
    part = vars(output) if type(output).__name__ == "ToolOutputText" else output
    is_text = type(part) is dict and part.keys() == {"type", "text"} and part["type"] == "text"
    return part["text"] if is_text else output


def _waits(context: Any) -> bool:
    """Return True where the agent that a tool runs waits for a person."""
    from agents import agent_tool_state as state  # noqa: PLC0415 - seconds

    scope = state.get_agent_tool_state_scope(context)
    result = state.peek_agent_tool_run_result(context.tool_call, scope_id=scope)
    return bool(getattr(result, "interruptions", None))


class _Transfer:
    """The call seam of a handoff. Where it is not allowed the run ends: no result can refuse it."""

    def __init__(self, handoff: Any, graph: _Graph) -> None:
        self._handoff, self._graph = handoff, graph

    async def __call__(self, context: Any, arguments: str) -> Any:
        run, name = current_run(), self._handoff.tool_name
        call = AskedCall(run.memory.ids.get(name, name), name, arguments or "{}")
        ruling = await run.start(call)
        if not ruling:
            raise sdk_halted(ruling)
        text = canonical_json(ruling.args).decode()
        agent = await self._handoff.on_invoke_handoff(context, text)
        await run.report_end(call, "completed")
        return _Graph(self._graph.unguarded, {**self._graph.made}).agent(agent)
