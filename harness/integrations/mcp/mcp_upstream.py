"""The answers of a streamable HTTP server of MCP, as JSON-RPC messages. Tested with httpx2 2.16."""

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
_OF_CALL: Final = ("mcp-name", "mcp-param-")


def headers_for(message: Json, given: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a message to the server: the client's, where they say what it says.

    From 2026-07-28 on, headers repeat the method and the name in the body. A server that believed
    them, and not the body, would do what was never judged: so they are written anew.
    """
    kept = {name.lower(): value for name, value in given.items()}
    kept = {name: value for name, value in kept.items() if name not in _NOT_PASSED_ON}
    method, params = message.get("method"), message.get("params", {})
    if method is None or "mcp-method" not in kept:
        return kept
    if kept["mcp-method"] != method:  # a request of our own, in the middle of the client's
        kept = {name: value for name, value in kept.items() if not name.startswith(_OF_CALL)}
    named = params.get("uri") if method.startswith("resources/") else params.get("name")
    if "mcp-name" in kept and type(named) is str and named.isascii() and named.isprintable():
        kept["mcp-name"] = named
    return {**kept, "mcp-method": method}


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
