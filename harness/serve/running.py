"""Run an application on a socket until it is told to stop. What it has begun, it answers.

Rule 1: nothing is printed but that it serves.
"""

import asyncio
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal

import uvicorn
from starlette.types import ASGIApp

from harness.serve.sockets import url_of

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_KEEP_ALIVE_S: Final = 75


def run_app(
    app: ASGIApp,
    bound: socket.socket,
    grace_s: int,
    *,
    path: str = "",
    lifespan: Literal["on", "off"] = "off",
) -> int:
    """Run an application until SIGTERM or SIGINT, and return the one that came, 0 for none.

    Args:
        grace_s: how long it may take to answer what it has begun, in seconds.
        path: where it answers, for what is printed once it does.
        lifespan: whether it is told of its start and its end.
    """
    with _noted() as received:
        server = _AnnouncedServer(_config(app, grace_s, lifespan), url_of(bound) + path)
        asyncio.run(server.serve(sockets=[bound]))
    return received[0] if received else 0


def _config(app: ASGIApp, grace_s: int, lifespan: Literal["on", "off"]) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="h11",
        loop="asyncio",
        lifespan=lifespan,
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        # Longer than clients keep one: else both may give it up while a request is on its way.
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=grace_s,
    )


class _AnnouncedServer(uvicorn.Server):
    """A server that says where it serves once it does."""

    def __init__(self, config: uvicorn.Config, url: str) -> None:
        super().__init__(config)
        self._url = url

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        sys.stdout.write(f"serving on {self._url}\n")
        sys.stdout.flush()


@contextmanager
def _noted() -> Iterator[list[int]]:
    """Note the signals that the server raises again once it has ended, and do not die of them."""
    received: list[int] = []

    def note(number: int, _frame: Any) -> None:
        received.append(number)

    before = {number: signal.signal(number, note) for number in _SIGNALS}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
