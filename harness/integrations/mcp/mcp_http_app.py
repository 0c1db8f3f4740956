"""The application that serves a guarded server over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx2
from starlette.applications import Starlette
from starlette.routing import Route

from harness.integrations.mcp.mcp_guarded import GuardedServer
from harness.integrations.mcp.mcp_http import McpHttpProxy

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
