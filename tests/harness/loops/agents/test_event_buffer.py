"""A buffer of events: nothing lost, nothing reordered, never more than its places."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.loops.agents.agent import AgentFailed, AgentResult, Event
from harness.loops.agents.event_buffer import BufferedStream
from harness.loops.agents.invocation import SubagentInvocation
from harness.loops.agents.usage import Usage

SIZES = st.integers(0, 6)


class Counted:
    """Tells numbered events, ends as it is told to, and keeps what happens to it."""

    name = "counted"

    def __init__(self, events: int, end: str = "completed", swallows: bool = False) -> None:
        self.events, self.end, self.swallows = events, end, swallows
        self.told = 0
        self.closed: list[asyncio.Task[Any] | None] = []
        self.began: asyncio.Task[Any] | None = None

    async def stream(self, prompt: str, *, session_id: str, **_how: Any) -> AsyncGenerator[Event]:
        del prompt
        self.began = asyncio.current_task()
        try:
            for number in range(self.events):
                self.told += 1
                yield Event(kind="model_chunk", session_id=session_id, data={"n": number})
                await self.rest()
            if self.end == "raise":
                raise OSError("no line")
            if self.end == "hang":
                await asyncio.Event().wait()
            result = AgentResult(output="done", usage=Usage())
            yield Event(kind="completed", session_id=session_id, result=result)
            self.told += 1000  # what comes after the end is not listened to
        finally:
            self.closed.append(asyncio.current_task())

    async def rest(self) -> None:
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            if not self.swallows:
                raise


def numbers(events: list[Event]) -> list[Any]:
    return [event.data["n"] for event in events]


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(40):
        await asyncio.sleep(0)


@given(SIZES, st.integers(0, 12), st.lists(st.booleans(), max_size=12), st.booleans())
def test_every_event_comes_once_in_order_and_the_error_last(
    size: int, events: int, pauses: list[bool], fails: bool
) -> None:
    async def main() -> None:
        agent = Counted(events, "raise" if fails else "completed")
        call = SubagentInvocation(agent, "task", buffer_size=size)
        heard, pausing = list[Event](), iter(pauses)
        try:
            async for event in call.events():
                heard.append(event)
                if next(pausing, False):
                    await settle()
        except OSError as error:
            assert fails and str(error) == "no line"
        else:
            assert not fails
        assert numbers(heard) == [*range(events)]
        assert (call.result is None) == fails
        assert agent.told == events
        assert agent.closed == [agent.began]

    asyncio.run(main())


@given(SIZES, st.integers(1, 12))
def test_an_agent_is_never_further_ahead_than_the_buffer(size: int, events: int) -> None:
    async def main() -> None:
        agent = Counted(events)
        call = SubagentInvocation(agent, "task", buffer_size=size)
        await settle()
        assert agent.told == 0  # it starts when its events are read
        for read in range(1, events + 1):
            await anext(call)
            await settle()
            assert agent.told == min(events, read + size)
        await call.aclose()

    asyncio.run(main())


@given(st.integers(1, 6), st.integers(0, 4), st.booleans())
def test_a_reader_that_leaves_ends_the_call(size: int, read: int, swallows: bool) -> None:
    async def main() -> None:
        agent = Counted(9, swallows=swallows)
        call = SubagentInvocation(agent, "task", buffer_size=size)
        for _ in range(read):
            await anext(call)
        await call.aclose()
        told = agent.told
        await settle()
        assert agent.told == told <= read + size
        assert agent.closed == ([agent.began] if read else [])
        with pytest.raises(StopAsyncIteration):
            await anext(call)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


@pytest.mark.parametrize("size", [0, 1, 9])
def test_a_reader_that_is_cancelled_ends_the_call(size: int) -> None:
    async def main() -> None:
        agent = Counted(2, "hang")
        call = SubagentInvocation(agent, "task", buffer_size=size)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                async for _ in call.events():
                    pass
        assert len(agent.closed) == 1
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_closing_wakes_a_reader_that_waits() -> None:
    async def main() -> None:
        call = SubagentInvocation(Counted(0, "hang"), "task", buffer_size=3)
        reader = asyncio.create_task(anext(call))
        await settle()
        await call.aclose()
        with pytest.raises((StopAsyncIteration, AgentFailed)):
            await asyncio.wait_for(reader, 1)

    asyncio.run(main())


def test_an_error_of_closing_is_raised() -> None:
    class Stuck(Counted):
        async def rest(self) -> None:
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                raise OSError("it does not close") from None

    async def main() -> None:
        call = SubagentInvocation(Stuck(5), "task", buffer_size=5)
        await anext(call)
        with pytest.raises(OSError, match="does not close"):
            await call.aclose()

    asyncio.run(main())


@pytest.mark.parametrize("size", [-1, 1.0, True, "8", None])
def test_a_size_is_a_whole_number(size: Any) -> None:
    with pytest.raises(ValueError, match="buffer_size must be a whole number of at least 0, not"):
        SubagentInvocation(Counted(1), "task", buffer_size=size)


def test_what_was_not_read_is_dropped_at_the_end() -> None:
    async def main() -> None:
        agent = Counted(5)
        stream = BufferedStream(agent.stream("task", session_id="S"), 3, "S")
        await anext(stream)
        await settle()
        await stream.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(stream)

    asyncio.run(main())


def test_the_end_of_another_session_is_not_the_end() -> None:
    class Nested(Counted):
        async def stream(
            self, prompt: str, *, session_id: str, **how: Any
        ) -> AsyncGenerator[Event]:
            async for event in Counted(1).stream(prompt, session_id="inner", **how):
                yield event
            async for event in super().stream(prompt, session_id=session_id, **how):
                yield event

    async def main() -> None:
        call = SubagentInvocation(Nested(2), "task", session_id="S", buffer_size=8)
        assert numbers([event async for event in call.events()]) == [0, 0, 1]
        assert call.result is not None

    asyncio.run(main())
