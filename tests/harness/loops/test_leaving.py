"""A consumer may leave a loop at any moment, and has what there is."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from harness.loops.actor_critic import ActorCritic
from harness.loops.agents.agent import Agent
from harness.loops.agents.journal import MemoryStore
from harness.loops.agents.journaled import Journaled
from harness.loops.self_refine import SelfRefine
from tests.harness.loops.agents.journals import journal_of
from tests.harness.loops.scripted import Scripted, verdict

GOOD, BAD = verdict(0.95), verdict(0.4, "fix it")


class Hanging(Scripted):
    """Says its first replies, and then waits for ever."""

    async def stream(self, prompt: str, **how: Any) -> Any:
        async with aclosing(super().stream(prompt, **how)) as stream:
            async for event in stream:
                yield event
                if event.data.get("text") == "hang":
                    await asyncio.Event().wait()


def test_a_consumer_that_breaks_is_left_alone() -> None:
    async def main() -> None:
        actor, critic = Scripted("v0", "v1"), Scripted(BAD, GOOD)
        stream = ActorCritic(actor=actor, critic=critic).stream("task", session_id="P")
        async for event in stream:
            if event.session_id == "P__actor_1":
                break
        assert stream.result.stop_reason == "cancelled"
        assert stream.result.output == "v0"
        await stream.aclose()
        await asyncio.sleep(0)
        assert actor.closed == 2
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        assert stream.result.interruption_reason == "cancelled:round_1"
        assert stream.result.usage.tokens == 20
        assert [attempt.draft for attempt in stream.attempts] == ["v0"]
        with pytest.raises(StopAsyncIteration):
            await anext(stream)

    asyncio.run(main())


def test_a_stream_that_nobody_closes_is_closed() -> None:
    actor = Scripted("v0")

    async def main() -> None:
        async for event in ActorCritic(actor=actor, critic=Scripted()).stream("task"):
            if event.kind == "model_chunk":
                break
        await asyncio.sleep(0.01)
        assert actor.closed == 1

    asyncio.run(main())


def test_a_cancelled_consumer_has_its_partial_result() -> None:
    async def main() -> None:
        inner = ActorCritic(actor=Scripted("v0", "v1"), critic=Hanging(BAD, "hang"))
        stream = ActorCritic(actor=inner, critic=Scripted()).stream("task", session_id="P")
        reached = asyncio.Event()

        async def consume() -> None:
            async for event in stream:
                if event.data.get("text") == "hang":
                    reached.set()

        task = asyncio.create_task(consume())
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        result = stream.result
        assert (result.stop_reason, result.interrupted) == ("cancelled", True)
        assert result.output == "v0"  # the best of the loop within
        assert result.usage.tokens == 30

    asyncio.run(main())


def test_a_stream_closed_before_it_began_is_cancelled() -> None:
    async def main() -> None:
        actor = Scripted("v0")
        stream = ActorCritic(actor=actor, critic=Scripted()).stream("task")
        await stream.aclose()
        assert stream.result.stop_reason == "cancelled"
        assert actor.calls == []

    asyncio.run(main())


def test_leaving_at_the_last_event_changes_nothing() -> None:
    async def main() -> None:
        loop = ActorCritic(actor=Scripted("v0"), critic=Scripted(GOOD))
        stream = loop.stream("task")
        async for event in stream:
            if event.kind == "completed":
                break
        await stream.aclose()
        assert stream.result == event.result
        assert stream.result.approved

    asyncio.run(main())


def test_what_was_malformed_before_is_not_a_reason_for_leaving() -> None:
    async def main() -> None:
        loop = ActorCritic(actor=Scripted("v0"), critic=Scripted("nice", GOOD))
        async with aclosing(loop.stream("task")) as stream:
            async for event in stream:
                if event.data.get("event") == "malformed":
                    break
        assert stream.result.interruption_reason == "cancelled:round_0"

    asyncio.run(main())


class Slow(Scripted):
    """Takes time to close, as agents with a process or a connection do."""

    async def stream(self, prompt: str, **how: Any) -> Any:
        async with aclosing(super().stream(prompt, **how)) as stream:
            try:
                async for event in stream:
                    yield event
            finally:
                await asyncio.sleep(0.01)


def nested(leaf: Agent, store: MemoryStore) -> ActorCritic:
    journal = journal_of(store)
    inner = ActorCritic(actor=SelfRefine(base=Journaled(leaf, journal)), critic=Scripted())
    return ActorCritic(actor=Journaled(inner, journal), critic=Scripted())


@pytest.mark.parametrize("held", [False, True])
def test_the_end_of_the_event_loop_closes_what_was_left_in_silence(held: bool) -> None:
    leaf, store = Slow("v0"), MemoryStore()
    complaints: list[dict[str, Any]] = []

    async def main() -> Any:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))
        stream = nested(leaf, store).stream("task", session_id="P")
        async for event in stream:
            if event.kind == "model_chunk":
                break
        return stream if held else None

    left = asyncio.run(main())
    assert complaints == []
    assert leaf.closed == 1
    assert store.lines() == []  # it did not fail
    if held:
        assert left.result.interruption_reason == "cancelled:round_0"


def test_a_journal_between_loops_hides_no_partial_result() -> None:
    async def main() -> None:
        inner = ActorCritic(actor=Scripted("v0"), critic=Scripted("never"))
        journaled = Journaled(inner, journal_of(MemoryStore()))
        stream = ActorCritic(actor=journaled, critic=Scripted()).stream("task", session_id="P")
        async for event in stream:
            if event.session_id == "P__actor_0__critic_1":
                break
        await stream.aclose()
        assert (stream.result.output, stream.result.usage.tokens) == ("v0", 10)

    asyncio.run(main())
