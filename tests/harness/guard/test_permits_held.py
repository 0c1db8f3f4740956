"""At each moment the permits of a session are those of its calls whose results are awaited.

A call of a turn that waits, or of a plan, has one once it was opened. Each is good for its own
arguments. One that was taken before goes with its call: at its result, a halt, or the end.
"""

from typing import Any, Final

import pytest

from harness.clock import FixedClock
from harness.guard import CallPermit, Guard
from harness.guard.open_sessions import OpenWork
from harness.single_use import PermitError
from tests.harness.guard.test_journal_steps import Memory
from tests.harness.guard.test_late_calls import VALUES
from tests.harness.guard.test_late_travel import STREAMS
from tests.support.guarding import (
    ASKS,
    NOON,
    Json,
    answers_to,
    call,
    close,
    desk,
    open_,
    policy_of,
    result,
    yes,
)
from tests.support.late_refund import late_policy

THREE: Final[Json] = {
    "event": "calls",
    "session": "s",
    "calls": [
        {"id": "x", "tool": "list_mail", "args": {}},
        {"id": "y", "tool": "read_note", "args": {"name": "a.md"}},
        {"id": "z", "tool": "read_note", "args": {"name": "b.md"}},
    ],
}
MORE: Final = [THREE, call("list_mail", id="m"), result("q", id="y"), *ASKS[-1:]]
TURNS: Final[dict[str, tuple[Json, list[Json]]]] = {
    "a yes beside others": ({}, [*ASKS[:3], *MORE, yes(), result("ok"), close()]),
    "a no that halts": (
        {"on_refusal": "halt"},
        [*ASKS[:3], *MORE, {**yes(), "yes": False}, close()],
    ),
    "a shadow": ({"shadow": True}, [*ASKS, THREE, result("q", id="z"), close()]),
}
CASES: Final = [*TURNS, *STREAMS]
OTHERS: Final = [
    {
        "event": "calls",
        "session": "t",
        "calls": [{"id": name, "tool": tool, "args": {**args}} for name in "cx"],
    }
    for tool, args in (("list_mail", {}), ("lookup", {"id": "ord_9"}))
]
"""Two calls of another session, with ids of the first one's: each guard knows one of the tools."""


def guard_for(name: str, kept: Memory | None) -> Guard:
    settings = (STREAMS.get(name) or TURNS[name])[0]
    wire = late_policy(VALUES).wire() if name in STREAMS else desk()
    policy = policy_of({**wire, "guard": {**wire["guard"], **settings}})
    return Guard(policy, clock=FixedClock(NOON), sessions=kept)


def ids_in(event: Json) -> list[str]:
    return [one["id"] for one in (*event.get("calls", ()), *event.get("steps", ()))]


def permits_of(guard: Guard, names: set[str]) -> dict[str, CallPermit]:
    found = {}
    for name in names:
        try:
            found[name] = guard.permit("s", name)
        except PermitError:
            continue
    return found


@pytest.mark.parametrize("status", ["failed", "completed"])
def test_a_permit_is_not_that_of_another_call_under_its_id(status: str) -> None:
    kept, read = Memory(), {"name": "plan.md"}
    first, second = (Guard(policy_of(desk()), clock=FixedClock(NOON), sessions=kept) for _ in "ab")
    answers_to(first, [open_(), call("read_note", **read)])
    answers_to(second, [{**result("x"), "status": status}, call("list_mail")])
    with pytest.raises(PermitError):
        first.permit("s", "c").redeem("read_note", read)
    with pytest.raises(PermitError):
        first.permit("s", "c").redeem("list_mail", {})
    assert second.permit("s", "c").redeem("list_mail", {}) == {}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("count", [1, 2])
def test_permits_are_those_of_the_calls_that_are_awaited(case: str, count: int) -> None:
    """Of several guards, which take in every other event, the one that ruled has the permit."""
    kept = None if count == 1 else Memory()
    guards = [guard_for(case, kept) for _ in range(count)]
    guard, events = guards[0], (STREAMS.get(case) or TURNS[case])[1]
    answers_to(guard, [{"event": "open", "session": "t", "request": "x"}, *OTHERS])
    turns, held, sent, digest = dict[str, int](), dict[str, CallPermit](), dict[str, Json](), ""
    most = 0
    for number, event in enumerate(events):
        told: Any = {**event, "plan_digest": digest} if "plan_digest" in event else event
        (answer,) = [*answers_to(guards[number % count], [told]).values()] or [{}]
        digest = answer.get("plan_digest", digest)
        if "turn" in answer:
            for one in ids_in(event):
                turns[one] = answer["turn"]
        for one in event.get("calls", ()):
            sent.setdefault(one["id"], {"tool": one["tool"], "args": one["args"]})
        if "args" in answer:
            sent[answer["id"]] = {"tool": sent[answer["id"]]["tool"], "args": answer["args"]}
        status = guard.status("s")
        awaited = set() if status is None or status.has_halted else {*status.awaited}
        found = [permits_of(one, {*turns}) for one in guards]
        now = {name: permit for one in found for name, permit in one.items()}
        assert sorted(name for one in found for name in one) == sorted(awaited), event
        asks = status is not None and status.question is not None
        batches = 0 if status is None else len({turns[name] for name in status.awaited})
        assert guard.open_work() == OpenWork(1 + (status is not None), asks, 1 + batches)
        most = max(most, len(now))
        for name, permit in held.items():
            if name not in now or now[name] is not permit:
                with pytest.raises(PermitError):
                    permit.redeem(sent[name]["tool"], sent[name]["args"])
        held = now
    assert most > 0
    for name, permit in held.items():
        assert permit.redeem(**sent[name]) == sent[name]["args"]
