"""Messages of OpenAI Chat Completions."""

from collections.abc import Iterator
from typing import Any

from harness.integrations.importers.transcript import (
    LeftOut,
    Recorded,
    RecordedBatch,
    RecordedCall,
    arguments,
    call,
    left_out,
    recorded_result,
    require_mapping,
    sequence,
    user_words,
)
from harness.wire import InvalidInput


def chat(value: Any) -> Iterator[Recorded]:
    """Yield what messages say: a list of them, or an object that holds it."""
    path = "/messages" if type(value) is dict else ""
    listed = value.get("messages") if type(value) is dict else value
    for at, message in enumerate(sequence(listed, path)):
        yield from _read_message(require_mapping(message, f"{path}/{at}"), f"{path}/{at}")


def _read_message(message: Any, path: str) -> Iterator[Recorded]:
    match message.get("role"):
        case "system" | "developer":
            yield from user_words(message.get("content"), f"{path}/content", is_system=True)
        case "user":
            yield from user_words(message.get("content"), f"{path}/content")
        case "assistant":
            yield from _assistant(message, path)
        case "tool":
            yield from recorded_result(
                f"{path}/content", message.get("tool_call_id"), message.get("content")
            )
        case role:
            raise InvalidInput(f"{path}/role", _ROLES if role != "function" else _OLD)


_ROLES = "must be system, developer, user, assistant or tool"
_OLD = "messages of functions have no ids of calls: export the run with tool_calls"


def _assistant(message: Any, path: str) -> Iterator[Recorded]:
    if message.get("function_call") is not None:
        raise InvalidInput(f"{path}/function_call", _OLD)
    calls: list[RecordedCall] = []
    others: list[LeftOut] = []
    asked = message.get("tool_calls")
    for at, one in enumerate(sequence([] if asked is None else asked, f"{path}/tool_calls")):
        place = f"{path}/tool_calls/{at}"
        kind = require_mapping(one, place).get("type", "function")
        if kind != "function":
            others.append(left_out(kind, "a call of the type"))
            continue
        function = require_mapping(one.get("function"), f"{place}/function")
        args = arguments(function.get("arguments"), f"{place}/function/arguments")
        calls.append(call(place, one.get("id"), function.get("name"), args))
    if calls:
        yield RecordedBatch(tuple(calls))
    yield from others
