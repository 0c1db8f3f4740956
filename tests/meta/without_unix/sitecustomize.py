"""Hides what Windows does not have: `fcntl`, and sockets with a path. Put this folder first."""

import socket
import sys


def _socketpair(*_: int) -> tuple[socket.socket, socket.socket]:
    """Return two sockets as Windows makes them, which an event loop needs."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        first = socket.create_connection(server.getsockname())
        return first, server.accept()[0]


sys.modules["fcntl"] = None  # type: ignore[assignment]
if hasattr(socket, "AF_UNIX"):
    del socket.AF_UNIX
socket.socketpair = _socketpair  # type: ignore[assignment]
