"""A shop behind a filter: its policy, a server that answers at once, and a client of each era."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from harness.clock import FixedClock
from harness.guard import Guard, OpenEvent
from harness.integrations.mcp.mcp_asking import RepeatedRequests
from harness.integrations.mcp.mcp_filter import McpFilter
from harness.integrations.mcp.mcp_guarded import GuardedServer
from harness.integrations.mcp.mcp_messages import MODERN
from harness.integrations.mcp.mcp_pins import PinFile
from harness.integrations.mcp.mcp_replies import RULING
from harness.policy import Policy
from harness.wire import build
from tests.support.guarding import NOON

Json = dict[str, Any]

SESSION: Final = "shop"
ERAS: Final = ("legacy", "modern")


def _schema(**properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


ORDER: Final = _schema(order_id={"type": "string"})
REFUND: Final = _schema(order_id={"type": "string"}, cents={"type": "integer", "maximum": 10_000})


def shop_policy(*, mode: str = "destructive", spec: Json | None = None, **guard: Any) -> Policy:
    """Return a policy that lets look orders up, and asks before it refunds one."""
    tools = [
        {"capability_id": "lookup", "approval_mode": "read_only", "args_schema": ORDER},
        {"capability_id": "issue_refund", "approval_mode": "destructive", "args_schema": REFUND},
    ]
    asks = {"approval_required_from": "destructive"}
    return build(
        Policy,
        {
            "guard": {"safety_mode": mode, **guard},
            "spec": {"id": "shop", "required_outputs": [], **(asks if spec is None else spec)},
            "tool": [{"adapter_id": "shop", **tool} for tool in tools],
        },
    )


TOOLS: Final = (
    {"name": "lookup", "description": "Look an order up.", "inputSchema": ORDER},
    {"name": "issue_refund", "description": "Refund an order.", "inputSchema": REFUND},
    {"name": "mystery", "description": "Nobody knows.", "inputSchema": {"type": "object"}},
)


def text_result(text: str) -> Json:
    return {"content": [{"type": "text", "text": text}], "isError": False}


class Shop:
    """A client and a server with a filter between them. What reaches the server is in `heard`."""

    def __init__(
        self,
        folder: Path,
        policy: Policy | None = None,
        *,
        era: str = "legacy",
        can_ask: bool = True,
        guard: Guard | None = None,
        request: str = "Refund order 7.",
        **options: Any,
    ) -> None:
        self.policy = shop_policy() if policy is None else policy
        self.guard = Guard(self.policy, clock=FixedClock(NOON)) if guard is None else guard
        assert self.guard.handle(OpenEvent(session=SESSION, request=request)) is None
        self.pins = PinFile(folder / "pins.json")
        self.server = GuardedServer(self.policy, self.guard, SESSION, pins=self.pins, **options)
        self.filter = McpFilter(self.server, RepeatedRequests())
        self.era = era
        self.can_ask = can_ask
        self.heard: list[Json] = []
        self.told: list[Json] = []
        self.tools: list[Json] = [dict(tool) for tool in TOOLS]
        self.results: dict[str, Json] = {}
        self.answers = True
        self.asked: list[Json] = []
        self._ids = 0
        if era == "legacy":
            self.ask("initialize", protocolVersion="2025-11-25", capabilities=self.capabilities)

    @property
    def capabilities(self) -> Json:
        return {"elicitation": {}} if self.can_ask else {}

    @property
    def ran(self) -> list[str]:
        """The tools that the server was asked to call."""
        return [one["params"]["name"] for one in self.heard if one.get("method") == "tools/call"]

    def send(self, message: Any) -> list[Json]:
        """Send a message, or bytes, as the client, and return what the client is told."""
        before = len(self.told)
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self._deliver(self.filter.from_client(data))
        return self.told[before:]

    def ask(self, method: str, *, id: Any = None, **params: Any) -> Json:
        """Send a request, and return the one message that the client is told."""
        told = self.send(self.request(method, id=id, **params))
        assert len(told) == 1, told
        return told[0]

    def request(self, method: str, *, id: Any = None, **params: Any) -> Json:
        self._ids += 1
        if self.era == "modern":
            said = {
                MODERN: "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            }
            params = {**params, "_meta": said}
        name = self._ids if id is None else id
        self.asked.append({"jsonrpc": "2.0", "id": name, "method": method, "params": params})
        return self.asked[-1]

    def call(self, name: str, **args: Any) -> Json:
        return self.ask("tools/call", name=name, arguments=args)

    def names(self) -> list[str]:
        return [tool["name"] for tool in self.ask("tools/list")["result"]["tools"]]

    def reply(self, told: Json, answer: Json) -> Json:
        """Answer a question of the proxy in the way of the era, and return what comes of it."""
        if self.era == "legacy":
            assert told["method"] == "elicitation/create"
            (after,) = self.send({"jsonrpc": "2.0", "id": told["id"], "result": answer})
            return after
        asked = told["result"]
        assert asked["resultType"] == "input_required"
        again = next(one for one in reversed(self.asked) if one["id"] == told["id"])
        retry = {"inputResponses": {"critic": answer}, "requestState": asked["requestState"]}
        params = {name: part for name, part in again["params"].items() if name != "_meta"}
        return self.ask("tools/call", **params, **retry)

    def from_server(self, message: Any) -> list[Json]:
        """Send a message, or bytes, as the server, and return what the client is told."""
        before = len(self.told)
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self._deliver(self.filter.from_server(data))
        return self.told[before:]

    def _deliver(self, sent: Iterable[Any]) -> None:
        for one in sent:
            if one.to == "client":
                self.told.append(one.message)
                continue
            self.heard.append(one.message)
            answer = self._answer(one.message) if self.answers else None
            if answer is not None:
                self._deliver(self.filter.from_server(json.dumps(answer).encode()))

    def _answer(self, message: Json) -> Json | None:
        if "method" not in message or "id" not in message:
            return None
        match message["method"]:
            case "tools/list":
                result: Json = {"tools": self.tools}
            case "tools/call":
                name = message["params"]["name"]
                result = self.results.get(name, text_result(f"{name} done"))
            case method:
                result = self.results.get(method, {})
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def refused(told: Json) -> bool:
    """Return whether a call was answered with a refusal of ours that a model can read."""
    result = told.get("result", {})
    return result.get("isError") is True and RULING in result.get("_meta", {})


def reasons(told: Json) -> str:
    """Return why a call was refused."""
    return str(told["result"]["content"][0]["text"])


YES: Final[Json] = {"action": "accept", "content": {"approve": True}}
NOES: Final[tuple[Json, ...]] = (
    {"action": "decline"},
    {"action": "cancel"},
    {"action": "accept", "content": {"approve": False}},
    {"action": "accept"},
    {"action": "accept", "content": {"approve": "true"}},
    {"action": "accept", "content": {"approve": 1}},
    {},
)
