"""One run written in each of the formats, as their documentation has them."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple


class Asked(NamedTuple):
    """A call, and what it returned."""

    id: str
    tool: str
    args: dict[str, Any]
    output: Any


class Recording(NamedTuple):
    """A run: the system prompt, the words of the user, and the turns, some after more words."""

    request: str
    turns: Sequence[Sequence[Asked] | str]
    system: str | None = None


def lines(values: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _text(output: Any) -> str:
    return output if type(output) is str else json.dumps(output)


MODELS_ALONE: Final = "otlp, of models alone"
"""Traces without spans of tools: what these returned stands in messages, as values."""

_WITH_VALUES: Final = ("pydantic-ai", MODELS_ALONE)


def _kept(output: Any, source: str) -> Any:
    """Return an output as a format has it: most have it as text, which stays text."""
    has_values = source in _WITH_VALUES or (source == "mcp" and type(output) is dict)
    return output if has_values else _text(output)


def events(recording: Recording, session: str, source: str) -> list[dict[str, Any]]:
    """Return the events that a format has to give."""
    system = {} if recording.system is None else {"system": recording.system}
    found: list[dict[str, Any]] = [{"event": "open", "request": recording.request, **system}]
    for turn in recording.turns:
        if isinstance(turn, str):
            found.append({"event": "said", "text": turn})
            continue
        calls = [{"id": one.id, "tool": one.tool, "args": one.args} for one in turn]
        found.append({"event": "calls", "calls": calls})
        found += [
            {
                "event": "result",
                "id": one.id,
                "status": "completed",
                "output": _kept(one.output, source),
            }
            for one in turn
        ]
    return [{**one, "session": session} for one in found]


def _chat(recording: Recording) -> list[Any]:
    found: list[Any] = []
    if recording.system is not None:
        found.append({"role": "system", "content": recording.system})
    found.append({"role": "user", "content": recording.request})
    for turn in recording.turns:
        if isinstance(turn, str):
            found.append({"role": "user", "content": [{"type": "text", "text": turn}]})
            continue
        calls = [
            {
                "id": one.id,
                "type": "function",
                "function": {"name": one.tool, "arguments": json.dumps(one.args)},
            }
            for one in turn
        ]
        found.append({"role": "assistant", "content": None, "tool_calls": calls})
        found += [
            {"role": "tool", "tool_call_id": one.id, "content": _text(one.output)} for one in turn
        ]
    return [*found, {"role": "assistant", "content": "done"}]


def openai(recording: Recording) -> bytes:
    return json.dumps(_chat(recording)).encode()


def responses(recording: Recording) -> bytes:
    found: list[Any] = [{"role": "user", "content": recording.request}]
    for turn in recording.turns:
        if isinstance(turn, str):
            found.append({"role": "user", "content": [{"type": "input_text", "text": turn}]})
            continue
        found.append({"type": "reasoning", "id": "rs", "summary": []})
        found += [
            {
                "type": "function_call",
                "call_id": one.id,
                "name": one.tool,
                "arguments": json.dumps(one.args),
            }
            for one in turn
        ]
        found += [
            {"type": "function_call_output", "call_id": one.id, "output": _text(one.output)}
            for one in turn
        ]
    said = {"type": "output_text", "text": "done"}
    found.append({"type": "message", "role": "assistant", "content": [said]})
    system = {} if recording.system is None else {"instructions": recording.system}
    return json.dumps({**system, "input": found}).encode()


def _anthropic(recording: Recording) -> list[Any]:
    found: list[Any] = [{"role": "user", "content": recording.request}]
    for turn in recording.turns:
        if isinstance(turn, str):
            found.append({"role": "user", "content": [{"type": "text", "text": turn}]})
            continue
        uses = [
            {"type": "tool_use", "id": one.id, "name": one.tool, "input": one.args} for one in turn
        ]
        results = [
            {"type": "tool_result", "tool_use_id": one.id, "content": _text(one.output)}
            for one in turn
        ]
        said = {"type": "text", "text": "Let me look."}
        found.append({"role": "assistant", "content": [said, *uses]})
        found.append({"role": "user", "content": results})
    return found


def anthropic(recording: Recording) -> bytes:
    system = {} if recording.system is None else {"system": recording.system}
    return json.dumps({**system, "messages": _anthropic(recording)}).encode()


def claude_code(recording: Recording) -> bytes:
    """Return lines: each block of the model stands on a line of its own."""
    found: list[Any] = [{"type": "summary", "summary": "x"}]
    if recording.system is not None:
        message = {"role": "system", "content": recording.system}
        found.append({"type": "user", "sessionId": "cc", "message": message})
    for at, message in enumerate(_anthropic(recording)):
        if message["role"] == "user":
            found.append({"type": "user", "sessionId": "cc", "message": message})
            continue
        for block in message["content"]:
            own = {"role": "assistant", "id": f"m{at}", "content": [block]}
            found.append({"type": "assistant", "sessionId": "cc", "message": own})
    return lines(found)


def langchain(recording: Recording) -> bytes:
    found: list[Any] = []
    if recording.system is not None:
        found.append({"type": "system", "data": {"content": recording.system}})
    found.append({"type": "human", "data": {"content": recording.request}})
    for turn in recording.turns:
        if isinstance(turn, str):
            found.append({"type": "human", "data": {"content": turn}})
            continue
        calls = [
            {"name": one.tool, "args": one.args, "id": one.id, "type": "tool_call"} for one in turn
        ]
        data = {"content": "", "tool_calls": calls, "invalid_tool_calls": []}
        found.append({"type": "ai", "data": data})
        found += [
            {
                "type": "tool",
                "data": {
                    "content": _text(one.output),
                    "tool_call_id": one.id,
                    "status": "success",
                },
            }
            for one in turn
        ]
    return json.dumps(found).encode()


def pydantic_ai(recording: Recording) -> bytes:
    parts: list[Any] = []
    if recording.system is not None:
        parts.append({"part_kind": "system-prompt", "content": recording.system})
    parts.append({"part_kind": "user-prompt", "content": recording.request})
    found: list[Any] = [{"kind": "request", "parts": parts}]
    for turn in recording.turns:
        if isinstance(turn, str):
            part = {"part_kind": "user-prompt", "content": turn}
            found.append({"kind": "request", "parts": [part]})
            continue
        calls = [
            {
                "part_kind": "tool-call",
                "tool_name": one.tool,
                "args": one.args if at % 2 else json.dumps(one.args),
                "tool_call_id": one.id,
            }
            for at, one in enumerate(turn)
        ]
        returns = [
            {
                "part_kind": "tool-return",
                "tool_name": one.tool,
                "content": one.output,
                "tool_call_id": one.id,
                "outcome": "success",
            }
            for one in turn
        ]
        found.append({"kind": "response", "parts": calls})
        found.append({"kind": "request", "parts": returns})
    return json.dumps(found).encode()


def attributes(given: Mapping[str, Any]) -> list[Any]:
    """Return attributes, JSON texts where they are not text, as instrumentations write them."""
    return [{"key": key, "value": {"stringValue": _text(value)}} for key, value in given.items()]


def span(start: int, given: Mapping[str, Any], trace: str = "aa" * 16) -> dict[str, Any]:
    return {"traceId": trace, "startTimeUnixNano": str(start), "attributes": attributes(given)}


def otlp(recording: Recording) -> bytes:
    told: list[Any] = [_message("user", {"type": "text", "content": recording.request})]
    spans: list[Any] = []
    for turn in recording.turns:
        if isinstance(turn, str):
            told.append(_message("user", {"type": "text", "content": turn}))
            continue
        asked = [
            {"type": "tool_call", "id": one.id, "name": one.tool, "arguments": one.args}
            for one in turn
        ]
        spans.append(_chat_span(len(spans), recording, told, asked))
        told.append(_message("assistant", *asked))
        for one in turn:
            spans.append(_tool_span(len(spans), one))
            response = {"type": "tool_call_response", "id": one.id, "response": one.output}
            told.append(_message("tool", response))
    spans.append(_chat_span(len(spans), recording, told, [{"type": "text", "content": "done"}]))
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans[::-1]}]}]}).encode()


def _message(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def _chat_span(start: int, recording: Recording, told: list[Any], said: list[Any]) -> Any:
    system = [{"type": "text", "content": recording.system}]
    given = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": told,
        "gen_ai.output.messages": [_message("assistant", *said)],
        **({} if recording.system is None else {"gen_ai.system_instructions": system}),
    }
    return span(start, given)


def _tool_span(start: int, one: Asked) -> Any:
    given = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": one.tool,
        "gen_ai.tool.call.id": one.id,
        "gen_ai.tool.call.arguments": one.args,
        "gen_ai.tool.call.result": one.output,
    }
    return span(start, given)


def mcp(recording: Recording) -> bytes:
    """Return a log. It has no words of anybody, and no turns of more than one call."""
    found: list[Any] = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}]
    for one in (one for turn in recording.turns if not isinstance(turn, str) for one in turn):
        params = {"name": one.tool, "arguments": one.args}
        found.append({"jsonrpc": "2.0", "id": one.id, "method": "tools/call", "params": params})
        content = [{"type": "text", "text": _text(one.output)}]
        structured = {"structuredContent": one.output} if type(one.output) is dict else {}
        result = {"content": content, "isError": False, **structured}
        found.append({"jsonrpc": "2.0", "id": one.id, "result": result})
    return lines(found)


WRITERS: Final[Mapping[str, Callable[[Recording], bytes]]] = {
    "openai": openai,
    "responses": responses,
    "anthropic": anthropic,
    "claude-code": claude_code,
    "langchain": langchain,
    "pydantic-ai": pydantic_ai,
    "otlp": otlp,
    "mcp": mcp,
}
