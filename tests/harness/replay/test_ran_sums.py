"""What turns add up to is what they say one by one, whatever was folded, cached or asked before."""

from collections.abc import Iterator
from itertools import product
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evals.capability import ToolName
from evals.context import ApprovedValue, OwnValue, SentValues, SessionFacts, Spent, SpentCall
from harness.replay import session_lives
from harness.replay.session_entries import (
    BatchCall,
    BeginningEntry,
    EndEntry,
    RulingEntry,
    SessionEntry,
)
from harness.replay.session_facts import (
    _Difference,
    _other_values,
    _other_yeses,
    _sent_differences,
    _spent_differences,
)
from harness.replay.session_lives import (
    Life,
    RanSum,
    RuledTurn,
    own_key,
    sent_key,
    tool_key,
    yes_key,
)

STATUSES: Final = ("completed", "failed", "timed_out", "unknown")


class Turn(NamedTuple):
    """A turn of up to two calls: how it was ruled on, and how its calls ended; None if not."""

    verified: bool = True
    runs: bool = False
    late: bool = False
    begins: bool = True
    ends: tuple[str | None, ...] | None = ("completed", "failed")
    waits: int = 0
    """How many turns later its beginning and its end come."""

    @property
    def ran(self) -> bool:
        return self.runs or (self.verified and (self.begins or self.ends is not None))


turns = st.builds(
    Turn,
    *[st.booleans()] * 4,
    st.none() | st.tuples(*[st.none() | st.sampled_from(STATUSES)] * 2),
    st.integers(0, 4),
)


def own(number: int, what: str) -> OwnValue:
    return OwnValue(kind="text", value=f"{what} {number}")


def sent(number: int, what: str) -> SentValues:
    return SentValues(seq=number, values=(f"{what} {number}",))


def tool(number: int, at: int) -> ToolName:
    return ToolName(adapter_id=f"a{number}", capability_id=f"c{at}")


def yes(number: int, what: str) -> ApprovedValue:
    return ApprovedValue(
        value=f"{what} {number}",
        role="recipient",
        tool=ToolName(adapter_id="a", capability_id="c"),
        approval_mode="network",
    )


def ruled(number: int, turn: Turn) -> RuledTurn:
    calls = tuple(BatchCall(tool(number, at), f"{number} {at}" if at else None) for at in range(2))
    entry = RulingEntry(
        facts=SessionFacts(id="s", turn=number),
        spent=None,
        evidence=(),
        calls=calls,
        sent=(sent(number, "planned"),),
        verified=turn.verified,
        runs=turn.runs,
        late=turn.late,
    )
    return RuledTurn.of(SessionEntry("s", number, (), entry), entry, ())


def finish(number: int, turn: Turn, of: RuledTurn) -> None:
    """Let it begin and end, where it does."""
    if not (turn.verified or turn.runs):
        return
    if turn.begins:
        of.begin(BeginningEntry(str(number), (yes(number, "begun"),), ()))
    if turn.ends is not None:
        statuses = tuple((at, one) for at, one in enumerate(turn.ends) if one is not None)
        made, possible = (own(number, "made"),), (own(number, "made"), own(number, "maybe"))
        of.end(
            EndEntry(
                *(str(number), statuses, made, possible, (sent(number, "other"),)),
                *((f"{number} other",), (f"{number} other", f"{number} maybe")),
                *((yes(number, "opened"),), ()),
            )
        )


def is_finished(turn: Turn, number: int, last: int) -> bool:
    return (turn.verified or turn.runs) and number + turn.waits <= last


def expected(known: list[tuple[int, Turn, bool]]) -> RanSum:
    """Return what turns that ran add up to: each with its number, and whether it is finished."""
    ran = RanSum()
    for number, turn, finished in known:
        if turn.runs or (finished and turn.ran):
            ends = (turn.ends or (None, None)) if finished else (None, None)
            is_over = finished and turn.ends is not None
            count(ran, turn, ends, is_over=is_over)
            list_acts(ran, number, ends, is_over=is_over, began=finished and turn.begins)
            if turn.verified:
                list_made(ran, number, ends, is_known=turn.late and is_over, is_over=is_over)
    return ran


def count(ran: RanSum, turn: Turn, ends: tuple[str | None, ...], *, is_over: bool) -> None:
    ended = [one for one in ends if one is not None]
    has_ended = is_over if turn.late else bool(ended)
    ran.steps += len(ended) if turn.late else 2
    ran.waiting += 2 if turn.late and not is_over else 0
    ran.any_late |= turn.late
    ran.any_awaited |= not has_ended
    ran.all_ended &= has_ended or not turn.verified


def list_acts(
    ran: RanSum, number: int, ends: tuple[str | None, ...], *, is_over: bool, began: bool
) -> None:
    others = ["other"] if is_over else []
    ran.spent.update([f"{number} 1"] if ends[1] not in (None, "failed") else [])
    ran.spent.update(f"{number} {one}" for one in others)
    ran.possible_spent.update([f"{number} 1"] if ends[1] != "failed" else [])
    ran.possible_spent.update(f"{number} {one}" for one in (*others, "maybe") if is_over)
    ran.sent[number] = tuple(sent_key(sent(number, one)) for one in ("planned", *others))
    said = [*(["begun"] if began else []), *(["opened"] if is_over else [])]
    if said:
        ran.approved[number] = tuple(yes_key(yes(number, one)) for one in said)


def list_made(
    ran: RanSum, number: int, ends: tuple[str | None, ...], *, is_known: bool, is_over: bool
) -> None:
    for at, status in enumerate(ends):
        name = tool_key(tool(number, at))
        ran.tools.update([name] if status == "completed" else [])
        may_be = status == "completed" or (status is None and not is_known)
        ran.possible_tools.update([name] if may_be else [])
    if is_over:
        ran.made.add(own_key(own(number, "made")))
        ran.possible.update(own_key(own(number, one)) for one in ("made", "maybe"))


def forget(ran: RanSum) -> None:
    """Spoil what was returned: the next question must not show it."""
    for name in ("tools", "possible_tools", "spent", "possible_spent", "made", "possible"):
        getattr(ran, name).clear()
    for name in ("sent", "approved", "waived"):
        getattr(ran, name).clear()


OPEN = Turn(ends=None)
SHADOW = Turn(verified=False, runs=True)


@example(drawn=[SHADOW] * 6, kept=1, every=1)
@example(drawn=[OPEN] * 6, kept=1, every=1)
@example(drawn=[Turn(waits=3)] * 6, kept=1, every=1)
@example(drawn=[OPEN, Turn(waits=4), *[Turn()] * 4], kept=2, every=1)
@example(
    drawn=[Turn(late=True, waits=2), Turn(late=True), Turn(), Turn(late=True, ends=None)],
    kept=8,
    every=1,
)
@example(
    drawn=[Turn(ends=(None, "completed")), Turn(), Turn(begins=False, ends=None), Turn()],
    kept=1,
    every=1,
)
@example(drawn=[Turn(waits=4), *[SHADOW] * 6], kept=1, every=6)
@example(drawn=[OPEN, *[Turn()] * 5], kept=1, every=3)
@given(drawn=st.lists(turns, max_size=7), kept=st.integers(1, 4), every=st.integers(1, 3))
def test_turns_add_up_to_what_each_of_them_says(drawn: list[Turn], kept: int, every: int) -> None:
    """They are asked for before each ruling, and again after some: earlier ones too."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(session_lives, "_KEPT_TURNS", kept)
        life, made = Life(), dict[int, RuledTurn]()
        for last, turn in enumerate(drawn, 1):
            assert life.goes_on_with(last)
            before = [(at, one, is_finished(one, at, last - 1)) for at, one in enumerate(drawn, 1)]
            assert life.ran_before(last) == expected(before[: last - 1])
            made[last] = ruled(last, turn)
            life.rule(last, made[last])
            for number, other in enumerate(drawn[:last], 1):
                if number + other.waits == last:
                    finish(number, other, made[number])
                    life.note_change(made[number])
            known = [
                (at, one, is_finished(one, at, last)) for at, one in enumerate(drawn[:last], 1)
            ]
            for end in (last + 1, last, last + 1) if last % every == 0 else ():
                ran = life.ran_before(end)
                assert ran == expected(known[: end - 1]), (last, end)
                forget(ran)
            assert life.last == last
            assert life.size == last


@pytest.mark.parametrize(("verified", "runs", "late"), [*product((True, False), repeat=3)])
def test_a_turn_is_settled_where_no_later_record_can_change_it(
    verified: bool, runs: bool, late: bool
) -> None:
    """A refused turn never begins. One that runs may have an end for each of its calls."""
    given = ruled(1, Turn(verified=verified, runs=runs, late=late))
    assert given.is_settled == (not verified and not runs)
    for ended, is_all in (((), False), ((0,), False), ((0, 1), True)):
        other = ruled(1, Turn(verified=verified, runs=runs, late=late))
        statuses = tuple((at, "failed") for at in ended)
        other.end(EndEntry("1", statuses, (), ()))
        assert other.is_settled == (late or is_all), ended


def test_a_turn_that_was_folded_is_not_ruled_on_again() -> None:
    life = Life()
    for number in range(1, 13):
        life.rule(number, ruled(number, Turn(verified=False)))
    assert [number for number in range(1, 16) if life.goes_on_with(number)] == [*range(5, 14)], (
        "the last ones, and the next one"
    )


# --- what the facts of a record say, against that ----------------------------------------------


def found(differences: Iterator[_Difference]) -> list[tuple[str, bool]]:
    return [(one.name, one.is_less) for one in differences]


CALLS: Final = {
    "none": (),
    "least": ("a",),
    "most": ("a", "b"),
    "more": ("a", "b", "c"),
    "other": ("b",),
}


@pytest.mark.parametrize("steps", [None, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize(("waiting", "awaited"), [(0, False), (0, True), (2, True)])
def test_what_was_spent_is_no_less_and_no_more_than_what_ran(
    steps: int | None, calls: str, waiting: int, awaited: bool
) -> None:
    """Two calls ran, of which one surely counts and another may."""
    ran = RanSum(
        steps=2, spent={"a"}, possible_spent={"a", "b"}, waiting=waiting, any_awaited=awaited
    )
    spelled = [
        SpentCall(adapter_id="a", capability_id="c", args_digest=one * 64) for one in CALLS[calls]
    ]
    given: dict[str, Any] = {"calls": spelled} if spelled else {}
    ran.spent, ran.possible_spent = {"a" * 64}, {"a" * 64, "b" * 64}
    spent = None if steps is None else Spent(steps=steps, **given)
    told = found(_spent_differences(ran, spent))
    if steps is None or steps < 2:
        assert told == [("spent.steps", True)]
        return
    wanted = [("spent.steps", False)] if steps > 2 + waiting else []
    if calls in ("none", "other"):
        wanted.append(("spent.calls", True))
    elif calls == "more" and steps == 2 and not awaited:
        wanted.append(("spent.calls", False))
    assert told == wanted


SENT: Final = [sent(1, "a"), sent(2, "b"), sent(2, "b")]


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([0, 1, 2], None),
        ([0, 1], True),
        ([1, 2], True),
        ([], True),
        ([1, 0, 2], False),
        ([0, 1, 2, 2], "more"),
        ([0, 0, 1, 2], "more"),
    ],
)
def test_what_was_sent_is_each_value_as_often_and_in_its_order(
    given: list[int], told: Any, awaited: bool
) -> None:
    values = [SENT[at] for at in given]
    ran = RanSum(any_awaited=awaited, sent={1: (sent_key(SENT[0]),), 2: (sent_key(SENT[1]),) * 2})
    is_less = (False if not awaited else None) if told == "more" else told
    expected_told = [] if is_less is None else [("sent", is_less)]
    assert found(_sent_differences(ran, values, [*map(sent_key, values)])) == expected_told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["a", "b"], []),
        (["b", "a"], [("approved", False)]),
        (["a"], [("approved", True)]),
        (["a", "b", "c"], [("approved", False)]),
        (["a", "b", "b"], [("approved", False)]),
        (["a", "c"], [("approved", True)]),
        (None, [("approved", True)]),
    ],
)
@pytest.mark.parametrize(("awaited", "waiting"), [(False, 0), (True, 0), (True, 2)])
def test_what_was_approved_is_neither_less_nor_more(
    given: list[str] | None, told: list[tuple[str, bool]], awaited: bool, waiting: int
) -> None:
    kept = [b"a", b"b"]
    assert found(_other_values("approved", kept, given, str.encode)) == told
    ran = RanSum(any_awaited=awaited, waiting=waiting)
    late = {(name, is_less) for name, is_less in told if is_less or {*(given or ())} > {"a", "b"}}
    late = {(name, is_less) for name, is_less in late if is_less or not awaited}
    keys = {one.encode() for one in (given or ())}
    assert {*found(_other_yeses("approved", {*kept}, keys, ran))} == late
