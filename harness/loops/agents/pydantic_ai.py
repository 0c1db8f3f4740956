"""A Pydantic AI agent as an agent of the loops, with every provider that framework supports.

Needs the extra `agents`: `pip install 'plan-critic[agents]'`.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from decimal import ROUND_CEILING, Decimal
from typing import Any, Final

from pydantic_ai import AgentRunResult, AgentRunResultEvent
from pydantic_ai.agent import AbstractAgent, AgentRunEvents
from pydantic_ai.exceptions import (
    ModelConnectionError,
    ModelHTTPError,
    ModelOverloadedError,
    ModelRateLimitError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UserError,
)
from pydantic_ai.messages import (
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallEvent,
    ToolResultEvent,
)
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import RunUsage, UsageLimits
from pydantic_core import to_json

from harness.loops.agents.agent import AgentResult, AgentTool, Event, EventKind, describe
from harness.loops.agents.journal import JournalError
from harness.loops.agents.model import context_text
from harness.loops.agents.usage import NO_USAGE, UNLIMITED, Budget, Usage

_MICROS: Final = 10**6
_CUT_SHORT: Final = ("length", "content_filter", "error")

# Errors after which the same request may succeed: of the connection, and of a busy server.
_TRANSIENT: Final = (
    ConnectionError,
    TimeoutError,
    ModelConnectionError,
    ModelOverloadedError,
    ModelRateLimitError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
)
# Request timeout, too early, too many requests, and what servers and gateways say when busy.
_TRANSIENT_STATUS: Final = (408, 425, 429, 500, 502, 503, 504, 529)


class PydanticAIAgent:
    """Wraps an agent of Pydantic AI.

    Each call is a separate run, in the conversation whose id is the session. A turn is one request
    to the model. An output that is not text is given as JSON. What the provider does not count or
    price is absent from the usage. With `text_only`, the run has no tools and its output is text.

    A context that it is handed is given to the model as instructions, and to tools as the
    `metadata` of the run; extra tools are functions, with or without a `RunContext` first.
    """

    def __init__(
        self, agent: AbstractAgent[Any, Any], *, name: str | None = None, deps: Any = None
    ) -> None:
        """Wrap an agent. `name` is its own unless given; `deps` is handed to its tools."""
        self.name: str = name or agent.name or "pydantic-ai"
        self._agent = agent
        self._deps = deps
        self._handed: dict[str, Any] = {}

    def equipped(
        self, *, context: Mapping[str, Any] | None, extra_tools: Sequence[AgentTool]
    ) -> "PydanticAIAgent":
        """Return the same with this context and these tools beside its own.

        Raises:
            AgentFailed: the context is not a JSON object.
        """
        agent = PydanticAIAgent(self._agent, name=self.name, deps=self._deps)
        agent._handed = dict(self._handed)
        if context is not None:
            agent._handed |= {"instructions": context_text(context), "metadata": dict(context)}
        if extra_tools:
            agent._handed["toolsets"] = [FunctionToolset([*extra_tools])]
        return agent

    async def stream(
        self,
        prompt: str,
        *,
        session_id: str,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """Yield the text of the run as it comes, its tool calls, and its result.

        The result is interrupted where the run failed, or the provider cut the last reply short;
        it is transient where the failure was of the connection or of a busy server.

        Raises:
            pydantic_ai.exceptions.UserError: the agent is not set up correctly.
            JournalError: a journal in one of its tools refuses.
        """
        yield Event(kind="started", session_id=session_id)
        texts: list[str] = []
        async with self._run(prompt, session_id, budget, text_only) as events:
            try:
                while isinstance(
                    event := await self._next_event(events, session_id, text_only), Event
                ):
                    texts.append(event.data.get("text", ""))
                    yield event
                result = _finish_run(events, event)
            except (UserError, JournalError):
                raise
            except Exception as error:
                result, kind = _end_with_error(events, budget, error, "".join(texts))
                data = {"message": result.interruption_reason}
                yield Event(kind=kind, session_id=session_id, data=data)
        yield Event(kind="completed", session_id=session_id, result=result)

    async def _next_event(
        self, events: AgentRunEvents[Any], session_id: str, text_only: bool
    ) -> Event | AgentRunResult[Any]:
        """Return the next event that is of interest to a loop, or the result of the run."""
        while True:
            # The run keeps the context it starts in, and it starts with its first event.
            with self._without_tools() if text_only else nullcontext():
                happened = await anext(events)
            if isinstance(happened, AgentRunResultEvent):
                return happened.result
            if (event := _loop_event(session_id, happened)) is not None:
                return event

    def _run(
        self, prompt: str, session_id: str, budget: Budget, text_only: bool
    ) -> AbstractAsyncContextManager[AgentRunEvents[Any]]:
        return self._agent.run_stream_events(
            prompt,
            output_type=str if text_only else None,
            conversation_id=session_id,
            deps=self._deps,
            usage_limits=_limits(budget),
            infer_name=False,
            **self._handed,
        )

    def _without_tools(self) -> AbstractContextManager[None]:
        return self._agent.override(tools=[], toolsets=[], native_tools=[])


def _limits(budget: Budget) -> UsageLimits:
    money = budget.max_cost_micros
    return UsageLimits(
        total_tokens_limit=budget.max_tokens,
        cost_limit=None if money is None else Decimal(money) / _MICROS,
    )


def _loop_event(session_id: str, happened: object) -> Event | None:
    """Return the event of a loop for an event of a run; None if loops have none for it."""
    match happened:
        case PartStartEvent(part=TextPart(content=text)) if text:
            data = {"text": _clean_text(text)}
            return Event(kind="model_chunk", session_id=session_id, data=data)
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
            data = {"text": _clean_text(text)}
            return Event(kind="model_chunk", session_id=session_id, data=data)
        case ToolCallEvent(part=part):
            data = {"tool": part.tool_name, "call_id": part.tool_call_id}
            data["args"] = _clean_text(part.args_as_json_str())
            return Event(kind="tool_call", session_id=session_id, data=data)
        case ToolResultEvent(part=part):
            data = {"tool": part.tool_name, "call_id": part.tool_call_id}
            data["output"] = _clean_text(part.model_response_str())
            return Event(kind="tool_result", session_id=session_id, data=data)
        case _:
            return None


def _agent_result(events: AgentRunEvents[Any], output: str, **facts: Any) -> AgentResult:
    used = events.usage
    return AgentResult(output=output, turns=used.requests, usage=_usage(used), **facts)


def _finish_run(events: AgentRunEvents[Any], run: AgentRunResult[Any]) -> AgentResult:
    output, reason = _output_text(run.output), run.response.finish_reason
    if reason not in _CUT_SHORT:
        return _agent_result(events, output)
    why = f"the model was cut short: {reason}"
    return _agent_result(events, output, interrupted=True, interruption_reason=why)


def _end_with_error(
    events: AgentRunEvents[Any], budget: Budget, error: Exception, output: str
) -> tuple[AgentResult, EventKind]:
    limit = budget.exceeded_by(_usage(events.usage))
    facts: dict[str, Any] = {"interrupted": True, "interruption_reason": describe(error)}
    if limit is None and _is_transient(error):
        facts["transient"] = True
    if limit is None:
        return _agent_result(events, output, **facts), "error"
    facts |= {"interruption_reason": f"budget:{limit}", "stop_reason": "budget"}
    return _agent_result(events, output, **facts), "budget_exceeded"


def _is_transient(error: Exception) -> bool:
    if isinstance(error, ModelHTTPError) and error.status_code in _TRANSIENT_STATUS:
        return True
    return isinstance(error, _TRANSIENT)


def _usage(used: RunUsage) -> Usage:
    if not used.requests and not used.has_values():
        return NO_USAGE
    if used.unmeasured_requests:  # the counts are a lower bound only
        return Usage()
    tokens = {"tokens_in": used.input_tokens, "tokens_out": used.output_tokens}
    if used.cost is None:
        return Usage(**tokens)
    # Up, never down: a budget must not count less than was spent.
    micros = (used.cost * _MICROS).to_integral_value(ROUND_CEILING)
    return Usage(**tokens, cost_micros=int(micros))


def _output_text(output: object) -> str:
    return _clean_text(output if isinstance(output, str) else to_json(output).decode())


def _clean_text(text: str) -> str:
    """Return text that UTF-8 can encode: a lone surrogate becomes `?`."""
    return text.encode("utf-8", "replace").decode()
