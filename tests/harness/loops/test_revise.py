"""The revise machine: every move is one of its table, and what is lost in no order of events."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.loops.revise import (
    TRANSITIONS,
    Attempt,
    Cancelled,
    Drafted,
    Failed,
    InvalidTransition,
    JudgedDraft,
    Judgement,
    JudgementKind,
    Malformed,
    OverBudget,
    Revision,
    Signal,
    State,
    StopReason,
    diagram,
)
from tests.support.judging import LAW
from tests.support.paths import ROOT

Machine = Revision[str, str]


def judged(ruling: JudgementKind, rank: float = 0.0, said: str = "") -> JudgedDraft[str]:
    return JudgedDraft(Judgement(ruling, (rank,), said))


def machine_in(state: State, max_rounds: int = 9) -> Machine:
    """Return a machine in a state, with one draft judged before and, if due, one to judge."""
    machine = Machine(max_rounds)
    before: dict[State, list[Any]] = {
        "drafting": [],
        "redrafting": [Malformed("no draft")],
        "judging": [Drafted("second", "2")],
        "rejudging": [Drafted("second", "2"), Malformed("no judgement")],
        "stopped": [Cancelled()],
    }
    for event in [Drafted("first", "1"), judged("refused"), *before[state]]:
        machine.feed(event)
    return machine


EVENTS: dict[Signal, Any] = {
    "drafted": Drafted("third", "3"),
    "repeated": Drafted("first", "1"),
    "malformed": Malformed("gibberish"),
    "approved": judged("approved"),
    "refused": judged("refused"),
    "refused_at_limit": judged("refused"),
    "rejected": judged("rejected"),
    "failed": Failed("it raised"),
    "over_budget": OverBudget("no money"),
    "cancelled": Cancelled(),
}


def snapshot(machine: Machine) -> tuple[Any, ...]:
    return machine.state, machine.round, machine.stop_reason, machine.detail, machine.attempts


# --- the table --------------------------------------------------------------------------------


def test_the_table_speaks_of_all_states_and_of_known_signals_and_ends_only() -> None:
    assert tuple(TRANSITIONS) == get_args(State)
    assert get_args(Signal) == tuple(EVENTS)
    moves = [move for row in TRANSITIONS.values() for move in row.items()]
    assert {signal for signal, _ in moves} == {*EVENTS}
    assert {target for _, target in moves} <= {*get_args(State), *get_args(StopReason)}
    assert {target for _, target in moves} >= {*get_args(StopReason)}, "an end nobody comes to"
    assert TRANSITIONS["stopped"] == {}


@pytest.mark.parametrize("signal", EVENTS)
@pytest.mark.parametrize("state", TRANSITIONS)
def test_every_signal_moves_as_the_table_says_or_is_refused(state: State, signal: Signal) -> None:
    machine = machine_in(state, max_rounds=2 if signal == "refused_at_limit" else 9)
    before, target = snapshot(machine), TRANSITIONS[state].get(signal)
    if target is None:
        with pytest.raises(InvalidTransition):
            machine.feed(EVENTS[signal])
        assert snapshot(machine) == before
        return
    machine.feed(EVENTS[signal])
    ended = target not in TRANSITIONS
    assert (machine.state, machine.stop_reason) == (
        ("stopped", target) if ended else (target, None)
    )


@pytest.mark.parametrize("state", TRANSITIONS)
def test_the_machine_tells_what_is_due_and_whether_it_was_asked_for_before(state: State) -> None:
    machine = machine_in(state)
    expected = {"drafting": "draft", "judging": "judgement", "stopped": None}
    assert machine.due == expected[state.replace("re", "")]
    assert machine.again == state.startswith("re")


@pytest.mark.parametrize("state", ["judging", "rejudging"])
def test_nothing_but_an_approving_judgement_approves(state: State) -> None:
    ways = {signal for signal, target in TRANSITIONS[state].items() if target == "approved"}
    assert ways == {"approved"}
    drafts = (*TRANSITIONS["drafting"].values(), *TRANSITIONS["redrafting"].values())
    assert "approved" not in drafts


def test_a_malformed_reply_is_asked_for_again_once() -> None:
    for state, again in (("drafting", "redrafting"), ("judging", "rejudging")):
        assert TRANSITIONS[state]["malformed"] == again  # type: ignore[index] # they are states
    machine = machine_in("redrafting")
    machine.feed(Malformed("and again"))
    assert (machine.stop_reason, machine.detail) == ("planner_error", "and again")


def test_the_diagram_of_the_documents_is_current() -> None:
    page = (ROOT / ".github" / "docs" / "loops.md").read_text(encoding="utf-8")
    shown = page.partition("<!-- diagram")[2].partition("<!-- end of diagram -->")[0]
    assert shown.partition("-->\n")[2] == f"```mermaid\n{diagram()}```\n"


def test_the_diagram_shows_every_move() -> None:
    shown = [line.strip() for line in diagram().splitlines()]
    for state, row in TRANSITIONS.items():
        for signal, target in row.items():
            (line,) = [one for one in shown if one.startswith(f"{state} --> {target} :")]
            assert signal in line.partition(" : ")[2].split(", ")
    assert {f"{end} --> [*]" for end in get_args(StopReason)} <= {*shown}


# --- any order of events ----------------------------------------------------------------------

ANY_EVENT = st.one_of(
    st.sampled_from("abcde").map(lambda name: Drafted(name, name)),
    st.builds(judged, st.sampled_from(get_args(JudgementKind)), st.floats(allow_nan=False)),
    st.sampled_from([Malformed("m"), Failed("f"), OverBudget("b"), Cancelled()]),
)


@LAW
@given(st.lists(ANY_EVENT, max_size=30), st.integers(1, 4))
def test_nothing_is_lost_in_any_order_of_events(events: list[Any], max_rounds: int) -> None:
    machine = Machine(max_rounds)
    for event in events:
        before = snapshot(machine)
        try:
            machine.feed(event)
        except InvalidTransition:
            assert snapshot(machine) == before
            continue
        assert before[0] != "stopped", "what has stopped takes nothing in any more"
        assert [one.draft for one in machine.attempts][: len(before[4])] == [
            one.draft for one in before[4]
        ]
        assert (machine.stop_reason is None) == (machine.state != "stopped")
        require_consistent(machine, event)


def require_consistent(machine: Machine, event: Any) -> None:
    rulings = [one.judgement for one in machine.attempts if one.judgement is not None]
    assert len(rulings) <= machine.max_rounds
    assert [one.round for one in machine.attempts] == [*range(len(machine.attempts))]
    approves = isinstance(event, JudgedDraft) and event.judgement.ruling == "approved"
    assert (machine.stop_reason == "approved") == approves
    assert (machine.approved is not None) == approves
    if approves:
        assert machine.best is machine.approved
    elif rulings:
        assert machine.best is not None
        assert machine.best.judgement is not None
        assert machine.best.judgement.rank == max(one.rank for one in rulings)
    else:
        assert machine.best == (machine.attempts[0] if machine.attempts else None)


def test_the_best_attempt_survives_worse_ones_and_the_first_of_equals_stays() -> None:
    machine = Machine(4)
    for draft, rank in (("good", 0.8), ("worse", 0.5), ("equal", 0.8), ("worst", 0.1)):
        machine.feed(Drafted(draft, draft))
        machine.feed(judged("refused", rank))
    assert machine.stop_reason == "max_rounds"
    assert machine.best == Attempt(0, "good", "good", Judgement("refused", (0.8,), ""))
    assert machine.approved is None


def test_rounds_count_judged_drafts_and_not_what_was_asked_again() -> None:
    machine = Machine(2)
    for event in (Malformed("?"), Drafted("a", "a"), Malformed("?"), judged("refused")):
        machine.feed(event)
    assert (machine.state, machine.round) == ("drafting", 1)
    machine.feed(Drafted("b", "b"))
    machine.feed(judged("refused"))
    assert (machine.stop_reason, machine.round) == ("max_rounds", 1)


@pytest.mark.parametrize("limit", [0, -1, True, False, 2.5, 3.0, "3", None])
def test_a_number_of_rounds_is_a_whole_number_of_at_least_one(limit: Any) -> None:
    with pytest.raises(ValueError, match="max_rounds"):
        Machine(limit)


def test_a_rank_is_a_number() -> None:
    with pytest.raises(ValueError, match="holds a NaN"):
        Judgement("refused", (0.0, float("nan")), "")
