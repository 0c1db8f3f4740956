"""Messages of LangChain, as `messages_to_dict` writes them."""

from collections.abc import Iterator
from typing import Any

from harness.integrations.importers.transcript import (
    LeftOut,
    Recorded,
    RecordedBatch,
    arguments,
    call,
    left_out,
    recorded_result,
    require_mapping,
    sequence,
    user_words,
)


def langchain(value: Any) -> Iterator[Recorded]:
    """Yield what messages say: a list of them, or an object that holds it."""
    path = "/messages" if type(value) is dict else ""
    listed = value.get("messages") if type(value) is dict else value
    for at, message in enumerate(sequence(listed, path)):
        place = f"{path}/{at}"
        data = require_mapping(require_mapping(message, place).get("data"), f"{place}/data")
        yield from _read_message(message.get("type"), data, f"{place}/data")


def _read_message(kind: Any, data: Any, path: str) -> Iterator[Recorded]:
    match kind:
        case "system":
            yield from user_words(data.get("content"), f"{path}/content", is_system=True)
        case "human":
            yield from user_words(data.get("content"), f"{path}/content")
        case "ai":
            yield from _assistant(data, path)
        case "tool":
            is_error = data.get("status") == "error"
            given = data.get("content")
            yield from recorded_result(
                f"{path}/content", data.get("tool_call_id"), given, is_error=is_error
            )
        case _:
            yield left_out(kind, "a message of the type")


def _assistant(data: Any, path: str) -> Iterator[Recorded]:
    calls = []
    for at, one in enumerate(sequence(data.get("tool_calls") or [], f"{path}/tool_calls")):
        place = f"{path}/tool_calls/{at}"
        args = arguments(require_mapping(one, place).get("args"), f"{place}/args")
        calls.append(call(place, one.get("id"), one.get("name"), args))
    if calls:
        yield RecordedBatch(tuple(calls))
    for _ in sequence(data.get("invalid_tool_calls") or [], f"{path}/invalid_tool_calls"):
        yield LeftOut("a call whose arguments are not JSON, which was not made")
