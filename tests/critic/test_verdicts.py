"""Verdicts of `verify`: true or false as they should be, and none that contradicts itself."""

import re
from typing import Any, assert_never

import pytest
from hypothesis import given, settings
from pydantic import TypeAdapter, ValidationError

from critic import (
    Plan,
    Proposal,
    RefusalKind,
    Refused,
    Verified,
    VerifyVerdict,
    Violation,
    score,
    verify,
    verify_proposal,
)
from evals.canonical_json import canonical_bytes
from harness.testing.strategies import edge_proposals
from harness.wire import build
from tests.support.effort import examples
from tests.support.examples import (
    good_proposal,
    good_run,
    proposal_of,
    refused_proposal,
)
from tests.support.judging import judge_proposal
from tests.support.model.facts import Json
from tests.support.patience import PATIENT

LAW = settings(PATIENT, max_examples=examples(60))
FIRST = Violation(check="evidence", kind="missing_evidence", reason="first", offending_step=1)
SECOND = Violation(check="loop", kind="loop_guard", reason="second", path="/steps")
VERDICTS: TypeAdapter[Verified | Refused] = TypeAdapter(VerifyVerdict)


def contradicts(wire: Json) -> None:
    with pytest.raises(ValidationError):
        VERDICTS.validate_python(wire)


def test_a_refusal_is_false_and_a_pass_is_true() -> None:
    assert bool(Refused.because((FIRST,))) is False
    assert bool(Verified(reasons=("ok",))) is True
    assert not judge_proposal(proposal_of(refused_proposal()))
    assert judge_proposal(proposal_of(good_proposal()))


@LAW
@given(edge_proposals())
def test_truth_and_ok_and_type_agree(proposal: Proposal) -> None:
    verdict = judge_proposal(proposal)
    assert bool(verdict) is verdict.ok is isinstance(verdict, Verified)
    assert isinstance(verdict, Verified) is not hasattr(verdict, "violations")
    assert build(type(verdict), verdict.wire()) == verdict
    assert VERDICTS.validate_python(verdict.wire()) == verdict


@LAW
@given(edge_proposals())
def test_a_refusal_is_named_by_its_first_violation(proposal: Proposal) -> None:
    verdict = judge_proposal(proposal)
    if isinstance(verdict, Verified):
        form = r"(1 step|\d+ steps), (1 required output|\d+ required outputs) covered"
        assert re.fullmatch(form, verdict.reasons[0])
        return
    first = verdict.violations[0]
    assert (verdict.kind, verdict.reasons) == (first.kind, (first.reason,))
    assert verdict.offending_step == first.offending_step
    assert verdict == Refused.because(verdict.violations)


def test_because_takes_the_first_violation_for_its_own() -> None:
    refused = Refused.because((SECOND, FIRST))
    assert (refused.kind, refused.reasons) == ("loop_guard", ("second",))
    assert refused.offending_step is None
    assert "offending_step" not in refused.wire()
    assert Refused.because((FIRST, SECOND)).offending_step == 1


@pytest.mark.parametrize(
    "wire",
    [
        {"ok": True, "kind": "loop_guard", "reasons": ["r"]},
        {"ok": True, "reasons": ["r"], "violations": []},
        {"ok": False, "reasons": ["r"]},
        {"ok": False, "kind": "loop_guard", "reasons": ["r"]},
        {"ok": False, "kind": "loop_guard", "reasons": ["r"], "violations": []},
        {"ok": 0, "reasons": ["r"]},
        {"ok": 1, "reasons": ["r"]},
        {"ok": "true", "reasons": ["r"]},
        {"ok": None, "reasons": ["r"]},
        {"reasons": ["r"]},
        {},
    ],
)
def test_a_verdict_that_contradicts_itself_is_none(wire: Json) -> None:
    contradicts(wire)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "missing_evidences"},
        {"kind": "loop_guard"},
        {"reasons": ["second"]},
        {"reasons": ["second", "first"]},
        {"reasons": ["first", "third"]},
        {"reasons": []},
        {"offending_step": 0},
        {"offending_step": True},
        {"ok": True},
        {"violations": []},
        {"violations": [SECOND.wire(), FIRST.wire()]},
        {"caveats": []},
    ],
)
def test_a_refusal_cannot_say_other_than_its_violations(change: Json) -> None:
    wire = Refused.because((FIRST, SECOND)).wire()
    assert not VERDICTS.validate_python(wire)
    contradicts({**wire, **change})


def test_a_refusal_of_a_step_names_the_step() -> None:
    wire = Refused.because((FIRST,)).wire()
    del wire["offending_step"]
    contradicts(wire)


def test_because_needs_a_reason() -> None:
    with pytest.raises((ValidationError, IndexError)):
        Refused.because(())


@pytest.mark.parametrize("change", [{"check": "style"}, {"kind": "other"}, {"offending_step": -1}])
def test_a_violation_is_of_the_closed_sets(change: Json) -> None:
    with pytest.raises(ValidationError):
        Violation(**{**FIRST.wire(), **change})


def test_every_kind_is_told_apart() -> None:
    def number(kind: RefusalKind) -> int:
        match kind:
            case "missing_evidence":
                return 1
            case "approval_mode_mismatch":
                return 2
            case "violates_decision_spec":
                return 3
            case "loop_guard":
                return 4
            case "budget_exceeded":
                return 5
            case _:
                assert_never(kind)

    assert number(FIRST.kind) == 1


class SlyPlan(Plan):
    """A plan that could answer otherwise than its fields."""


def test_verify_takes_exactly_the_envelopes() -> None:
    good = proposal_of(good_proposal())
    sly = SlyPlan(**dict(good.plan))
    wrong: list[Any] = [None, {}, good, good.plan.wire(), sly]
    for value in wrong:
        with pytest.raises(TypeError, match=f"verify needs a Plan, not {type(value).__name__}"):
            verify(good.ctx, good.compiled, good.spec, value)
    not_one: Any = good.plan
    for place, model in enumerate(("RunContext", "CompiledContext", "DecisionSpec")):
        facts: list[Any] = [good.ctx, good.compiled, good.spec]
        facts[place] = not_one
        with pytest.raises(TypeError, match=f"verify needs a {model}, not Plan"):
            verify(facts[0], facts[1], facts[2], good.plan)


class SlyProposal(Proposal):
    """A proposal that could answer otherwise than its fields."""


def test_verify_proposal_is_verify_of_its_four_parts() -> None:
    for wire in (good_proposal(), refused_proposal()):
        proposal = proposal_of(wire)
        parts = (proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)
        assert verify_proposal(proposal) == verify(*parts)


def test_verify_proposal_takes_exactly_a_proposal() -> None:
    good = proposal_of(good_proposal())
    wrong: list[Any] = [None, good.wire(), good.plan, SlyProposal(**dict(good))]
    for value in wrong:
        with pytest.raises(TypeError, match=f"needs a Proposal, not {type(value).__name__}"):
            verify_proposal(value)


def test_score_takes_exactly_a_run() -> None:
    wrong: list[Any] = [None, {}, good_run(), proposal_of(good_proposal())]
    for value in wrong:
        with pytest.raises(TypeError, match=f"score needs a Run, not {type(value).__name__}"):
            score(value)


def test_verify_changes_nothing_and_says_the_same_again() -> None:
    good = proposal_of(good_proposal())
    before = canonical_bytes(good)
    first, second = judge_proposal(good), judge_proposal(good)
    assert canonical_bytes(first) == canonical_bytes(second)
    assert canonical_bytes(good) == before


def tampered(verdict: Verified | Refused) -> None:
    """Change a verdict in every way that Python allows."""
    names = [*verdict.__dict__]
    for name in names:
        object.__setattr__(verdict, name, ())
    verdict.__dict__.clear()
    verdict.__dict__.update(ok=not verdict, reasons=("tampered",), caveats=(), violations=())
    verdict.__pydantic_fields_set__.clear()


@pytest.mark.parametrize("wire", [good_proposal(), refused_proposal()], ids=["passes", "refused"])
def test_who_changes_a_verdict_changes_nobody_elses(wire: Json) -> None:
    proposal = proposal_of(wire)
    held, other = judge_proposal(proposal), judge_proposal(proposal)
    right = other.wire()
    tampered(held)
    assert other.wire() == right
    assert judge_proposal(proposal).wire() == right
    assert judge_proposal(proposal_of(wire)).wire() == right


@LAW
@given(edge_proposals())
def test_no_two_verdicts_share_an_object_that_can_be_changed(proposal: Proposal) -> None:
    first, second = judge_proposal(proposal), judge_proposal(proposal)
    assert first == second
    assert first is not second
    assert first.__dict__ is not second.__dict__
    if isinstance(first, Refused) and isinstance(second, Refused):
        assert not {*map(id, first.violations)} & {*map(id, second.violations)}


def test_a_refusal_that_is_told_lists_all_reasons_and_is_recorded_without() -> None:
    asks = Violation(
        check="approval", kind="approval_mode_mismatch", reason="asks", approvable=True
    )
    told = [one.model_copy(update={"say": f"say {one.reason}"}) for one in (asks, FIRST, SECOND)]
    wire = {
        **Refused.because((asks, FIRST, SECOND)).wire(),
        "violations": [one.wire() for one in told],
    }
    refused = Refused.model_validate({**wire, "reasons": ["first", "second", "asks"]})
    assert refused.bare == Refused.because((asks, FIRST, SECOND))
    assert refused.bare.bare == refused.bare
