"""Many sessions at once: none waits for another, and none sees another."""

import asyncio
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from harness.guard import (
    AsyncGuard,
    CallsEvent,
    EventError,
    Guard,
    OpenEvent,
    RequestedCall,
    Ruling,
    SaidEvent,
)
from harness.log import SqlDecisionLog
from harness.replay import replay
from tests.support.guarding import (
    ASKS,
    answers_to,
    call,
    close,
    desk,
    guard_of,
    open_,
    policy_of,
    result,
    yes,
)


def life(session: str) -> list[Any]:
    """Return the events of a session that asks once and pays its own account."""
    own = [{**event, "session": session} for event in [*ASKS, yes(), result({}), close()]]
    wire = json.dumps(own).replace("iban-4711-22", f"iban-{session}")
    events: list[Any] = json.loads(wire)
    return events


def in_threads(work: Iterable[Callable[[], Any]], threads: int = 16) -> list[Any]:
    with ThreadPoolExecutor(threads) as pool:
        return [future.result() for future in [pool.submit(one) for one in work]]


EXPECTED = ["allow", "ask", "allow", "completed"]


def shown(answers: dict[int, Any]) -> list[str]:
    return [one.get("action") or one.get("status") for one in answers.values()]


@pytest.mark.slow
def test_a_thousand_sessions_at_once() -> None:
    guard = guard_of(desk())
    opened = [open_(f"s{number}", f"Transfer to iban-{number}") for number in range(1000)]
    assert not any(answers_to(guard, [event]) for event in opened)
    asked = [
        call("transfer", f"s{number}", iban=f"iban-{number + number % 2}", reason="x")
        for number in range(1000)
    ]
    given = in_threads([partial(answers_to, guard, [event]) for event in asked])
    assert [shown(one) for one in given] == [["allow"], ["refuse"]] * 500


def test_sessions_that_share_a_log(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        guard = guard_of(desk(), log=log)
        names = [f"s{number}" for number in range(8)]
        work = [partial(answers_to, guard, life(name)) for name in names]
        assert [*map(shown, in_threads(work, 8))] == [EXPECTED] * 8
        assert {one.status for one in replay(log)} == {"same"}
        traces = [record.report.trace_id for record in log.records()]
    assert {traces.count(name) for name in names} == {5}


def test_no_value_of_one_session_is_known_to_another() -> None:
    guard = guard_of(desk())
    answers_to(guard, [*ASKS, yes(), result({}), open_("t"), call("list_mail", "t")])
    paid = call("transfer", "t", id="p", iban="iban-4711-22", reason="x")
    (answer,) = answers_to(guard, [paid]).values()
    assert answer["action"] == "refuse"


def test_of_two_threads_with_one_event_each_has_its_answer() -> None:
    for _ in range(5):
        guard = guard_of(desk())
        answers_to(guard, [*ASKS])
        digest = json.loads(guard_state(guard))
        line = json.dumps(yes(digest=digest)).encode()
        answers = in_threads([partial(guard.handle_line, line)] * 4, 4)
        assert sum(isinstance(one, Ruling) for one in answers) == 1
        assert sum(isinstance(one, EventError) for one in answers) == 3


def guard_state(guard: Guard) -> str:
    state = guard.export("s")
    guard.resume(state)
    return json.dumps(json.loads(state)["session"]["turns"][-1]["plan_digest"])


def test_turns_are_counted_once_under_contention() -> None:
    guard = guard_of(desk())
    answers_to(guard, [open_()])
    lines = [json.dumps(call("list_mail", id=f"c{n}")).encode() for n in range(40)]
    answers = in_threads([partial(guard.handle_line, line) for line in lines])
    assert sorted(one.turn for one in answers) == list(range(1, 41))


class SlowLog:
    """Holds up the records of one session until it is told to go on."""

    def __init__(self, session: str) -> None:
        self.session, self.go_on, self.is_waiting = session, Event(), Event()

    def append(self, decision: Any) -> Any:
        if decision.report.trace_id == self.session:
            self.is_waiting.set()
            assert self.go_on.wait(10)
        return type("Record", (), {"seq": 1})


def test_a_session_does_not_wait_for_another() -> None:
    log = SlowLog("slow")
    guard = guard_of(desk(), log=log)
    answers_to(guard, [open_("slow"), open_("fast")])
    thread = Thread(target=answers_to, args=(guard, [call("list_mail", "slow")]))
    thread.start()
    try:
        assert log.is_waiting.wait(10)
        (answer,) = answers_to(guard, [call("list_mail", "fast")]).values()
        assert answer["action"] == "allow"
    finally:
        log.go_on.set()
        thread.join()


def opening(session: str) -> OpenEvent:
    return OpenEvent(session=session, request="Look")


def calls(session: str, id: str = "c") -> CallsEvent:
    asked = (RequestedCall(id=id, tool="list_mail", args={}),)
    return CallsEvent(session=session, calls=asked)


def test_the_event_loop_does_not_wait_for_the_log() -> None:
    log = SlowLog("slow")

    async def scenario() -> None:
        async with AsyncGuard(Guard(policy_of(desk()), log=log), threads=2) as guard:
            await asyncio.gather(guard.handle(opening("slow")), guard.handle(opening("fast")))
            waiting = [asyncio.create_task(guard.handle(calls("slow", f"c{n}"))) for n in range(5)]
            while not log.is_waiting.is_set():
                await asyncio.sleep(0.001)
            assert await asyncio.wait_for(guard.handle(calls("fast")), 5)
            log.go_on.set()
            turns = [one.turn for one in await asyncio.gather(*waiting) if isinstance(one, Ruling)]
            assert turns == [1, 2, 3, 4, 5]

    asyncio.run(scenario())


def test_an_event_whose_caller_left_is_taken_in_or_not_at_all() -> None:
    log = SlowLog("slow")

    async def scenario() -> None:
        async with AsyncGuard(Guard(policy_of(desk()), log=log)) as guard:
            await guard.handle(opening("slow"))
            task = asyncio.create_task(guard.handle(calls("slow")))
            while not log.is_waiting.is_set():
                await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            log.go_on.set()
            later = await guard.handle(calls("slow", "d"))
            assert isinstance(later, Ruling)
            assert later.turn == 2

    asyncio.run(scenario())


def test_a_session_travels_from_an_event_loop_too() -> None:
    async def scenario() -> None:
        async with AsyncGuard(Guard(policy_of(desk()))) as guard:
            await guard.handle(opening("s"))
            await guard.resume(await guard.export("s"))
            assert await guard.handle(SaidEvent(session="s", text="x")) is None
            assert await guard.handle(calls("s"))
            assert guard.permit("s", "c").redeem("list_mail", {}) == {}

    asyncio.run(scenario())
