"""A model as an agent, and a single text-only call of a model."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evals.envelope import Envelope
from evals.escaping import escape_name
from evals.json_value import JsonObject, Text
from harness.canonical import canonical_json
from harness.loops.agents.agent import AgentFailed, AgentResult, AgentTool, Event
from harness.loops.agents.journal import Journal
from harness.loops.agents.usage import UNLIMITED, Budget, Usage
from harness.wire import build


class Message(Envelope):
    """One message to a model."""

    role: Literal["system", "user", "assistant"]
    content: Text


class Reply(Envelope):
    """The answer of a model, and what it cost."""

    text: Text
    usage: Usage


Model = Callable[[Sequence[Message]], Awaitable[Reply]]
"""One request to a model, without tools."""


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The dependencies of a single model call: the model, its session, and a journal or None."""

    model: Model
    session_id: str
    journal: Journal | None = None


async def text_only_model_call(
    deps: Dependencies, step_name: str, messages: Sequence[Message]
) -> tuple[str, Usage]:
    """Return the text and the usage of one reply: from the journal if it is there, else the model.

    Raises:
        ReplayDivergence: the journal holds a reply to other messages.
        Exception: an error that the model raised.
    """

    async def ask() -> dict[str, object]:
        return (await deps.model(messages)).wire()

    if deps.journal is None:
        recorded = await ask()
    else:
        inputs = [message.wire() for message in messages]
        recorded = await deps.journal.step(deps.session_id, step_name, inputs, ask)
    reply = build(Reply, recorded)
    return reply.text, reply.usage


class _Context(Envelope):
    context: JsonObject


class ModelAgent:
    """A model as an agent: one turn, no tools, and the prompt as the message of the user.

    A context that it is handed comes first, as a message of the system.
    """

    def __init__(self, name: str, model: Model) -> None:
        """Wrap a model under a name."""
        self.name = name
        self._model = model
        self._first: tuple[Message, ...] = ()

    def equipped(
        self, *, context: Mapping[str, Any] | None, extra_tools: Sequence[AgentTool]
    ) -> "ModelAgent":
        """Return the same with the context in front of its prompts.

        Raises:
            AgentFailed: tools are given, or the context is not a JSON object.
        """
        if extra_tools:
            raise AgentFailed(
                f"the agent {escape_name(self.name)} cannot be handed tools: a ModelAgent has none"
            )
        agent = ModelAgent(self.name, self._model)
        if context is not None:
            agent._first = (Message(role="system", content=context_text(context)),)
        return agent

    async def stream(
        self,
        prompt: str,
        *,
        session_id: str,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """Yield the reply as one chunk, then the result."""
        del budget, text_only  # one call, which the budget allows, and no tools
        yield Event(kind="started", session_id=session_id)
        reply = await self._model([*self._first, Message(role="user", content=prompt)])
        yield Event(kind="model_chunk", session_id=session_id, data={"text": reply.text})
        result = AgentResult(output=reply.text, usage=reply.usage)
        yield Event(kind="completed", session_id=session_id, result=result)


def context_text(context: Mapping[str, Any]) -> str:
    """Return the context of a caller in the words that a model is given it in.

    Raises:
        AgentFailed: it is not a JSON object.
    """
    try:
        checked = _Context(context=dict(context))
    except ValueError:
        raise AgentFailed("the context is not a JSON object: hand over JSON values only") from None
    return f"Context of the caller, as JSON:\n{canonical_json(checked.context).decode()}"
