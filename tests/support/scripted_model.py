"""A model on loopback that plays a scripted run for a real agent, in the API that it speaks.

What the user says names the script (`SCRIPT=name`) and the folder (`WORK=path`). The number of
turns with calls since then is the step. A script is a list of steps: a list of calls, each a tool
and its arguments, or a text, which ends the turn. `{W}` in a script stands for the folder.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from typing import Any, Final

Script = list[Any]
_MARK: Final = re.compile(r"SCRIPT=([a-z]+) WORK=([A-Za-z0-9_./-]+)")
_numbers: Final = count(1)


class ScriptedModel:
    """The scripts, and what came.

    Attributes:
        url: where it listens.
        tools: the names of the tools that the last request offered, by script.
        played: the scripts that were played since it was emptied.
        told: the last request of each script as text: it holds what the calls returned.
    """

    def __init__(self, scripts: Mapping[str, Script]) -> None:
        self.scripts: Final = scripts
        self.url = ""
        self.tools: Final[dict[str, set[str]]] = {}
        self.told: Final[dict[str, str]] = {}
        self.played: Final[set[str]] = set()

    def play(self, body: Mapping[str, Any]) -> tuple[str, list[tuple[str, Any]]]:
        """Return a text, and calls as tools with their arguments."""
        turns = [*_turns(body)]
        marked = [at for at, (_, text) in enumerate(turns) if _MARK.search(text)]
        tools = {*_tools(body)}
        if not marked or not tools:
            return "ok", []
        found = _MARK.findall(turns[marked[-1]][1])[-1]
        name, work = found
        self.tools[name], self.told[name] = tools, json.dumps(body)
        self.played.add(name)
        step = sum(kind == "calls" for kind, _ in turns[marked[-1] :])
        script = json.loads(json.dumps(self.scripts[name]).replace("{W}", work))
        played = script[step] if step < len(script) else "done"
        return (played, []) if isinstance(played, str) else ("", played)


def _turns(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the turns of a request: `calls`, or what others said, with their text."""
    was_calls = False
    for one in body.get("messages") or body.get("contents") or body.get("input") or []:
        text = json.dumps(one)
        is_calls = (
            any(
                f'"{mark}"' in text
                for mark in ("tool_use", "tool_calls", "functionCall", "function_call")
            )
            or '"type": "custom_tool_call"' in text
        )
        if not is_calls or not was_calls:
            yield "calls" if is_calls else "said", "" if is_calls else text
        was_calls = is_calls


def _tools(body: Mapping[str, Any]) -> Iterator[str]:
    for tool in body.get("tools") or []:
        for one in tool.get("functionDeclarations") or tool.get("tools") or [tool]:
            known = one.get("name") or one.get("function", {}).get("name")
            yield known or one["type"]


def _new_id(prefix: str) -> str:
    return f"{prefix}_{next(_numbers):020}"


def _messages(text: str, calls: list[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the events of the Messages API."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": _new_id("msg"), "type": "message", "role": "assistant", "model": "m"}
    ending: dict[str, Any] = {
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield {"type": "message_start", "message": {**message, **ending}}
    blocks: list[tuple[Any, Any]] = [
        (
            {"type": "tool_use", "id": _new_id("toolu"), "name": name, "input": {}},
            {"type": "input_json_delta", "partial_json": json.dumps(args)},
        )
        for name, args in calls
    ] or [({"type": "text", "text": ""}, {"type": "text_delta", "text": text})]
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    why = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": why, "usage": usage}
    yield {"type": "message_stop"}


def _responses(text: str, calls: list[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the events of the Responses API. Arguments that are text are those of a custom tool."""
    items: list[dict[str, Any]] = []
    for name, args in calls:
        ids = {"id": _new_id("fc"), "call_id": _new_id("call"), "name": name}
        if isinstance(args, str):
            items.append({"type": "custom_tool_call", **ids, "input": args, "status": "completed"})
        else:
            given = {"arguments": json.dumps(args), "status": "completed"}
            items.append({"type": "function_call", **ids, **given})
    if not items:
        said = [{"type": "output_text", "text": text, "annotations": []}]
        items = [{"type": "message", "id": _new_id("msg"), "role": "assistant", "content": said}]
    whole = {"id": _new_id("resp"), "object": "response", "output": items, "status": "completed"}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    yield {"type": "response.created", "response": {**whole, "output": [], "status": "in_progress"}}
    for index, item in enumerate(items):
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": {**whole, "usage": usage}}


def _completions(text: str, calls: list[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the chunks of Chat Completions."""
    made = [
        {
            "index": index,
            "id": _new_id("call"),
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(args)},
        }
        for index, (name, args) in enumerate(calls)
    ]
    base = {"id": _new_id("chat"), "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta = {"role": "assistant", "content": text or None, **({"tool_calls": made} if made else {})}
    yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    why = "tool_calls" if made else "stop"
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": why}]}


def _gemini(text: str, calls: list[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what generateContent returns, all at once."""
    parts: list[Any] = [{"functionCall": {"name": name, "args": args}} for name, args in calls]
    content: dict[str, Any] = {"role": "model", "parts": parts or [{"text": text}]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    yield {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"}


_APIS: Final = {
    "/messages": _messages,
    "/responses": _responses,
    "/chat/completions": _completions,
    "enerateContent": _gemini,
}


@contextmanager
def serving_model(scripts: Mapping[str, Script]) -> Iterator[ScriptedModel]:
    """Serve a model until the end."""
    model = ScriptedModel(scripts)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            """List one model."""
            self._answer(b'{"object":"list","data":[{"id":"m","type":"model"}],"models":[]}')

        def do_HEAD(self) -> None:
            """Say that it is there."""
            self._answer(b"")

        def do_POST(self) -> None:
            """Play the next step."""
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
            path = self.path.partition("?")[0]
            api = next((api for end, api in _APIS.items() if path.endswith(end)), None)
            if api is None:
                return self._answer(b'{"input_tokens":1,"totalTokens":1}')
            events = [*api(*model.play(body))]
            if path.endswith(":generateContent"):
                return self._answer(json.dumps(events[0]).encode())
            named = "".join(f"{_event_line(one)}data: {json.dumps(one)}\n\n" for one in events)
            ending = "data: [DONE]\n\n" if api is _completions else ""
            return self._answer((named + ending).encode(), "text/event-stream")

        def _answer(self, data: bytes, kind: str = "application/json") -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _event_line(event: Mapping[str, Any]) -> str:
    return f"event: {event['type']}\n" if "type" in event else ""
