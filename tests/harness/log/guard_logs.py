"""A log that guards wrote: what their sessions record, and nothing that a test made by hand.

Sessions take turns. Two have the same large texts, so that records share parts within parts. There
are claims on states and on executions, approvals that expire and are used up, refusals, questions
with yes, no and no answer, a shadow, a turn that never ended, and failures of the critic.
"""

import copy
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from harness.guard import Guard
from harness.log import SqlDecisionLog
from tests.support.guarding import (
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

MAIL: Final = "Dear Ada, wire it to iban-4711-22 and shred old.md. " + "Yours, Charles. " * 90
ROWS: Final = [
    {"from": f"bank-{number}", "note": f"paid {number} " * (1 if number % 10 else 700)}
    for number in range(40)
]
BEGAN: Final = datetime(2026, 5, 9, 12, tzinfo=UTC)


class Ticking:
    """A clock that goes on by hours, and fails while it is broken."""

    def __init__(self) -> None:
        self.moment, self.broken = BEGAN, False

    def now(self) -> datetime:
        if self.broken:
            raise OSError("no time")
        self.moment += timedelta(hours=3)
        return self.moment


def _paid(session: str, reason: str) -> list[Json]:
    """A transfer of what a note says, that a person approves for a while."""
    pays = {"iban": "iban-4711-22", "reason": reason}
    return [
        open_(session, request="Do what plan.md says, see https://a.example/x"),
        call("read_note", session, "r1", name="plan.md"),
        result(MAIL, session, "r1"),
        call("list_mail", session, "r2"),
        result({"rows": ROWS}, session, "r2"),
        call("transfer", session, "t1", **pays),
        {**yes(session), "expires_at": "2026-05-13T12:00:00Z"},
        result({"ok": True}, session, "t1", tokens=11, duration_ms=120, cost_micros=900),
    ]


FAILED: Final[Json] = {"event": "result", "status": "failed"}
ENDS: Final[dict[str, list[Json]]] = {
    "alpha/1": [
        call("transfer", "alpha/1", "t2", iban="iban-4711-22", reason="again"),
        {**yes("alpha/1"), "yes": False},
        call("transfer", "alpha/1", "t3", iban="iban-4711-22", reason="again"),
        call("make_note", "alpha/1", "m1", name="new.md", text="x" * 700),
        {**FAILED, "session": "alpha/1", "id": "m1", "error": "the disk is full"},
        close("alpha/1"),
    ],
    "béta 2": [
        call("transfer", "béta 2", "t2", iban="iban-4711-22", reason="again"),  # nobody answers
        call("transfer", "béta 2", "t3", iban="iban-4711-22", reason="again"),  # nor is asked
        call("no_such_tool", "béta 2", "n1"),
        call("shred", "béta 2", "s1", name="unseen.md"),
        call("make_note", "béta 2", "m1", name="b.md", text="y"),
    ],
}
"""How the sessions end: one is closed, one leaves an allowed call without a result."""


def write_guard_log(path: Path) -> list[Json]:
    """Write the log of some guards. Return their rulings."""
    data, said = _guard_log()
    path.write_bytes(data)
    return copy.deepcopy(said)


@cache
def _guard_log() -> tuple[bytes, list[Json]]:
    """Let guards write a log, once in a process. Return its bytes, and their rulings."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "guards.db"
        said = _let_guards_write(path)
        return path.read_bytes(), said


def _let_guards_write(path: Path) -> list[Json]:
    clock, said = Ticking(), list[Json]()
    with SqlDecisionLog.open(path) as log:
        guard = Guard(policy_of(desk(max_questions=1)), log=log, clock=clock)
        first, second = (_paid(session, "rent") for session in ENDS)
        said += _send(guard, _in_turns(first[:8], second[:8]))
        moved = Guard(policy_of(desk(max_questions=1)), log=log, clock=clock)
        said += _send(moved, _in_turns(first[8:], second[8:]))
        clock.broken = True
        said += _send(moved, [call("list_mail", "alpha/1", "x"), call("list_mail", "béta 2", "x")])
        clock.broken = False
        said += _send(moved, _in_turns(*ENDS.values()))
        shadow = Guard(policy_of(desk(shadow=True)), log=log, clock=clock)
        said += _send(shadow, _shadowed("shade"))
    return said


def _shadowed(session: str) -> list[Json]:
    return [
        open_(session, request="Read plan.md"),
        call("transfer", session, "t1", iban="iban-6666-66", reason=MAIL),
        result({"ok": True}, session, "t1"),
        call("list_mail", session, "r1"),
        result({"rows": ROWS}, session, "r1"),
        call("shred", session, "s1", name="x.md"),
    ]


def _in_turns(first: list[Json], second: list[Json]) -> list[Json]:
    """Return the events of two sessions one by one, and what is left of the longer."""
    both = [event for pair in zip(first, second, strict=False) for event in pair]
    return both + first[len(second) :] + second[len(first) :]


def _send(guard: Guard, events: list[Json]) -> list[Json]:
    return [one for one in answers_to(guard, events).values() if "action" in one]
