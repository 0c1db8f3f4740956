"""The bare endpoint that the service is compared with: it answers a body with that body."""

import asyncio
import socket
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from harness.serve.running import bind_tcp, url_of


async def _echo(request: Request) -> Response:
    return Response(await request.body(), media_type="application/json")


class _Announced(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        for bound in sockets or ():
            print(f"serving on {url_of(bound)}", flush=True)


def main() -> None:
    """Serve on a free port of loopback, with the settings of the service."""
    app = Starlette(routes=[Route("/echo", _echo, methods=["POST"])])
    quiet: Any = {"log_config": None, "access_log": False}
    config = uvicorn.Config(app, http="h11", loop="asyncio", lifespan="off", ws="none", **quiet)
    with bind_tcp("127.0.0.1", 0, has_tokens=False) as bound:
        asyncio.run(_Announced(config).serve(sockets=[bound]))


if __name__ == "__main__":
    main()
