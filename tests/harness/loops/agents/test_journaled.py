"""Loops over a journal resume after a crash and replay without a model."""

import asyncio
import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from harness.loops.actor_critic import ActorCritic
from harness.loops.agents.agent import Event
from harness.loops.agents.journal import (
    Journal,
    JournalDamaged,
    JournalError,
    MemoryStore,
    RecordedFailure,
    ReplayDivergence,
    UnrecordableReply,
)
from harness.loops.agents.journal_file import JournalUnavailable
from harness.loops.agents.journaled import Journaled
from harness.loops.self_refine import SelfRefine
from tests.harness.loops.agents.journals import CLOCK, Ticking, journal_of, resealed
from tests.harness.loops.scripted import Scripted, verdict

GOOD, BAD = verdict(0.95), verdict(0.4, "fix it")


def loop(actor: Scripted, critic: Scripted, journal: Journal) -> ActorCritic:
    actor_agent, critic_agent = Journaled(actor, journal), Journaled(critic, journal)
    return ActorCritic(actor=actor_agent, critic=critic_agent, clock=CLOCK)


def events_of(a_loop: Any) -> list[Event]:
    async def main() -> list[Event]:
        return [event async for event in a_loop.stream("task", session_id="P")]

    return asyncio.run(main())


RUNS = {
    "approved": (("v0", "v1"), (BAD, GOOD)),
    "malformed": (("v0",), ("nice", GOOD)),
    "actor-raises": (("v0", "raise"), (BAD,)),
    "critic-raises": (("v0",), ("raise",)),
    "interrupted": (("v0", "interrupt"), (BAD,)),
    "no-progress": (("v0", "v0"), (BAD,)),
}


@pytest.mark.parametrize(("drafts", "verdicts"), RUNS.values(), ids=RUNS)
def test_a_replay_needs_no_model_and_is_equal(
    drafts: tuple[str, ...], verdicts: tuple[str, ...]
) -> None:
    """replay-byte-equal"""
    store = MemoryStore()
    actor, critic = Scripted(*drafts, name="actor"), Scripted(*verdicts, name="critic")
    events = events_of(loop(actor, critic, journal_of(store)))
    none = Scripted(name="actor"), Scripted(name="critic")
    assert events_of(loop(*none, journal_of(store, "replay"))) == events
    assert none[0].calls == none[1].calls == []
    again = MemoryStore()
    actor, critic = Scripted(*drafts, name="actor"), Scripted(*verdicts, name="critic")
    assert events_of(loop(actor, critic, journal_of(again))) == events
    assert again.lines() == store.lines()


def test_every_entry_has_the_time_of_the_clock_it_was_given() -> None:
    stores = [MemoryStore(), MemoryStore()]
    for store in stores:
        journal = journal_of(store, clock=Ticking())
        events_of(loop(Scripted("v0", name="actor"), Scripted(GOOD, name="critic"), journal))
    assert stores[0].lines() == stores[1].lines()
    times = [json.loads(line)["at"] for line in stores[0].lines()]
    assert times == ["2026-05-09T00:00:01Z", "2026-05-09T00:00:02Z"]


@pytest.mark.parametrize("kept", range(5))
def test_a_loop_resumes_after_any_of_its_calls(kept: int) -> None:
    drafts, verdicts = ("v0", "v1"), (BAD, GOOD)
    whole = MemoryStore()
    first = loop(
        Scripted(*drafts, name="actor"), Scripted(*verdicts, name="critic"), journal_of(whole)
    )
    events = events_of(first)
    store = MemoryStore(tuple(whole.lines()[:kept]))
    actor = Scripted(*drafts[(kept + 1) // 2 :], name="actor")
    critic = Scripted(*verdicts[kept // 2 :], name="critic")
    assert events_of(loop(actor, critic, journal_of(store))) == events
    assert len(actor.calls) + len(critic.calls) == 4 - kept
    assert store.lines() == whole.lines()


def test_an_approval_of_another_draft_is_not_found() -> None:
    """journal-stale-approval"""
    store = MemoryStore()
    events_of(SelfRefine(base=Journaled(Scripted("A", "no issues"), journal_of(store))))
    kept = MemoryStore(resealed(store.lines()[1:]))  # the approval, without the draft it is of
    stream = SelfRefine(base=Journaled(Scripted("B"), journal_of(kept))).stream(
        "task", session_id="P"
    )

    async def main() -> None:
        with pytest.raises(ReplayDivergence, match="P__critic_1"):
            async for _ in stream:
                pass

    asyncio.run(main())
    assert not stream.result.approved
    assert stream.result.output == "B"
    assert stream.result.stop_reason == "unrecoverable"


@pytest.mark.parametrize("then", [{"model": "b"}, {}, None])
def test_a_change_of_what_else_replies_depend_on_is_a_divergence(then: Any) -> None:
    store, settings = MemoryStore(), {"model": "a"}
    first = Journaled(Scripted("v0"), journal_of(store), settings=settings)
    recorded = events_of(first)
    again = Journaled(Scripted(), journal_of(store), settings=settings)
    assert events_of(again) == recorded
    with pytest.raises(ReplayDivergence):
        events_of(Journaled(Scripted(), journal_of(store), settings=then))


def test_a_failed_call_of_a_loop_is_made_again() -> None:
    store = MemoryStore()
    actor = Scripted("v0", name="actor")
    first = loop(actor, Scripted("raise", name="critic"), journal_of(store))
    assert asyncio.run(first.run("task", session_id="P")).stop_reason == "unrecoverable"
    journal = journal_of(store)
    critic = Scripted(GOOD, name="critic")
    result = asyncio.run(loop(Scripted(name="actor"), critic, journal).run("task", session_id="P"))
    assert result.approved
    assert journal.notes == [
        "step critic of session P__critic_1 failed before and is executed again: "
        "RuntimeError: it broke"
    ]


def test_a_divergence_within_a_journaled_loop_is_not_a_failure_of_it() -> None:
    inner, outer = MemoryStore(), MemoryStore()
    journal = journal_of(inner)
    journal.keep(
        "P__actor_0", "actor", {"prompt": "other", "text_only": False}, reply={"events": []}
    )
    nested = loop(Scripted(name="actor"), Scripted(name="critic"), journal)
    with pytest.raises(ReplayDivergence):
        events_of(Journaled(nested, journal_of(outer)))
    assert outer.lines() == []


def test_a_consumer_that_leaves_records_no_failure() -> None:
    store = MemoryStore()

    async def main() -> None:
        stream = Journaled(Scripted("v0"), journal_of(store)).stream("task", session_id="S")
        async for event in stream:
            if event.kind == "model_chunk":
                break
        await stream.aclose()

    asyncio.run(main())
    assert store.lines() == []


def test_a_step_that_is_not_a_call_of_an_agent_is_damage() -> None:
    journal = journal_of(MemoryStore())
    journal.keep("S", "scripted", {"prompt": "task", "text_only": False}, reply=5)

    async def main() -> None:
        async for _ in Journaled(Scripted("v0"), journal).stream("task", session_id="S"):
            pass

    with pytest.raises(JournalDamaged):
        asyncio.run(main())


CRASHING = """
    import asyncio, os, sys
    from pathlib import Path
    from harness.clock import SystemClock
    from harness.loops.actor_critic import ActorCritic
    from harness.loops.agents.journal import Journal
    from harness.loops.agents.journal_file import FileStore
    from harness.loops.agents.journaled import Journaled
    from harness.loops.agents.model import ModelAgent, Reply
    from harness.loops.agents.usage import NO_USAGE

    path, crash_at = Path(sys.argv[1]), int(sys.argv[2])
    calls = 0

    def model(reply):
        async def ask(messages):
            global calls
            calls += 1
            if calls == crash_at:
                os._exit(9)
            return Reply(text=reply(messages[0].content), usage=NO_USAGE)
        return ask

    def judge(prompt):
        good = "better" in prompt
        issues = "[]" if good else '["make it better"]'
        return '{"issues": %s, "score": %s}' % (issues, 1 if good else 0)

    def write(prompt):
        return "a better" if "Fix" in prompt else "a"

    with FileStore(path) as store:
        journal = Journal(store, SystemClock())
        loop = ActorCritic(
            actor=Journaled(ModelAgent("actor", model(write)), journal),
            critic=Journaled(ModelAgent("critic", model(judge)), journal),
        )
        result = asyncio.run(loop.run("write", session_id="P"))
    print(calls, result.output, result.stop_reason)
"""


@pytest.mark.slow
@pytest.mark.parametrize("crash_at", [1, 2, 3, 4])
def test_a_process_that_dies_is_resumed(crash_at: int, tmp_path: Path) -> None:
    script = textwrap.dedent(CRASHING)
    command = [sys.executable, "-c", script, str(tmp_path / "journal")]
    died = subprocess.run([*command, str(crash_at)], check=False, capture_output=True)
    assert died.returncode == 9
    done = subprocess.run([*command, "0"], check=True, capture_output=True, text=True)
    assert done.stdout.split("\n")[0] == f"{5 - crash_at} a better approved"


def test_every_error_of_a_journal_has_one_base() -> None:
    errors = (ReplayDivergence, JournalDamaged, UnrecordableReply, JournalUnavailable)
    assert all(issubclass(error, JournalError) for error in errors)
    assert not issubclass(RecordedFailure, JournalError)
