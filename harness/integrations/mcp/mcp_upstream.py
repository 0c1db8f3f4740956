"""The answers of a streamable HTTP server of MCP, as JSON-RPC messages. Tested with httpx2 2.16."""

import re
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from harness.integrations.mcp.mcp_messages import INTERNAL, NO_METHOD, Json, dump_message, failure
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput, parse_json

SESSION: Final = "mcp-session-id"

_NOT_PASSED_ON: Final = frozenset(
    {
        *("host", "content-length", "accept-encoding", "connection", "keep-alive", "te", "trailer"),
        *("transfer-encoding", "upgrade", "proxy-authorization", "proxy-authenticate", "expect"),
    }
)
_OF_BODY: Final = ("mcp-method", "mcp-name", "mcp-param-")
"""The headers that repeat what the body says. An argument has one that its schema names so."""
_MARK: Final = "x-mcp-header"
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_ENCODED: Final = re.compile(r"=\?base64\?.*\?=", re.DOTALL)


def headers_for(message: Json, given: Mapping[str, str], schema: Any = None) -> dict[str, str]:
    """Return the headers of a message to the server: the client's, and those that it repeats.

    From 2026-07-28 on, headers repeat the method, the name and arguments in the body. A server that
    believed them, and not the body, would do what was never judged: so all of them are made anew,
    for a client that sends any.

    Args:
        schema: that of the arguments of the tool that is called, as the server lists it.
    """
    kept = {name.lower(): value for name, value in given.items()}
    is_repeated, method = "mcp-method" in kept, message.get("method")
    kept = {name: kept[name] for name in kept.keys() - _NOT_PASSED_ON}
    kept = {name: value for name, value in kept.items() if not name.startswith(_OF_BODY)}
    if not is_repeated or method is None:
        return kept
    params = message.get("params", {})
    named = params.get("uri") if method.startswith("resources/") else params.get("name")
    told = {"mcp-name": _write_value(named)} if type(named) is str else {}
    args = _repeat_args(schema, params.get("arguments")) if method == "tools/call" else {}
    return {**kept, **args, **told, "mcp-method": method}


def _repeat_args(schema: Any, args: Any) -> dict[str, str]:
    """Return the headers that repeat the arguments which a schema marks."""
    parts = schema.get("properties") if type(schema) is dict else None
    found: dict[str, str] = {}
    for name, part in parts.items() if type(parts) is dict and type(args) is dict else ():
        mark, value = part.get(_MARK) if type(part) is dict else None, args.get(name)
        if type(mark) is str and _TOKEN.fullmatch(mark) and type(value) in (str, bool, int, float):
            text = str(value).lower() if type(value) is bool else str(value)
            found[f"mcp-param-{mark.lower()}"] = _write_value(text)
        found |= _repeat_args(part, value)
    return found


def _write_value(text: str) -> str:
    """Return a text as the value of a header: in Base64 where it would not arrive as it is."""
    is_plain = text.isascii() and text.isprintable() and text == text.strip()
    if is_plain and not _ENCODED.fullmatch(text):
        return text
    return f"=?base64?{b64encode(text.encode()).decode()}?="


def lost_answer(message: Json, why: str, code: int = INTERNAL) -> bytes:
    """Return the answer that a request gets which the server did not answer."""
    return dump_message(failure(message["id"], code, why))


async def messages_of(response: Any, message: Json) -> AsyncIterator[bytes]:
    """Yield the messages in a response to a message; of an HTTP error, the one that it means."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if response.status_code >= 400 or 300 <= response.status_code < 400:
        if "id" in message and "method" in message:
            yield _error_of(response.status_code, await _body(response), message)
    elif kind == "text/event-stream":
        async for data in event_data(response):
            yield data
    elif kind == "application/json":
        yield await _body(response)


async def event_data(response: Any) -> AsyncIterator[bytes]:
    """Yield the data of server-sent events that have some."""
    lines: list[str] = []
    size = 0
    async for line in response.aiter_lines():
        if not line:
            if lines and size <= MAX_DOCUMENT_BYTES:
                yield "\n".join(lines).encode()
            lines, size = [], 0
        elif line.startswith("data:"):
            size += len(line)
            lines += [line[5:].removeprefix(" ")] if size <= MAX_DOCUMENT_BYTES else []


async def _body(response: Any) -> bytes:
    """Return a body; of one that is too large, more than is ever parsed."""
    data = bytearray()
    async for piece in response.aiter_bytes():
        data += piece
        if len(data) > MAX_DOCUMENT_BYTES:
            break
    return bytes(data)


def _error_of(status: int, body: bytes, message: Json) -> bytes:
    """Return an error as the answer to a request. Servers give it without the id, or not at all."""
    try:
        told = parse_json(body)
        error = told["error"] if type(told) is dict else None
        if type(error) is dict:
            return dump_message({"jsonrpc": "2.0", "id": message["id"], "error": error})
    except (InvalidInput, KeyError, ValueError):
        pass
    code = NO_METHOD if status == 404 else INTERNAL
    return lost_answer(message, f"the server answered with the HTTP status {status}", code)
