"""A no holds for the calls that a person was asked about, and for no others, wherever it goes."""

from pathlib import Path
from typing import Any, Final

import pytest

from harness.errors import HarnessError
from harness.guard import Guard
from harness.log import SqlDecisionLog
from harness.record import Decision
from tests.harness.guard.test_last_question import LAST
from tests.support.guarding import Json, answers_to, call, close, desk, guard_of, open_, result, yes

DENIED: Final = "a person said no to this call in this session"
ENDS: Final = range(21, 26)
TEXT: Final = ", ".join(f"iban-4711-{end}" for end in ENDS)
NOTE: Final = (call("read_note", id="note", name="plan.md"), result(TEXT, id="note"))
BATCHES: Final[list[list[tuple[str, int]]]] = [
    *([("transfer", 21), ("list_mail", 0), ("transfer", 22)], [("list_mail", 0)]),
    *([("pay_out", 21)], [("transfer", 23)], [("list_mail", 0), ("transfer", 22)]),
    *([("transfer", 21)], [("pay_out", 22)], [("transfer", 24), ("pay_out", 24)]),
    *([("pay_out", 24)], [("pay_out", 25), ("transfer", 24)], [("transfer", 25)]),
    [("transfer", 25), ("pay_out", 23)],
]
"""Batches of calls, each a tool and the end of an account. A person says no whenever one asks."""
MOST: Final = 6
"""How many of them ask. No one after those may."""
BEYOND: Final = call("pay_out", id="o", iban="iban-4711-23", reason="")


def two_ways_to_pay() -> Json:
    """Return the desk with a second tool whose arguments are those of the first."""
    wire = desk(max_questions=MOST)
    return {**wire, "tool": [*wire["tool"], {**wire["tool"][-1], "capability_id": "pay_out"}]}


def opened(**more: Any) -> Json:
    return {**open_(**more), "scope": ["transfer", "pay_out"]}


def batch_of(number: int) -> Json:
    args = [
        {} if tool == "list_mail" else {"iban": f"iban-4711-{end}", "reason": f"x{number}"}
        for tool, end in BATCHES[number]
    ]
    asked = zip(BATCHES[number], args, strict=True)
    calls = [
        {"id": f"{number}/{at}", "tool": tool, "args": given}
        for at, ((tool, _), given) in enumerate(asked)
    ]
    return {"event": "calls", "session": "s", "calls": calls}


def moved(guard: Guard) -> Guard:
    other = guard_of(two_ways_to_pay())
    other.resume(guard.export("s"))
    return other


@pytest.mark.parametrize("way", ["here", "moved", "another life"])
def test_exactly_the_calls_that_a_person_said_no_to_are_denied(way: str, tmp_path: Path) -> None:
    denied, notes = set[tuple[str, int]](), list[str | None]()
    with SqlDecisionLog.open(tmp_path / "log") as log:
        kept: Any = log if way == "another life" else None
        guard = guard_of(two_ways_to_pay(), log=kept)
        answers_to(guard, [opened(), *NOTE])
        for number, batch in enumerate(BATCHES):
            (answer,) = answers_to(guard, [batch_of(number)]).values()
            notes.append(answer.get("note") if answer["action"] == "ask" else answer["action"])
            if denied & {*batch}:
                assert (answer["action"], answer.get("note")) == ("refuse", DENIED), batch
            elif {tool for tool, _ in batch} == {"list_mail"}:
                assert answer["action"] == "allow", batch
            else:
                assert answer["action"] == "ask", batch
                no = {**yes(digest=answer["plan_digest"]), "yes": False}
                assert answers_to(guard, [no])[0]["action"] == "refuse"
                denied |= {one for one in batch if one[0] != "list_mail"}
            if way == "moved":
                guard = moved(guard)
            elif way == "another life":
                answers_to(guard, [close(), opened(again=True), *NOTE])
        (over,) = answers_to(guard, [BEYOND]).values()
        assert over["note"] == f"{MOST} questions were asked already, which is the limit"
    asked = [one for one in notes if one not in ("allow", "refuse")]
    assert asked == [None] * (MOST - 1) + [LAST]
    assert notes.count("refuse") == len(BATCHES) - MOST - 1


def test_a_no_is_told_of_each_call_that_is_else_allowed() -> None:
    """Once the user names an account, only the no is left against paying to it."""
    guard = guard_of(two_ways_to_pay())
    answers_to(guard, [opened(), *NOTE])
    (asked,) = answers_to(guard, [batch_of(0)]).values()
    said = {"event": "said", "session": "s", "text": f"Pay to {TEXT}"}
    no = {**yes(digest=asked["plan_digest"]), "yes": False}
    again = {**batch_of(0), "calls": [*batch_of(2)["calls"], *batch_of(0)["calls"]]}
    *_, told = answers_to(guard, [no, said, again]).values()
    assert (told["action"], told["note"]) == ("refuse", DENIED)
    found = [(one["offending_step"], one["path"]) for one in told["verdict"]["violations"]]
    assert found == [(1, "/steps/1"), (3, "/steps/3")]


class Plain:
    """A log that keeps records and claims, and no sessions."""

    def __init__(self, log: SqlDecisionLog) -> None:
        self.append, self.begin, self.append_all = log.append, log.begin, log.append_all
        self.head, self.claims = log.head, log.claims


PAID: Final = call("transfer", id="p", iban="iban-4711-21", reason="x")


def test_of_two_that_go_on_from_one_state_the_first_to_record_does(tmp_path: Path) -> None:
    seen: list[Decision] = []
    with SqlDecisionLog.open(tmp_path / "log") as log:

        def guard() -> Guard:
            return guard_of(desk(), log=Plain(log), on_decision=seen.append)

        first = guard()
        answers_to(first, [open_(), *NOTE, *(call("list_mail", id=name) for name in "mn"), PAID])
        begun = [one.hash for one in log.entries() if getattr(one, "kind", "") == "begun"]
        state, last = first.export("s"), log.head().seq
        one, two = guard(), guard()
        one.resume(state)
        two.resume(state)
        digest = seen[-1].snapshot.members["inputs"].decode().partition('"plan":"')[2][:64]
        told = [yes(digest=digest), *(result("none", id=name) for name in "nm")]
        assert answers_to(one, told)[0]["action"] == "allow"
        said_yes, *ended = seen[-3:]
        assert [one.approval_id for one in said_yes.proposal.ctx.approvals or ()] == [
            f"turn/4/after/{last}"
        ]
        assert [one.begun for one in ended] == begun[:0:-1]
        (late,) = answers_to(two, [yes(digest=digest)]).values()
        assert (late["action"], "verdict" in late) == ("refuse", False)
        with pytest.raises(HarnessError):
            guard().resume(state)
        assert log.head().seq > last
