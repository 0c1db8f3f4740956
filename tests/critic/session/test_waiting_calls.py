"""Calls that wait for one another: opened in any order, found by what they send, and stopped."""

from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import pytest

from critic import score
from critic.late.openings import OpeningError
from critic.session import Call, CallResult, Session, verify_batch
from critic.session.call_batch import CallTake
from critic.session.session_evidence import Trail
from critic.session.waiting_calls import (
    before_opening,
    find_call,
    find_step,
    judge_call,
    let_run,
    stop_batch,
    take_opening,
)
from evals.canonical_json import digest
from tests.critic.session.building import NOW, after, allowed, opened, read
from tests.critic.session.late_turns import NOTE, PAY, SENT, TURN, begun, ended, opened_call


class Asked(NamedTuple):
    """A call as an agent asks for it."""

    tool: str
    args: dict[str, Any]


READ: Final = Asked("read", {"name": "plan.md"})


def test_a_call_is_opened_with_its_values_once_what_it_waits_for_has_ended() -> None:
    session = begun()
    with pytest.raises(OpeningError, match="has not ended"):
        judge_call(session, (1, 2), NOW)
    session = ended(ended(session, "b"), "a")
    judged = judge_call(session, (1, 2), NOW)
    assert (judged.call.args, judged.known) == (SENT, 3)
    assert (judged.opening.step, judged.opening.after, judged.opening.as_of) == (2, 2, NOW)
    assert judged.running.openings[-1] == judged.opening
    assert len(session.running[1].openings) == 2  # the session did not change


def test_a_batch_whose_calls_waited_is_scored_as_its_whole_run_is() -> None:
    """What its score is of has the request, though no step pins it."""
    session = opened_call(ended(ended(begun(), "b"), "a"), "p")
    last = session.ran("p", CallResult("completed", {"ok": True}), NOW).ended
    assert last is not None
    assert last.score == score(last.run)
    assert last.score.scorecard.scores.policy.status == "pass"


def test_a_late_batch_is_ruled_on_and_scored_without_all_that_was_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def whole(_: Trail) -> Any:
        raise AssertionError("all that was seen is taken whole")

    session = opened(spec={"late": "sources"})
    monkeypatch.setattr(Trail, "items", property(whole))
    batch = session.propose(TURN, NOW)
    verdict = verify_batch(batch)
    session = session.decided(batch, "allow", verdict, digest(batch.plan))
    session = opened_call(ended(ended(session, "b"), "a"), "p")
    last = session.ran("p", CallResult("completed", {"ok": True}), NOW).ended
    assert verdict.ok
    assert last is not None
    assert last.score.ok


def test_an_opening_without_a_time_has_none() -> None:
    judged = judge_call(begun(), (1, 0), None)
    assert "as_of" not in judged.opening.model_fields_set
    assert "approvals" not in judged.opening.model_fields_set


def test_openings_of_two_futures_of_one_session_do_not_mix() -> None:
    """Both go on from one moment: what one of them noted is nothing that the other one knows."""
    start = begun()
    first, second = ended(start, "a", {"x": "first"}), ended(start, "a", {"x": "second"})
    for session, note in ((first, "first"), (second, "second"), (first, "first")):
        whole = ended(session, "b")
        assert judge_call(whole, (1, 2), NOW).call.args == {**SENT, "note": note}
    again = ended(ended(start, "b", {"x": "other"}), "a", {"x": "third"})
    assert judge_call(again, (1, 2), NOW).call.args == {**SENT, "note": "third"}


def test_what_was_seen_or_made_beside_its_turn_keeps_a_call_from_being_opened() -> None:
    session = ended(ended(begun(), "a"), "b")
    said = session.said("and now?")
    made = allowed(session, read("plan.md", "z"))
    for other in (said, made):
        with pytest.raises(OpeningError, match="ask for it in a new one"):
            judge_call(other, (1, 2), NOW)
        assert judge_call(other, (1, 2), NOW, is_enforced=False).call.args == SENT
        assert find_step(other, Asked("pay", SENT), NOW, ()) is None


def before_turn(session: Session, what: str, expires_at: datetime) -> Session:
    """Return a session after a person said yes to a call: to its tool, or to a value of it."""
    session = after(session, read("plan.md", "n"), "to x-200")
    tool, to = {"waiver": ("book", "x-100"), "value": ("pay", "x-200")}[what]
    batch = session.propose([Call("w", tool, {"to": to})], NOW)
    session, _ = session.approved(batch, "ada", expires_at)
    given = session.ledger.waived if what == "waiver" else session.ledger.approved
    assert [one.expires_at for one in given] == [expires_at]
    return session


@pytest.mark.parametrize("what", ["evidence", "approval", "waiver", "value", "nothing"])
@pytest.mark.parametrize("is_late", [False, True])
def test_a_plain_plan_is_carried_out_while_what_allowed_it_holds(what: str, is_late: bool) -> None:
    later = NOW + timedelta(seconds=60)
    session = opened(spec={"late": "sources"})
    if what == "evidence":
        session = after(session, Call("o", "order", {}), "x")  # fresh for a minute
    if what in ("waiver", "value"):
        session = before_turn(session, what, later)
    calls = TURN if is_late else TURN[:2]
    batch = session.propose(calls, NOW, is_plan=True)
    if what == "approval":
        session, batch = session.approved(batch, "ada", expires_at=later, late=is_late)
    verdict = verify_batch(batch)
    assert verdict.ok
    session = session.decided(batch, "allow", verdict, digest(batch.plan))
    assert find_step(session, READ, later - timedelta(seconds=1), ()) == 0
    held = what == "nothing" or is_late
    assert find_step(session, READ, later + timedelta(seconds=1), ()) == (0 if held else None)


@pytest.mark.parametrize("is_made", [False, True])
def test_a_batch_has_gone_on_once_the_very_call_is_made_whose_opening_was_refused(
    is_made: bool,
) -> None:
    session = begun(read("other.md", "a"), *TURN[1:])
    session = ended(ended(session, "b"), "a", {"x": "see https://a.example/b"})
    judged = judge_call(session, (1, 2), NOW)
    assert not judged.opening.verdict.ok
    running = take_opening(session, "p", judged, is_made=is_made).running[1]
    assert running.has_gone_on is is_made


def test_an_opening_that_asks_is_taken_back() -> None:
    session = ended(begun(), "a")
    asked = take_opening(session, "b", judge_call(session, (1, 1), NOW), is_made=False)
    assert len(asked.running[1].openings) == 2
    assert not asked.is_awaited("b") or find_call(asked, "b") == (1, 1)
    back = before_opening(asked, 1)
    assert back.running[1].openings == session.running[1].openings
    assert len(back.running[1].openings) == 1


def test_a_call_that_waits_is_found_by_its_id_until_it_is_opened() -> None:
    session = begun()
    assert [find_call(session, name) for name in ("a", "b", "p")] == [(1, 0), (1, 1), (1, 2)]
    assert find_call(session, "x") is None
    assert find_call(opened_call(session, "a"), "a") is None
    assert find_call(begun(is_plan=True), "a") is None  # carried out under other ids


def carried_out(session: Session, call: Asked, name: str, output: Any = NOTE) -> Session:
    """Return a session after a call carries out its plan, under an id of its own."""
    step = find_step(session, call, NOW, ())
    assert step is not None
    if session.running[1].is_late:
        opened_now = judge_call(session, (1, step), NOW)
        session = take_opening(session, name, opened_now, is_made=True)
    else:
        session = let_run(session, name, (1, step))
    return session.ran(name, CallResult("completed", output), NOW).session


@pytest.mark.parametrize("is_late", [True, False])
def test_a_call_carries_out_the_first_step_of_its_tool_and_args(is_late: bool) -> None:
    session = begun(*(TURN if is_late else TURN[:2]), is_plan=True)
    assert find_step(session, READ, NOW, ()) == 0
    assert find_step(session, READ, NOW, (0,)) == 1
    assert find_step(session, READ, NOW, (0, 1)) is None
    assert find_step(session, READ._replace(tool="mail"), NOW, ()) is None
    assert find_step(session, Asked("read", {"name": "other.md"}), NOW, ()) is None
    assert find_step(carried_out(session, READ, "k1"), READ, NOW, ()) == 1
    assert find_step(begun(*(TURN if is_late else TURN[:2])), READ, NOW, ()) is None
    assert find_step(opened(), READ, NOW, ()) is None


def test_a_step_with_late_values_is_found_once_they_are_there() -> None:
    session, pay = begun(is_plan=True), Asked("pay", SENT)
    assert find_step(session, pay, NOW, ()) is None
    session = carried_out(session, READ, "k1")
    assert find_step(session, pay, NOW, ()) is None
    session = carried_out(session, READ, "k2", {"x": "of the second"})
    assert find_step(session, pay, NOW, ()) == 2
    assert find_step(session, Asked("pay", {**SENT, "note": "of the second"}), NOW, ()) is None


def test_a_step_whose_values_did_not_come_is_carried_out_by_no_call() -> None:
    session = carried_out(begun(is_plan=True), READ, "k1", {"y": "elsewhere"})
    session = carried_out(session, READ, "k2")
    for args in (SENT, {}, {"to": "x-100"}, {"to": "x-100", "note": None}):
        assert find_step(session, Asked("pay", args), NOW, ()) is None


def test_a_batch_that_is_stopped_is_scored_when_what_runs_of_it_has_ended() -> None:
    started = opened_call(begun(), "a")
    stopped = stop_batch(started, 1)
    assert stopped.ended is None
    assert stopped.session.running[1].waiting == []
    assert find_call(stopped.session, "b") is None
    last = stopped.session.ran("a", CallResult("completed", NOTE), NOW)
    assert last.ended is not None
    assert [call.step for call in last.ended.running.ended] == [0]
    assert 1 not in last.session.running
    ended_at_once = stop_batch(ended(begun(), "a"), 1)
    assert ended_at_once.ended is not None
    assert 1 not in ended_at_once.session.running


@pytest.mark.parametrize("is_plan", [False, True])
def test_of_a_batch_that_is_given_up_what_became_of_calls_never_made_is_known(
    is_plan: bool,
) -> None:
    """None of them ran: only what was made, and returned nothing, may have."""
    session = begun(is_plan=is_plan)
    judged = judge_call(session, (1, 1), NOW)
    session = take_opening(session, "k", judged, is_made=True)
    given_up = session.running[1].given_up()
    assert [(call.step, call.status) for call in given_up.ended] == [(1, "unknown")]
    (ended_batch,) = session.closed({}).ended
    assert [call.step for call in ended_batch.run.calls] == [1]


def test_a_plan_holds_whatever_expires_that_was_seen_after_it() -> None:
    session = begun(*TURN[:2], is_plan=True)
    session = after(session, Call("o", "order", {}), "x")  # fresh for a minute
    assert find_step(session, READ, NOW + timedelta(seconds=61), ()) == 0


def test_a_call_that_waits_is_awaited_as_one_that_runs_is() -> None:
    session = begun()
    assert [session.is_awaited(one) for one in ("a", "b", "p", "q")] == [True, True, True, False]
    with pytest.raises(ValueError, match="an id of its own"):
        session.propose([read("plan.md", "p")], NOW)


def test_calls_of_a_second_batch_that_waits_are_awaited_too() -> None:
    pay = PAY._replace(id="q", takes=(CallTake("/note", "c", "/x"),), after=("d",))
    session = begun()
    batch = session.propose([read("plan.md", "c"), read("plan.md", "d"), pay], NOW)
    session = session.decided(batch, "allow", verify_batch(batch), digest(batch.plan))
    assert all(map(session.is_awaited, ("a", "b", "p", "c", "d", "q")))


def test_a_plan_is_open_while_calls_of_it_wait() -> None:
    session = begun(read("plan.md", "a"), is_plan=True)
    assert session.open_plan == 1
    assert let_run(session, "k1", (1, 0)).open_plan is None
