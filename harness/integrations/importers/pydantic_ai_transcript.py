"""Messages of Pydantic AI, as its `ModelMessagesTypeAdapter` writes them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.integrations.importers.transcript import (
    LeftOut,
    Recorded,
    RecordedBatch,
    RecordedResult,
    arguments,
    call,
    left_out,
    read_text,
    require_mapping,
    sequence,
    text,
    user_words,
)
from harness.wire import InvalidInput

_SAID: Final = ("text", "thinking")


def pydantic_ai(value: Any) -> Iterator[Recorded]:
    """Yield what a list of messages says."""
    for at, message in enumerate(sequence(value, "")):
        kind = require_mapping(message, f"/{at}").get("kind")
        if kind not in ("request", "response"):
            raise InvalidInput(f"/{at}/kind", "must be request or response")
        listed = sequence(message.get("parts"), f"/{at}/parts")
        places = [f"/{at}/parts/{index}" for index in range(len(listed))]
        parts = [
            (path, require_mapping(part, path)) for path, part in zip(places, listed, strict=True)
        ]
        if kind == "response":
            yield from _response(parts)
            continue
        yield from user_words(message.get("instructions"), f"/{at}/instructions", is_system=True)
        for path, part in parts:
            yield from _request_part(path, part)


def _response(parts: list[tuple[str, Mapping[str, Any]]]) -> Iterator[Recorded]:
    calls = [
        call(path, part.get("tool_call_id"), part.get("tool_name"), _read_args(path, part))
        for path, part in parts
        if part.get("part_kind") == "tool-call"
    ]
    if calls:
        yield RecordedBatch(tuple(calls))
    for _, part in parts:
        if part.get("part_kind") not in (*_SAID, "tool-call"):
            yield left_out(part.get("part_kind"), "a part of the kind")


def _read_args(path: str, part: Mapping[str, Any]) -> dict[str, Any]:
    return arguments(part.get("args"), f"{path}/args")


def _request_part(path: str, part: Mapping[str, Any]) -> Iterator[Recorded]:
    match part.get("part_kind"):
        case "system-prompt":
            yield from user_words(part.get("content"), f"{path}/content", is_system=True)
        case "user-prompt":
            yield from user_words(part.get("content"), f"{path}/content")
        case "tool-return":
            yield _read_result(path, part)
        case "retry-prompt" if part.get("tool_name") is not None:
            yield LeftOut("a call that the model was told to try again: how it ended is not known")
        case "retry-prompt":
            return
        case kind:
            yield left_out(kind, "a part of the kind")


def _read_result(path: str, part: Mapping[str, Any]) -> Recorded:
    outcome = part.get("outcome", "success")
    name = text(part.get("tool_call_id"), f"{path}/tool_call_id")
    content = part.get("content")
    if outcome == "success":
        return RecordedResult(path, name, output=content)
    if outcome == "failed":
        words = read_text(content, f"{path}/content")[0] if type(content) is str else ""
        return RecordedResult(path, name, error=words)
    return left_out(outcome, "the result of a call that did not run:")
