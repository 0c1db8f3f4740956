"""JSON-RPC as MCP has it: read strictly, and answered. Pure.

Rule 1: a message that two parsers could read differently is not a message: a key twice, a batch,
        a member that JSON-RPC does not have, a request that is an answer as well.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from harness.errors import HarnessError, escape_text
from harness.wire import InvalidInput, parse_json

Json = dict[str, Any]

_INVALID_JSON: Final = -32700
INVALID_REQUEST: Final = -32600
NO_METHOD: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL: Final = -32603
REFUSED: Final = -32003
"""The code of a refusal where the answer is not that of a tool."""

MODERN: Final = "io.modelcontextprotocol/protocolVersion"
"""What `_meta` of every request has from the protocol of 2026-07-28 on, which has no handshake."""

_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
_REQUEST: Final = frozenset({"jsonrpc", "id", "method", "params"})
_ANSWER: Final = frozenset({"jsonrpc", "id", "result", "error"})


class NotAMessage(HarnessError):
    """Bytes are not one message. `code` is that of the JSON-RPC error, `name` the id, if any."""

    def __init__(self, code: int, message: str, name: Any = None) -> None:
        super().__init__(message)
        self.code: Final = code
        self.name: Final = name


class RpcMessage(NamedTuple):
    """One message. `key` tells ids apart (1 and "1" are two); None for a notification.

    `method` is None for an answer, whose whole is in `wire`.
    """

    wire: Json
    key: str | None
    method: str | None
    params: Json

    @property
    def meta(self) -> Json:
        """The `_meta` of its params."""
        meta = self.params.get("_meta")
        return meta if type(meta) is dict else {}

    @property
    def is_modern(self) -> bool:
        """Whether it is of the protocol that has no handshake."""
        return MODERN in self.meta

    @property
    def capabilities(self) -> Json | None:
        """The capabilities of the client, where the message has them."""
        stated = self.meta.get(_CAPABILITIES)
        if self.method == "initialize":
            stated = self.params.get("capabilities")
        return stated if type(stated) is dict else None


def read_message(data: bytes) -> RpcMessage:
    """Return the message that the bytes are.

    Raises:
        NotAMessage: they are not one message.
    """
    try:
        value = parse_json(data.strip())
    except InvalidInput as error:
        raise NotAMessage(_INVALID_JSON, str(error)) from None
    if type(value) is list:
        raise NotAMessage(INVALID_REQUEST, "batches are not served: send one message at a time")
    if type(value) is not dict:
        raise NotAMessage(INVALID_REQUEST, "a message is a JSON object")
    return _read_message(value)


def _read_message(value: Json) -> RpcMessage:
    name, is_request = value.get("id"), "method" in value
    key = key_of(name)
    if value.get("jsonrpc") != "2.0" or value.keys() - (_REQUEST if is_request else _ANSWER):
        what = "a message of JSON-RPC 2.0 has other members"
        raise NotAMessage(INVALID_REQUEST, what, name if key else None)
    if "id" in value and key is None:
        raise NotAMessage(INVALID_REQUEST, "an id is text or a whole number")
    if not is_request:
        if key is None or ("result" in value) == ("error" in value):
            raise NotAMessage(INVALID_REQUEST, "an answer has an id, and a result or an error")
        return RpcMessage(value, key, None, {})
    params = value.get("params", {})
    if type(value["method"]) is not str or type(params) is not dict:
        what = "a method is text, and its params are an object"
        raise NotAMessage(INVALID_REQUEST, what, name)
    return RpcMessage(value, key, value["method"], params)


def key_of(name: Any) -> str | None:
    """Return what tells an id from all others, or None if it is not an id."""
    return json.dumps(name) if type(name) in (str, int) else None


def can_show_forms(capabilities: Mapping[str, Any]) -> bool:
    """Return whether a client can put a form before its user."""
    stated = capabilities.get("elicitation")
    return type(stated) is dict and (not stated or "form" in stated)


def dump_message(message: Json) -> bytes:
    """Return a message as one line, without its end.

    Raises:
        ValueError: it holds a number that JSON does not have.
    """
    return json.dumps(message, allow_nan=False, separators=(",", ":")).encode()


def request(name: Any, method: str, params: Json) -> Json:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": name, "method": method, "params": params}


def answer(name: Any, result: Json) -> Json:
    """Return the answer to a request."""
    return {"jsonrpc": "2.0", "id": name, "result": result}


def failure(name: Any, code: int, text: str, data: Json | None = None) -> Json:
    """Return an error as the answer to a request."""
    more = {} if data is None else {"data": data}
    error = {"code": code, "message": escape_text(text), **more}
    return {"jsonrpc": "2.0", "id": name, "error": error}
