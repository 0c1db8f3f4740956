"""Questions to the user of an MCP client, by elicitation, and requests that a client repeats.

From 2026-07-28 on a client repeats a request with the answer in it, under a new id, so that what
binds the two is a state of ours: random, good once, and for the same call only. Before that, the
proxy asks the client with a request of its own.
"""

import json
import secrets
from typing import Any, Final, NamedTuple

from evals.escaping import escape_line
from harness.integrations.mcp.mcp_guarded import McpCall, UserQuestion

Json = dict[str, Any]

OURS: Final = "critic"
"""What our question is called among those of one answer."""

_MOST_KEPT: Final = 1000
_LONGEST_ARGS: Final = 2000
"""Characters of arguments that a person is shown. What is longer cannot be read, nor approved."""
_MOST_ASKS: Final = 10
_FORM: Final = {
    "type": "object",
    "properties": {"approve": {"type": "boolean", "title": "Make this call?"}},
    "required": ["approve"],
}


class Continuation(NamedTuple):
    """A call that is being made, and whose server asked for more. `state` is the server's."""

    call: McpCall
    state: str | None


class RepeatedRequests:
    """The requests that clients will repeat: each once, and only the newest thousand."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._kept: Final[dict[str, UserQuestion | Continuation]] = {}

    def keep(self, waiting: UserQuestion | Continuation) -> str:
        """Keep something, and return the state that a client has to come back with."""
        if len(self._kept) >= _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        state = secrets.token_urlsafe(24)
        self._kept[state] = waiting
        return state

    def take(self, state: Any) -> UserQuestion | Continuation | None:
        """Return what was kept under a state, which is used up by that."""
        return self._kept.pop(state, None) if type(state) is str else None


def is_shown_whole(question: UserQuestion) -> bool:
    """Return whether a person can be shown all that they would approve."""
    return len(json.dumps(question.call.args, ensure_ascii=False)) <= _LONGEST_ARGS


def form(question: UserQuestion) -> Json:
    """Return what a person is shown: the call with its values, why, and a box to tick."""
    asks = question.denial.asks
    more = [f"and {len(asks) - _MOST_ASKS} more"] if len(asks) > _MOST_ASKS else []
    args = json.dumps(question.call.args, ensure_ascii=False)
    lines = [f"{question.call.name} {args}", *asks[:_MOST_ASKS], *more]
    message = "\n".join(map(escape_line, lines))
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": _FORM},
    }


def read_consent(answer: Any) -> bool | None:
    """Return what a person said: None for neither yes nor no."""
    action = answer.get("action") if type(answer) is dict else None
    content = answer.get("content") if action == "accept" else None
    approved = content.get("approve") if type(content) is dict else None
    if action == "decline" or approved is False:
        return False
    return True if approved is True else None
