"""Every violation has a name, and the names are those of the policy."""

from collections import Counter
from typing import Any, get_args

from critic import Proposal, Violation, verify_proposal
from evals.kinds import CHECK_NAMES, KINDS_OF
from harness.cases import case_files
from harness.expected_rulings import (
    BECAUSE,
    ExpectedViolation,
    FindingName,
    NamedViolation,
    name_violation,
)
from harness.testing.strategies import seeded_edge_proposal
from harness.wire import build, parse_json
from tests.support.paths import CASES

OF_GUARDS = {"denied", "max_questions", "on_ask", "on_refusal"}
WORDS_OF: dict[str, str] = {
    "bound_args": "argument",
    "bound_together": "one and the same",
    "args_schema": "args_schema",
    "confined_evidence": "confined",
    "requires_evidence": "evidence",
}


def violations() -> list[Violation]:
    cases = [parse_json(path.read_bytes()) for path in case_files(CASES / "verify")]
    verdicts = [case["expect"].get("verdict", {}) for case in cases]
    return [build(Violation, one) for said in verdicts for one in said.get("violations", ())]


def test_every_violation_has_the_name_of_what_it_breaks() -> None:
    names = set()
    for violation in violations():
        named = name_violation(violation)
        assert named.name is not None, violation
        assert named.name != "provenance", "no case has it"
        assert WORDS_OF.get(named.name, "") in violation.reason
        assert all(map(named.fits, (violation.check, violation.kind, named.name)))
        names.add(named.name)
    assert names == {*get_args(FindingName)} - OF_GUARDS - {"provenance"}


def test_what_only_provenance_doubts_is_named_so() -> None:
    met = 0
    for seed in range(80):
        proposal = seeded_edge_proposal(seed)
        wire = proposal.wire()
        if wire["spec"].pop("provenance", None) is None:
            continue
        plain = build(Proposal, wire)
        doubts = Counter(violations_of(proposal)) - Counter(violations_of(plain))
        named = Counter(
            one for one in violations_of(proposal) if name_violation(one).name == "provenance"
        )
        met += bool(named)
        if len(violations_of(proposal)) < 1000:
            assert doubts == named, seed
    assert met > 8


def violations_of(proposal: Proposal) -> tuple[Violation, ...]:
    verdict: Any = verify_proposal(proposal)
    return getattr(verdict, "violations", ())


def test_a_count_of_what_is_not_listed_has_no_name() -> None:
    fields: dict[str, Any] = {"check": "evidence", "kind": "missing_evidence"}
    assert name_violation(Violation(**fields, reason="7 more violations", path="")).name is None


def test_a_name_means_one_thing() -> None:
    kinds = {kind for check in CHECK_NAMES for kind in KINDS_OF[check]}
    assert len(BECAUSE) == len({*BECAUSE}) == len({*CHECK_NAMES} | kinds | {*get_args(FindingName)})


def test_a_violation_is_the_one_at_the_place_that_was_meant() -> None:
    found = NamedViolation("evidence", "missing_evidence", None, "/steps/0/args/to", "why")
    assert ExpectedViolation(check="evidence", path=found.path).fits(found)
    assert not ExpectedViolation(check="evidence", path="/steps/1/args/to").fits(found)
