"""The guard for an event loop: work that may wait for a disk or a lock runs in its own threads."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial, wraps
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar, overload
from weakref import WeakValueDictionary

from critic.session import SessionReport
from harness.guard.guard import Guard
from harness.guard.permits import CallPermit
from harness.guard.rulings import Answer, EventError, OpeningRuling, Ruling
from harness.guard.session_events import (
    AnswerEvent,
    CallsEvent,
    CloseEvent,
    OpenEvent,
    ReadyEvent,
    ResultEvent,
    SaidEvent,
    SessionEvent,
    SessionPlanEvent,
)
from harness.guard.status import SessionStatus

_T = TypeVar("_T")
_P = ParamSpec("_P")


def _make_awaitable(
    method: Callable[Concatenate[Guard, _P], _T],
) -> Callable[Concatenate["AsyncGuard", _P], Coroutine[Any, Any, _T]]:
    """Return an awaitable form of a method of the guard. Its first argument is the session."""

    @wraps(method)
    async def run(guard: "AsyncGuard", /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        session: Any = args[0] if args else kwargs.get("session", "")
        return await guard._run_alone(str(session), partial(method, guard._guard, *args, **kwargs))

    return run


class AsyncGuard:
    """A guard whose answers are awaited. Use it from one event loop.

    If its caller is cancelled, an event is still handled to its end, or not at all.
    """

    def __init__(self, guard: Guard, *, threads: int = 8) -> None:
        """Wrap a guard, which handles at most `threads` events at once."""
        self._guard: Final = guard
        self._pool: Final = ThreadPoolExecutor(threads, thread_name_prefix="guard")
        self._locks: Final[WeakValueDictionary[str, asyncio.Lock]] = WeakValueDictionary()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.shutdown()

    def shutdown(self) -> None:
        """End the threads once they have answered their events."""
        self._pool.shutdown(wait=False)

    open = _make_awaitable(Guard.open)
    said = _make_awaitable(Guard.said)
    calls = _make_awaitable(Guard.calls)
    plan = _make_awaitable(Guard.plan)
    ready = _make_awaitable(Guard.ready)
    result = _make_awaitable(Guard.result)
    answer = _make_awaitable(Guard.answer)
    close = _make_awaitable(Guard.close)
    export = _make_awaitable(Guard.export)
    abandon = _make_awaitable(Guard.abandon)

    @overload
    async def handle(
        self, event: OpenEvent | SaidEvent | ResultEvent, *, note: str | None = None
    ) -> EventError | None: ...
    @overload
    async def handle(
        self, event: CallsEvent | SessionPlanEvent, *, note: str | None = None
    ) -> Ruling | EventError: ...
    @overload
    async def handle(
        self, event: ReadyEvent, *, note: str | None = None
    ) -> OpeningRuling | EventError: ...
    @overload
    async def handle(
        self, event: AnswerEvent, *, note: str | None = None
    ) -> Ruling | OpeningRuling | EventError: ...
    @overload
    async def handle(
        self, event: CloseEvent, *, note: str | None = None
    ) -> SessionReport | EventError: ...
    @overload
    async def handle(self, event: SessionEvent, *, note: str | None = None) -> Answer: ...
    async def handle(self, event: SessionEvent, *, note: str | None = None) -> Answer:
        """Handle one event. Total, like `Guard.handle`."""
        return await self._run_alone(event.session, lambda: self._guard.handle(event, note=note))

    async def resume(self, data: bytes) -> str:
        """Continue an exported session. See `Guard.resume`."""
        return await self._in_thread(lambda: self._guard.resume(data))

    def status(self, session: str) -> SessionStatus | None:
        """Return where a session stands. See `Guard.status`."""
        return self._guard.status(session)

    def permit(self, session: str, call: str) -> CallPermit:
        """Return the permit of an allowed call. See `Guard.permit`."""
        return self._guard.permit(session, call)

    async def _run_alone(self, session: str, work: Callable[[], _T]) -> _T:
        """Run work of a session so that no thread waits for another event of it."""
        lock = self._locks.setdefault(session, asyncio.Lock())
        async with lock:
            return await self._in_thread(work)

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        # What is current for the caller, such as a span of a trace, is current for the guard too.
        run = copy_context().run
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: run(work))
