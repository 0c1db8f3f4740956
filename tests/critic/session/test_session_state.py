"""A session goes on in another process with all that it knows, or says why it cannot."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

import pytest

from critic import EvidenceItem, verify_proposal
from critic.session import Call, CallResult, Session, SessionState, session_of, state_of
from critic.session.contradictions import ContradictoryState
from critic.session.waiting_calls import let_run, stop_batch
from evals.canonical_json import canonical_bytes, canonical_json
from harness.wire import InvalidInput, parse
from tests.critic.session.building import NOW, after, allowed, opened, read, rules
from tests.critic.session.commanding import run, shell_rules
from tests.critic.session.late_turns import SENT, begun, ended, opened_call
from tests.support.model.facts import Json

DIGEST = "0" * 64


def eventful(**more: Any) -> Session:
    """Return a session in which everything happened: a call is awaited, one of its batch ended."""
    session = opened("Wipe disk-1 as plan.md on https://shop.example/x says", **more)
    session = after(session, read("plan.md"), "see x-200", tokens=3, duration_ms=4)
    session = after(session, Call("k", "make", {"name": "a.md"}), "saved b.md")
    asked = session.propose([Call("p", "pay", {"to": "x-200"})], NOW)
    session, _ = session.approved(asked, "ada", NOW + timedelta(hours=1))
    session = session.decided(asked, "refuse", verify_proposal(asked.proposal), DIGEST)
    session = allowed(session, Call("n", "nothing", {}), Call("w", "wipe", {"what": "disk-1"}))
    session = session.ran("n", CallResult("completed", "x"), NOW).session
    session = allowed(session.said("and more"), Call("1", "order", {}, 40), read("a.md", "2"))
    return session.ran("2", CallResult("completed", "y", cost_micros=2), NOW).session


def travelled(session: Session) -> Session:
    return session_of(session.rules, parse(SessionState, canonical_bytes(state_of(session))))


def known(session: Session) -> dict[str, Any]:
    """Return all that a session knows, in values that can be compared."""
    ledger = session.ledger
    fields = ("id", "scope", "texts", "results", "turns", "turn", "trace_id")
    return {
        **{name: getattr(session, name) for name in fields},
        "evidence": session.trail.items,
        "running": dict(session.running),
        "awaited": dict(session.open_calls),
        "facts": ledger.facts(session.id, 9),
        "yes": (ledger.approved, ledger.waived),
        "spent": ledger.spent(),
        "made": tuple(ledger.made),
        "measures": ledger.measures,
        "worst": [(one.score, one.findings) for one in (session.policy, session.safety)],
    }


@pytest.mark.parametrize("scope", [None, ["wipe", "make", "other"]])
def test_a_session_that_travels_knows_what_it_knew(scope: Any) -> None:
    session = eventful(scope=scope)
    other = travelled(session)
    assert known(other) == known(session)
    assert {*other.open_calls} == {"w", "1"}
    for name in ("1", "w"):
        ran = [one.ran(name, CallResult("failed", "z"), NOW) for one in (session, other)]
        scores = [one.ended and one.ended.score for one in ran]
        assert scores[0] is not None
        assert scores[0] == scores[1]
        session, other = (one.session for one in ran)
        assert known(other) == known(session)
    assert other.closed({}, NOW).report == session.closed({}, NOW).report


def test_a_new_session_travels_too() -> None:
    session = opened()
    assert known(travelled(session)) == known(session)


@pytest.mark.parametrize("names", [{}, {"tenant_id": "t-1"}, {"user_id": "u-1"}])
def test_whose_session_it_is_travels_with_it(names: dict[str, str]) -> None:
    session = Session.opened(rules(), "s", "Do it", **names)
    state, other = state_of(session), travelled(session)
    for one in (session, state, other):
        assert (one.tenant_id, one.user_id) == (names.get("tenant_id"), names.get("user_id"))


def test_what_others_said_may_be_a_record() -> None:
    session = after(opened(), Call("o", "order", {}), {"id": "7"})
    assert known(travelled(session)) == known(session)


def test_what_the_policy_knows_is_not_part_of_the_state() -> None:
    terms = EvidenceItem(id="terms", classification="terms")
    session = opened(evidence=(terms,))
    assert [item.id for item in state_of(session).evidence] == ["user/1"]
    assert session_of(rules(evidence=(terms,)), state_of(session)).trail.items[0] == terms


def test_a_session_that_failed_travels_with_its_worst_scores() -> None:
    keys = EvidenceItem(id="keys", classification="keys", content="the-secret-key")
    session = opened("see plan.md", spec={"confined_evidence": ("keys",)}, evidence=(keys,))
    session = after(session, Call("w", "web", {"url": "plan.md?the-secret-key"}), "x")
    session = after(session, Call("n", "nothing", {}), "x")
    other = travelled(session)
    assert known(other) == known(session)
    assert min(other.policy.score, other.safety.score) < 1
    assert other.policy != other.safety
    assert other.closed({}).report == session.closed({}).report


def running(wire: Json) -> Json:
    """Return the batch that runs in the state of the eventful session, of two calls."""
    batch: Json = wire["running"][-1]
    return batch


NULLED: Final[Mapping[str, Callable[[Json], object]]] = {
    "scope": lambda wire: wire.update(scope=None),
    "tenant": lambda wire: wire.update(tenant_id=None),
    "user": lambda wire: wire.update(user_id=None),
    "tokens": lambda wire: wire["measures"].update(tokens=None),
    "duration": lambda wire: wire["measures"].update(duration_ms=None),
    "cost": lambda wire: wire["measures"].update(cost_micros=None),
    "arguments": lambda wire: running(wire)["calls"][0].update(args=None),
    "estimate": lambda wire: running(wire)["calls"][0].update(estimated_tokens=None),
}


@pytest.mark.parametrize("name", NULLED)
def test_null_is_no_second_way_to_leave_a_member_out(name: str) -> None:
    wire = state_of(eventful()).wire()
    NULLED[name](wire)
    with pytest.raises(InvalidInput, match="null"):
        parse(SessionState, canonical_json(wire))


def test_a_session_that_has_one_life_may_leave_out_how_many_turns_came_before() -> None:
    wire = state_of(opened()).wire()
    assert wire.pop("earlier", 0) == 0
    assert parse(SessionState, canonical_json(wire)).earlier == 0


def test_a_batch_of_which_no_call_has_ended_may_leave_that_out() -> None:
    session = allowed(opened("Wipe disk-1"), Call("w", "wipe", {"what": "disk-1"}))
    wire = state_of(session).wire()
    for name in ("ended", "results", "openings", "made"):
        assert running(wire).pop(name, []) == []
    for name in ("is_plan", "is_stopped"):
        assert running(wire).pop(name, False) is False
    assert parse(SessionState, canonical_json(wire)) == state_of(session)


LATE: Final[Mapping[str, Callable[[], Session]]] = {
    "before the first opening": begun,
    "a call that was opened": lambda: opened_call(begun(), "a"),
    "a call that ended": lambda: ended(begun(), "a"),
    "a late value": lambda: opened_call(ended(ended(begun(), "a"), "b"), "p"),
    "a plan": lambda: begun(is_plan=True),
    "a plan of calls that wait for nothing": lambda: let_run(
        begun(read("plan.md", "a"), read("plan.md", "b"), is_plan=True), "k", (1, 1)
    ),
    "a batch that was stopped": lambda: stop_batch(opened_call(begun(), "a"), 1).session,
    "a command": lambda: allowed(Session.opened(shell_rules(), "s", "List the files"), run("ls")),
}


@pytest.mark.parametrize("name", LATE)
def test_calls_that_wait_travel_as_they_are(name: str) -> None:
    session = LATE[name]()
    other = travelled(session)
    assert known(other) == known(session)
    assert other.open_plan == session.open_plan
    assert state_of(other) == state_of(session)


def test_a_call_that_was_opened_travels_with_what_it_sent_and_no_other() -> None:
    session = opened_call(ended(ended(begun(), "a"), "b"), "p")
    sent = [one.args for one in state_of(session).running[0].calls]
    assert sent == [{"name": "plan.md"}, {"name": "plan.md"}, SENT]
    assert [one.args for one in state_of(begun()).running[0].calls] == [None, None, None]
    plain = allowed(opened(), read("plan.md"))
    assert [one.args for one in state_of(plain).running[0].calls] == [None]
    plan = let_run(begun(read("plan.md", "a"), is_plan=True), "k", (1, 0))
    assert [one.args for one in state_of(plan).running[0].calls] == [None]


REASON: Final[Json] = {"kind": "reason"}


@pytest.mark.parametrize(
    "change",
    [
        lambda batch: batch["plan"]["steps"].append(REASON),
        lambda batch: batch["plan"]["steps"].insert(0, REASON),
        lambda batch: batch["plan"]["steps"].pop(),
        lambda batch: batch["plan"]["steps"].append(batch["plan"]["steps"][0]),
        lambda batch: batch["calls"].pop(),
        lambda batch: batch["calls"].append({**batch["calls"][0], "id": "z"}),
    ],
)
def test_a_batch_has_one_step_for_each_call_and_none_of_another_kind(
    change: Callable[[Json], object],
) -> None:
    session = allowed(opened(), read("plan.md", "a"), read("plan.md", "b"))
    wire = state_of(session).wire()
    change(running(wire))
    with pytest.raises(ContradictoryState) as caught:
        session_of(session.rules, parse(SessionState, canonical_json(wire)))
    assert caught.value.path == "/running/0/calls"
