"""A bounded buffer between an agent and a slower reader of its events.

Rule 1: every event is handed on once and in its order, and an error after all events before it.
Rule 2: at most `size` events have been taken from the agent and not been read: it waits for a free
        place before it is asked for the next one.
Rule 3: closing ends the agent's call, drops what was not read, and wakes a reader that waits.
"""

import asyncio
from collections import deque
from typing import Self

from harness.loops.agents.agent import AgentResult, Event, EventStream, HasPartialResult


class BufferedStream:
    """The events of a call that goes on while they are read."""

    def __init__(self, stream: EventStream, size: int, session_id: str) -> None:
        """Wrap a stream. The call begins when the first event is read.

        It ends with the `completed` of its session.
        """
        self._stream = stream
        self._session_id = session_id
        self._places = asyncio.Semaphore(size)
        self._events: deque[Event] = deque()
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._error: BaseException | None = None
        self._ended = False

    @property
    def result(self) -> AgentResult | None:
        """Return the result so far, or None while it is unknown."""
        return self._stream.result if isinstance(self._stream, HasPartialResult) else None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if self._task is None and not self._ended:
            self._task = asyncio.create_task(self._fill())
        while not self._events:
            if self._ended:
                error, self._error = self._error, None
                raise error or StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        self._places.release()
        return self._events.popleft()

    async def aclose(self) -> None:
        """End the call, if it is going on.

        Raises:
            Exception: an error that the agent raised when it was closed.
        """
        self._end_stream()
        self._error = None
        if self._task is None:
            await self._stream.aclose()
            return
        self._task.cancel()
        await asyncio.wait([self._task])
        self._events.clear()
        failed = self._error if self._task.cancelled() else self._task.exception() or self._error
        if failed is not None:
            raise failed

    async def _fill(self) -> None:
        """Take events from the agent as long as there is a place for them, and close it."""
        try:
            while not self._ended and not await self._take():
                pass
        except StopAsyncIteration:
            pass
        except Exception as error:
            self._error = error
        finally:
            # Closed here: what an agent opened in one task cannot always be closed in another.
            try:
                await self._stream.aclose()
            finally:
                self._end_stream()

    async def _take(self) -> bool:
        """Take one event, and return whether it is the last."""
        await self._places.acquire()
        event = await anext(aiter(self._stream))
        self._events.append(event)
        self._changed.set()
        return event.kind == "completed" and event.session_id == self._session_id

    def _end_stream(self) -> None:
        self._ended = True
        self._changed.set()
