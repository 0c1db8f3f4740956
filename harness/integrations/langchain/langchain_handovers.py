"""What a tool hands on to other nodes: the messages in it, as LangChain will read them.

Rule 1: a human message that a tool hands on is the user's only where it was there before, as it is.
        Any other is marked, in whichever form and place of a `Command` it stands.
Rule 2: LangChain makes messages of dicts, of pairs and, where a state keeps its messages, of texts.
        Its own converter reads them here: what that refuses is a message nowhere.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final

from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages
from langgraph.errors import ParentCommand
from langgraph.types import Command, Send
from pydantic import BaseModel

WRITTEN_BY: Final = "lc_source"
"""What LangChain puts into messages that it wrote itself in the name of the user: summaries."""
MESSAGES: Final = "messages"
"""Where the state of an agent keeps its messages."""

MessageMark = tuple[str, str]
"""The id of a message and what it says: both tell whether it was there before."""


def handover_marks(messages: Sequence[Any]) -> frozenset[MessageMark]:
    """Return the marks of messages that have an id, to know them by later."""
    return frozenset(_mark(one) for one in messages if one.id is not None)


def is_marked(message: BaseMessage, known: Container[MessageMark]) -> bool:
    """Return whether a message was there before, and says what it said."""
    return _mark(message) in known


def _mark(message: Any) -> MessageMark:
    return str(message.id), repr(message.content)


def mark_as_written(result: Any, known: Container[MessageMark], *, key: str = MESSAGES) -> Any:
    """Return what a tool returned with each human message in it marked: no user said it.

    Args:
        known: the marks of the messages that were there before.
        key: where the state keeps its messages.
    """

    def mark(message: BaseMessage) -> None:
        if isinstance(message, HumanMessage) and not is_marked(message, known):
            message.additional_kwargs.setdefault(WRITTEN_BY, "tool")

    return _Walk(mark, frozenset({MESSAGES, key})).read_result(result)


def messages_within(result: Any, *, key: str = MESSAGES) -> Iterator[Any]:
    """Yield each message in what a tool or a node returned."""
    found: list[Any] = []
    _Walk(found.append, frozenset({MESSAGES, key})).read_result(result)
    yield from found


def mark_raised(raised: ParentCommand, known: Container[MessageMark], *, key: str) -> None:
    """Mark the human messages of a command that a tool raised."""
    raised.args = (mark_as_written(raised.args[0], known, key=key),)


@dataclass(frozen=True)
class _Walk:
    """A walk through what a tool returned: it rebuilds it, with message-likes made messages.

    Attributes:
        visit: is shown each message.
        keys: where states keep messages.
    """

    visit: Callable[[BaseMessage], None]
    keys: frozenset[str]

    def read_result(self, value: Any) -> Any:
        """Rebuild a result. Outside of a command only messages are messages: the rest is data."""
        if isinstance(value, BaseMessage):
            self.visit(value)
        elif isinstance(value, Command):
            return replace(value, update=self._update(value.update), goto=self._goto(value.goto))
        elif isinstance(value, dict):
            return {name: self.read_result(one) for name, one in value.items()}
        elif isinstance(value, list | tuple):
            return _like(value, [self.read_result(one) for one in value])
        return value

    def _update(self, update: Any) -> Any:
        if isinstance(update, dict):
            return self._members(update)
        if isinstance(update, list | tuple) and update and all(map(_is_pair, update)):
            return [(name, self._state(one, holds=name in self.keys)) for name, one in update]
        return self._state(update, holds=True)

    def _goto(self, goto: Any) -> Any:
        if isinstance(goto, Send):
            return Send(goto.node, self._state(goto.arg), timeout=goto.timeout)
        return [self._goto(one) for one in goto] if isinstance(goto, list | tuple) else goto

    def _state(self, value: Any, *, holds: bool = False) -> Any:
        """Rebuild a part of a state. Where it `holds` messages, each text in it is one."""
        if holds and isinstance(value, list):
            return [self._part(one, holds=True) for one in value]
        return self._part(value, holds=holds)

    def _part(self, value: Any, *, holds: bool) -> Any:
        if (message := _read_message(value, any_form=holds)) is not None:
            self.visit(message)
            return message if holds or isinstance(message, HumanMessage) else value
        if isinstance(value, Send):
            return self._goto(value)
        if isinstance(value, dict):
            return value if value.get("type") == "tool_call" else self._members(value)
        if isinstance(value, list | tuple):
            return _like(value, [self._part(one, holds=holds) for one in value])
        return self._object(value)

    def _object(self, value: Any) -> Any:
        """Rebuild a state that is an object: a copy, also where it is frozen."""
        if isinstance(value, BaseModel):
            return value.model_copy(update=self._members(dict(value)))
        if is_dataclass(value) and not isinstance(value, type):
            held = copy(value)
            members = {one.name: getattr(value, one.name) for one in fields(value)}
            for name, one in self._members(members).items():
                object.__setattr__(held, name, one)
            return held
        return value

    def _members(self, members: dict[Any, Any]) -> dict[Any, Any]:
        return {name: self._state(one, holds=name in self.keys) for name, one in members.items()}


def _read_message(value: Any, *, any_form: bool) -> BaseMessage | None:
    """Return the message that LangChain makes of a value, if it makes one of it."""
    if isinstance(value, BaseMessage):
        return value
    is_form = isinstance(value, dict) or (isinstance(value, tuple) and len(value) == 2)
    if not (any_form or is_form):
        return None
    try:
        return convert_to_messages([value])[0]
    except Exception:  # LangChain refuses it
        return None


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str)


def _like(value: Any, parts: list[Any]) -> Any:
    """Return parts in a list or tuple of the kind that a value is."""
    if isinstance(value, list):
        return parts
    return value._make(parts) if hasattr(value, "_make") else tuple(parts)
