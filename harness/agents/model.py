"""A model as an agent, and one text-only call of it."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from evals.envelope import Envelope
from evals.json_value import Text
from harness.agents.agent import AgentResult, Event
from harness.agents.journal import Journal
from harness.agents.usage import UNLIMITED, Budget, Usage
from harness.wire import build


class Message(Envelope):
    """One message to a model."""

    role: Literal["system", "user", "assistant"]
    content: Text


class Reply(Envelope):
    """What a model answered."""

    text: Text
    usage: Usage


Model = Callable[[Sequence[Message]], Awaitable[Reply]]
"""One request to a model, without tools."""


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What a single model call needs: the model, and where its reply is kept, if anywhere."""

    model: Model
    session_id: str
    journal: Journal | None = None


async def text_only_model_call(
    deps: Dependencies, step_name: str, messages: Sequence[Message]
) -> tuple[str, Usage]:
    """One reply to `messages`: from the journal where it holds it, else from the model.

    Raises:
        ReplayDivergence: the journal holds a reply to other messages.
        Exception: whatever the model raised.
    """

    async def ask() -> dict[str, object]:
        return (await deps.model(messages)).wire()

    if deps.journal is None:
        said = await ask()
    else:
        inputs = [message.wire() for message in messages]
        said = await deps.journal.step(deps.session_id, step_name, inputs, ask)
    reply = build(Reply, said)
    return reply.text, reply.usage


class ModelAgent:
    """A model as an agent: one turn, no tools, the prompt as its only message."""

    def __init__(self, name: str, model: Model) -> None:
        self.name = name
        self._model = model

    async def stream(
        self,
        prompt: str,
        *,
        session_id: str,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """The reply as one chunk and as the result."""
        del budget, text_only  # one call, which was paid for, and no tools
        yield Event(kind="started", session_id=session_id)
        reply = await self._model([Message(role="user", content=prompt)])
        yield Event(kind="model_chunk", session_id=session_id, data={"text": reply.text})
        result = AgentResult(output=reply.text, usage=reply.usage)
        yield Event(kind="completed", session_id=session_id, result=result)
