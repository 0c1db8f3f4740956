"""The filter in front of a server that speaks streamable HTTP: a reverse proxy on this machine.

Each request of a client waits for its answer with a queue of its own: what the filter sends about
that request goes there, and what it sends to the server is a request of ours. Tested with starlette
1.10, httpx2 2.16 and mcp 2.3.0.

Not passed on: the ids of events, so that a stream that broke cannot be taken up again.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from harness.integrations.mcp import mcp_messages as wire
from harness.integrations.mcp.mcp_asking import RepeatedRequests
from harness.integrations.mcp.mcp_filter import McpFilter
from harness.integrations.mcp.mcp_guarded import GuardedServer
from harness.integrations.mcp.mcp_messages import Json
from harness.integrations.mcp.mcp_replies import Sent
from harness.integrations.mcp.mcp_upstream import (
    SESSION,
    event_data,
    headers_for,
    lost_answer,
    messages_of,
)
from harness.serve.running import is_loopback
from harness.wire import MAX_DOCUMENT_BYTES

_MOST_CONNECTIONS: Final = 1000
_NO_BUFFER: Final = {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}


class _Exchange:
    """One request of a client over HTTP: what it is told, until its answer is among that."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers: Final = headers
        self.told: Final[asyncio.Queue[Json]] = asyncio.Queue()
        self.tasks: Final[set[asyncio.Task[None]]] = set()
        self.asked: list[Json] = []
        self.status = 200
        self.session: str | None = None


class _Connection:
    """A filter, and the requests that wait behind it, by their keys."""

    def __init__(self, filtered: McpFilter) -> None:
        self.filter: Final = filtered
        self.exchanges: Final[dict[str, _Exchange]] = {}


class McpHttpProxy:
    """The endpoint of a guarded server. Use it from one event loop."""

    def __init__(self, server: GuardedServer, url: str, client: Any) -> None:
        """Serve what is at a URL, which is asked with an `httpx2.AsyncClient`."""
        self._server: Final = server
        self._url: Final = url
        self._client: Final = client
        self._asked: Final = RepeatedRequests()
        self._connections: Final[dict[str, _Connection]] = {}
        self._ending: Final[set[asyncio.Task[list[Sent]]]] = set()
        self._lock: Final = Lock()

    async def answer(self, request: Request) -> Response:
        """Answer one request over HTTP."""
        if problem := _problem_of(request):
            return Response(f"{problem}\n", 403, media_type="text/plain")
        match request.method:
            case "POST":
                return await self._post(request)
            case "GET":
                return await self._listen(request)
            case _:
                return await self._end_session(request)

    async def _post(self, request: Request) -> Response:
        try:
            data = await _read(request)
        except ClientDisconnect:
            return Response(status_code=400)
        if data is None:
            return Response("the body is too large\n", 413, media_type="text/plain")
        here, connection = _Exchange(request.headers), self._connection(request)
        key = _key_of_request(data)
        if key in connection.exchanges:
            what = "a request with this id is in progress: give each its own"
            return JSONResponse(wire.failure(None, wire.INVALID_REQUEST, what), 400)
        if key is not None:
            connection.exchanges[key] = here
        sent = await self._hear(connection.filter.from_client, data)
        self._deliver(connection, sent, here)
        if key is None:
            bad = None if here.told.empty() else here.told.get_nowait()
            return Response(status_code=202) if bad is None else JSONResponse(bad, 400)
        return await self._answer_request(request, connection, key, here)

    def _connection(self, request: Request) -> _Connection:
        """Return the connection of a session, or one that is new."""
        name = request.headers.get(SESSION)
        known = self._connections.get(name) if name else None
        if known is not None:
            return known
        made = _Connection(McpFilter(self._server, self._asked))
        if name:
            self._keep(name, made)
        return made

    def _keep(self, name: str, connection: _Connection) -> None:
        if len(self._connections) >= _MOST_CONNECTIONS:
            del self._connections[next(iter(self._connections))]
        self._connections[name] = connection

    async def _hear(self, hear: Callable[[bytes], list[Sent]], data: bytes) -> list[Sent]:
        """Have the filter take in a message, in a thread: it may wait for a disk."""

        def hear_alone() -> list[Sent]:
            with self._lock:
                return hear(data)

        return await asyncio.to_thread(hear_alone)

    def _deliver(self, connection: _Connection, sent: list[Sent], here: _Exchange) -> None:
        for one in sent:
            exchange = connection.exchanges.get(one.about or "", here)
            if one.to == "client":
                exchange.told.put_nowait(one.message)
            else:
                forward = self._forward(connection, one.message, exchange)
                task = asyncio.ensure_future(forward)
                exchange.tasks.add(task)
                task.add_done_callback(exchange.tasks.discard)

    def _schema_for(self, message: Json) -> Any:
        """Return the schema of the arguments of the tool that a message calls, as it is listed."""
        is_call = message.get("method") == "tools/call"
        return self._server.input_schema(message["params"]["name"]) if is_call else None

    async def _forward(self, connection: _Connection, message: Json, here: _Exchange) -> None:
        """Send a message to the server, and take in all that it answers."""
        is_request = "method" in message and "id" in message
        is_clients = is_request and wire.key_of(message["id"]) in connection.exchanges
        here.asked += [message] if is_request else []
        why = "the server did not answer"
        try:
            headers = headers_for(message, here.headers, self._schema_for(message))
            body = wire.dump_message(message)
            async with self._client.stream(
                "POST", self._url, content=body, headers=headers
            ) as response:
                if is_clients:
                    self._note(connection, response, here)
                async for data in messages_of(response, message):
                    await self._hear_and_deliver(connection, data, here)
        except Exception as error:
            why = f"the server cannot be asked: {type(error).__name__}"
            here.status = 502 if is_clients else here.status
        if is_request:  # if it was answered, nobody waits for this
            await self._hear_and_deliver(connection, lost_answer(message, why), here)

    def _note(self, connection: _Connection, response: Any, here: _Exchange) -> None:
        here.status = response.status_code if response.status_code >= 400 else 200
        name = response.headers.get(SESSION)
        if name:
            here.session = name
            self._connections.pop(name, None)
            self._keep(name, connection)

    async def _hear_and_deliver(
        self, connection: _Connection, data: bytes, here: _Exchange
    ) -> None:
        self._deliver(connection, await self._hear(connection.filter.from_server, data), here)

    async def _answer_request(
        self, request: Request, connection: _Connection, key: str, here: _Exchange
    ) -> Response:
        """Return the answer to a request: as JSON, or as events where more comes before it."""
        try:
            first = await _unless_gone(request, here.told.get())
        except BaseException:  # cancelled: the proxy ends
            self._leave(connection, key, here)
            raise
        if first is None or "method" not in first:
            self._leave(connection, key, here)
            if first is None:
                return Response(status_code=400)
            headers = {SESSION: here.session} if here.session else None
            return JSONResponse(first, here.status, headers)
        told = self._events(connection, key, here, first)
        headers = {**_NO_BUFFER, **({SESSION: here.session} if here.session else {})}
        return StreamingResponse(told, headers=headers, media_type="text/event-stream")

    async def _events(
        self, connection: _Connection, key: str, here: _Exchange, message: Json
    ) -> AsyncIterator[bytes]:
        try:
            while "method" in message:
                yield _encode_event(message)
                message = await here.told.get()
            yield _encode_event(message)
        finally:
            self._leave(connection, key, here)

    def _leave(self, connection: _Connection, key: str, here: _Exchange) -> None:
        """End an exchange: what is still asked of the server for it is not wanted any more."""
        if connection.exchanges.get(key) is here:
            del connection.exchanges[key]
        for task in here.tasks:
            task.cancel()
        for message in here.asked:  # those that were answered are not waited for
            data = lost_answer(message, "the client left")
            ended = asyncio.ensure_future(self._hear(connection.filter.from_server, data))
            self._ending.add(ended)
            ended.add_done_callback(self._ending.discard)

    async def _listen(self, request: Request) -> Response:
        """Pass on what a server says without being asked."""
        connection = self._connection(request)
        stream = self._client.stream("GET", self._url, headers=headers_for({}, request.headers))
        try:
            response = await stream.__aenter__()
        except Exception:
            return Response(status_code=502)
        if response.status_code != 200:
            await stream.__aexit__(None, None, None)
            return Response(status_code=response.status_code)

        async def stream_events() -> AsyncIterator[bytes]:
            here = _Exchange(request.headers)
            try:
                async for data in event_data(response):
                    await self._hear_and_deliver(connection, data, here)
                    while not here.told.empty():
                        yield _encode_event(here.told.get_nowait())
            finally:
                await stream.__aexit__(None, None, None)

        return StreamingResponse(
            stream_events(), headers=_NO_BUFFER, media_type="text/event-stream"
        )

    async def _end_session(self, request: Request) -> Response:
        """End a session of the server."""
        connection = self._connections.pop(request.headers.get(SESSION, ""), None)
        if connection is not None:
            await self._hear(lambda _: connection.filter.close(), b"")
        headers = headers_for({}, request.headers)
        try:
            response = await self._client.delete(self._url, headers=headers)
        except Exception:
            return Response(status_code=502)
        return Response(status_code=response.status_code)


def _problem_of(request: Request) -> str | None:
    """Return why a request is not of a program on this machine: a page in a browser may send it."""
    named = request.headers.getlist("host")
    if len(named) != 1 or not _is_here(f"//{named[0]}"):
        return "the header Host does not name this machine: ask for 127.0.0.1"
    origin = request.headers.get("origin")
    return None if origin is None or _is_here(origin) else "the header Origin names another machine"


def _is_here(url: str) -> bool:
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host is not None and is_loopback(host)


async def _read(request: Request) -> bytes | None:
    """Return the body, or None if it is too large."""
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > MAX_DOCUMENT_BYTES:
            return None
    return bytes(data)


def _key_of_request(data: bytes) -> str | None:
    """Return the key of a request that waits for an answer, or None."""
    try:
        message = wire.read_message(data)
    except wire.NotAMessage:
        return None
    return None if message.method is None else message.key


async def _unless_gone(request: Request, wanted: Any) -> Any:
    """Return what is awaited, or None if the client leaves before it is there."""
    getting, gone = asyncio.ensure_future(wanted), asyncio.ensure_future(request.receive())
    try:
        done, _ = await asyncio.wait({getting, gone}, return_when=asyncio.FIRST_COMPLETED)
        return getting.result() if getting in done else None
    finally:
        getting.cancel()
        gone.cancel()


def _encode_event(message: Json) -> bytes:
    return b"event: message\ndata: " + wire.dump_message(message) + b"\n\n"


PATH: Final = "/mcp"

_CONNECT_S: Final = 10


def http_app(server: GuardedServer, url: str) -> Starlette:
    """Return an application that serves what is at a URL, as far as the guard allows."""
    # How long a call takes is for the client to decide.
    timeout = httpx2.Timeout(_CONNECT_S, read=None, write=None, pool=None)
    limits = httpx2.Limits(max_connections=None)
    client = httpx2.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False)
    proxy = McpHttpProxy(server, url, client)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with client:
            yield

    routes = [Route(PATH, proxy.answer, methods=["POST", "GET", "DELETE"])]
    return Starlette(routes=routes, lifespan=lifespan)
