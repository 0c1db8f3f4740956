"""A state that contradicts itself is refused where it does, and no other state is."""

from typing import Any, Final

import pytest

from critic import EvidenceItem, Refused, verify_proposal
from critic.session import Call, CallResult, Session, SessionState, session_of, state_of
from critic.session.call_batch import RunningBatch
from critic.session.contradictions import ContradictoryState
from critic.session.session_state import BatchState, asked_of, running_state
from evals.json_value import SAFE_INTEGER
from harness.wire import build
from tests.critic.session.building import NOW, after, allowed, opened, read, rules
from tests.critic.session.late_turns import begun, opened_call
from tests.support.altering import altered, path_of
from tests.support.model.facts import Json

POLICY_EVIDENCE = (EvidenceItem(id="terms", classification="terms"),)


def waiting() -> Session:
    """Return a session of three turns: the first ended, the others wait for results.

    It has seen the terms of the policy, what it was asked, a note, an order and another note.
    """
    session = opened("Wipe disk-1 as plan.md says", evidence=POLICY_EVIDENCE)
    session = after(session, read("plan.md"), "see x-200")
    session = allowed(session, Call("o", "order", {}), Call("m", "mail", {}))
    session = session.ran("o", result("an order"), NOW).session
    session = allowed(session, Call("f", "refund", {"of": "7"}), read("a.md", "n"))
    return session.ran("n", result("y"), NOW).session


def result(output: str) -> CallResult:
    return CallResult("completed", output)


CONTRADICTIONS: dict[str, tuple[str, Any, str]] = {
    "another policy": ("/policy_digest", "1" * 64, ""),
    "no turns": ("/turns", [], "/facts/turn"),
    "a turn more": ("/facts/turn", 4, ""),
    "a turn less": ("/facts/turn", 2, ""),
    "as many turns as can be": ("/facts/turn", SAFE_INTEGER, ""),
    "no first turn": ("/turns/0/turn", 2, "/turns"),
    "a turn that asked and runs": ("/turns/1/action", "ask", "/running/0/turn"),
    "a batch of no turn": ("/running/0/turn", 0, ""),
    "a batch of a later turn": ("/running/0/turn", 4, ""),
    "a batch that is over": ("/running/0/turn", 1, "/awaited/0/turn"),
    "two batches of a turn": ("/running/0/turn", 3, "/running/1/turn"),
    "no batch": ("/running", [], "/awaited/0/turn"),
    "a batch without a call": ("/running/1/calls", [], ""),
    "a batch that saw more": ("/running/1/seen", 6, ""),
    "a batch that saw less than it pins": ("/running/1/seen", 3, "/running/1/plan"),
    "a pin of nothing": (
        "/running/1/plan/steps/0/evidence_refs",
        ["call/2", "call/9"],
        "/running/1/plan",
    ),
    "a result that is not there": ("/running/1/results", [4, 5], ""),
    "a call that ended and is awaited": ("/running/1/ended/0/step", 0, "/awaited/1/step"),
    "an ended call of no step": ("/running/1/ended/0/step", 2, "/running/1/ended"),
    "an awaited call of no step": ("/awaited/1/step", 2, ""),
    "an awaited call of another step": ("/awaited/1/step", 1, "/awaited/1/id"),
    "an awaited call of another id": ("/awaited/1/id", "n", ""),
    "a call that is awaited twice": ("/awaited/1/id", "m", ""),
    "a call that is awaited of no batch": ("/awaited/1/turn", 1, ""),
    "a text less": ("/texts", 0, ""),
    "a text more": ("/texts", 2, ""),
    "a result less": ("/results", 2, ""),
    "as many results as can be": ("/results", SAFE_INTEGER, ""),
    "a text of a later number": ("/evidence/0/id", "user/2", "/evidence"),
    "a result of a later number": ("/evidence/3/id", "call/4", "/evidence"),
    "a second system prompt": ("/evidence/0/id", "operator/2", "/texts"),
    "a request that is not a text": ("/evidence/0/content", 7, ""),
}

SAID: dict[str, list[str]] = {
    "the session is of another policy": ["another policy"],
    "there were 0 turns": ["no turns"],
    "there were 3 turns": ["a turn more", "a turn less", "as many turns as can be"],
    "the turns do not count on from 1": ["no first turn"],
    "the batch of this turn was not allowed": ["a turn that asked and runs"],
    "there was no such turn": ["a batch of no turn", "a batch of a later turn"],
    "a call is awaited of a batch that does not run": [
        "a batch that is over",
        "no batch",
        "a call that is awaited of no batch",
    ],
    "an earlier one is the same": ["two batches of a turn", "a call that is awaited twice"],
    "a batch has one tool step for each call": ["a batch without a call"],
    "there are 5 items of evidence": ["a batch that saw more", "a result that is not there"],
    "a step pins evidence that the batch had not seen": [
        "a batch that saw less than it pins",
        "a pin of nothing",
    ],
    "a call is awaited that has ended": ["a call that ended and is awaited"],
    "a call ended twice, or is not among the calls of its batch": ["an ended call of no step"],
    "its batch has fewer calls": ["an awaited call of no step"],
    "the call at this step has another id": [
        "an awaited call of another step",
        "an awaited call of another id",
    ],
    "0 were counted, but the evidence has 1": ["a text less"],
    "2 were counted, but the evidence has 1": ["a text more"],
    "2 were counted, but the evidence has 3": ["a result less"],
    "9007199254740991 were counted, but the evidence has 3": ["as many results as can be"],
    "user/2 stands where user/1 should": ["a text of a later number"],
    "call/4 stands where call/3 should": ["a result of a later number"],
    "1 were counted, but the evidence has 0": ["a second system prompt"],
    "what the user said is a text": ["a request that is not a text"],
}
MESSAGES = {name: message for message, names in SAID.items() for name in names}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_state_that_contradicts_itself_is_refused_where_it_does(name: str) -> None:
    path, new, told = CONTRADICTIONS[name]
    session = waiting()
    wire = altered(state_of(session).wire(), path_of(path), new)
    with pytest.raises(ContradictoryState) as caught:
        session_of(session.rules, build(SessionState, wire))
    assert caught.value.path == (told or path)
    assert str(caught.value) == MESSAGES[name]


def test_a_policy_whose_digest_only_begins_alike_is_another() -> None:
    session = waiting()
    digest = session.rules.digest
    for near in (digest[:-1], digest[:1], digest + "0"):
        wire = altered(state_of(session).wire(), path_of("/policy_digest"), near)
        with pytest.raises(ContradictoryState, match="another policy"):
            session_of(session.rules, build(SessionState, wire))


def test_turns_of_a_second_life_are_found_by_their_own_numbers() -> None:
    first = waiting()
    second = opened().after_life(first.turn, first.ledger.spent(), first.ledger.sent)
    second = allowed(allowed(second, read("plan.md", "1")), read("plan.md", "2"))
    wire = state_of(second).wire()
    assert state_of(session_of(second.rules, build(SessionState, wire))).wire() == wire
    for at, batch in enumerate(wire["running"]):
        assert batch["turn"] == first.turn + 1 + at
        other = altered(wire, path_of(f"/turns/{at}/action"), "ask")
        with pytest.raises(ContradictoryState, match="was not allowed") as caught:
            session_of(second.rules, build(SessionState, other))
        assert caught.value.path == f"/running/{at}/turn"


def test_calls_that_ended_all_or_twice_do_not_run() -> None:
    session = waiting()
    wire = state_of(session).wire()
    (ended,) = wire["running"][1]["ended"]
    said = "all calls of a running batch ended"
    for calls in ([ended, {**ended, "step": 0}], [ended, ended]):
        changed = altered(wire, path_of("/running/1/ended"), calls)
        changed["awaited"] = changed["awaited"][:1]
        with pytest.raises(ContradictoryState) as caught:
            session_of(session.rules, build(SessionState, changed))
        assert (caught.value.path, str(caught.value)) == ("/running/1/ended", said)


def test_no_call_of_a_running_batch_ended_twice() -> None:
    session = allowed(opened(), *(read("plan.md", name) for name in "123"))
    wire = state_of(session.ran("2", result("x"), NOW).session).wire()
    wire["running"][0]["ended"] *= 2
    with pytest.raises(ContradictoryState, match="a call ended twice") as caught:
        session_of(session.rules, build(SessionState, wire))
    assert caught.value.path == "/running/0/ended"


def test_a_batch_that_reasons_is_none_of_a_session() -> None:
    session = waiting()
    wire = state_of(session).wire()
    wire["running"][1]["plan"]["steps"][1] = {"kind": "reason"}
    with pytest.raises(ContradictoryState, match="one tool step for each call") as caught:
        session_of(session.rules, build(SessionState, wire))
    assert caught.value.path == "/running/1/calls"


def test_evidence_of_other_ids_than_a_session_makes_is_refused() -> None:
    session = waiting()
    wire = state_of(session).wire()
    for name in ("terms/2", "operator/2", "x"):
        wire["evidence"][4:] = [{"id": name, "classification": "x"}]
        with pytest.raises(ContradictoryState, match="an id") as caught:
            session_of(session.rules, build(SessionState, wire))
        assert caught.value.path == "/evidence"
    wire["evidence"][4:] = [{"id": "terms", "classification": "x"}]
    with pytest.raises(ValueError, match="the same id"):
        session_of(session.rules, build(SessionState, wire))


def test_a_system_prompt_and_a_call_id_that_returned_are_no_contradiction() -> None:
    session = Session.opened(rules(), "s", "Do it", system="Be brief")
    for name in ("r", "s"):
        session = allowed(session, Call("m", "mail", {}), Call(name, "read", {"name": "x"}))
        session = session.ran("m", result("y"), NOW).session
    other = session_of(session.rules, state_of(session))
    assert {**other.open_calls} == {"r": (1, 1), "s": (2, 1)}
    assert len(other.running) == 2
    assert other.closed({}).report == session.closed({}).report


def asking() -> tuple[Session, BatchState]:
    session = waiting()
    batch = session.propose([Call("p", "pay", {"to": "x-200"})], NOW)
    verdict = verify_proposal(batch.proposal)
    session = session.decided(batch, "ask", verdict, "0" * 64)
    return session, running_state(RunningBatch.of(batch, verdict))


def test_the_batch_that_is_asked_about_is_as_it_was() -> None:
    session, state = asking()
    batch, verdict = asked_of(session, state, "/question")
    assert isinstance(verdict, Refused)
    assert verify_proposal(batch.proposal) == verdict
    assert (batch.turn, batch.plan, batch.seen) == (4, state.plan, 5)


@pytest.mark.parametrize(
    ("path", "new", "told"),
    [
        ("/turn", 3, "/turn"),
        ("/seen", 6, "/seen"),
        ("/calls", [], "/calls"),
        ("/results", [0], ""),
        ("/verdict", {"ok": True, "reasons": ["x"], "caveats": []}, "/verdict"),
    ],
)
def test_a_question_that_contradicts_its_session_is_refused_where_it_does(
    path: str, new: Any, told: str
) -> None:
    session, state = asking()
    changed = build(BatchState, altered(state.wire(), path_of(path), new))
    with pytest.raises(ContradictoryState) as caught:
        asked_of(session, changed, "/question")
    assert caught.value.path == f"/question{told}"
    if told == "/verdict":
        assert str(caught.value) == "a question is about a batch that is refused"


OPENED: Final = state_of(opened_call(begun(), "a")).wire()["running"][0]["openings"]


@pytest.mark.parametrize(
    "ran",
    [
        {"ended": state_of(waiting()).wire()["running"][1]["ended"]},
        {"openings": OPENED},
        {"made": [0]},
        {"is_stopped": True},
    ],
)
def test_a_batch_that_ran_is_not_asked_about(ran: Json) -> None:
    session, state = asking()
    changed = build(BatchState, {**state.wire(), **ran})
    with pytest.raises(ContradictoryState, match="has not run"):
        asked_of(session, changed, "/question")


def test_nothing_is_asked_about_after_another_ruling_or_before_the_first() -> None:
    session, state = asking()
    first = build(BatchState, {**state.wire(), "turn": 0})
    batch, verdict = asked_of(session, state, "/question")
    answered = session.decided(batch, "refuse", verdict, "0" * 64)
    later = allowed(session, read("b.md", "z"))
    for other, asked in ((later, state), (opened(), first), (answered, state)):
        with pytest.raises(ContradictoryState, match="did not ask"):
            asked_of(other, asked, "/question")


def test_each_call_that_was_made_of_a_late_batch_was_opened() -> None:
    session = opened_call(opened_call(begun(), "a"), "b")
    wire = state_of(session).wire()
    for at in range(2):
        openings = wire["running"][0]["openings"]
        other = altered(wire, path_of("/running/0/openings"), [openings[at]])
        with pytest.raises(ContradictoryState, match="not of the calls that are made") as caught:
            session_of(session.rules, build(SessionState, other))
        assert caught.value.path == "/running/0/openings"


@pytest.mark.parametrize("at", range(3))
def test_no_call_is_awaited_that_has_ended_whichever_of_them_it_is(at: int) -> None:
    session = allowed(opened(), *(read("plan.md", name) for name in "abcd"))
    for name in "abc":
        session = session.ran(name, result("y"), NOW).session
    wire = state_of(session).wire()
    wire["awaited"] = [{"id": "abc"[at], "turn": 1, "step": at}]
    with pytest.raises(ContradictoryState, match="that has ended") as caught:
        session_of(session.rules, build(SessionState, wire))
    assert caught.value.path == "/awaited/0/step"


def planned(awaited: list[dict[str, Any]], made: list[int]) -> SessionState:
    """Return the state of a session whose agent carries out a plan of one call."""
    session = allowed(opened(), read("plan.md", "1"))
    wire = state_of(session).wire()
    wire["running"][0] |= {"is_plan": True, "made": made}
    return build(SessionState, wire | {"awaited": awaited})


@pytest.mark.parametrize("id", ["1", "an id of the agent's own"])
def test_a_call_of_a_plan_is_awaited_under_any_id_once_it_was_made(id: str) -> None:
    awaited = [{"id": id, "turn": 1, "step": 0}]
    rules_ = opened().rules
    assert state_of(session_of(rules_, planned(awaited, [0]))).wire()["awaited"] == awaited
    with pytest.raises(ContradictoryState, match="the call at this step was not opened"):
        session_of(rules_, planned(awaited, []))
