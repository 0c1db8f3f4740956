"""Play scenes of the contract with the OpenAI Agents SDK, scripted models and no network."""

import asyncio
import json
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from agents import Agent, Model, RunConfig, RunHooks, Runner, RunState, Tool, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from harness.integrations.openai import guarded, guarding
from harness.integrations.seam.guarded import AskedCall, GuardedSession
from harness.testing.seams import HELPER, LAST_WORDS, Scene, ScriptedTurn, Trace

QUIET = RunConfig(tracing_disabled=True)


@dataclass
class Task:
    task: str


class Rewrites(RunHooks[Any]):
    """Puts other arguments in place of those that were asked for, right before the tool runs."""

    def __init__(self, rewrites: Mapping[str, Mapping[str, Any]]) -> None:
        self.rewrites = rewrites

    async def on_tool_start(self, context: Any, _agent: Any, _tool: Tool) -> None:
        if context.tool_call_id in self.rewrites:
            context.tool_call.arguments = json.dumps(self.rewrites[context.tool_call_id])


def item(call: AskedCall) -> Any:
    made = function_call(call.tool, {}, call_id=call.id)
    text = call.args if isinstance(call.args, str) else json.dumps(dict(call.args))
    return made.model_copy(update={"arguments": text})


def scripted(*turns: ScriptedTurn) -> ScriptedModel:
    """Return a model that answers turns, and then says its last words."""
    said = [
        [*([assistant_message(turn.text)] if turn.text else []), *map(item, turn.calls)]
        for turn in turns
    ]
    return ScriptedModel([*said, [assistant_message(LAST_WORDS)]])


def told(model: ScriptedModel) -> dict[str, str]:
    """Return what a model was told for each call."""
    return {
        one["call_id"]: str(one["output"])
        for call in model.calls
        for one in call.input
        if one.get("type") == "function_call_output"
    }


class ModelOnStage(Model):
    """The model of an agent that plays several scenes: it answers as that of the one on stage."""

    def __init__(self, *, is_outer: bool = False) -> None:
        self.is_outer = is_outer

    async def get_response(self, *given: Any, **named: Any) -> Any:
        return await self.of_scene().get_response(*given, **named)

    def stream_response(self, *given: Any, **named: Any) -> Any:
        return self.of_scene().stream_response(*given, **named)

    def of_scene(self) -> ScriptedModel:
        player = _PLAYER.get()
        player.scene.pause()
        return player.outer if self.is_outer else player.model


@dataclass
class Player:
    """Plays one scene. The models go on where they were if the agents are made anew."""

    scene: Scene
    model: ScriptedModel
    outer: ScriptedModel

    def agent(self) -> Any:
        tools: list[Tool] = [function_tool(one) for one in self.scene.tools.values()]
        agent = guarded(Agent("worker", tools=tools, model=ModelOnStage()))
        if not self.scene.has_sub_agent:
            return agent
        helper = agent.as_tool(HELPER, "Have it done", parameters=Task)
        return guarded(Agent("boss", tools=[helper], model=ModelOnStage(is_outer=True)))

    async def run(self) -> Trace:
        _PLAYER.set(self)
        session = GuardedSession(self.scene.guard, self.scene.session)
        agent = self.scene.share(self.agent)
        try:
            session.began(self.scene.request)
            result = await self.ran(agent, session, self.scene.request)
            while result.interruptions:
                answered = await self.answered(agent, session, result)
                if answered is None:
                    return Trace(self.told)
                result = answered
        except Exception as error:
            return Trace(self.told, ended=error, shown=self.shown)
        return Trace(self.told, result.final_output, shown=self.shown)

    async def ran(self, agent: Any, session: GuardedSession, given: Any, digest: Any = None) -> Any:
        hooks = Rewrites(self.scene.rewrites)
        with guarding(session, approver="ada", plan_digest=digest):
            if not self.scene.streams:
                return await Runner.run(agent, given, hooks=hooks, run_config=QUIET)
            result = Runner.run_streamed(agent, given, hooks=hooks, run_config=QUIET)
        async for _ in result.stream_events():
            pass
        return result

    async def answered(self, agent: Any, session: GuardedSession, result: Any) -> Any:
        asked = session.question
        state = result.to_state()
        replies = self.scene.ask([str(one.call_id) for one in state.get_interruptions()])
        if replies is None:
            return None
        guard = self.scene.guard_of_answer()
        if guard is not session.guard:
            session, agent = GuardedSession(guard, self.scene.session), self.agent()
            state = await RunState.from_string(agent, state.to_string())
        for one in state.get_interruptions():
            answer = state.approve if replies[str(one.call_id)].yes else state.reject
            answer(one)
        digest = asked and self.scene.digest_of_answer(asked.plan_digest)
        return await self.ran(agent, session, state, digest)

    @property
    def told(self) -> dict[str, str]:
        return told(self.outer) | told(self.model)

    @property
    def shown(self) -> frozenset[str]:
        first = self.model.first_call
        return frozenset(tool.name for tool in first.tools) if first else frozenset()


_PLAYER: Final[ContextVar[Player]] = ContextVar("player")


def play(scene: Scene) -> Trace:
    outer = ScriptedTurn((AskedCall("c1", HELPER, {"task": "do it"}),))
    return asyncio.run(Player(scene, scripted(*scene.turns), scripted(outer)).run())
