"""What one record says of its session: whether a guard made it, what calls sent and spent."""

from itertools import product
from typing import Any

import pytest

from critic import Proposal
from evals.context import SentValues
from harness.canonical import canonical_json
from harness.record import DecisionRecord, Head, RunFacts, sha256
from harness.record.chain import seal_record
from harness.replay.other_calls import read_other_calls
from harness.replay.session_entries import EndEntry
from harness.replay.session_reading import entry_of, is_of_a_guard
from tests.harness.log.decisions import judged, proposal, run_of
from tests.support.examples import proposal_of

NAMES: tuple[Any, ...] = (
    None,
    "refund",
    "a" * 64,
    "a" * 63,
    "A" * 64,
    "a" * 65,
    f"sha256:{'a' * 64}",
)


def of_session(plan_id: str | None = "a" * 64, pack: str | None = "b" * 64) -> Proposal:
    wire = proposal().wire()
    wire["ctx"]["session"] = {"id": "trace_1", "turn": 1}
    wire["plan"] |= {} if plan_id is None else {"plan_id": plan_id}
    wire["compiled"] |= {} if pack is None else {"pack_version": pack}
    return proposal_of(wire)


@pytest.mark.parametrize(("plan", "pack"), [*product(NAMES, repeat=2)])
def test_a_guard_names_both_its_plan_and_its_policy_by_a_digest(plan: Any, pack: Any) -> None:
    assert is_of_a_guard(of_session(plan, pack)) == (plan == "a" * 64 == pack)


def ended(*calls: dict[str, Any]) -> EndEntry:
    """Return what a record says whose calls were changed."""
    given = of_session()
    run = run_of(given)
    made = [
        call.model_copy(update=change)
        for call, change in zip(run.calls, (*calls, *[{}] * len(run.calls)), strict=False)
    ]
    facts = RunFacts.of(run).model_copy(update={"calls": tuple(made)})
    decision = judged(given, facts.run_of(given))
    record = seal_record(decision.snapshot, Head(3, "c" * 64)).record
    assert isinstance(record, DecisionRecord)
    entry = entry_of(record, given)
    assert entry is not None
    assert isinstance(entry.said, EndEntry)
    return entry.said


def test_calls_that_were_made_as_allowed_add_nothing_of_their_own() -> None:
    said = ended()
    assert (said.sent, said.spent, said.possible_spent) == ((), (), ())
    assert said.statuses == ((0, "completed"), (1, "completed"))


@pytest.mark.parametrize(
    "args", [{"order": "o-18"}, {"order": ["o-17"]}, {"order": "o-17", "a": 1}]
)
@pytest.mark.parametrize("status", ["completed", "failed", "unknown", "timed_out"])
def test_a_call_that_was_changed_has_sent_and_spent_what_it_was_made_with(
    args: dict[str, Any], status: str
) -> None:
    said = ended({}, {"args": args, "status": status})
    ((sent,),) = (said.sent,)
    assert isinstance(sent, SentValues)
    assert sent.seq == 1
    own = sha256(canonical_json(args))
    assert said.spent == said.possible_spent == (() if status == "failed" else (own,))


def test_a_read_that_was_changed_sends_nothing() -> None:
    assert ended({"args": {"number": 7}}).sent == ()


@pytest.mark.parametrize(
    "names", [{"adapter_id": "others"}, {"capability_id": "refund_all"}, {"adapter_id": "Payments"}]
)
def test_a_call_of_another_tool_may_have_spent_what_nobody_knows(names: dict[str, str]) -> None:
    said = ended({}, names)
    assert (len(said.sent), said.spent, len(said.possible_spent)) == (1, (), 1)


def test_a_read_in_the_place_of_another_call_has_sent_what_it_asked_for() -> None:
    """Only the read that was planned is known to send nothing."""
    said = ended({}, {"adapter_id": "orders", "capability_id": "read", "args": {"q": "o-99"}})
    assert [one.values for one in said.sent] == [("o-99",)]
    assert (said.spent, said.possible_spent) == ((), ())


@pytest.mark.parametrize("made", [True, 1.5, "1", 2])
def test_a_call_with_what_python_takes_for_equal_is_another_call(made: Any) -> None:
    wire = of_session().wire()
    wire["plan"]["steps"][1]["args"] = {"order": "o-17", "n": 1}
    given = proposal_of(wire)
    planned = run_of(given).calls
    assert read_other_calls(planned, given) == ((), (), ())
    spelled = planned[1].model_copy(update={"args": {"order": "o-17", "n": 1.0}})
    assert read_other_calls([spelled], given) == ((), (), ())
    args = {"order": "o-17", "n": made}
    other = read_other_calls([planned[1].model_copy(update={"args": args})], given)
    assert other.spent == other.possible_spent == (sha256(canonical_json(args)),)
    assert len(other.sent) == 1
