"""Replies to requests that are not passed on. Pure."""

from typing import Final, Literal, NamedTuple

from harness.integrations.mcp import mcp_messages as wire
from harness.integrations.mcp.mcp_guarded import Denial
from harness.integrations.mcp.mcp_messages import Json, RpcMessage

RULING: Final = "plan-critic/ruling"
"""Where the `_meta` of a refusal has what the guard answered."""


class Sent(NamedTuple):
    """A message to send. `about` is the request of the client that it is about, by its key."""

    to: Literal["client", "server"]
    message: Json
    about: str | None = None


def reply(asked: RpcMessage, result: Json) -> Sent:
    """Return the result of a request."""
    return Sent("client", wire.answer(asked.wire["id"], result), asked.key)


def error(asked: RpcMessage, code: int, text: str, data: Json | None = None) -> Sent:
    """Return the error of a request."""
    return Sent("client", wire.failure(asked.wire["id"], code, text, data), asked.key)


def deny_call(asked: RpcMessage, denial: Denial) -> Sent:
    """Return a refusal as the result of a tool, so that a model reads it and can revise.

    The ruling is not `structuredContent`: a client compares that with the output schema of the
    tool, and tells the model of the mismatch alone.
    """
    if asked.method != "tools/call":
        return error(asked, wire.REFUSED, denial.reply, denial.wire)
    result = {
        "content": [{"type": "text", "text": denial.reply}],
        "_meta": {RULING: denial.wire},
        "isError": True,
    }
    return reply(asked, {"resultType": "complete", **result} if asked.is_modern else result)
