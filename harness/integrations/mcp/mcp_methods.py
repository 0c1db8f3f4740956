"""Which methods of MCP pass, in which direction, and which are judged. Pure.

What stands in none of these tables is not let through, so a method that is new is refused.
"""

from collections.abc import Collection
from typing import Final

from harness.integrations.mcp.mcp_messages import Json, RpcMessage

JUDGED: Final = frozenset(
    {
        "resources/read",
        "resources/subscribe",
        "prompts/get",
        "completion/complete",
    }
)
"""Methods other than `tools/call` that reach out or bring something in. Each is judged as a tool of
its name, and so refused where the policy has no such tool."""

PASSED: Final = frozenset(
    {
        *("initialize", "server/discover", "ping", "tools/list", "resources/list"),
        *("resources/templates/list", "resources/unsubscribe", "prompts/list"),
        *("logging/setLevel", "subscriptions/listen"),
    }
)
"""Requests of a client that pass: they neither act nor bring in what somebody else wrote."""

SAID_BY_CLIENT: Final = frozenset(
    f"notifications/{name}" for name in ("initialized", "progress", "roots/list_changed")
)
SAID_BY_SERVER: Final = frozenset(
    f"notifications/{name}"
    for name in (
        *("cancelled", "message", "progress", "elicitation/complete", "resources/updated"),
        *("resources/list_changed", "prompts/list_changed", "tools/list_changed"),
        "subscriptions/acknowledged",
    )
)
ASKED_BY_SERVER: Final = frozenset({"ping", "elicitation/create", "roots/list"})
"""What a server may ask a client: nothing that spends the model of the user."""

_CALL_PARAMS: Final = frozenset({"name", "arguments", "_meta", "requestState", "inputResponses"})
OF_RETRY: Final = frozenset({"requestState", "inputResponses"})
_BESIDE_ARGS: Final = OF_RETRY | {"_meta"}
_LISTENED: Final = frozenset({"toolsListChanged", "promptsListChanged", "resourcesListChanged"})


def problem_of_call(message: RpcMessage) -> str | None:
    """Return why a request is not a call that can be judged, or None."""
    if message.method != "tools/call":
        return None
    name, args = message.params.get("name"), message.params.get("arguments", {})
    if type(name) is not str or type(args) is not dict or message.params.keys() - _CALL_PARAMS:
        return "a call has a name, arguments that are an object, and nothing that is not known"
    return "this is the name of a method, not of a tool" if name in JUDGED else None


def requested_call(message: RpcMessage) -> tuple[str, Json]:
    """Return the name and the arguments of a request that is judged."""
    if message.method == "tools/call":
        return message.params["name"], message.params.get("arguments", {})
    args = {name: part for name, part in message.params.items() if name not in _BESIDE_ARGS}
    return str(message.method), args


def listens_further(message: RpcMessage) -> bool:
    """Return whether a client wants to be told of more than changes of lists."""
    if message.method != "subscriptions/listen":
        return False
    kinds = message.params.get("notifications")
    return type(kinds) is not dict or not kinds.keys() <= _LISTENED


def asks_only(methods: Collection[str], result: Json) -> bool:
    """Return whether a server asks for these only, where it needs more to go on with a call."""
    requests = result.get("inputRequests", {})
    if type(requests) is not dict or type(result.get("requestState", "")) is not str:
        return False
    return all(type(one) is dict and one.get("method") in methods for one in requests.values())


def tools_of(message: RpcMessage) -> list[Json] | None:
    """Return the entries of an answer to `tools/list`; None where it is not a list of them."""
    result = message.wire.get("result")
    tools = result.get("tools") if type(result) is dict else None
    is_list = type(tools) is list and all(type(tool) is dict for tool in tools)
    return tools if is_list else None


def without_tasks(message: Json) -> Json:
    """Return an answer that does not offer tasks, whose methods are not let through."""
    result = message.get("result")
    offered = result.get("capabilities") if type(result) is dict else None
    if type(result) is not dict or type(offered) is not dict or "tasks" not in offered:
        return message
    kept = {name: part for name, part in offered.items() if name != "tasks"}
    return {**message, "result": {**result, "capabilities": kept}}
