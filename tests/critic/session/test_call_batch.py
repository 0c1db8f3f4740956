"""One batch: what its score is of, which of its calls ended, and how, and what did not change."""

from dataclasses import FrozenInstanceError, replace
from typing import Any, Final

import pytest

from critic import EvidenceItem, Opening, Refused, Violation, verify_proposal
from critic.session import Call, CallResult, Session
from critic.session.call_batch import NO_RESULT, Batch, EndedBatch, OtherCall, RunningBatch
from tests.critic.session.building import NOW, after, allowed, opened, read
from tests.critic.session.commanding import shell_rules
from tests.support.command_tables import SMALL_TABLE
from tests.support.shell_worlds import World

KEYS: Final = (
    EvidenceItem(id="k1", classification="keys", content="the-secret-key"),
    EvidenceItem(id="k2", classification="keys"),
    EvidenceItem(id="k3", classification="other", content="the-other-key"),
)


def running(*calls: Call) -> RunningBatch:
    batch = opened().propose(calls, NOW)
    return RunningBatch.of(batch, verify_proposal(batch.proposal))


def three() -> RunningBatch:
    return running(*(read("plan.md", name) for name in "abc"))


def test_a_result_says_nothing_that_it_is_not_given() -> None:
    result = CallResult("failed")
    assert (result.output, result.cut, result.sent) == (None, False, None)
    names = ("output", "error", "tokens", "duration_ms", "cost_micros")
    assert result.measured == {"status": "failed", **dict.fromkeys(names)}


def test_calls_end_in_the_order_of_their_results() -> None:
    batch = three()
    assert not batch.is_over
    for step, results in ((2, range(4, 6)), (0, range(6, 6)), (1, range(6, 7))):
        batch = batch.with_call(step, CallResult("completed", tokens=step), results)
    assert [(call.step, call.tokens, call.status) for call in batch.ended] == [
        *((2, 2, "completed"), (0, 0, "completed"), (1, 1, "completed")),
    ]
    assert batch.results == (4, 5, 6)
    assert batch.is_over
    assert batch.run_facts == {
        "run_id": "turn/1",
        "trace_id": batch.ctx.trace_id,
        "calls": batch.ended,
        "outputs": {},
    }


def test_what_became_of_the_open_calls_of_a_batch_that_is_given_up_is_not_known() -> None:
    batch = three().with_call(1, CallResult("failed", error="e"), range(3, 4))
    given_up = batch.given_up()
    ended = [(call.step, call.status, call.error, call.args) for call in given_up.ended]
    args = {"name": "plan.md"}
    assert ended == [
        (1, "failed", "e", args),
        (0, "unknown", "no result was reported", args),
        (2, "unknown", NO_RESULT, args),
    ]
    assert given_up.is_over
    assert given_up.results == batch.results
    assert not batch.is_over


def test_a_batch_has_strayed_as_soon_as_any_call_was_another() -> None:
    batch, done = three(), CallResult("completed")
    same = OtherCall("a", "read", {"name": "plan.md"})
    other = OtherCall("b", "mail", {"name": "x.md"})
    batch = batch.with_call(0, done, range(0)).with_call(1, done._replace(sent=same), range(0))
    assert batch.has_strayed is False
    strayed = batch.with_call(2, done._replace(sent=other), range(0))
    assert strayed.has_strayed is True
    made = [(call.adapter_id, call.capability_id, call.args) for call in strayed.ended]
    assert made == [same, same, other]


def test_a_batch_that_ended_has_the_verdict_and_the_run_of_its_calls() -> None:
    session = opened()
    batch = session.propose([read("plan.md")], NOW)
    verdict = verify_proposal(batch.proposal)
    session = session.decided(batch, "allow", verdict, "0" * 64)
    ended = session.ran("r", CallResult("completed", "x"), NOW).ended
    assert ended is not None
    assert ended.verdict == verdict
    assert ended.run is ended.run
    assert ended.run == ended.running.run_of(batch.proposal)
    assert [call.status for call in ended.run.calls] == ["completed"]


def test_what_is_known_of_a_batch_does_not_change() -> None:
    batch = opened().propose([read("plan.md")], NOW)
    going = RunningBatch.of(batch, verify_proposal(batch.proposal))
    frozen: list[Any] = [batch, going, EndedBatch(batch, going, None)]  # type: ignore[arg-type]
    for one in frozen:
        field = next(iter(one.__dataclass_fields__))
        with pytest.raises(FrozenInstanceError):
            setattr(one, field, None)


def scored(*calls: Call, approved: bool = False) -> list[str]:
    """Return the ids of the evidence that the score of a batch depends on."""
    spec = {"confined_evidence": ("keys",)}
    session = opened("go", spec=spec, evidence=KEYS)
    session = after(session, Call("o", "order", {}), {"id": "7"})
    batch: Batch = session.propose(calls, NOW)
    if approved:
        _, batch = session.approved(batch, "ada")
    found = batch.scored.compiled.manifests.evidence_manifest
    return [item.id for item in found]


def test_a_score_is_of_what_steps_pin_and_of_what_must_not_leave_if_any_call_holds_it() -> None:
    """An item without content may be anything, and counts; an approval is of all that was seen."""
    holds = Call("p", "pay", {"to": "x", "note": "the-secret-key"})
    other = Call("q", "pay", {"to": "x", "note": "the-other-key"})
    pins = Call("f", "refund", {"of": "7"})
    assert scored(other) == ["k2"]
    assert scored(other, pins) == ["k2", "call/1"]
    assert scored(holds) == scored(other, holds) == ["k1", "k2"]
    assert scored(pins, holds) == ["k1", "k2", "call/1"]
    every = ["k1", "k2", "k3", "user/1", "call/1"]
    assert scored(other, approved=True) == scored(holds, pins, approved=True) == every


def test_a_batch_that_ran_is_found_as_it_was_ruled_on() -> None:
    session = opened()
    batch = session.propose([read("plan.md")], NOW)
    going = RunningBatch.of(batch, verify_proposal(batch.proposal))
    later = after(allowed(session, read("x", "2")), read("y", "3"), "more")
    again = going.batch(session.rules, later.trail)
    assert (again.seen, again.trail.items) == (batch.seen, batch.trail.items)
    assert again.proposal == batch.proposal


@pytest.mark.parametrize(
    ("command", "acts"),
    [
        ("ls", False),
        ("cat a.py", False),
        ("echo x > a.py", True),
        ("ls; echo x > a.py", True),
        ("cat ~/.ssh/id_rsa", True),
        ("echo x > .git/config", True),
    ],
)
def test_a_command_acts_that_does_more_than_read_whether_or_not_a_policy_has_that_effect(
    command: str, acts: bool
) -> None:
    """So it sends what it holds, also where its tool only reads by the word of the rules."""
    session = Session.opened(shell_rules("read_only"), "s", "Look")
    calls = [
        Call(name, "shell", {"command": one}, shell=World().facts_for(one, {}, SMALL_TABLE))
        for name, one in (("0", "ls"), ("1", command))
    ]
    batch = session.propose(calls, NOW)
    assert batch.acting == ({1} if acts else set())
    session = session.decided(batch, "allow", verify_proposal(batch.proposal), "0" * 64)
    sent = {value for one in session.ledger.sent for value in one.values}
    assert sent == ({command} if acts else set())


@pytest.mark.parametrize(("made", "goes_on"), [((0,), False), ((1,), True), ((0, 2), True)])
def test_a_batch_has_gone_on_where_a_call_was_made_from_its_refused_opening_on(
    made: tuple[int, ...], goes_on: bool
) -> None:
    batch = three()
    refused = Refused.because((Violation(check="evidence", kind="missing_evidence", reason="r"),))
    openings = (
        Opening(step=0, after=0, verdict=batch.verdict),
        Opening(step=1, after=0, verdict=refused),
        Opening(step=2, after=0, verdict=batch.verdict),
    )
    assert replace(batch, openings=openings, made=made).has_gone_on is goes_on
