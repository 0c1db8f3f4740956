"""A guarded session lets a call be made once, as it was ruled on, whatever comes in between."""

import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.guard import Guard
from harness.integrations.seam.guarded import AskedCall, CallReply, GuardedSession, session_within
from harness.integrations.seam.ruling_replies import GuardHalted
from harness.single_use import PermitError
from tests.support.guarding import guard_of

Json = dict[str, Any]

READ = AskedCall("r", "read", {"name": "a"})
PAY = AskedCall("p", "pay", {"to": "x"})
DROP = AskedCall("d", "drop", {"name": "a"})
YES, NO = CallReply(yes=True), CallReply(yes=False)


def shop(**guard: Any) -> Guard:
    """Return a guard that allows `read`, asks about `pay`, and refuses `drop`."""
    tools = {"read": "read_only", "pay": "delegated", "drop": "destructive"}
    policy: Json = {
        "guard": {"safety_mode": "delegated", "max_questions": 99, **guard},
        "spec": {"id": "shop", "required_outputs": [], "approval_required_from": "delegated"},
        "tool": [
            {"adapter_id": "shop", "capability_id": name, "approval_mode": tier}
            for name, tier in tools.items()
        ],
    }
    return guard_of(policy)


def session(**guard: Any) -> GuardedSession:
    opened = GuardedSession(shop(**guard), "s")
    opened.began("go")
    return opened


CALLS = st.builds(
    AskedCall,
    st.sampled_from("abc"),
    st.sampled_from(["read", "pay", "drop"]),
    st.sampled_from([{"n": 1}, {"n": 2}, '{"n": 1}', '{"n": 1, "n": 2}', "[1]", ""]),
)
REPLIES = st.dictionaries(st.sampled_from("abc"), st.sampled_from([YES, NO]), min_size=1)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("rule"), st.lists(CALLS, min_size=1, max_size=3)),
        st.tuples(st.just("start"), CALLS),
        st.tuples(st.just("answer"), REPLIES),
        st.tuples(st.just("deny"), CALLS),
        st.tuples(st.just("end"), st.sampled_from("abc")),
    ),
    max_size=12,
)


@given(STEPS)
def test_a_call_is_made_once_for_each_ruling_or_yes_and_as_it_was_written(steps: Any) -> None:
    here = session()
    said_yes = dict.fromkeys("abc", 0)
    denied: set[str] = set()
    for kind, what in steps:
        if kind == "rule":
            here.rule(what)
        elif kind == "answer":
            waiting = {name: one.args for name, one in here.waiting.items() if one.tool == "pay"}
            here.answer(what, approver="ada")
            for name, args in waiting.items():
                said_yes[name] += what.get(name) == YES
                denied |= {json.dumps(args)} if what.get(name) == NO else set()
        elif kind == "deny":
            here.deny([what], approver="ada")
        elif kind == "end":
            _end(here, what)
        else:
            _start(here, what, said_yes, denied)


def _start(here: GuardedSession, call: AskedCall, said_yes: dict[str, int], no: set[str]) -> None:
    ruling = here.start(call)
    if not ruling:
        assert ruling.args is None
        return
    assert call.tool != "drop"
    assert ruling.args == (json.loads(call.args) if isinstance(call.args, str) else call.args)
    assert here.guard.status("s") is not None
    if call.tool == "pay":
        assert said_yes[call.id] > 0, "it was never approved"
        said_yes[call.id] -= 1
        assert json.dumps(ruling.args) not in no, "a no holds"


def _end(here: GuardedSession, call: str) -> None:
    try:
        here.ended(call, "completed", output="x")
    except GuardHalted as error:
        assert error.ruling.action == "halt"


@pytest.mark.parametrize("edits", [*product([None, "same", "other", "nothing"], repeat=2)], ids=str)
@pytest.mark.parametrize("made", ["as asked", "as said"])
def test_a_yes_to_changed_arguments_covers_these_and_no_others(
    edits: tuple[str | None, str | None], made: str
) -> None:
    """Two calls that a person is asked about: each may be changed, or not."""
    here = session()
    asked = {name: AskedCall(name, "pay", {"to": f"{name}1"}) for name in "pq"}
    assert here.rule([*asked.values()]).action == "ask"
    changes: Json = {"other": {"to": "z"}, "nothing": {}}
    said, replies = dict(asked), dict[str, CallReply]()
    for (name, one), edit in zip(asked.items(), edits, strict=True):
        args = None if edit is None else changes.get(edit, one.args)
        replies[name] = CallReply(yes=True, args=args)
        said[name] = one if args is None else one._replace(args=args)
    here.answer(replies, approver="ada")
    for name, one in (asked if made == "as asked" else said).items():
        assert bool(here.start(one)) is (one == said[name])


def test_a_question_that_is_open_is_not_asked_again() -> None:
    here = session()
    first = here.rule([READ, PAY])
    assert first.action == "ask"
    again = GuardedSession(here.guard, "s").rule([READ, PAY])
    assert again == first
    status = here.guard.status("s")
    assert status is not None
    assert status.turn == 1
    assert here.rule([PAY, READ]).ruling != first.ruling


def test_a_refusal_stands_until_its_call_is_asked_for_again() -> None:
    here = session()
    assert here.rule([READ, DROP]).kind == "approval_mode_mismatch"
    for args in ({"name": "a"}, {"name": "b"}):
        assert here.start(READ._replace(args=args)).action == "refuse"
    assert here.rule([READ])
    assert here.start(READ)


def test_what_was_never_ruled_on_is_ruled_on_alone() -> None:
    here = session()
    assert here.start(READ).args == {"name": "a"}
    assert here.start(PAY).action == "ask"
    assert here.start(DROP).action == "refuse"


def test_a_halted_session_ends_every_run() -> None:
    here = session(on_refusal="halt")
    assert here.rule([DROP]).action == "halt"
    assert here.rule([READ]).action == "halt"
    assert here.start(READ._replace(id="z")).action == "halt"


def test_a_session_that_is_not_open_allows_nothing() -> None:
    here = GuardedSession(shop(), "s")
    assert here.rule([READ]).reasons == ("/session: session s is not open: open it first",)
    assert not here.start(READ)
    assert not here.answer({"r": YES}, approver="ada")["r"]
    with pytest.raises(GuardHalted, match="not open"):
        here.ended("r", "completed")


def test_replies_to_calls_that_nobody_asked_about_approve_nothing() -> None:
    here = session()
    here.rule([PAY])
    rulings = here.answer({"p": YES, "x": YES}, approver="ada")
    assert not any(rulings.values())
    assert here.question is not None
    shown = here.question.plan_digest
    for near in ("0" * 64, "", shown[:-1], shown[:8], shown + "0", shown.upper()):
        assert not here.answer({"p": YES}, approver="ada", plan_digest=near)["p"]
        assert here.question is not None


def test_a_call_without_a_reply_is_not_made_and_not_denied() -> None:
    here = session()
    other = PAY._replace(id="q", args={"to": "y"})
    here.rule([PAY, other])
    assert here.answer({"p": YES}, approver="ada")["p"]
    assert here.start(PAY)
    assert here.start(other).action == "ask"


def test_no_call_of_a_turn_is_made_while_a_person_is_asked_about_another() -> None:
    here = session()
    asked = here.rule([READ, PAY])
    assert here.start(READ).action == "ask"
    assert here.start(PAY).ruling == asked.ruling
    assert here.standing("r") == here.standing("p") == asked
    assert here.standing("x") is None


def test_a_no_beside_a_yes_that_nobody_needed_costs_no_further_question() -> None:
    here = session(max_questions=2)
    here.rule([READ, PAY])
    assert here.answer({"r": YES, "p": NO}, approver="ada")["r"]
    assert here.start(READ)
    again = here.rule([PAY._replace(id="q")])
    assert again.reasons[0] == "a person said no to this call in this session"
    assert here.rule([PAY._replace(id="z", args={"to": "y"})]).action == "ask"


def test_a_call_that_was_denied_has_no_permit() -> None:
    here = session()
    here.deny([READ], approver="ada")
    with pytest.raises(PermitError):
        here.guard.permit("s", "r")


def test_a_denied_call_that_needed_nobody_is_not_made_either() -> None:
    here = session()
    here.rule([READ, PAY])
    rulings = here.answer({"r": NO, "p": YES}, approver="ada")
    assert (bool(rulings["r"]), bool(rulings["p"])) == (False, True)
    assert not here.start(READ)
    assert here.start(PAY)


def test_sub_agents_act_in_the_session_of_their_caller_under_ids_of_their_own() -> None:
    here = session()
    assert session_within(here.guard) is None
    assert here.start(READ)
    long = "x" * 250
    with here.running("r"):
        for _ in range(2):
            inner = session_within(here.guard)
            assert inner is not None
            inner.began("pay mallory")
            assert inner.start(READ).args == {"name": "a"}
            assert inner.start(READ._replace(id=long))
            inner.ended(long, "completed", output="deep")
            inner.ended("r", "completed", output="inner")
        assert session_within(shop()) is None
    here.ended("r", "completed", output="outer")
    assert session_within(here.guard) is None
    assert b"mallory" not in here.guard.export("s")


def test_an_output_that_is_not_json_is_cut_and_said() -> None:
    for output in (object(), (one for one in "ab"), {"a": object()}):
        here = session()
        assert here.start(READ)
        here.ended("r", "completed", output=output)
        stored = here.guard.export("s")
        assert b"its output is not kept" in stored
        assert b'"cut":true' in stored


def test_a_model_is_told_the_reply_and_an_application_the_whole_ruling() -> None:
    asks = session().rule([PAY])
    assert asks.ruling is not None
    assert asks.reply == asks.ruling.reply
    assert PAY.tool in asks.reply
    wire = asks.wire()
    assert (wire["action"], wire["kind"]) == ("ask", "approval_mode_mismatch")
    assert json.loads(json.dumps(wire)) == wire


def test_the_prompt_of_a_sub_agent_with_another_guard_gives_no_authority() -> None:
    outer, own = session(), GuardedSession(shop(), "own")
    outer.start(READ)
    with outer.running(READ.id):
        own.began("pay x")
        assert session_within(own.guard) is None
    assert b"pay x" not in own.guard.export("own")
    assert b'"go"' in outer.guard.export("s")
