"""Messages of Anthropic, and the lines of Claude Code that hold them."""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.integrations.importers.transcript import (
    LeftOut,
    Recorded,
    RecordedBatch,
    RecordedCall,
    RecordedText,
    arguments,
    call,
    left_out,
    recorded_result,
    require_mapping,
    sequence,
    text,
    user_words,
)
from harness.wire import InvalidInput

_WORDS = ("text", "thinking", "redacted_thinking")


def anthropic(value: Any) -> Iterator[Recorded]:
    """Yield what messages say: a list of them, or an object with `system` and `messages`."""
    path = "/messages" if type(value) is dict else ""
    listed = value.get("messages") if type(value) is dict else value
    if type(value) is dict:
        yield from user_words(value.get("system"), "/system", is_system=True)
    for at, message in enumerate(sequence(listed, path)):
        yield from turn_of(require_mapping(message, f"{path}/{at}"), f"{path}/{at}")


def turn_of(message: Mapping[str, Any], path: str) -> Iterator[Recorded]:
    """Yield what one message says."""
    content, place = message.get("content"), f"{path}/content"
    match message.get("role"):
        case "user":
            yield from _user(content, place)
        case "assistant":
            calls, left = asked_for(content, place)
            if calls:
                yield RecordedBatch(tuple(calls))
            yield from left
        case "system":
            yield from user_words(content, place, is_system=True)
        case _:
            raise InvalidInput(f"{path}/role", "must be user or assistant")


def asked_for(content: Any, path: str) -> tuple[list[RecordedCall], list[LeftOut]]:
    """Return the calls that the content of an assistant asks for, and what is left out."""
    calls, left = list[RecordedCall](), list[LeftOut]()
    if type(content) is str:
        return calls, left
    for at, block in enumerate(sequence(content, path)):
        place = f"{path}/{at}"
        kind = require_mapping(block, place).get("type")
        if kind == "tool_use":
            args = arguments(block.get("input"), f"{place}/input")
            calls.append(call(place, block.get("id"), block.get("name"), args))
        elif kind not in _WORDS:
            left.append(left_out(kind, "a block of the type"))
    return calls, left


def _user(content: Any, path: str) -> Iterator[Recorded]:
    if type(content) is str:
        yield from user_words(content, path)
        return
    words = list[str]()
    for at, block in enumerate(sequence(content, path)):
        place = f"{path}/{at}"
        kind = require_mapping(block, place).get("type")
        if kind == "tool_result":
            is_error = block.get("is_error") is True
            given = block.get("content")
            yield from recorded_result(
                f"{place}/content", block.get("tool_use_id"), given, is_error=is_error
            )
        elif kind == "text":
            words.append(text(block.get("text"), f"{place}/text"))
        else:
            yield left_out(kind, "a block of the type")
    if words:
        yield RecordedText("\n".join(words))
