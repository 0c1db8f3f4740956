"""What a session spent, did and may do, as its next plan is told."""

from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from critic.provenance.value_kinds import read_value
from critic.session import Call, CallResult, Session
from critic.session.call_batch import OtherCall
from critic.session.ledger import (
    Ledger,
    MadeCall,
    MadeThing,
    made_calls,
    own_things,
    past_of,
    tools_ran,
)
from critic.session.sent_log import SentLog
from evals.capability import ToolName
from evals.context import (
    ApprovedValue,
    OwnValue,
    RunContext,
    SentValues,
    SessionFacts,
    Spent,
    SpentCall,
    WaivedCall,
)
from tests.critic.session.building import NOW, allowed, opened, read, rules
from tests.critic.session.commanding import run, shell_rules

NINE, TEN, ELEVEN = (datetime(2026, 5, 9, hour, tzinfo=UTC) for hour in (9, 10, 11))


PAY = ToolName(adapter_id="a", capability_id="pay")


def value(text: str, end: datetime | None = None) -> ApprovedValue:
    until = {} if end is None else {"expires_at": end}
    return ApprovedValue(value=text, role="recipient", tool=PAY, approval_mode="delegated", **until)


@pytest.mark.parametrize(
    ("ends", "at", "is_approved"),
    [
        ([TEN], NINE, True),
        ([TEN], TEN, False),
        ([TEN], None, False),
        ([TEN, ELEVEN], TEN, True),
        ([ELEVEN, TEN], TEN, True),
        ([ELEVEN, TEN], ELEVEN, False),
        ([TEN, None], ELEVEN, True),
        ([None, TEN], ELEVEN, True),
        ([None, TEN], None, True),
    ],
)
def test_a_value_is_approved_until_the_last_of_its_approvals_ends(
    ends: list[datetime | None], at: datetime | None, is_approved: bool
) -> None:
    given = [value(text, end) for text, end in zip(["x-1", "X-1"], ends, strict=False)]
    approved = Ledger(approved=tuple(given)).approved_at(at)
    assert bool(approved) == is_approved


def test_what_was_approved_before_is_noted_once() -> None:
    call = WaivedCall(tool=PAY, targets=("x",))
    ledger = Ledger(approved=(value("x"),)).after_approval([value("x"), value("y")], [call])
    again = ledger.after_approval([value("y")], [call])
    assert again.approved == (value("x"), value("y"))
    assert again.waived == (call,)
    assert Ledger(approved=(value("x"),)).facts("s", 1) == SessionFacts(
        id="s", turn=1, approved=(value("x"),)
    )
    assert Ledger().facts("s", 1) == SessionFacts(id="s", turn=1)
    assert Ledger(waived=(call,)).facts("s", 2).waived == (call,)


@pytest.mark.parametrize("prefix", ["", "sha256:"])
def test_what_a_context_says_is_looked_up_by_its_spelling(prefix: str) -> None:
    made = SpentCall(adapter_id="a", capability_id="b", args_digest=prefix + "0" * 64)
    session = SessionFacts(
        id="s",
        turn=2,
        own=(OwnValue(kind="note", value="Y-2"),),
        approved=(value("Z-3", TEN),),
        sent=(SentValues(seq=3, values=("see w-4",)), SentValues(seq=1, values=("v-5",))),
    )
    spent = Spent(steps=1, tokens=1, calls=(made,))
    fields: dict[str, Any] = {"trace_id": "t", "safety_mode": "network", "as_of": NINE}
    past = past_of(RunContext(**fields, spent=spent, session=session))
    assert ("a", "b", "0" * 64) in past.made
    assert ("a", "b", "1" * 64) not in past.made
    assert ("note", "Y-2") in past.own
    assert ("note", "y-2") not in past.own
    assert ("file", "y-2") not in past.own
    assert past.approved == (value("Z-3", TEN),)
    sought_ones = (read_value(one, None) for one in ("W-4", "v-5", "w", "see"))
    assert [past.sent.first_seq(one) for one in sought_ones] == [3, 1, None, 3]
    nothing = past_of(RunContext(**fields))
    assert not nothing.approved
    assert ("note", "y-2") not in nothing.own
    assert nothing.sent.first_seq(read_value("v-5", None)) is None


def test_two_logs_that_go_on_from_one_do_not_see_each_other() -> None:
    def sent(text: str, seq: int) -> SentValues:
        return SentValues(seq=seq, values=(text,))

    first = SentLog([sent("a-1", 1)])
    one, other = first.plus([sent("b-2", 2)]), first.plus([sent("c-3", 3)])
    for log, known in ((first, "a-1"), (one, "a-1 b-2"), (other, "a-1 c-3")):
        found = [text for text in ("a-1", "b-2", "c-3") if log.first_seq(read_value(text, None))]
        assert found == known.split()
        assert len(log) == len(list(log)) == len(found)
    assert first.plus([]) is first


def test_what_was_spent_is_told_with_the_calls_that_were_made() -> None:
    assert Ledger(steps=2, tokens=7).spent() == Spent(steps=2, tokens=7)
    call = SpentCall(adapter_id="a", capability_id="b", args_digest="0" * 64)
    made = Ledger(steps=2, tokens=7, made=made_calls([MadeCall(1, 0, call)]))
    assert made.spent() == Spent(steps=2, tokens=7, calls=(call,))


def test_a_thing_is_told_from_others_by_its_kind_and_its_value() -> None:
    wire: list[tuple[str, Any]] = [
        *(("note", ["a", {"b": 7}]), ("note", ["a", {"b": 7.0}])),
        *(("file", ["a", {"b": 7}]), ("note", ["a", {"b": 8}])),
    ]
    things = [MadeThing.of(OwnValue(kind=kind, value=value)) for kind, value in wire]
    assert [one == things[0] for one in things] == [True, True, False, False]
    alike = things[0].kind, things[0].form, things[0].value
    assert not any(one == alike for one in things[:1])
    assert len(own_things(OwnValue(kind=kind, value=value) for kind, value in wire)) == 3


def test_a_tool_that_ran_is_known_by_adapter_and_capability() -> None:
    ran = tools_ran([PAY])
    assert ("a", "pay") in ran
    assert ("b", "pay") not in ran
    assert ("a", "b") not in ran


def test_a_life_begins_with_nothing_but_what_was_spent_and_sent_before() -> None:
    begun = Ledger.after_life(Spent(), ())
    assert (begun.spent(), begun.measures) == (Spent(steps=0, tokens=0), (0, 0, 0))
    assert Ledger().measures == Ledger.after_life(Spent(steps=2, tokens=3), ()).measures
    call = SpentCall(adapter_id="a", capability_id="wipe", args_digest="0" * 64, id="w")
    spent = Spent(steps=2, tokens=3, calls=(call,))
    assert Ledger.after_life(spent, ()).spent() == spent


def test_a_call_of_an_earlier_life_is_not_taken_off_by_one_that_fails_now() -> None:
    call = SpentCall(adapter_id="a", capability_id="wipe", args_digest="0" * 64, id="w")
    session = opened(scope=["wipe"]).after_life(0, Spent(calls=(call,)))
    session = allowed(session, Call("1", "wipe", {"what": "x-100"}))
    assert len(session.ledger.made) == 2
    session = session.ran("1", CallResult("failed", error="no"), NOW).session
    assert [made.spent for made in session.ledger.made] == [call]


@pytest.mark.parametrize("ends", [*product(("completed", "failed", "unknown"), repeat=4)])
def test_a_call_that_failed_is_taken_off_alone(ends: tuple[Any, ...]) -> None:
    """Two calls of each of two turns, which end in the order of their ids."""
    session = opened(scope=["wipe"])
    for turn in ("ab", "cd"):
        session = allowed(session, *(Call(name, "wipe", {"what": f"x-{name}"}) for name in turn))
    for name, status in zip("abcd", ends, strict=True):
        session = session.ran(name, CallResult(status), NOW).session
    left = [name for name, status in zip("abcd", ends, strict=True) if status != "failed"]
    assert [made.spent.id for made in session.ledger.made] == left


def test_a_tool_that_the_rules_do_not_have_leaves_no_trace_of_what_it_ran() -> None:
    session = allowed(opened(), read("plan.md"))
    (running,) = session.running.values()
    result = CallResult("completed", "x", tokens=3, duration_ms=4, cost_micros=5)
    ledger = session.ledger.after_call(
        rules(tools={}), running, 0, result, record=None, gives_authority=True
    )
    assert (tuple(ledger.ran), ledger.measures) == ((), (3, 4, 5))
    result = CallResult("unknown", sent=OtherCall("a", "mail", {"name": "evil-7"}))
    ledger = session.ledger.after_call(
        rules(tools={}), running, 0, result, record=None, gives_authority=True
    )
    assert [one.values for one in ledger.sent] == [("evil-7",)]


@pytest.mark.parametrize(
    ("other", "sent", "spent"),
    [
        (OtherCall("a", "make", {"name": "n", "text": "evil-7"}), ["evil-7", "n"], 0),
        (OtherCall("a", "wipe", {"what": "evil-7"}), ["evil-7"], 1),
        (OtherCall("a", "gone", {"what": "evil-7"}), ["evil-7"], 0),
        (OtherCall("a", "order", {"id": "evil-7"}), ["evil-7"], 0),
    ],
)
@pytest.mark.parametrize("status", ["completed", "failed", "unknown"])
def test_a_call_that_somebody_changed_sends_what_it_held(
    other: OtherCall, sent: list[str], spent: int, status: Any
) -> None:
    """It was sent since the ruling: what was seen since then may be its echo."""
    session = allowed(opened(), Call("m", "make", {"name": "n"}), read("plan.md"))
    seen = len(session.trail)
    session = session.ran("r", CallResult("completed", "x"), NOW).session
    session = session.ran("m", CallResult(status, sent=other), NOW).session
    facts = session.ledger.facts("s", 2)
    assert facts.sent == (
        SentValues(seq=seen, values=("n",)),
        SentValues(seq=seen, values=tuple(sent)),
    )
    assert session.ledger.sent.first_seq(read_value("evil-7", None)) == seen
    assert len(session.ledger.made) == (0 if status == "failed" else spent)


def test_a_command_that_somebody_changed_sends_whatever_its_tool_is_said_to_do() -> None:
    """The tool that takes commands reads by the word of the rules: its commands do more."""
    session = Session.opened(shell_rules("read_only"), "s", "Look")
    session = allowed(session, run("ls")).ran(
        "sh", CallResult("unknown", sent=OtherCall("a", "shell", {"command": "curl x-7"})), NOW
    )[0]
    assert "curl x-7" in {value for one in session.ledger.sent for value in one.values}


def test_a_read_that_somebody_changed_sends_nothing_and_one_that_became_another_does() -> None:
    for name, sent in (("read", None), ("gone", (SentValues(seq=1, values=("evil-7",)),))):
        session = allowed(opened(), read("plan.md"))
        result = CallResult("unknown", sent=OtherCall("a", name, {"name": "evil-7"}))
        session = session.ran("r", result, NOW).session
        assert session.ledger.facts("s", 2).sent == sent


def test_what_was_sent_earlier_than_what_a_log_has_comes_before_it() -> None:
    late, early = SentValues(seq=5, values=("a-1",)), SentValues(seq=2, values=("a-1", "b-2"))
    first = SentLog([late])
    log = first.plus([early])
    assert [*log] == [early, late]
    assert [one.first_seq(read_value("a-1", None)) for one in (first, log)] == [5, 2]
    assert first.first_seq(read_value("b-2", None)) is None


@pytest.mark.parametrize("earlier", [[4], [2, 9]])
def test_what_a_log_took_in_order_keeps_what_comes_late_in_its_place(earlier: list[int]) -> None:
    log = SentLog([SentValues(seq=3, values=("c-3",))])
    log = log.plus([SentValues(seq=5, values=("a-1",))])
    log = log.plus([SentValues(seq=seq, values=("a-1",)) for seq in earlier])
    assert log.first_seq(read_value("a-1", None)) == earlier[0]
    assert [one.seq for one in log] == sorted([3, 5, *earlier])
