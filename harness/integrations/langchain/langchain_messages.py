"""The events for a guard in messages of LangChain: words of the user, calls, how a call ended."""

from collections.abc import Container, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from harness.canonical import canonical_json
from harness.integrations.importers.transcript import read_text
from harness.integrations.langchain.langchain_handovers import (
    MESSAGES,
    WRITTEN_BY,
    MessageMark,
    is_marked,
    messages_within,
)
from harness.integrations.seam.guarded import AskedCall
from harness.integrations.seam.ruling_replies import SeamRuling
from harness.tool_results import parsed_result, read_blocks

_OF_TEXTS: Final = frozenset({"type", "text", "id", "index", "cache_control"})
"""The members of a block that is text and nothing else."""


def new_words(messages: Sequence[Any], heard: str | None) -> list[str]:
    """Return what the user said after the message with the id `heard`.

    Human messages that middleware or a tool wrote are not words of the user. Where the message is
    gone, only what comes after all others is new.
    """
    ids = [message.id for message in messages]
    since = ids.index(heard) + 1 if heard in ids else 0
    if heard is not None and heard not in ids:
        others = (at for at, one in enumerate(messages) if not isinstance(one, HumanMessage))
        since = max(others, default=-1) + 1
    return [
        str(message.text)
        for message in messages[since:]
        if isinstance(message, HumanMessage) and WRITTEN_BY not in message.additional_kwargs
    ]


def unanswered_calls(messages: Sequence[Any]) -> list[AskedCall]:
    """Return the calls of the last message of the model that have no answer yet.

    Those that the framework could not read keep their text. Structured output has its answer.
    """
    answered: set[Any] = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
        if isinstance(message, AIMessage):
            asked: list[Any] = [*message.tool_calls, *message.invalid_tool_calls]
            return [_asked_call(call) for call in asked if call["id"] not in answered]
    return []


def _asked_call(call: Any) -> AskedCall:
    return AskedCall(
        call["id"] or "", call["name"] or "", "" if call["args"] is None else call["args"]
    )


def ran_at_the_provider(messages: Sequence[Any]) -> bool:
    """Return True where the last message shows a tool that the provider of the model ran."""
    last = next((one for one in reversed(messages) if isinstance(one, AIMessage)), None)
    blocks: Sequence[Any] = () if last is None else last.content_blocks
    return any(str(block.get("type")).startswith("server_tool_call") for block in blocks)


def result_facts(
    output: Any,
    call: str,
    known: Container[MessageMark] = frozenset(),
    *,
    key: str = MESSAGES,
) -> tuple[str, dict[str, Any]]:
    """Return the status of a call that returned, and the facts of its result.

    Args:
        known: the marks of the messages that were there before: no tool wrote them.
        key: where the state keeps its messages.
    """
    found = [*messages_within(output, key=key)]
    told = [one for one in found if isinstance(one, ToolMessage)]
    message = next((one for one in told if one.tool_call_id == call), None)
    new = [one for one in found if one not in told and not is_marked(one, known)]
    beside = [_content_of(one) for one in new if one.content]
    if message is None:
        if found:
            return "completed", {"output": beside} if beside else {}
        return "completed", {"output": output}
    said = _content_of(message)
    said = [said, *beside] if beside else said
    if message.status == "error":
        return "failed", {"error": said if type(said) is str else canonical_json(said).decode()}
    return "completed", {"output": said}


def _content_of(message: BaseMessage) -> Any:
    """Return all that a message shows a model: its text, or its blocks if some are more."""
    content: Any = message.content
    if type(content) is str or all(map(_is_text, content)):
        return read_text(content, "/content")[0]
    return read_blocks(parsed_result(content))


def _is_text(block: Any) -> bool:
    return type(block) is str or (block.get("type") == "text" and not block.keys() - _OF_TEXTS)


def refusal_message(call: AskedCall, ruling: SeamRuling) -> ToolMessage:
    """Return what the model reads of a call that was not made."""
    return ToolMessage(
        ruling.reply,
        tool_call_id=call.id,
        name=call.tool,
        status="error",
        artifact=ruling.wire(),
    )
