"""Each lock, held by hand: who comes to it waits, and looks again at what changed meanwhile.

Contention finds a missing lock by luck. Here a thread is held up right before each `with` that
takes a lock, another does what would spoil its work, and then it goes on. A new lock needs a scene.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Thread
from threading import enumerate as threads
from types import SimpleNamespace
from typing import Any, Final

import pytest
from langchain_core.messages import HumanMessage

from critic import CompiledContext, OpeningError, Proposal, context_digest
from critic.provenance import kept_items
from critic.provenance.kept_items import seen_in
from critic.provenance.value_kinds import read_value
from critic.session.grown import Grown
from critic.session.sent_log import SentLog
from critic.session.session_evidence import Trail
from critic.session.waiting_calls import judge_call
from evals.context import SentValues
from evals.manifest import EvidenceItem, Manifests, Source
from evals.recent_results import RecentResults
from evals.side_table import Beside
from evals.unread import read_unread, unread_context
from harness.canonical import canonical_bytes
from harness.clock import FixedClock
from harness.errors import HarnessError
from harness.guard import AsyncGuard, EventError, Guard, OutOfPlace, Ruling
from harness.guard.session_events import event_of
from harness.guard.session_folder import SessionFolder
from harness.guard.session_inputs import _GrowingMember, _Grown
from harness.integrations.hooks.desk import HookDesk
from harness.integrations.hooks.install import shipped_policy
from harness.integrations.hooks.kept_sessions import KeptSessions, SessionPlace, _Kept
from harness.integrations.langchain import ApprovalAnswer, GuardedToolNode, langchain_node
from harness.integrations.mcp import mcp_stdio
from harness.integrations.mcp.mcp_http import McpHttpProxy
from harness.integrations.openai.openai_run import GuardedSdkRun
from harness.integrations.pydantic_ai import pydantic_ai_run
from harness.integrations.pydantic_ai.pydantic_ai_run import GuardedRun
from harness.integrations.seam.guarded import AskedCall, CallReply, GuardedSession
from harness.log.commits import Append, SharedCommits
from harness.loops.agents.journal import Journal, JournalError, MemoryStore
from harness.loops.agents.journal_file import FileStore
from harness.record.inputs import HeldInputs
from harness.runtime.loop_events import EventEmitter
from harness.runtime.opening_desk import OpeningDesk
from harness.runtime.recorder import CallRecorder, ExecutionEnded
from harness.single_use import PermitError
from harness.wire import parse
from tests.support.guarding import NOON, call, close, desk, guard_of, open_, policy_of
from tests.support.held_locks import (
    Held,
    Site,
    gate_at,
    hold_task,
    lock_sites,
    named_locks,
    takes_lock,
)
from tests.support.langchain_agents import LOOKUP, REFUND, Shop, answer, asks_for
from tests.support.langchain_agents import guard as guard_of_shop
from tests.support.late_refund import late_policy, late_refund
from tests.support.paths import FIXTURES

Scene = Callable[[Site, Path], None]
SCENES: Final[dict[Site, Scene]] = {}
READ: Final = AskedCall("c", "list_mail", {})


def at(file: str, *functions: str | tuple[str, int]) -> Callable[[Scene], Scene]:
    """Say which locks a scene is about."""

    def noted(scene: Scene) -> Scene:
        for one in functions:
            name, number = (one, 1) if isinstance(one, str) else one
            SCENES[Site(file, name, number)] = scene
        return scene

    return noted


@pytest.mark.parametrize("site", lock_sites(), ids=lambda site: f"{site.function}-{site.number}")
def test_who_comes_to_a_lock_waits_and_looks_again(site: Site, tmp_path: Path) -> None:
    assert site in SCENES, "a new lock: write what must not happen while it is held"
    SCENES[site](site, tmp_path)


def test_no_scene_is_of_a_lock_that_went() -> None:
    assert not SCENES.keys() - lock_sites().keys()


def test_no_lock_has_a_name_by_which_it_is_not_found() -> None:
    others = [found for found in named_locks() if not takes_lock(found[1])]
    assert others == [
        # Never waited for: who does not get it is told so: tests/harness/serve/test_readiness.py
        ("harness/serve/service_log.py", "self._opening"),
        # Acquired once, and never released: tests/harness/guard/test_permits.py
        ("harness/single_use.py", "self._used"),
        # Hands on between two threads of the kit, of which one always waits: a law of two sessions
        # that never ends, or plays another order, is what goes wrong without it.
        ("harness/testing/_seams/baton.py", "self._changed"),
    ]


# The guard.


def opened(**how: Any) -> Guard:
    guard = guard_of(desk(), **how)
    guard.handle(event_of(open_()))
    return guard


def told(guard: Guard, event: Any) -> Any:
    return guard.handle(event_of(event))


def entry_of(guard: Guard) -> Any:
    return guard._entries["s"]


@at("harness/guard/guard.py", "Guard._take")
def an_event_that_waited_for_a_close_is_refused(site: Site, _: Path) -> None:
    guard = opened()
    with Held(site, entry_of(guard), "lock", partial(told, guard, call("list_mail"))) as held:
        told(guard, close())
    assert isinstance(held.result, EventError)
    assert guard.open_sessions == 0


@at("harness/guard/guard.py", "Guard._admit")
def of_two_that_open_a_session_one_does(site: Site, _: Path) -> None:
    guard = guard_of(desk())
    with Held(site, guard, "_lock", partial(told, guard, open_())) as held:
        assert told(guard, open_()) is None
        told(guard, call("list_mail"))
    assert isinstance(held.result, EventError)
    status = guard.status("s")
    assert status is not None
    assert status.turn == 1
    state = guard.export("s")
    with Held(site, guard, "_lock", partial(guard.resume, state)) as held:
        guard.resume(state)
        told(guard, close())
    assert isinstance(held.error, HarnessError)
    assert guard.open_sessions == 0


@at("harness/guard/guard.py", "Guard._forget")
def a_session_is_open_until_it_is_forgotten(site: Site, _: Path) -> None:
    guard = opened()
    with Held(site, guard, "_lock", partial(told, guard, close())) as held:
        assert isinstance(told(guard, open_()), EventError)
    assert held.error is None
    assert told(guard, open_()) is None


@at("harness/guard/guard.py", "Guard.abandon")
def who_abandons_a_session_leaves_the_next_one_alone(site: Site, _: Path) -> None:
    guard = opened()
    with Held(site, entry_of(guard), "lock", partial(guard.abandon, "s")):
        told(guard, close())
        told(guard, open_())
    assert guard.is_open("s")
    assert isinstance(told(guard, call("list_mail")), Ruling)


@at("harness/guard/guard.py", "Guard.export")
def a_session_that_was_closed_is_not_handed_over(site: Site, _: Path) -> None:
    guard = opened()
    with Held(site, entry_of(guard), "lock", partial(guard.export, "s")) as held:
        told(guard, close())
        told(guard, open_())
    assert isinstance(held.error, OutOfPlace)
    assert guard.is_open("s")


@at("harness/guard/guard.py", "Guard._resume_kept")
def of_two_that_go_on_with_a_kept_session_both_have_the_same(site: Site, folder: Path) -> None:
    opened(sessions=SessionFolder(folder))
    guard = guard_of(desk(), sessions=SessionFolder(folder))
    with Held(site, guard, "_lock", partial(told, guard, call("list_mail"))) as held:
        assert told(guard, call("list_mail"))
    assert "is awaited" in str(held.result)


@at("harness/guard/guard.py", "Guard._current", "Guard.keep_note")
def who_looks_at_a_session_that_closed_leaves_the_next_one_alone(site: Site, folder: Path) -> None:
    guard = opened(sessions=SessionFolder(folder))
    note = partial(guard.keep_note, "s", "old")
    work = note if site.function == "Guard.keep_note" else partial(guard.status, "s")
    with Held(site, entry_of(guard), "lock", work) as held:
        told(guard, close())
        told(guard, open_())
    assert held.error is None or isinstance(held.error, OutOfPlace)
    assert guard.open_sessions == 1
    assert guard.note("s") is None


@at("harness/guard/aio.py", "AsyncGuard._run_alone")
def an_event_loop_has_one_event_of_a_session_at_a_time(site: Site, _: Path) -> None:
    guard, inner = AsyncGuard(guard_of(desk())), asyncio.Lock()
    gate: Any = gate_at(site, inner)
    guard._locks["s"] = gate

    async def scenario() -> None:
        first = asyncio.ensure_future(guard.handle(event_of(open_(request="first"))))
        while not first.done() and not gate.arrived.is_set():
            await asyncio.sleep(0.001)
        assert gate.arrived.is_set(), "it went on without the lock"
        assert not guard._guard.is_open("s")
        assert await guard.handle(event_of(open_(request="second"))) is None
        gate.go_on.set()
        assert isinstance(await first, EventError)

    asyncio.run(scenario())
    guard.shutdown()


# What sessions share.


def item(name: str, **more: Any) -> EvidenceItem:
    return EvidenceItem(id=name, classification="note", content=f"text of {name}", **more)


PUBLIC: Final = Source(author="public", standing="ambient")


def ids(trail: Trail) -> list[str]:
    return [one.id for one in trail.items]


@at("critic/session/grown.py", "Grown.plus")
def two_sets_that_go_on_from_one_do_not_mix(site: Site, _: Path) -> None:
    first = Grown[str](lambda value: [value], ["a"])
    with Held(site, first._shared, "lock", partial(first.plus, ["b"])) as held:
        other = first.plus(["c"])
    assert [*held.result] == ["a", "b"]
    assert [*other] == ["a", "c"]
    assert "c" not in held.result


@at("critic/session/sent_log.py", "SentLog.plus")
def two_logs_that_go_on_from_one_do_not_mix(site: Site, _: Path) -> None:
    first = SentLog([SentValues(seq=0, values=["a"])])
    more = [SentValues(seq=1, values=["b"])]
    with Held(site, first._shared, "lock", partial(first.plus, more)) as held:
        other = first.plus([SentValues(seq=1, values=["c"])])
    assert [one.values for one in held.result] == [("a",), ("b",)]
    assert [one.values for one in other] == [("a",), ("c",)]
    assert held.result.first_seq(read_value("c", None)) is None


@at("critic/session/sent_log.py", "SentLog.first_seq")
def a_log_does_not_know_what_was_sent_after_it(site: Site, _: Path) -> None:
    first = SentLog([SentValues(seq=0, values=["a"])])
    asked = partial(first.first_seq, read_value("b", None))
    with Held(site, first._shared, "lock", asked) as held:
        longer = first.plus([SentValues(seq=1, values=["b"])])
    assert held.error is None
    assert held.result is None
    assert longer.first_seq(read_value("b", None)) == 1


@at("critic/session/session_evidence.py", "Trail.plus")
def two_trails_that_go_on_from_one_do_not_mix(site: Site, _: Path) -> None:
    first = Trail([item("a")])
    with Held(site, first._shared, "lock", partial(first.plus, [item("b")])) as held:
        other = first.plus([item("c")])
    assert (ids(held.result), ids(other)) == (["a", "b"], ["a", "c"])


@at("critic/session/session_evidence.py", "Trail.read")
def a_trail_is_read_once(site: Site, _: Path) -> None:
    trail = Trail([item("a"), item("b")])
    seen: list[str] = []
    add = trail._shared.seen.add
    object.__setattr__(trail._shared, "seen", Noting(seen, add))
    with Held(site, trail._shared, "lock", trail.read):
        trail.read()
    assert seen == ["a", "b"]


class Noting:
    """Notes which items are added."""

    def __init__(self, seen: list[str], add: Any) -> None:
        self._seen, self._add = seen, add

    def add(self, one: EvidenceItem) -> None:
        self._seen.append(one.id)
        self._add(one)


@at("critic/session/session_evidence.py", "Trail._seen_items")
def nobody_else_looks_while_one_does(site: Site, _: Path) -> None:
    trail = Trail([item("a", expires_at=NOON)])

    def look() -> bool:
        with trail.seen_sources(NOON - timedelta(seconds=1)):
            return bool(trail._shared.lock.locked())

    with Held(site, trail._shared, "lock", look) as held, trail.seen_sources(NOON):
        pass
    assert held.result is True


@at("critic/session/session_evidence.py", "Trail.digest_state")
def a_digest_is_of_the_own_evidence(site: Site, _: Path) -> None:
    given = parse(Proposal, (FIXTURES / "refund" / "plan_b.json").read_bytes())
    items = given.compiled.manifests.evidence_manifest
    trail = Trail(items, given.compiled.manifests)
    asked = partial(trail.context_digest, given.ctx, given.compiled, given.spec)
    with Held(site, trail._shared, "digest_lock", asked) as held:
        longer = trail.plus([item("later")])
        longer.context_digest(given.ctx, given.compiled, given.spec)
    assert held.result == context_digest(given.ctx, given.compiled, given.spec)


@at("harness/guard/session_inputs.py", "_Grown.spell")
def evidence_is_spelled_once_and_is_that_of_the_own_trail(site: Site, _: Path) -> None:
    trail = Trail([item("a"), item("b")])
    grown = _Grown(trail.opening)
    with Held(site, grown, "_lock", partial(grown.spell, trail)) as held:
        longer = grown.spell(trail.plus([item("c")]))
    assert held.result.elements == _Grown(trail.opening).spell(trail).elements
    assert longer.elements == _Grown(trail.opening).spell(trail.plus([item("c")])).elements


@at("harness/guard/session_inputs.py", "_GrowingMember.spell")
def acts_are_spelled_once_and_are_those_of_the_own_context(site: Site, _: Path) -> None:
    member, acts = _GrowingMember(), [item("a"), item("b")]
    with Held(site, member, "_lock", partial(member.spell, acts)) as held:
        longer = member.spell([*acts, item("c")])
    assert held.result == _GrowingMember().spell(acts)
    assert longer == _GrowingMember().spell([*acts, item("c")])


@at("critic/session/waiting_calls.py", "_opener_of")
def two_that_open_calls_of_a_turn_open_their_own(site: Site, _: Path) -> None:
    read = {"args": {"id": "ord_881"}}
    calls = [{"id": "a", "tool": "lookup", **read}, {"id": "b", "tool": "refund_window", **read}]
    calls[1]["after"] = ["a"]
    guard = Guard(late_policy(), clock=FixedClock(NOON))
    told(guard, {"event": "open", "session": "s", "request": "Refund order ord_881"})
    told(guard, {"event": "calls", "session": "s", "calls": calls})
    session = entry_of(guard).course.session
    place = session.running[1].derived
    with Held(site, place, "lock", partial(judge_call, session, (1, 0), NOON)) as held:
        with suppress(OpeningError):
            judge_call(session, (1, 1), NOON)
        other = judge_call(session, (1, 0), NOON)
    assert held.result.opening == other.opening
    assert held.result.call == other.call


@at("critic/session/shared_items.py", "ConfinedItems._hold_locks")
def confined_content_is_that_of_the_own_trail(site: Site, _: Path) -> None:
    bare = EvidenceItem(id="bare", classification="card", content={})
    card = EvidenceItem(id="later", classification="card", content="4711-0815")
    for name, expected in (("found_in", [None]), ("without_text", ["bare"])):
        trail = Trail([bare])
        confined = trail.confined_content(["card"])
        works: dict[str, Callable[[], Any]] = {
            "found_in": partial(confined.found_in, ["4711-0815"]),
            "without_text": confined.without_text,
        }
        with Held(site, trail._shared, "confined_lock", works[name]) as held:
            longer = trail.plus([card]).confined_content(["card"])
            assert longer.found_in(["4711-0815"]) == ["later"]
        assert held.result == expected


def manifests_of(*items: EvidenceItem) -> Manifests:
    return Manifests(tool_manifest=(), evidence_manifest=items)


def index_of(manifests: Manifests) -> Any:
    kept = kept_items._KEPT.get(manifests)
    return kept and kept.index


@at("critic/provenance/kept_items.py", "seen_in")
def an_index_is_used_by_one_at_a_time(site: Site, _: Path) -> None:
    one, indexes = manifests_of(item("a", expires_at=NOON, source=PUBLIC)), list[Any]()

    def look(as_of: datetime) -> bool:
        with seen_in(one, as_of) as looked:
            indexes.append(looked.fresh._items)
            return looked.fresh._items.any_expired

    look(NOON)
    kept: Any = kept_items._KEPT.get(one)
    with Held(site, kept, "lock", partial(look, NOON - timedelta(seconds=1))) as held:
        assert look(NOON)
    assert held.result is False
    assert indexes[0] is indexes[1] is indexes[2]


@at("critic/provenance/kept_items.py", "_Recent.take_over")
def an_index_is_taken_over_by_one(site: Site, _: Path) -> None:
    recent: Any = kept_items._Recent()
    one = manifests_of(item("a"), item("b"))
    with seen_in(one, None):
        pass
    recent.add(kept_items._KEPT.get(one))
    with Held(site, recent, "_lock", partial(recent.take_over, one)) as held:
        first = recent.take_over(one)
    assert first is not None
    assert held.result is None
    assert index_of(one) is None


@at("critic/provenance/kept_items.py", "_Recent.add")
def an_index_is_held_once(site: Site, _: Path) -> None:
    recent: Any = kept_items._Recent()
    one = manifests_of(item("a"), item("c"))
    with seen_in(one, None):
        pass
    kept = kept_items._KEPT.get(one)
    with Held(site, recent, "_lock", partial(recent.add, kept)):
        recent.add(kept)
    assert recent._kept == [kept]


@at("evals/side_table.py", "Beside.keep")
def what_came_first_is_kept(site: Site, _: Path) -> None:
    table, owner = Beside[str](), Trail()
    owner_of: Any = Owner()
    with Held(site, table, "_lock", partial(table.keep, owner_of, "late")) as held:
        assert table.keep(owner_of, "first") == "first"
    assert (held.result, table.get(owner_of)) == ("first", "first")
    assert table.get(owner) is None


class Owner:
    """Something to keep a value beside."""


@at("evals/recent_results.py", ("RecentResults.__call__", 1), ("RecentResults.__call__", 2))
def a_result_is_counted_once(site: Site, _: Path) -> None:
    recent = RecentResults[str, str](lambda key: (key, 6), most=10)
    with Held(site, recent, "_lock", partial(recent, "a")) as held:
        assert recent("a") == "a"
    assert (held.result, len(recent)) == ("a", 1)
    assert recent._size == 6


@at("evals/unread.py", "_read")
def a_context_is_read_once(site: Site, _: Path) -> None:
    from evals import unread  # noqa: PLC0415 - the module is what has the lock

    given = parse(Proposal, (FIXTURES / "refund" / "plan_b.json").read_bytes())
    context = unread_context(canonical_bytes(given.compiled), "")
    lock = unread._READING
    try:
        with Held(site, unread, "_READING", partial(read_unread, context, CompiledContext)) as held:
            manifests = context.manifests
    finally:
        vars(unread)["_READING"] = lock
    assert held.result is True
    assert context.manifests is manifests


# The runtime and the log.


@at("harness/runtime/recorder.py", "CallRecorder.begin", "CallRecorder.__call__")
def nothing_is_taken_after_the_end(site: Site, _: Path) -> None:
    recorder = CallRecorder()
    made = parse(Proposal, (FIXTURES / "refund" / "plan_b.json").read_bytes())
    works: dict[str, Callable[[], Any]] = {
        "begin": partial(recorder.begin, 0),
        "__call__": partial(recorder, tool_call(made)),
    }
    with Held(site, recorder, "_lock", works[site.function.rpartition(".")[2]]) as held:
        assert recorder.close() == ()
    assert isinstance(held.error, ExecutionEnded)
    assert recorder.close() == ()


def tool_call(made: Proposal) -> Any:
    from critic import ToolCall  # noqa: PLC0415

    step: Any = made.plan.steps[0]
    return ToolCall(
        step=0,
        adapter_id=step.adapter_id,
        capability_id=step.capability_id,
        args={},
        status="completed",
    )


@at("harness/runtime/recorder.py", "CallRecorder.close", "CallRecorder.calls")
def the_end_has_all_that_was_taken(site: Site, _: Path) -> None:
    recorder = CallRecorder()
    made = parse(Proposal, (FIXTURES / "refund" / "plan_b.json").read_bytes())
    works: dict[str, Callable[[], Any]] = {"close": recorder.close, "calls": recorder.calls}
    with Held(site, recorder, "_lock", works[site.function.rpartition(".")[2]]) as held:
        recorder(tool_call(made))
    assert len(held.result) == 1


@at("harness/runtime/opening_desk.py", "OpeningDesk.permit_step")
def a_step_is_opened_once(site: Site, _: Path) -> None:
    desk = OpeningDesk(HeldInputs.of(late_refund()), tuple, lambda: NOON)
    opened: list[Any] = []

    async def work() -> None:
        with suppress(PermitError):
            opened.append(await desk.permit_step(0))

    hold_task(site, desk, "_lock", work, work)
    assert [one.step for one in opened] == [0]
    assert [one.step for one in desk.openings] == [0]


@at("harness/runtime/loop_events.py", "EventEmitter._tell")
def events_are_numbered_as_they_are_told(site: Site, _: Path) -> None:
    heard: list[Any] = []
    emitter = EventEmitter(heard.append, lambda: None)
    late: Any = "late"
    early: Any = "early"
    with Held(site, emitter, "_lock", lambda: emitter._tell(lambda: late)):
        emitter._tell(lambda: early)
    assert [(one.seq, one.detail) for one in heard] == [(1, "early"), (2, "late")]


class Committed:
    """Takes appends, and notes how many came together."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, appends: Any) -> None:
        self.sizes.append(len(appends))


@at("harness/log/commits.py", ("SharedCommits._commit_next", 1))
def what_another_committed_is_not_committed_again(site: Site, _: Path) -> None:
    commit = Committed()
    commits = SharedCommits(commit)
    with Held(site, commits, "_turn", partial(commits.run, Append([]))) as held:
        commits.run(Append([]))
    assert (held.result, commit.sizes) == ((), [2])


@at("harness/log/commits.py", ("SharedCommits._commit_next", 2))
def a_commit_ends_before_the_next_begins(site: Site, _: Path) -> None:
    commit = Committed()
    commits = SharedCommits(commit)
    with Held(site, commits, "_turn", partial(commits.run, Append([]))):
        other = Thread(target=commits.run, args=[Append([])], daemon=True)
        other.start()
        other.join(0.02)
        assert commit.sizes == [1]
    other.join(20)
    assert commit.sizes == [1, 1]


def end_of_worker() -> None:
    for thread in threads():
        if thread.name == "decision-log":
            thread.join(20)


@at("harness/log/commits.py", "SharedCommits.start", "SharedCommits._work")
def an_append_finds_a_thread_that_works(site: Site, _: Path) -> None:
    commit = Committed()
    commits = SharedCommits(commit)

    def work() -> Any:
        done = commits.start(Append([])).result(20)
        end_of_worker()
        return done

    with Held(site, commits, "_turn", work) as held:
        other = commits.start(Append([]))
    assert (held.result, other.result(20)) == ((), ())
    end_of_worker()
    assert sum(commit.sizes) == 2
    assert not commits._working


# Journals.


def journal(store: Any) -> Journal:
    return Journal(store, FixedClock(NOON))


@at("harness/loops/agents/journal.py", "Journal.__init__", "Journal.find")
def a_reply_that_another_journal_kept_is_found(site: Site, _: Path) -> None:
    store = MemoryStore()
    other, mine = journal(store), journal(store)
    works: dict[str, Callable[[], Any]] = {
        "__init__": lambda: journal(store).find("s", "a", 1),
        "find": partial(mine.find, "s", "a", 1),
    }
    with Held(site, store, "lock", works[site.function.rpartition(".")[2]]) as held:
        other.keep("s", "a", 1, reply=2)
    assert held.result.reply == 2


@at("harness/loops/agents/journal.py", "Journal.keep")
def of_two_replies_to_one_step_one_is_kept(site: Site, _: Path) -> None:
    store = MemoryStore()
    other, mine = journal(store), journal(store)
    with Held(site, store, "lock", partial(mine.keep, "s", "a", 1, reply=3)) as held:
        other.keep("s", "a", 1, reply=2)
    assert isinstance(held.error, JournalError)
    assert len(store.lines()) == 1


@at("harness/loops/agents/journal_file.py", "FileStore.append")
def lines_do_not_overwrite_each_other(site: Site, tmp_path: Path) -> None:
    with FileStore(tmp_path / "journal") as store:
        with Held(site, store, "lock", partial(store.append, b"late")):
            store.append(b"early")
        assert store.lines() == [b"early", b"late"]
    assert (tmp_path / "journal").read_bytes() == b"early\nlate\n"


# Integrations.


@at(
    "harness/integrations/hooks/desk.py", ("HookDesk._keep_policy", 1), ("HookDesk._keep_policy", 2)
)
def a_desk_keeps_a_policy_once(site: Site, tmp_path: Path) -> None:
    served, data = HookDesk(), shipped_policy("claude-code")
    asked = partial(served._keep_policy, data, tmp_path / "policy.toml")
    with Held(site, served, "_lock", asked) as held:
        other = asked()
    assert held.result == other
    assert len(served._policies) == 1


def kept_guard() -> _Kept:
    policy = policy_of(desk())
    guard = Guard(policy, clock=FixedClock(NOON))
    guard.handle(event_of(open_()))
    return _Kept(policy, guard)


@at("harness/integrations/hooks/kept_sessions.py", "KeptSessions._take")
def a_kept_session_is_taken_as_the_last_one_left_it(site: Site, tmp_path: Path) -> None:
    sessions, one, place = KeptSessions(1), kept_guard(), SessionPlace("s", tmp_path, None)
    with Held(site, sessions, "_lock", partial(sessions._take, one.policy, place)) as held:
        sessions._put(place, one)
    assert held.result is one
    assert sessions._take(one.policy, place) is None


@at("harness/integrations/hooks/kept_sessions.py", "KeptSessions._put")
def of_two_kept_sessions_the_last_one_stays(site: Site, tmp_path: Path) -> None:
    sessions, first, last = KeptSessions(1), kept_guard(), kept_guard()
    one, other = SessionPlace("one", tmp_path, None), SessionPlace("other", tmp_path, None)
    with Held(site, sessions, "_lock", partial(sessions._put, one, last)) as held:
        sessions._put(other, first)
    assert held.error is None
    assert sessions._take(first.policy, other) is None
    assert sessions._take(last.policy, one) is last


def node_of(*calls: AskedCall) -> tuple[GuardedToolNode, Any, Any]:
    """Return a node, what a graph gives it for these calls, and its runtime."""
    node = GuardedToolNode(Shop().tools, guard=guard_of_shop(asks=True))
    given = {"messages": [HumanMessage("Refund order 1"), asks_for(*calls)]}
    info = SimpleNamespace(thread_id="t", checkpoint_id="c")
    return node, given, SimpleNamespace(execution_info=info)


NODE: Final = "harness/integrations/langchain/langchain_node.py"


@at(NODE, "GuardedToolNode._enter", "GuardedToolNode._leave")
def calls_of_a_message_that_run_apart_are_one_turn(site: Site, _: Path) -> None:
    node, given, runtime = node_of(LOOKUP)
    run = node._run_of(given["messages"], runtime)
    enter = partial(node._enter, given, runtime)
    work: Any = enter
    if site.function.endswith("_leave"):
        execution = enter()
        work = partial(node._leave, execution, given, {"messages": []})
    with Held(site, run, "lock", work) as held:
        other = enter()
    assert held.error is None
    status = run.session.guard.status(run.name)
    assert status is not None
    assert status.turn == 1
    if site.function.endswith("_enter"):
        assert held.result.turn is other.turn
    else:
        assert run.turns == {}


@at(NODE, ("GuardedToolNode._enter", 2))
def an_answer_is_taken_once(site: Site, _: Path) -> None:
    node, given, runtime = node_of(LOOKUP, REFUND)
    run = node._run_of(given["messages"], runtime)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            langchain_node, "interrupt", lambda asks, **_: ApprovalAnswer(**answer(asks))
        )
        with Held(site, run, "lock", partial(node._enter, given, runtime)) as held:
            node._enter(given, runtime)
    assert held.error is None
    assert held.result.turn.is_answered


@at(NODE, "GuardedToolNode._tell_words")
def of_two_nodes_side_by_side_one_opens_the_session(site: Site, _: Path) -> None:
    node, given, runtime = node_of(LOOKUP)
    session, holder = node._run_of(given["messages"], runtime).session, Holder()
    tell = partial(node._tell_words, session, given["messages"], runtime)
    with pytest.MonkeyPatch.context() as patched:
        held = Held(site, holder, "lock", tell)
        patched.setattr(langchain_node, "_OPENING_LOCK", holder.lock)
        with held:
            tell()
    assert held.error is None
    assert session.guard.is_open(session.session)


def guarded(**settings: Any) -> GuardedSession:
    return GuardedSession(Guard(policy_of(desk(**settings)), clock=FixedClock(NOON)), "s")


@at("harness/integrations/seam/guarded.py", "GuardedSession.began")
def of_two_that_begin_one_opens_the_session(site: Site, _: Path) -> None:
    session = guarded()
    with Held(site, session, "_lock", partial(session.began, "Look")) as held:
        session.began("Look")
    assert held.error is None
    assert session.rule([READ])


@at("harness/integrations/seam/guarded.py", "GuardedSession.rule", "GuardedSession.start")
def a_ruling_is_of_the_session_as_it_is(site: Site, _: Path) -> None:
    session = guarded()
    session.began("Look")
    name = site.function.rpartition(".")[2]
    work = partial(session.rule, [READ]) if name == "rule" else partial(session.start, READ)
    with Held(site, session, "_lock", work) as held:
        session.guard.abandon("s")
    assert not held.result


@at("harness/integrations/seam/guarded.py", "GuardedSession.answer", "GuardedSession.standing")
def what_lapsed_meanwhile_is_not_answered(site: Site, _: Path) -> None:
    session = guarded()
    session.began("Look")
    unknown = AskedCall("d", "unknown", {})
    name = site.function.rpartition(".")[2]
    answered = partial(session.answer, {"d": CallReply(yes=True)}, approver="ada")
    work = answered if name == "answer" else partial(session.standing, "d")
    with Held(site, session, "_lock", work) as held:
        session.rule([unknown])
    assert not (held.result["d"] if name == "answer" else held.result)
    assert held.result is not None


@at("harness/integrations/seam/guarded.py", "GuardedSession.deny", "GuardedSession.ended")
def what_is_told_waits_for_its_turn(site: Site, _: Path) -> None:
    session = guarded()
    session.began("Look")
    name = site.function.rpartition(".")[2]
    denied = partial(session.deny, [READ._replace(id="d")], approver="ada")
    work = denied if name == "deny" else partial(session.ended, "c", "completed", output="x")
    with Held(site, session, "_lock", work) as held:
        assert session.rule([READ])
        assert session.start(READ)
    assert held.error is None
    status = session.guard.status("s")
    assert status is not None
    assert status.turn == (2 if name == "deny" else 1)


@at(
    "harness/integrations/openai/openai_run.py",
    "GuardedSdkRun._rule_calls",
    "GuardedSdkRun._answer_replies",
)
def a_run_of_the_sdk_asks_one_by_one(site: Site, _: Path) -> None:
    session = guarded()
    session.began("Look")
    run = GuardedSdkRun(session, "ada")
    said = {"d": CallReply(yes=True)}
    rules = site.function.endswith("_rule_calls")
    work: Any = (
        partial(run._rule_calls, [READ]) if rules else partial(run._answer_replies, said, ())
    )
    with Held(site, run, "lock", work) as held:
        run._rule_calls([READ._replace(id="d")])
    assert held.error is None
    status = session.guard.status("s")
    assert status is not None
    assert status.turn == 1 + rules


@at("harness/integrations/pydantic_ai/pydantic_ai_run.py", "GuardedRun.rule_response")
def a_response_is_ruled_on_once(site: Site, _: Path) -> None:
    run, response = GuardedRun(guarded(), "ada"), Response()
    planned: list[Any] = []
    run._rule_plan = noting(planned)  # type: ignore[method-assign]
    any_response: Any = response
    work = partial(run.rule_response, any_response, any_response)
    hold_task(site, run, "_lock", work, work)
    assert len(planned) == 2


class Response:
    """Stands for a response of a model."""


def noting(noted: list[Any]) -> Any:
    async def note(*given: Any) -> None:
        noted.append(given)

    return note


@at("harness/integrations/pydantic_ai/pydantic_ai_run.py", "GuardedRun._rule_late")
def a_streamed_response_is_ruled_on_once(site: Site, _: Path) -> None:
    run = GuardedRun(guarded(), "ada")
    planned: list[Any] = []
    run._rule_plan = noting(planned)  # type: ignore[method-assign]
    streamed: Any = Streamed()
    run.streams(streamed, streamed)
    work = partial(run._rule_late, streamed, streamed)
    hold_task(site, run, "_lock", work, work)
    assert len(planned) == 1


class Streamed:
    """Stands for a response that streams."""

    tool_call_id = "c"
    tool_call_approved = False

    def get(self) -> Any:
        return self


@at("harness/integrations/pydantic_ai/pydantic_ai_run.py", "GuardedRun.start_call")
def a_call_of_several_starts_by_itself(site: Site, _: Path) -> None:
    run = GuardedRun(guarded(), "ada")
    run._is_early = True
    whole: Any = Streamed()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pydantic_ai_run, "call_as_executed", lambda *_: READ)
        with pytest.raises(Exception, match="is not open"):
            hold_task(site, run, "_lock", partial(run.start_call, whole, whole, {}))


class Filter:
    """Stands for the filter of a proxy: notes what it hears."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def from_client(self, _data: bytes) -> list[Any]:
        self.heard.append("client")
        return []

    def from_server(self, _data: bytes) -> list[Any]:
        self.heard.append("server")
        return []

    def close(self) -> list[Any]:
        return []


@at("harness/integrations/mcp/mcp_http.py", "McpHttpProxy._hear.hear_alone")
def messages_over_http_are_heard_one_by_one(site: Site, _: Path) -> None:
    none: Any = None
    proxy, filtered = McpHttpProxy(none, "http://127.0.0.1", none), Filter()

    def hear() -> Any:
        return asyncio.run(proxy._hear(filtered.from_client, b""))

    with Held(site, proxy, "_lock", hear) as held:
        asyncio.run(proxy._hear(filtered.from_server, b""))
    assert held.error is None
    assert filtered.heard == ["server", "client"]


@at("harness/integrations/mcp/mcp_stdio.py", "serve_stdio.deliver")
def messages_over_pipes_are_heard_one_by_one(site: Site, tmp_path: Path) -> None:
    (read, write), filtered, holder = os.pipe(), Filter(), Holder()
    script = "import sys; sys.stdin.read()"
    any_filter: Any = filtered
    begun: list[Any] = []
    start = mcp_stdio._start_server

    def started(argv: Any) -> Any:
        begun.extend(start(argv))
        return begun

    with pytest.MonkeyPatch.context() as patched, (tmp_path / "out").open("wb") as sink:
        patched.setattr(mcp_stdio, "Lock", lambda: holder.lock)
        patched.setattr(mcp_stdio, "_start_server", started)
        ends = (read, sink.fileno())
        work = partial(mcp_stdio.serve_stdio, [sys.executable, "-c", script], any_filter, ends)
        os.write(write, b"{}\n")
        with Held(site, holder, "lock", work) as held:
            assert filtered.heard == []
            os.close(write)
    os.close(read)
    begun[2].close()
    assert held.error is None
    assert filtered.heard == ["client"]


class Holder:
    """Has the lock that a function makes."""

    def __init__(self) -> None:
        from threading import Lock  # noqa: PLC0415

        self.lock = Lock()
