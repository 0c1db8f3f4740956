"""The guard for an event loop: what may wait for a disk or a lock runs in threads of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Final, Self, TypeVar
from weakref import WeakValueDictionary

from harness.guard.guard import Answer, Guard
from harness.guard.permits import CallPermit
from harness.guard.session_events import SessionEvent
from harness.guard.status import SessionStatus

_T = TypeVar("_T")


class AsyncGuard:
    """A guard whose answers are awaited. Use it from one event loop.

    An event whose caller is cancelled is taken in to its end all the same, or not at all.
    """

    def __init__(self, guard: Guard, *, threads: int = 8) -> None:
        """Await the answers of a guard, of which at most `threads` are worked out at once."""
        self._guard: Final = guard
        self._pool: Final = ThreadPoolExecutor(threads, thread_name_prefix="guard")
        self._locks: Final[WeakValueDictionary[str, asyncio.Lock]] = WeakValueDictionary()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.shutdown()

    def shutdown(self) -> None:
        """End the threads once the events that they work on are answered."""
        self._pool.shutdown(wait=False)

    async def handle(self, event: SessionEvent, *, note: str | None = None) -> Answer:
        """Take in one event. Total, like `Guard.handle`."""
        return await self._run_alone(event.session, lambda: self._guard.handle(event, note=note))

    async def export(self, session: str) -> bytes:
        """Hand a session over. See `Guard.export`."""
        return await self._run_alone(session, lambda: self._guard.export(session))

    async def resume(self, data: bytes) -> str:
        """Go on with a session that was handed over. See `Guard.resume`."""
        return await self._in_thread(lambda: self._guard.resume(data))

    async def abandon(self, session: str) -> None:
        """End a session that nobody goes on with. See `Guard.abandon`."""
        await self._run_alone(session, lambda: self._guard.abandon(session))

    def status(self, session: str) -> SessionStatus | None:
        """Return where a session stands. See `Guard.status`."""
        return self._guard.status(session)

    def permit(self, session: str, call: str) -> CallPermit:
        """Return the permit of an allowed call. See `Guard.permit`."""
        return self._guard.permit(session, call)

    async def _run_alone(self, session: str, work: Callable[[], _T]) -> _T:
        """Run work of a session, so that no thread waits for another event of that session."""
        lock = self._locks.setdefault(session, asyncio.Lock())
        async with lock:
            return await self._in_thread(work)

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        # What is current for the caller, such as a span of a trace, is current for the guard too.
        run = copy_context().run
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: run(work))
