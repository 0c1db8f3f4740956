"""The capability that guards a Pydantic AI agent."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from pydantic_ai import DeferredToolResults, RunContext, ToolDefinition
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models import Model, ModelRequestContext, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.output import OutputContext
from pydantic_ai.toolsets import (
    AbstractToolset,
    FunctionToolset,
    PreparedToolset,
    ToolsetTool,
    WrapperToolset,
)
from typing_extensions import override

from harness.failures import call_status, describe_error
from harness.guard import Guard
from harness.integrations.pydantic_ai.pydantic_ai_parts import ToolArgs, output_of, prompt_text
from harness.integrations.pydantic_ai.pydantic_ai_run import GuardedRun, refused_unruled
from harness.integrations.seam.guarded import GuardedSession, session_within
from harness.integrations.seam.principals import NameSource, Principals

_Context = RunContext[Any]
_OUTSIDE: Final = ("external", "unapproved")
"""The kinds of tools whose calls are handed out without a hook right before they are made."""


@dataclass
class GuardCapability(AbstractCapability[Any]):
    """Holds an agent to the policy of a guard. One session is one conversation.

    Attributes:
        guard: rules on the calls.
        approver: who answers, where the metadata of an answer names no `approver`. The caller
            authenticates them.
        system: the words of the operator, such as the instructions of the agent.
        scope: the tools that the requests are for, by their names in the policy.
        user, tenant: whom a conversation is for: identifiers, or functions of the `RunContext` of
            its first run. The caller authenticates them.
        native_tools: kinds of tools of the provider that may run before they are ruled on.
        output_functions: functions of `output_type` that may run without a ruling.
        nested: the agent is only ever a sub-agent: it ends where it runs outside of a guarded call,
            as in a thread that a tool starts without its context.
    """

    guard: Guard
    approver: str = "user"
    system: str | None = None
    scope: Sequence[str] | None = None
    user: NameSource = None
    tenant: NameSource = None
    native_tools: Collection[str] = ()
    output_functions: Collection[str] = ()
    nested: bool = False
    _run: GuardedRun | None = field(default=None, init=False, repr=False)

    @override
    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    @override
    def for_agent(self, agent: AbstractAgent[Any, Any]) -> "GuardCapability":
        """Check the tools of an agent that is being built, and the scope.

        Raises:
            UnknownTool, PolicyError: the policy lacks a tool, or a name of the scope.
        """
        self.guard.check_scope(self.scope)
        _check_tools(self.guard, agent)
        return self

    @override
    async def for_run(self, ctx: _Context) -> "GuardCapability":
        """Return the capability of one run. A sub-agent acts in the session of its caller.

        Raises:
            ValueError: the capability is loaded on demand, so nothing would be guarded before.
            UnknownTool: the policy lacks a tool of the agent.
            GuardHalted: it is a sub-agent, and runs outside of the calls of another.
        """
        if self.defer_loading:
            raise ValueError("a guard cannot be loaded on demand: leave defer_loading out")
        if ctx.agent is not None:  # which has the tools that were added since it was built
            _check_tools(self.guard, ctx.agent)
        own, conversation = copy(self), str(ctx.conversation_id or ctx.run_id)
        within = session_within(self.guard, is_nested=self.nested)
        session = within or GuardedSession(self.guard, conversation)
        own._run = GuardedRun(session, self.approver)
        return own

    @override
    async def before_run(self, ctx: _Context) -> None:
        """Tell what the user said. A run without a prompt goes on with an answer."""
        session = self._own.session
        is_open = self.guard.status(session.session) is not None
        if ctx.prompt is None and is_open:
            return
        whom = {} if is_open else Principals(self.user, self.tenant).names_in(ctx)
        began = partial(session.began, system=self.system, scope=self.scope, **whom)
        await asyncio.to_thread(began, prompt_text(ctx.prompt))

    @override
    async def before_node_run(self, ctx: _Context, *, node: Any) -> Any:
        """Take in the answers that a run begins with."""
        results = getattr(node, "deferred_tool_results", None)
        if isinstance(results, DeferredToolResults):
            await self._own.take_answers(results)
        return node

    @override
    async def before_model_request(
        self, ctx: _Context, request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Refuse tools of the provider: they run before they can be ruled on."""
        await self._own.begin_request(ctx)
        native = request_context.model_request_parameters.native_tools
        self._require({tool.kind for tool in native} - {*self.native_tools}, "native_tools")
        return request_context

    @override
    def get_wrapper_model(self, model: Model) -> Model | None:
        return None if self._run is None else _WatchedModel(model, self._run)

    @override
    async def after_model_request(
        self, ctx: _Context, *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Rule on the calls of a response: the plan seam."""
        await self._own.rule_response(response, request_context.model_request_parameters)
        return response

    @override
    async def after_tool_validate(
        self, ctx: _Context, *, call: ToolCallPart, tool_def: ToolDefinition, args: ToolArgs
    ) -> ToolArgs:
        if tool_def.kind in _OUTSIDE and not ctx.tool_call_approved:
            await self._own.hold_call(ctx, call, tool_def)
        return args

    @override
    async def on_tool_validate_error(
        self, ctx: _Context, *, call: ToolCallPart, tool_def: ToolDefinition, args: Any, error: Any
    ) -> ToolArgs:
        """Tell that a call was not made: its arguments are not those of the tool."""
        await self._own.report_end(call.tool_call_id, "failed", error=describe_error(error))
        raise error

    @override
    async def before_tool_execute(
        self, ctx: _Context, *, call: ToolCallPart, tool_def: ToolDefinition, args: ToolArgs
    ) -> ToolArgs:
        """Rule on a call right before it is made: the call seam."""
        return await self._own.start_call(ctx, call, args)

    @override
    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        """Check the arguments once more where no hook is left.

        Raises:
            ValueError: another capability wraps the tools inside of the guard.
        """
        if not isinstance(toolset, PreparedToolset):
            raise ValueError("another capability wraps the tools inside of the guard: list it last")
        return _CheckedToolset(toolset, self._own)

    @override
    async def wrap_tool_execute(
        self,
        ctx: _Context,
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: ToolArgs,
        handler: Callable[[ToolArgs], Awaitable[Any]],
    ) -> Any:
        """Tell how a call ended. Agents that it runs are sub-agents of this one."""
        run, name = self._own, call.tool_call_id
        try:
            with run.session.running(name):
                result = await handler(args)
        except (CallDeferred, ApprovalRequired):
            run.leave_call(name)
            raise
        except Exception as error:
            if run.leave_call(name):
                await run.report_end(name, call_status(error, None), error=describe_error(error))
            raise
        if run.leave_call(name):
            await run.report_end(name, "completed", output=output_of(result))
        return result

    @override
    async def before_output_process(
        self, ctx: _Context, *, output_context: OutputContext, output: Any
    ) -> Any:
        """Refuse functions that would run on what the model wrote, without a ruling."""
        if output_context.has_function:
            name = output_context.function_name or "output_type"
            self._require({name} - {*self.output_functions}, "output_functions")
        return output

    @property
    def _own(self) -> GuardedRun:
        if self._run is None:
            raise RuntimeError("the guard holds runs only: let the agent run")
        return self._run

    def _require(self, unruled: set[str], option: str) -> None:
        """End the run for what would happen without a ruling. A shadow ends none."""
        if unruled and not self.guard.is_shadow:
            raise refused_unruled(unruled, option)


def _check_tools(guard: Guard, agent: AbstractAgent[Any, Any]) -> None:
    """Check that the policy has the functions of an agent. A shadow refuses none.

    Raises:
        UnknownTool: it lacks some.
    """
    held = [one for one in agent.toolsets if isinstance(one, FunctionToolset)]
    if not guard.is_shadow:
        guard.check_tools(name for toolset in held for name in toolset.tools)


@dataclass
class _CheckedToolset(WrapperToolset[Any]):
    """The tools of a run: what is right around them, inside of every hook."""

    run: GuardedRun

    @override
    async def call_tool(
        self, name: str, tool_args: ToolArgs, ctx: _Context, tool: ToolsetTool[Any]
    ) -> Any:
        args = await self.run.check_call(ctx, tool, tool_args)
        return await super().call_tool(name, args, ctx, tool)


class _WatchedModel(WrapperModel):
    """A model whose response is known to the guard while it streams."""

    def __init__(self, wrapped: Model, run: GuardedRun) -> None:
        super().__init__(wrapped)
        self._run = run

    @override
    @asynccontextmanager
    async def request_stream(
        self,
        messages: Any,
        model_settings: Any,
        model_request_parameters: ModelRequestParameters,
        run_context: Any = None,
    ) -> AsyncGenerator[StreamedResponse]:
        async with super().request_stream(
            messages, model_settings, model_request_parameters, run_context
        ) as response:
            self._run.streams(response, model_request_parameters)
            yield response
