"""What a record is made of, and that a canonicalizer and SHA-256 are enough to check it."""

import hashlib
import json
from typing import Any

import pytest
import rfc8785
from pydantic import ValidationError

from critic.verdicts import RULESET_VERSION
from evals.verdict import EVALUATOR_VERSIONS
from harness.canonical import canonical_bytes, digest
from harness.record import (
    GENESIS,
    INPUTS,
    Decision,
    DecisionRecord,
    Head,
    RunFacts,
    draft,
    record_hash,
    sealed,
)
from harness.wire import parse
from tests.harness.log.decisions import KINDS, decision, proposal, run_of


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
    record, body = sealed(drafted, Head(4, "a" * 64))

    read = json.loads(body)
    claimed = read.pop("hash")
    assert hashlib.sha256(rfc8785.dumps(read)).hexdigest() == claimed == record.hash
    for name in INPUTS:
        stored = drafted.bodies[read["inputs"][name]]
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
    record, body = sealed(draft(decision(kind=kind)), Head(0, GENESIS))
    assert canonical_bytes(record) == body
    assert canonical_bytes(parse(DecisionRecord, body)) == body
    assert record_hash(record.wire()) == record.hash


def test_inputs_are_named_by_their_digest() -> None:
    given = decision()
    inputs = draft(given).inputs
    assert {name: getattr(inputs, name) for name in INPUTS} == {
        name: digest(getattr(given.proposal, name)) for name in INPUTS
    }


def test_a_run_may_be_given_whole() -> None:
    given = decision()
    assert given.facts is not None
    whole = Decision(
        proposal=given.proposal, run=given.facts.run_of(given.proposal), report=given.report
    )
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
        ("", "no message"),
        ("\U0001f600" * 300, "\\U0001f600" * 200 + "... (300 characters)"),
    ],
)
def test_an_error_is_one_safe_line(error: str, kept: str) -> None:
    given = decision(kind="partial")
    recorded = Decision(proposal=given.proposal, report=given.report, error=error)
    assert recorded.error == kept
    record, body = sealed(draft(recorded), Head(0, GENESIS))
    assert parse(DecisionRecord, body) == record


def _completed_without(**gone: Any) -> dict[str, Any]:
    given = decision()
    parts = {"proposal": given.proposal, "run": given.run, "report": given.report}
    return {name: value for name, value in {**parts, **gone}.items() if value is not None}


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ({"run": run_of(proposal(2))}, "run is of another proposal"),
        ({"proposal": proposal(2)}, "another trace_id"),
        ({"run": None}, "give the run that was scored"),
        ({"report": decision(kind="partial").report}, "the run has no score"),
    ],
)
def test_parts_that_contradict_are_refused(parts: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        Decision(**_completed_without(**parts))
