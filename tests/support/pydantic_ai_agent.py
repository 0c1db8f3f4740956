"""Scenes of the contract, played by Pydantic AI with a scripted model."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.run import AgentRunResult, AgentRunResultEvent
from typing_extensions import override

from harness.guard import Guard
from harness.integrations.pydantic_ai import GuardCapability
from harness.integrations.seam.guarded import AskedCall, CallReply
from harness.testing.seams import HELPER, LAST_WORDS, Scene, ScriptedTurn, Trace

OUTER = ScriptedTurn((AskedCall("c1", HELPER, {"task": "do it"}),))
MOST_QUESTIONS = 5
"""How often a person answers before they leave."""


class Script:
    """A model that answers with turns, one for each response so far, and then its last words."""

    def __init__(self, turns: Sequence[ScriptedTurn]) -> None:
        self.turns = turns
        self.shown: frozenset[str] | None = None

    def turn(self, messages: list[ModelMessage], info: AgentInfo) -> ScriptedTurn:
        if self.shown is None:
            self.shown = frozenset(tool.name for tool in info.function_tools)
        at = sum(isinstance(message, ModelResponse) for message in messages)
        return self.turns[at] if at < len(self.turns) else ScriptedTurn((), LAST_WORDS)

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        turn = self.turn(messages, info)
        calls = [ToolCallPart(one.tool, one.args, one.id) for one in turn.calls]  # type: ignore[arg-type]
        return ModelResponse([*([TextPart(turn.text)] if turn.text else []), *calls])

    async def stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        for at, part in enumerate(self.answer(messages, info).parts):
            if isinstance(part, TextPart):
                yield part.content
            elif isinstance(part, ToolCallPart):
                args = part.args if isinstance(part.args, str) else part.args_as_json_str()
                call = DeltaToolCall(part.tool_name, args, tool_call_id=part.tool_call_id)
                yield {at: call}

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self.answer, stream_function=self.stream)


@dataclass
class Rewriter(AbstractCapability[Any]):
    """Puts other arguments in place of those of a call, inside of the guard where it can."""

    args: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @override
    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    @override
    async def before_tool_execute(
        self, ctx: Any, *, call: ToolCallPart, tool_def: Any, args: dict[str, Any]
    ) -> dict[str, Any]:
        args.update(self.args.get(call.tool_call_id, {}))
        return args


def told_of(messages: Sequence[ModelMessage]) -> dict[str, str]:
    parts = (part for message in messages for part in message.parts)
    returns = (part for part in parts if isinstance(part, ToolReturnPart))
    return {part.tool_call_id: part.model_response_str() for part in returns}


Running = Callable[..., Any]


async def plain(agent: Agent[Any, Any], prompt: str | None, **how: Any) -> AgentRunResult[Any]:
    return await agent.run(prompt, **how)


async def events(agent: Agent[Any, Any], prompt: str | None, **how: Any) -> AgentRunResult[Any]:
    async with agent.run_stream_events(prompt, **how) as happened:
        async for event in happened:
            if isinstance(event, AgentRunResultEvent):
                return event.result
    raise AssertionError("the run has no result")


class Streamed(NamedTuple):
    """The result of `run_stream`, as far as a scene needs it."""

    output: Any
    messages: list[ModelMessage]

    def all_messages(self) -> list[ModelMessage]:
        return self.messages


async def run_stream(agent: Agent[Any, Any], prompt: str | None, **how: Any) -> Streamed:
    """Run with `run_stream`, where text ends a run: then the user goes on."""
    while True:
        async with agent.run_stream(prompt, **how) as result:
            output = await result.get_output()
        messages = result.all_messages()
        if output == LAST_WORDS or isinstance(output, DeferredToolRequests):
            return Streamed(output, messages)
        prompt, how = "go on", {"message_history": messages}


async def iterated(agent: Agent[Any, Any], prompt: str | None, **how: Any) -> Any:
    async with agent.iter(prompt, **how) as run:
        async for _ in run:
            pass
    return run.result


async def handled(agent: Agent[Any, Any], prompt: str | None, **how: Any) -> AgentRunResult[Any]:
    async def drain(_: Any, happened: Any) -> None:
        async for _event in happened:
            pass

    return await agent.run(prompt, event_stream_handler=drain, **how)


class ScriptOnStage(Script):
    """The model of an agent that plays several scenes: it answers as that of the one on stage."""

    def __init__(self, *, is_inner: bool) -> None:
        super().__init__(())
        self.is_inner = is_inner

    @override
    def turn(self, messages: list[ModelMessage], info: AgentInfo) -> ScriptedTurn:
        player = _PLAYER.get()
        player.scene.pause()
        return (player.inner if self.is_inner else player.script).turn(messages, info)


class ScenePlayer:
    """Plays one scene."""

    def __init__(self, scene: Scene, running: Running) -> None:
        self.scene, self.running = scene, running
        self.told: dict[str, str] = {}
        self.script = Script((OUTER,) if scene.has_sub_agent else scene.turns)
        self.inner = Script(scene.turns)

    def agent(self, guard: Guard) -> Agent[Any, Any]:
        tools = [self.ask_helper] if self.scene.has_sub_agent else [*self.scene.tools.values()]
        return self._agent(guard, self.script, tools)

    def _agent(self, guard: Guard, script: Script, tools: Sequence[Any]) -> Agent[Any, Any]:
        capabilities = [GuardCapability(guard, approver="ada"), Rewriter(self.scene.rewrites)]
        output: Any = [str, DeferredToolRequests]
        model = ScriptOnStage(is_inner=script is not self.script).model
        return Agent(model, tools=tools, capabilities=capabilities, output_type=output)

    async def ask_helper(self, task: str) -> str:
        tools = [*self.scene.tools.values()]
        inner = self._agent(self.scene.guard, self.inner, tools)
        result = await self.running(inner, task)
        _PLAYER.get().told |= told_of(result.all_messages())
        return "helped"

    async def play(self) -> Trace:
        _PLAYER.set(self)
        try:
            said = await self.said()
        except Exception as error:
            return Trace(self.told, ended=error, shown=self.script.shown or frozenset())
        return Trace(self.told, said, shown=self.script.shown or frozenset())

    async def said(self) -> str | None:
        scene = self.scene
        agent = scene.share(lambda: self.agent(scene.guard))
        result = await self.running(agent, scene.request, conversation_id=scene.session)
        for _ in range(MOST_QUESTIONS):
            self.told |= told_of(result.all_messages())
            if not isinstance(result.output, DeferredToolRequests):
                return str(result.output)
            answers = self.answers(result.output)
            if answers is None:
                return None
            kept = ModelMessagesTypeAdapter.dump_json(result.all_messages())
            if scene.travels:
                agent = self.agent(scene.guard_of_answer())
            result = await self.running(
                agent,
                None,
                message_history=ModelMessagesTypeAdapter.validate_json(kept),
                deferred_tool_results=answers,
            )
        return None

    def answers(self, asked: DeferredToolRequests) -> DeferredToolResults | None:
        replies = self.scene.ask([call.tool_call_id for call in asked.approvals])
        if replies is None:
            return None
        digests = {name: one["critic"]["plan_digest"] for name, one in asked.metadata.items()}
        return asked.build_results(
            approvals={name: _approval(reply) for name, reply in replies.items()},
            metadata={
                name: {"plan_digest": self.scene.digest_of_answer(digest)}
                for name, digest in digests.items()
            },
        )


_PLAYER: Final[ContextVar[ScenePlayer]] = ContextVar("player")


def _approval(reply: CallReply) -> ToolApproved | ToolDenied:
    if not reply.yes:
        return ToolDenied("a person said no")
    return ToolApproved(override_args=None if reply.args is None else dict(reply.args))


def play_pydantic_ai(scene: Scene) -> Trace:
    """Play a scene with `run`, or with `run_stream_events` where it streams."""
    return asyncio.run(ScenePlayer(scene, events if scene.streams else plain).play())
