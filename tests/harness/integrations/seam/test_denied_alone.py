"""What an integration tells the guard of a no, of sub-agents, and of calls that wait."""

from types import SimpleNamespace
from typing import Any, Final

import pytest

from harness.guard import Guard
from harness.integrations.seam import guarded
from harness.integrations.seam.guarded import AskedCall, CallReply, GuardedSession, session_within
from tests.harness.guard.test_recording import Kept
from tests.harness.integrations.seam.test_guarded import NO, PAY, READ, YES, session, shop

OTHERS: Final = tuple(AskedCall(name, "pay", {"to": name}) for name in "xyz")
UNKNOWN: Final = AskedCall("u", "unheard_of", {})


def recorded() -> tuple[GuardedSession, Kept]:
    log = Kept()
    made = shop()
    here = GuardedSession(Guard(made._policy, log=log), "s")
    here.began("go")
    return here, log


def denies(here: GuardedSession) -> list[bool]:
    """Return for each of the others whether the session remembers a no to it."""
    asked = [AskedCall(f"again {one.id}", one.tool, one.args) for one in OTHERS]
    return [here.rule([one]).action == "refuse" for one in asked]


@pytest.mark.parametrize("said", [(YES, NO, NO), (NO, YES, NO), (NO, NO, NO), (YES, NO, YES)])
def test_each_no_beside_a_yes_is_remembered_and_by_whom(said: tuple[CallReply, ...]) -> None:
    here, log = recorded()
    here.rule(OTHERS)
    given = zip(OTHERS, said, strict=True)
    told = here.answer({one.id: reply for one, reply in given}, approver="ada")
    assert [bool(told[one.id]) for one in OTHERS] == [reply.yes for reply in said]
    answers = [one.answer for one in log.decisions if one.answer is not None]
    people = {one.approver for one in answers if one.answer != "lapsed"}
    assert people == {"ada"}
    assert denies(here) == [not reply.yes for reply in said]


def test_each_call_that_is_denied_before_it_is_asked_for_is_remembered_and_by_whom() -> None:
    here, log = recorded()
    here.deny([UNKNOWN, *OTHERS[:2]], approver="ada")
    assert [one.answer.approver for one in log.decisions if one.answer is not None] == ["ada"]
    assert denies(here) == [True, True, False]


def test_a_call_that_is_denied_where_nobody_is_asked_is_recorded_as_not_made() -> None:
    here, log = recorded()
    here.deny([READ], approver="ada")
    ends = [one.run.calls[0] for one in log.decisions if one.run is not None]
    assert [(one.status, one.error) for one in ends] == [
        ("failed", "a person said no to this call")
    ]
    assert here.rule([READ._replace(id="again")]).action == "refuse"


@pytest.mark.parametrize("said", [(NO, YES), (NO, NO), (NO, CallReply(yes=True, args={"to": "y"}))])
def test_a_no_to_a_call_that_the_guard_did_not_doubt_is_remembered(
    said: tuple[CallReply, CallReply],
) -> None:
    here, _ = recorded()
    here.rule([READ, PAY])
    told = here.answer({READ.id: said[0], PAY.id: said[1]}, approver="ada")
    assert (bool(told[READ.id]), bool(told[PAY.id])) == (False, said[1].yes)
    for one in (READ, READ._replace(id="again")):
        assert here.rule([one]).reasons[0] == "a person said no to this call in this session"
    assert here.rule([PAY._replace(id="other", args={"to": "z"})]).action == "ask"


def test_each_agent_waits_for_its_own_calls_and_a_call_for_its_own_agent() -> None:
    here = session()
    assert here.start(READ)
    with here.running(READ.id):
        inner, other = session_within(here.guard), session_within(here.guard)
    assert inner is not None
    assert other is not None
    assert not here.waits_for_agent(READ.id)
    here.rule([PAY])
    assert (*here.waiting, *inner.waiting, *other.waiting) == (PAY.id,)
    assert [here.waits_for_agent(one.id) for one in (READ, PAY)] == [True, False]
    inner.rule([PAY])
    assert ([*inner.waiting], [*other.waiting]) == ([PAY.id], [])
    assert inner._lock is other._lock is here._lock  # each takes its turn at the one guard


@pytest.mark.parametrize("is_awaited", [True, False])
def test_a_call_waits_as_long_as_another_is_made_and_else_until_nothing_moves(
    is_awaited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = SimpleNamespace(waiting={"c"}, ready=set[str](), awaited=set[str]())
    status.awaited |= {"a"} if is_awaited else set()
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 25:
            status.awaited, status.ready = set(), {"c"}

    monkeypatch.setattr(guarded, "sleep", nap)
    monkeypatch.setattr(guarded, "_PATIENCE_S", 10 * guarded._PAUSE_S)
    guard: Any = SimpleNamespace(status=lambda _session: status)
    GuardedSession(guard, "s").wait_turn("c")
    assert len(naps) == 25 if is_awaited else 10 <= len(naps) < 20
    naps.clear()
    GuardedSession(guard, "s").wait_turn("another")
    assert naps == []


@pytest.mark.parametrize("said", [(YES, NO, NO, NO), (NO, NO, NO, YES), (NO, YES, NO, NO)])
def test_many_a_no_beside_a_yes_is_one_question_more(said: tuple[CallReply, ...]) -> None:
    here = session(max_questions=3)
    pays = [AskedCall(name, "pay", {"to": name}) for name in "wxyz"]
    here.rule([READ, *pays])
    given = {one.id: reply for one, reply in zip(pays, said, strict=True)}
    told = here.answer({READ.id: NO, **given}, approver="ada")
    assert [bool(told[one.id]) for one in pays] == [reply.yes for reply in said]
    kept = next(one for one in pays if told[one.id])
    assert here.start(kept)
    for one in (READ, *(one for one in pays if one is not kept)):
        again = here.rule([one._replace(id=f"again {one.id}")])
        assert again.reasons[0] == "a person said no to this call in this session"
