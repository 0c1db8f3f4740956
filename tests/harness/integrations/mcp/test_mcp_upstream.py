"""What a server answers over HTTP, and what it is told, as messages."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp.shared.inbound import decode_header_value, mcp_param_headers, x_mcp_header_map
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from harness.integrations.mcp.mcp_http import McpHttpProxy
from harness.integrations.mcp.mcp_messages import MODERN
from harness.integrations.mcp.mcp_upstream import headers_for
from tests.harness.integrations.mcp.mcp_shop import TOOLS, Json, Shop

Act = Callable[[Json], Response]
META = {MODERN: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
GIVEN = {
    "Mcp-Method": "tools/call",
    "mcp-name": "mystery",
    "mcp-param-x": "1",
    "authorization": "Bearer t",
    "host": "h",
    "content-length": "5",
}


def test_headers_say_what_the_body_says() -> None:
    call = {"id": 1, "method": "tools/call", "params": {"name": "lookup"}}
    own = {"id": 2, "method": "tools/list", "params": {}}
    rest = {"authorization": "Bearer t"}
    told = {"mcp-method": "tools/call", "mcp-name": "lookup"}
    assert headers_for(call, GIVEN) == {**rest, **told}
    assert headers_for(own, GIVEN) == {**rest, "mcp-method": "tools/list"}
    for other in ({"id": 3, "result": {}}, {}):
        assert headers_for(other, GIVEN) == rest
    unsaid = {name: value for name, value in GIVEN.items() if name != "Mcp-Method"}
    assert headers_for(call, unsaid) == rest


@pytest.mark.parametrize("name", ["notes://é", "a b", " a", "a\nb", "=?base64?YQ==?=", ""])
def test_a_name_of_any_letters_is_that_of_the_body(name: str) -> None:
    read = {"id": 1, "method": "resources/read", "params": {"uri": name}}
    told = headers_for(read, {"Mcp-Method": "resources/read", "Mcp-Name": "secret://x"})
    assert decode_header_value(told["mcp-name"]) == name
    assert told["mcp-name"].isascii()
    assert told["mcp-name"].isprintable()


MARKED: Json = {
    "properties": {
        "order_id": {"type": "string", "x-mcp-header": "Order_Id"},
        "is_new": {"type": "boolean", "x-mcp-header": "New"},
        "cents": {"type": "integer", "x-mcp-header": "Cents"},
        "to": {"properties": {"city": {"type": "string", "x-mcp-header": "City"}}},
        "note": {"type": "string"},
    }
}


@pytest.mark.parametrize(
    "args",
    [
        {"order_id": "A-1", "is_new": True, "cents": 7, "note": "n"},
        {"order_id": "ä\r\nhost: x", "is_new": False, "to": {"city": "Oslo", "zip": "1"}},
        {"order_id": None, "cents": [1], "to": "Oslo"},
        {"cents": -1.0, "to": {"city": {"a": 1}}},
        {},
    ],
)
def test_arguments_are_repeated_as_a_client_would_that_sent_what_was_judged(args: Json) -> None:
    call = {"id": 1, "method": "tools/call", "params": {"name": "lookup", "arguments": args}}
    given = {"Mcp-Method": "tools/call", "Mcp-Param-Order_Id": "A-9", "Mcp-Param-Zip": "9"}
    told = headers_for(call, given, MARKED)
    of_args = {name: value for name, value in told.items() if name.startswith("mcp-param-")}
    expected = mcp_param_headers(x_mcp_header_map(MARKED), args)
    assert of_args == {name.lower(): value for name, value in expected.items()}


@pytest.mark.parametrize("mark", ["", "a b", "x: y", "a\r\nhost", "é", 7, None])
@pytest.mark.parametrize(
    "shape", [lambda part: {"properties": part}, lambda part: part, lambda _: []]
)
def test_a_schema_names_no_header_that_is_none(mark: Any, shape: Any) -> None:
    call = {"id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {"a": "1"}}}
    schema = shape({"a": {"type": "string", "x-mcp-header": mark}})
    told = headers_for(call, {"Mcp-Method": "tools/call"}, schema)
    assert told == {"mcp-method": "tools/call", "mcp-name": "a"}


class Upstream:
    """A server that answers as it is told, and notes what it heard."""

    def __init__(self, **acts: Act) -> None:
        self.acts = acts
        self.tools: list[Json] = [*TOOLS]
        self.heard: list[Json] = []
        self.headers: list[dict[str, str]] = []

    async def answer(self, request: Any) -> Response:
        message = json.loads(await request.body())
        self.heard.append(message)
        self.headers.append(dict(request.headers))
        if message["method"] == "tools/list":
            listed = {"tools": self.tools}
            return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": listed})
        return self.acts["call"](message)


@asynccontextmanager
async def proxied(folder: Path, upstream: Upstream) -> AsyncIterator[tuple[Shop, Any]]:
    """Yield a shop and a client of the proxy before the upstream, all in this process."""
    shop = Shop(folder, era="modern")
    app = Starlette(routes=[Route("/mcp", upstream.answer, methods=["POST"])])
    inner = httpx2.AsyncClient(transport=httpx2.ASGITransport(app))
    proxy = McpHttpProxy(shop.server, "http://127.0.0.1/mcp", inner)
    route = Route("/mcp", proxy.answer, methods=["POST", "GET", "DELETE"])
    outer = httpx.ASGITransport(Starlette(routes=[route]))
    async with inner, httpx.AsyncClient(transport=outer, base_url="http://127.0.0.1") as client:
        yield shop, client


def call(
    upstream: Upstream, folder: Path, name: str = "lookup", **more: str
) -> tuple[Shop, httpx.Response]:
    """Call a tool before any list, as a client of the newer protocol does."""

    async def posted() -> tuple[Shop, httpx.Response]:
        params = {"name": name, "arguments": {"order_id": "7"}, "_meta": META}
        wire = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"mcp-method": "tools/call", "mcp-name": "mystery", **more}
        async with proxied(folder, upstream) as (shop, client):
            return shop, await client.post("/mcp", json=wire, headers=headers)

    return asyncio.run(posted())


def result(message: Json) -> Json:
    content = [{"type": "text", "text": "paid"}]
    return {"jsonrpc": "2.0", "id": message["id"], "result": {"content": content}}


def stream(*messages: Json) -> Response:
    lines = ["id: 1\ndata:\n\n", ": ping\n\n"]
    lines += [f"event: message\ndata: {json.dumps(one)}\n\n" for one in messages]
    return StreamingResponse(iter(lines), media_type="text/event-stream")


def test_the_tools_are_listed_first_and_the_call_follows(tmp_path: Path) -> None:
    upstream = Upstream(call=lambda message: JSONResponse(result(message)))
    _, answer = call(upstream, tmp_path)
    assert answer.json()["result"]["content"][0]["text"] == "paid"
    assert [one["method"] for one in upstream.heard] == ["tools/list", "tools/call"]
    assert [one.get("mcp-method") for one in upstream.headers] == ["tools/list", "tools/call"]
    assert [one.get("mcp-name") for one in upstream.headers] == [None, "lookup"]


def test_a_tool_that_repeats_arguments_in_headers_hears_those_of_the_call(tmp_path: Path) -> None:
    order = {"order_id": {"type": "string", "x-mcp-header": "order"}}
    marked = {**TOOLS[0], "inputSchema": {"type": "object", "properties": order}}
    upstream = Upstream(call=lambda message: JSONResponse(result(message)))
    upstream.tools = [marked]
    call(upstream, tmp_path, **{"mcp-param-order": "8"})
    assert [one.get("mcp-param-order") for one in upstream.headers] == [None, "7"]


def test_a_refused_call_is_answered_without_asking_the_server(tmp_path: Path) -> None:
    upstream = Upstream()
    _, answer = call(upstream, tmp_path, "mystery")
    assert answer.json()["result"]["isError"] is True
    assert upstream.heard == []


def test_what_comes_before_the_answer_is_streamed(tmp_path: Path) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
    unknown = {"jsonrpc": "2.0", "method": "notifications/odd"}
    upstream = Upstream(call=lambda message: stream(note, unknown, result(message)))
    _, answer = call(upstream, tmp_path)
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = [json.loads(line[5:]) for line in answer.text.splitlines() if line.startswith("data:")]
    assert [one.get("method", "answer") for one in told] == ["notifications/progress", "answer"]


def refuses(_: Json) -> Response:
    error = {"code": -32022, "message": "no", "data": {"supported": ["2025-11-25"]}}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)


def crashes(_: Json) -> Response:
    raise RuntimeError("the server crashed")


@pytest.mark.parametrize(
    ("act", "status", "code"),
    [
        (refuses, 400, -32022),
        (lambda _: Response("Not Found", 404), 404, -32601),
        (lambda _: Response("Session gone", 410), 410, -32603),
        (lambda _: Response(status_code=302, headers={"location": "http://x"}), 200, -32603),
        (lambda _: Response(status_code=202), 200, -32603),
        (lambda _: Response("hello"), 200, -32603),
        (lambda _: JSONResponse([]), 200, -32603),
        (lambda _: stream(), 200, -32603),
        (crashes, 502, -32603),
    ],
)
def test_a_server_that_does_not_answer_leaves_no_request_without_one(
    act: Act, status: int, code: int, tmp_path: Path
) -> None:
    shop, answer = call(Upstream(call=act), tmp_path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["id"] == 1
    assert shop.server.close() is not None


def test_a_client_that_leaves_ends_its_call(tmp_path: Path) -> None:
    async def never() -> AsyncIterator[str]:
        yield 'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'
        await asyncio.sleep(60)

    def waits(_: Json) -> Response:
        return StreamingResponse(never(), media_type="text/event-stream")

    async def asked() -> None:
        async with proxied(tmp_path, Upstream(call=waits)) as (shop, client):
            ended: list[Json] = []
            before = shop.server.report_end
            shop.server.report_end = lambda call, how: ended.append(how) or before(call, how)  # type: ignore[method-assign,func-returns-value]
            params = {"name": "lookup", "arguments": {"order_id": "7"}, "_meta": META}
            wire = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            task = asyncio.ensure_future(client.post("/mcp", json=wire))
            await asyncio.sleep(0.5)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            for _ in range(100):
                await asyncio.sleep(0.02)
                if ended:
                    break
            assert [how["status"] for how in ended] == ["unknown"]

    asyncio.run(asked())
