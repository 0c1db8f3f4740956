"""What a record is made of, and that a canonicalizer and SHA-256 are enough to check it."""

import hashlib
import json
from typing import Any

import pytest
import rfc8785
from pydantic import ValidationError

from critic.consolidate import consolidate
from critic.reports import CriticReport
from critic.verify import verify
from evals.plan import Proposal, ToolStep
from evals.plan_verdicts import RULESET_VERSION
from evals.run import Opening
from evals.verdict import EVALUATOR_VERSIONS
from harness.canonical import canonical_bytes, digest
from harness.record import (
    GENESIS,
    INPUT_NAMES,
    Decision,
    DecisionRecord,
    Head,
    PlanAttemptRecord,
    RunFacts,
    draft,
    record_hash,
    seal_record,
)
from harness.wire import InvalidInput, build, parse
from tests.harness.log.decisions import KINDS, decision, proposal, run_of
from tests.harness.record.every_kind import EVERY_ENTRY
from tests.harness.record.mutables import mutables
from tests.harness.record.sealing import sealed_form


def args(given: Decision) -> dict[str, Any]:
    """The args of the first step, which can be changed in place."""
    step = given.proposal.plan.steps[0]
    assert isinstance(step, ToolStep)
    assert step.args is not None
    return step.args


def test_a_run_is_split_and_joined_again() -> None:
    run = run_of(proposal(), wall_ms=7, intent="refund")
    facts = RunFacts.of(run)
    assert facts.run_of(run.proposal) == run
    assert "proposal" not in facts.wire()
    assert {**facts.wire(), "proposal": run.proposal.wire()} == run.wire()


@pytest.mark.parametrize("kind", KINDS)
def test_a_third_party_can_check_a_record(kind: str) -> None:
    given = decision(kind=kind)
    drafted = draft(given)
    entry = seal_record(drafted, Head(4, "a" * 64))

    read = json.loads(entry.body)
    claimed = read.pop("hash")
    assert hashlib.sha256(rfc8785.dumps(sealed_form(read))).hexdigest() == claimed == entry.hash
    for name in INPUT_NAMES:
        stored = drafted.bodies[read["inputs"][name]]
        assert isinstance(stored, bytes)
        assert hashlib.sha256(stored).hexdigest() == read["inputs"][name]
        assert rfc8785.dumps(json.loads(stored)) == stored
    assert (read["seq"], read["prev_hash"]) == (5, "a" * 64)
    assert read["ruleset_version"] == RULESET_VERSION
    assert read["evaluator_versions"] == EVALUATOR_VERSIONS
    assert read["report"] == given.report.wire()
    assert ("run" in read, "error" in read) == (
        kind in ("completed", "ended_early"),
        kind == "ended_early",
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_bytes_are_the_canonical_form_of_the_record(kind: str) -> None:
    entry = seal_record(draft(decision(kind=kind)), Head(0, GENESIS))
    assert canonical_bytes(entry.record) == entry.body
    assert (entry.record.seq, entry.record.hash) == (entry.seq, entry.hash) == (1, entry.hash)
    assert record_hash(entry.record.wire()) == entry.hash


def test_inputs_are_named_by_their_digest() -> None:
    given = decision()
    inputs = seal_record(draft(given), Head(0, GENESIS)).record.inputs
    assert {name: getattr(inputs, name) for name in INPUT_NAMES} == {
        name: digest(getattr(given.proposal, name)) for name in INPUT_NAMES
    }


def test_a_run_may_be_given_whole() -> None:
    given = decision()
    assert given.facts is not None
    run = given.facts.run_of(given.proposal)
    whole = Decision(proposal=given.proposal, run=run, report=given.report, action="allow")
    assert whole.facts == given.facts
    assert draft(whole).members == draft(given).members


def test_a_decision_round_trips_as_json() -> None:
    given = decision(kind="ended_early")
    assert parse(Decision, canonical_bytes(given)) == given


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        ("TimeoutError: payments", "TimeoutError: payments"),
        ("two\nlines", "two\\u000alines"),
        ("\x1b[31mred <b>", "\\u001b[31mred \\u003cb\\u003e"),
        *((f"a{sign}b", f"a\\u{ord(sign):04x}b") for sign in "<>&\"'`"),
        ("", "no message"),
        ("x" * 300, "x" * 300),
        ("x" * 301, "x" * 200 + "... (301 characters)"),
        ("\U0001f600" * 300, "\\U0001f600" * 200 + "... (300 characters)"),
    ],
)
def test_an_error_is_one_safe_line(error: str, kept: str) -> None:
    given = decision(kind="partial")
    recorded = Decision(proposal=given.proposal, report=given.report, action="allow", error=error)
    assert recorded.error == kept
    assert seal_record(draft(recorded), Head(0, GENESIS)).record.error == kept


def _with_other_key() -> CriticReport:
    return decision().report.model_copy(update={"decision_key": "other"})


def _completed_without(**gone: Any) -> dict[str, Any]:
    given = decision()
    parts: dict[str, Any] = {"proposal": given.proposal, "run": given.run, "action": "allow"}
    parts["report"] = given.report
    return {name: value for name, value in {**parts, **gone}.items() if value is not None}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"run": run_of(proposal(2))}, "run is of another proposal"),
        ({"proposal": proposal(2)}, "another trace_id"),
        ({"report": _with_other_key()}, "another decision_key than the id of the spec"),
        ({"run": None}, "give the run that was scored"),
        ({"report": decision(kind="partial").report}, "the run has no score"),
        (
            {"report": decision(kind="partial").report, "error": "TimeoutError"},
            "the run has no score: score it, even if it ended early",
        ),
    ],
)
def test_parts_that_contradict_are_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Decision(**_completed_without(**parts))


OF_A_KIND = {
    claim: None
    for kind in ("begun", "settled", "carried_on", "handed_over")
    for claim in EVERY_ENTRY[kind].snapshot.claims
}
"""What records claim because of what they are: whoever makes it first uses up what it names."""


@pytest.mark.parametrize("claim", [*OF_A_KIND, "begun ", "a"])
def test_what_follows_from_the_kind_of_a_record_is_not_free_to_be_claimed(claim: str) -> None:
    parts = _completed_without(claims=("state 1", claim))
    if claim == "a":
        assert Decision(**parts).snapshot.claims == ("state 1", "a")
        return
    with pytest.raises(ValidationError, match="is not free to be made"):
        Decision(**parts)


@pytest.mark.parametrize("is_said", [True, False])
@pytest.mark.parametrize("is_refused", [True, False])
def test_a_report_says_that_an_opening_was_refused_just_where_one_was(
    is_refused: bool, is_said: bool
) -> None:
    given = decision()
    verdict = decision(kind="refused" if is_refused else "completed").report.verify
    opening = Opening(step=1, after=1, verdict=verdict)
    assert isinstance(given.run, RunFacts)
    run = given.run.model_copy(update={"openings": (opening,)})
    refused = Opening(step=1, after=1, verdict=decision(kind="refused").report.verify)
    report = consolidate(
        trace_id=given.report.trace_id,
        decision_key=given.report.decision_key,
        verify=given.report.verify,
        score=given.report.score,
        opening=refused if is_said else None,
        decided_at=given.report.decided_at,
    )
    parts = {**_completed_without(), "run": run, "report": report}
    if is_said == is_refused:
        assert Decision(**parts).report.refused_at == report.refused_at
        return
    with pytest.raises(ValidationError, match="not what the last opening of the run says"):
        Decision(**parts)


def _entry_of(given: Decision) -> bytes:
    return seal_record(draft(given), Head(0, GENESIS)).body


def test_what_is_changed_after_the_decision_was_built_is_not_recorded() -> None:
    given = decision()
    before = _entry_of(decision())
    assert isinstance(given.run, RunFacts)
    given.run.outputs.clear()
    given.run.calls[0].args["number"] = 2
    step = given.proposal.plan.steps[0]
    assert step.kind == "tool"
    step.args.clear()
    assert _entry_of(given) == before
    assert draft(given).bodies == draft(decision()).bodies


def test_what_the_caller_clears_after_recording_stays_on_record() -> None:
    given = decision()
    entry = seal_record(draft(given), Head(0, GENESIS))
    record = entry.record
    assert record.run is not None
    assert isinstance(given.run, RunFacts)
    given.run.outputs.clear()
    given.run.calls[0].args.clear()
    assert canonical_bytes(record) == entry.body
    record.run.outputs.clear()
    assert canonical_bytes(entry.record) == entry.body


def _attempt() -> PlanAttemptRecord:
    tried = proposal(pinned=False)
    verdict = verify(tried.ctx, tried.compiled, tried.spec, tried.plan)
    return PlanAttemptRecord(plan=tried.plan, verdict=verdict)


def test_a_detached_copy_shares_nothing_and_is_recorded_as_the_decision_was_built() -> None:
    given = decision()
    recorded = draft(given)
    args(given)["later"] = True
    copied = given.detach_decision()
    assert draft(copied) == recorded
    args(copied).clear()
    draft(copied).bodies.clear()  # type: ignore[attr-defined] # a log that does what it may not
    assert args(given)["later"]
    assert draft(given) == recorded


def test_a_detached_copy_has_nothing_in_common_that_can_be_changed() -> None:
    parts = {**_completed_without(), "attempts": (_attempt(), _attempt())}
    run = run_of(proposal())
    for given in (Decision(**parts), Decision(**{**parts, "run": run})):
        first, second = given.detach_decision(), given.detach_decision(proposal())
        assert draft(first) == draft(second) == draft(given)
        for one, other in ((given, first), (first, second), (second, given)):
            shared = mutables(one).keys() & mutables(other).keys()
            assert not [mutables(one)[at] for at in shared]


@pytest.mark.parametrize("given", [True, 1.0])
def test_a_run_of_a_proposal_that_is_spelled_otherwise_is_of_another(given: Any) -> None:
    """To Python, 1 is True and 1.0."""
    wire = proposal(1).wire()
    wire["plan"]["steps"][0]["args"] = {"number": 1, "share": given}
    other = build(Proposal, wire)
    run = run_of(other)
    parts = _completed_without(run=run)
    assert other.plan.steps == proposal().plan.steps
    if given is True:
        with pytest.raises(ValidationError, match="run is of another proposal"):
            Decision(**parts)
    else:
        assert Decision(**parts).facts == RunFacts.of(run)


def test_refused_attempts_are_members_of_the_record() -> None:
    given = decision().model_copy(update={"attempts": (_attempt(), _attempt())})
    entry = seal_record(draft(given), Head(0, GENESIS))
    assert canonical_bytes(entry.record) == entry.body
    assert entry.record.attempts == given.attempts
    assert json.loads(entry.body)["attempts"] == [_attempt().wire()] * 2
    assert given.attempts[0].verdict.ok is False
    assert _entry_of(parse(Decision, canonical_bytes(given))) == entry.body


def test_a_decision_without_attempts_is_recorded_as_ever() -> None:
    given = decision().model_copy(update={"attempts": ()})
    assert _entry_of(given) == _entry_of(decision())
    assert b"attempts" not in _entry_of(given)
    document = {**json.loads(_entry_of(given)), "attempts": []}
    with pytest.raises(InvalidInput, match="/attempts"):
        parse(DecisionRecord, json.dumps(document).encode())
