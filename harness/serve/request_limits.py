"""Limits of size, of time, and of how much there is at once: what one request may take."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

from starlette.requests import Request

from harness.serve.answering import RequestRefused
from harness.serve.log_faults import RETRY
from harness.wire import MAX_DOCUMENT_BYTES

_T = TypeVar("_T")

INLINE_BYTES: Final = 16 * 1024
"""A body of at most so many bytes is judged in a millisecond or so: a thread would cost as much."""

_JSON: Final = "application/json"
_BODIES_AT_ONCE: Final = 8
_CLOSE: Final = {"connection": "close"}


@dataclass(frozen=True)
class ServiceLimits:
    """The limits of requests.

    Attributes:
        max_bytes: the largest body.
        seconds: how long a body may take to arrive, and then its answer to be found.
        requests: how many may be in progress.
        sessions: how many may be open.
        idle_seconds: how long an open session may be without an event.
        batch: how many questions one request may ask.
    """

    max_bytes: int = MAX_DOCUMENT_BYTES
    seconds: float = 30.0
    requests: int = 2_000
    sessions: int = 10_000
    idle_seconds: float = 86_400.0
    batch: int = 1_000


class RequestRoom:
    """Keeps what is in progress within the limits. Use it from one event loop."""

    def __init__(self, limits: ServiceLimits) -> None:
        """Begin with nothing in progress."""
        self.limits: Final = limits
        self.requests = 0
        self._bytes = 0
        self._most_bytes: Final = _BODIES_AT_ONCE * limits.max_bytes

    def enter(self) -> None:
        """Count one more request.

        Raises:
            RequestRefused: there are too many.
        """
        if self.requests >= self.limits.requests:
            raise RequestRefused(503, "too many requests at once: try again", headers=RETRY)
        self.requests += 1

    def leave(self) -> None:
        """Count one less."""
        self.requests -= 1

    @asynccontextmanager
    async def body(self, request: Request, kind: str = _JSON) -> AsyncIterator[bytes]:
        """Read a body of a media type, which counts as held until its answer is found.

        Raises:
            RequestRefused: its headers name another type, it is too large or slow, or one too many.
        """
        _check_type(request, kind)
        data = bytearray()
        try:
            try:
                async with asyncio.timeout(self.limits.seconds):
                    await self._read(request, data)
            except TimeoutError:
                allowed = f"{self.limits.seconds:g} seconds"
                message = f"the body did not arrive within {allowed}: send it at once"
                raise RequestRefused(408, message, headers=_CLOSE) from None
            yield bytes(data)
        finally:
            self._bytes -= len(data)

    async def _read(self, request: Request, data: bytearray) -> None:
        declared = request.headers.get("content-length", "0")
        if not declared.isdecimal() or int(declared) > self.limits.max_bytes:
            raise self._too_large()
        async for chunk in request.stream():
            if len(data) + len(chunk) > self.limits.max_bytes:
                raise self._too_large()
            if self._bytes + len(chunk) > self._most_bytes:
                message = "too many large requests at once: try again"
                raise RequestRefused(503, message, headers={**RETRY, **_CLOSE})
            self._bytes += len(chunk)
            data += chunk

    def _too_large(self) -> RequestRefused:
        limit = self.limits.max_bytes
        message = f"the body is over the limit of {limit} bytes: split it, or raise --max-bytes"
        return RequestRefused(413, message, headers=_CLOSE)


def _check_type(request: Request, kind: str) -> None:
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != kind:
        # AuthZEN has a status of its own for this.
        status = 400 if request.url.path.startswith("/access/") else 415
        what = "JSON" if kind == _JSON else "the body"
        raise RequestRefused(status, f"send {what}, with the header Content-Type: {kind}")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RequestRefused(415, "send the body as it is: no Content-Encoding is read")


class WorkPool:
    """Runs work that may wait or take long in threads of its own, within the time limit."""

    def __init__(self, limits: ServiceLimits, threads: int = 16) -> None:
        """Run at most `threads` pieces of work at once."""
        self._limits: Final = limits
        self._threads: Final = ThreadPoolExecutor(threads, thread_name_prefix="serve")

    async def run(self, work: Callable[[], _T], *, inline: bool = False) -> _T:
        """Return what work returns: `inline` says that it is short and waits for nothing.

        Raises:
            RequestRefused: it took too long. It may still end, and its answer is not sent.
        """
        if inline:
            return work()
        loop = asyncio.get_running_loop()
        return await in_time(self._limits, loop.run_in_executor(self._threads, work))

    def close(self) -> None:
        """End the threads once what they work on is done."""
        self._threads.shutdown(wait=True, cancel_futures=True)


async def in_time(limits: ServiceLimits, answer: "asyncio.Future[_T]") -> _T:
    """Return an answer that comes within the time limit.

    Raises:
        RequestRefused: it does not.
    """
    try:
        async with asyncio.timeout(limits.seconds):
            return await answer
    except TimeoutError:
        message = f"no answer within {limits.seconds:g} seconds: nothing is allowed"
        raise RequestRefused(503, message, headers=RETRY, is_ours=True, kind="timeout") from None
