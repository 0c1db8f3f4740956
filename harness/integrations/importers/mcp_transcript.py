"""A log of the Model Context Protocol: JSON-RPC messages of both sides, in order."""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.integrations.importers.transcript import (
    LeftOut,
    Recorded,
    RecordedBatch,
    RecordedResult,
    arguments,
    call,
    read_text,
    require_mapping,
    sequence,
)
from harness.wire import InvalidInput


def mcp(lines: list[tuple[str, Any]]) -> Iterator[Recorded]:
    """Yield the calls of a log, each a turn of its own, and how they ended."""
    open_calls: set[str] = set()
    yield LeftOut("which calls one turn asked for: each is a turn of its own")
    for path, value in lines:
        message = require_mapping(value, path)
        name = _id(message)
        if message.get("method") == "tools/call":
            if name in open_calls or name is None:
                raise InvalidInput(f"{path}/id", "must be an id that no open call has")
            open_calls.add(name)
            params = require_mapping(message.get("params"), f"{path}/params")
            args = arguments(params.get("arguments"), f"{path}/params/arguments")
            yield RecordedBatch((call(path, name, params.get("name"), args),))
        elif "method" in message and name in open_calls:
            raise InvalidInput(f"{path}/id", "must be an id that no open call has")
        elif "method" not in message and name in open_calls:
            open_calls.discard(name)
            yield from _read_answer(path, name, message)


def _id(message: Mapping[str, Any]) -> str | None:
    given = message.get("id")
    return str(given) if type(given) in (str, int) else None


def _read_answer(path: str, name: str, message: Mapping[str, Any]) -> Iterator[Recorded]:
    error = message.get("error")
    if error is not None:
        told = require_mapping(error, f"{path}/error").get("message")
        yield RecordedResult(path, name, error=told if type(told) is str else "")
        return
    result = require_mapping(message.get("result"), f"{path}/result")
    content = sequence(result.get("content", []), f"{path}/result/content")
    words, left = read_text(content, f"{path}/result/content")
    yield from left
    if result.get("isError") is True:
        yield RecordedResult(path, name, error=words)
    else:
        yield RecordedResult(path, name, output=_output(result.get("structuredContent"), words))


def _output(structured: Any, words: str) -> Any:
    """Return what a tool returned. Servers wrap a text in an object where its schema has to be."""
    return words if structured in (None, {"result": words}) else structured
