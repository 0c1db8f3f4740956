"""Guarded agents of LangChain with a scripted model, and scenes of the contract."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import PrivateAttr

from harness.guard import Guard
from harness.integrations.langchain import guarded_agent
from harness.integrations.seam.guarded import AskedCall
from harness.testing._seams.scene import policy_of_scene
from harness.testing.seams import HELPER, LAST_WORDS, Scene, Trace

THREAD: Any = {"configurable": {"thread_id": "thread-1"}}


class ScriptedModel(BaseChatModel):
    """Answers one message after the other, and the last one from then on."""

    messages: list[AIMessage]
    _asked: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _shown: set[str] = PrivateAttr(default_factory=set)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def asked(self) -> list[list[BaseMessage]]:
        """What it was given, request by request."""
        return self._asked

    @property
    def shown(self) -> set[str]:
        """The tools that it was ever given."""
        return self._shown

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "ScriptedModel":
        self._shown |= {tool.name for tool in tools}
        return self

    def _answer(self, messages: list[BaseMessage]) -> AIMessage:
        self._asked.append(messages)
        at = min(len(self._asked), len(self.messages)) - 1
        return self.messages[at].model_copy(deep=True)

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages))])

    def _stream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._answer(messages)
        if answer.content:
            yield ChatGenerationChunk(message=AIMessageChunk(content=answer.content))
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_calls=answer.tool_calls))


def asks_for(*calls: AskedCall, text: str = "") -> AIMessage:
    """Return a message of a model that asks for calls."""
    return AIMessage(
        text,
        tool_calls=[{"id": one.id, "name": one.tool, "args": {**args_of(one)}} for one in calls],
    )


def args_of(call: AskedCall) -> Mapping[str, Any]:
    assert not isinstance(call.args, str)
    return call.args


def bye() -> AIMessage:
    return AIMessage(LAST_WORDS)


class Rewrites(AgentMiddleware[Any]):
    """Puts other arguments in place of those that were ruled on."""

    def __init__(self, rewrites: Mapping[str, Mapping[str, Any]]) -> None:
        self.rewrites = rewrites

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(self.rewritten(request))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await handler(self.rewritten(request))

    def rewritten(self, request: Any) -> Any:
        call = request.tool_call
        args = self.rewrites.get(call["id"], call["args"])
        return request.override(tool_call={**call, "args": dict(args)})


class ModelOnStage(ScriptedModel):
    """The model of an agent that plays several scenes: it answers as that of the one on stage."""

    messages: list[AIMessage] = []  # noqa: RUF012 - a field of pydantic
    is_outer: bool = False

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "ScriptedModel":
        self._of_scene().bind_tools(tools)
        return self

    def _answer(self, messages: list[BaseMessage]) -> AIMessage:
        return self._of_scene()._answer(messages)

    def _of_scene(self) -> ScriptedModel:
        player = _PLAYER.get()
        player.scene.pause()
        return player.outer if self.is_outer else player.model


class Player:
    """Plays one scene of the contract, in this thread or in an event loop."""

    def __init__(self, scene: Scene, *, is_async: bool) -> None:
        self.scene, self.is_async = scene, is_async
        turns = [asks_for(*turn.calls, text=turn.text) for turn in scene.turns]
        self.model = ScriptedModel(messages=[*turns, bye()])
        self.outer = ScriptedModel(
            messages=[asks_for(AskedCall("c1", HELPER, {"task": "do"})), bye()]
        )
        self.saver = InMemorySaver()
        self.thread: Any = {"configurable": {"thread_id": scene.session}}

    def play(self) -> Trace:
        _PLAYER.set(self)
        try:
            agent: Any = self.scene.share(lambda: self.agent(self.scene.guard))
            given: Any = {"messages": self.scene.request}
            while (asks := self.asked(agent, given)) is not None:
                answer = self.answer(asks)
                if answer is None:
                    return self.trace(None)
                given = Command(resume=answer)
                if self.scene.shared is None:
                    agent = self.agent(self.guard_of_answer())
        except Exception as error:
            return Trace(self.told, ended=error)
        return self.trace(agent.get_state(self.thread).values["messages"][-1])

    def agent(self, guard: Guard) -> Any:
        tools, middleware = list(self.scene.tools.values()), [Rewrites(self.scene.rewrites)]
        if not self.scene.has_sub_agent:
            return guarded_agent(
                ModelOnStage(), tools, guard=guard, middleware=middleware, checkpointer=self.saver
            )
        inner = guarded_agent(ModelOnStage(), tools, guard=guard, middleware=middleware)

        def ask_helper(task: str) -> str:
            """Ask a sub-agent."""
            return str(inner.invoke({"messages": task})["messages"][-1].text)

        outer = ModelOnStage(is_outer=True)
        return guarded_agent(outer, [ask_helper], guard=guard, checkpointer=self.saver)

    def asked(self, agent: Any, given: Any) -> Any:
        """Run an agent until it ends or asks, and return what it asks."""
        if self.is_async:
            asyncio.run(self.run_async(agent, given))
        elif self.scene.streams:
            deque(agent.stream(given, self.thread, stream_mode=["updates", "messages"]), maxlen=0)
        else:
            agent.invoke(given, self.thread)
        interrupts = agent.get_state(self.thread).interrupts
        return interrupts[0].value if interrupts else None

    async def run_async(self, agent: Any, given: Any) -> None:
        if not self.scene.streams:
            await agent.ainvoke(given, self.thread)
            return
        async for _ in agent.astream(given, self.thread, stream_mode=["updates", "messages"]):
            pass

    def answer(self, asks: Any) -> Any:
        replies = self.scene.ask([call["id"] for call in asks["calls"]])
        if replies is None:
            return None
        calls = {
            name: {"yes": one.yes, **({} if one.args is None else {"args": dict(one.args)})}
            for name, one in replies.items()
        }
        digest = self.scene.digest_of_answer(asks["plan_digest"])
        return {"plan_digest": digest, "approver": "ada", "calls": calls}

    def guard_of_answer(self) -> Guard:
        """Return the guard of another process: what it knows is in the state of the graph."""
        if self.scene.loses_state:
            self.saver = InMemorySaver()
        return Guard(self.scene.policy) if self.scene.travels else self.scene.guard

    @property
    def told(self) -> dict[str, str]:
        given = [message for messages in self.model.asked for message in messages]
        return {one.tool_call_id: str(one.text) for one in given if isinstance(one, ToolMessage)}

    def trace(self, last: Any) -> Trace:
        said = str(last.text) if isinstance(last, AIMessage) else None
        return Trace(self.told, said, shown=frozenset(self.model.shown))


_PLAYER: Final[ContextVar[Player]] = ContextVar("player")


def play(scene: Scene) -> Trace:
    return Player(scene, is_async=False).play()


def play_async(scene: Scene) -> Trace:
    return Player(scene, is_async=True).play()


class Shop:
    """The tools of a shop, which note that they ran."""

    def __init__(self, *, fails: bool = False) -> None:
        self.ran: list[str] = []
        self.fails = fails
        functions = (self.lookup, self.issue_refund, self.drop_table)
        self.every_tool = [StructuredTool.from_function(one) for one in functions]
        self.tools = self.every_tool[:2]
        """Those that the policy knows."""

    def lookup(self, order_id: str) -> str:
        """Look up an order."""
        return self.noted(f"lookup {order_id}", "paid")

    def issue_refund(self, order_id: str, cents: int) -> str:
        """Refund an order."""
        return self.noted(f"issue_refund {order_id} {cents}", "done")

    def drop_table(self, name: str) -> str:
        """Drop a table. The policy does not know this tool."""
        return self.noted(f"drop_table {name}", "gone")

    def noted(self, what: str, result: str) -> str:
        self.ran.append(what)
        if self.fails:
            raise RuntimeError("the shop is closed")
        return result


def helper(run: Callable[[str], Any]) -> StructuredTool:
    """Return the tool whose body runs another graph on a task."""

    def ask_helper(task: str) -> str:
        """Ask a helper."""
        return str(run(task)["messages"][-1].text)

    return StructuredTool.from_function(ask_helper)


def told(messages: Sequence[Any]) -> dict[str, str]:
    """Return what the model was told of each call, by its id."""
    return {one.tool_call_id: str(one.text) for one in messages if isinstance(one, ToolMessage)}


class Quiet(BaseCallbackHandler):
    """A callback that does nothing."""


LOOKUP = AskedCall("c1", "lookup", {"order_id": "1"})
REFUND = AskedCall("c2", "issue_refund", {"order_id": "1", "cents": 5})
GO: Any = {"messages": "Refund order 1"}
HELP = asks_for(AskedCall("c2", "ask_helper", {"task": "do it"}))


def guard(mode: str = "destructive", **options: Any) -> Guard:
    return Guard(policy_of_scene(mode, **options))


def model(*messages: AIMessage) -> ScriptedModel:
    return ScriptedModel(messages=[*(messages or (asks_for(LOOKUP, REFUND),)), bye()])


def answer(asks: Any, *, yes: bool = True) -> dict[str, Any]:
    calls = {call["id"]: {"yes": yes} for call in asks["calls"]}
    return {"plan_digest": asks["plan_digest"], "approver": "ada", "calls": calls}


def helper_of(agent: Any) -> Any:
    return helper(lambda task: agent.invoke({"messages": task}))
