"""Run an application on a socket until it is told to stop. What it has begun, it answers.

Rule 1: nothing is printed but that it serves, whom it believes, and one line for each failure.
Rule 2: an address that others can reach is never bound without tokens.
Rule 3: a Unix socket is for its owner only, from the moment that it exists. One that a server
        listens on is not taken away from it.
"""

import asyncio
import os
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, Literal

import uvicorn
from starlette.types import ASGIApp

from harness.errors import UsageError, escape_text

_BACKLOG: Final = 2048
_ONLY_OWNER: Final = 0o177


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, seen from itself only: an address, or localhost."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def bind_tcp(host: str, port: int, *, has_tokens: bool) -> socket.socket:
    """Return a socket that listens on a host.

    Raises:
        UsageError: others can reach the host without a token, or it cannot be bound.
    """
    shown = f"{escape_text(host)} port {port}"
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=_PASSIVE)
    except (OSError, UnicodeError, OverflowError):
        raise UsageError(f"{shown}: no such address: try --host 127.0.0.1") from None
    family, kind, protocol, _, address = found[0]
    if not has_tokens and not is_loopback(str(address[0])):
        raise UsageError(
            f"{shown}: others can reach this address: give --tokens FILE, or serve on 127.0.0.1"
        )
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError as error:
        bound.close()
        raise _cannot_listen(shown, error) from None
    return bound


_PASSIVE: Final = socket.AI_PASSIVE


def bind_unix(path: str) -> socket.socket:
    """Return a Unix socket that listens at a path, which only its owner can use.

    Raises:
        UsageError: something else is there, a server listens there, or it cannot be bound.
    """
    shown = escape_text(path)
    if not hasattr(socket, "AF_UNIX"):
        raise UsageError(f"{shown}: this system has no sockets with a path: serve on TCP")
    _clear(path, shown)
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(_ONLY_OWNER)
    try:
        bound.bind(path)
        bound.listen(_BACKLOG)
    except (OSError, ValueError) as error:
        bound.close()
        raise _cannot_listen(shown, error) from None
    finally:
        os.umask(before)
    return bound


def _clear(path: str, shown: str) -> None:
    """Remove a socket that a server which was killed left behind."""
    try:
        mode = Path(path).lstat().st_mode
    except (FileNotFoundError, ValueError):
        return
    except OSError as error:
        raise _cannot_listen(shown, error) from None
    if not stat.S_ISSOCK(mode):
        raise UsageError(f"{shown}: there is something else here: name another path")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            Path(path).unlink(missing_ok=True)
            return
        except OSError as error:
            raise _cannot_listen(shown, error) from None
    raise UsageError(f"{shown}: a server listens here already: stop it, or name another path")


def release_unix(path: str, bound: os.stat_result) -> None:
    """Remove the socket at a path, if it is still the one that was bound."""
    with suppress(OSError):
        if _identity(Path(path).lstat()) == _identity(bound):
            Path(path).unlink()


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_dev, status.st_ino, status.st_mtime_ns  # the number of a file is used again


def url_of(bound: socket.socket) -> str:
    """Return the URL that a socket is reached by."""
    address: Any = bound.getsockname()
    if bound.family not in (socket.AF_INET, socket.AF_INET6):
        return f"unix:{escape_text(str(address))}"
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    return f"http://{host}:{address[1]}"


class IdleLimit:
    """Ends a service on a Unix socket that nobody needs any more."""

    def __init__(
        self,
        seconds: float,
        path: str,
        is_outdated: Callable[[], bool],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin to wait.

        Args:
            seconds: how long it may be without a request.
            path: its socket. A service that cannot be found is not needed.
            is_outdated: whether a newer one has to take its place.
        """
        self._seconds, self._path = seconds, path
        self._is_outdated, self._monotonic = is_outdated, monotonic
        self._bound = _find_identity(path)
        self._requests, self._since = 0, monotonic()

    def is_over(self, requests: int) -> bool:
        """Return whether the service is to end.

        Args:
            requests: how many requests it had.
        """
        if requests != self._requests:
            self._requests, self._since = requests, self._monotonic()
        waited = self._monotonic() - self._since
        is_gone = _find_identity(self._path) != self._bound
        return waited >= self._seconds or is_gone or self._is_outdated()


def _find_identity(path: str) -> tuple[int, int, int] | None:
    with suppress(OSError):
        return _identity(Path(path).lstat())
    return None


def _cannot_listen(shown: str, error: Exception) -> UsageError:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return UsageError(f"{shown}: cannot listen: {escape_text(reason)}")


_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_KEEP_ALIVE_S: Final = 75
_TURN_S: Final = 0.0005
"""How long a thread that judges a large body may go on while the loop has a small one to answer."""
_TICKS: Final = 10
"""Of the ten in a second, after so many it is seen whether the server is to end."""


def run_app(
    app: ASGIApp,
    bound: socket.socket,
    grace_s: int,
    *,
    path: str = "",
    note: str = "",
    lifespan: Literal["on", "off"] = "off",
    limit: IdleLimit | None = None,
) -> int:
    """Run an application until SIGTERM or SIGINT, and return the one that came, 0 for none.

    Args:
        grace_s: how long it may take to answer what it has begun, in seconds.
        path: where it answers, for what is printed once it does.
        note: a line that is printed below that.
        lifespan: whether it is told of its start and its end.
        limit: says when it ends by itself.
    """
    with _note_signals() as received, _short_turns():
        lines = [f"serving on {url_of(bound)}{path}", *([note] if note else [])]
        server = _AnnouncedServer(_config(app, grace_s, lifespan), lines, limit)
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
    """A server that says where it serves once it does, and may end by itself."""

    def __init__(
        self, config: uvicorn.Config, lines: Sequence[str], limit: IdleLimit | None
    ) -> None:
        super().__init__(config)
        self._lines, self._limit = lines, limit

    async def on_tick(self, counter: int) -> bool:
        if await super().on_tick(counter):
            return True
        if self._limit is None or counter % _TICKS or self.server_state.tasks:
            return False
        return self._limit.is_over(self.server_state.total_requests)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        sys.stdout.write("".join(f"{line}\n" for line in self._lines))
        sys.stdout.flush()


@contextmanager
def _short_turns() -> Iterator[None]:
    """Let threads take shorter turns than by default: an answer waits for several of them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def _note_signals() -> Iterator[list[int]]:
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
