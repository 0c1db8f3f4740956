"""A plan as bytes gets the verdict that it gets as an envelope, in the same words."""

import pytest

from critic import Proposal
from evals.canonical_json import canonical_bytes
from harness.wire import parse_json, verify_bytes
from tests.support.examples import good_proposal, proposal_of, refused_proposal
from tests.support.judging import judge_proposal
from tests.support.model.facts import Json


def undeclared() -> Json:
    """Refused for what no step is blamed for, so that the verdict leaves a field out."""
    wire = good_proposal()
    wire["plan"]["declared_outputs"] = []
    return wire


def judged_as_bytes(proposal: Proposal) -> object:
    plan = canonical_bytes(proposal.plan)
    return parse_json(verify_bytes(proposal.ctx, proposal.compiled, proposal.spec, plan))


@pytest.mark.parametrize("wire", [good_proposal(), refused_proposal(), undeclared()])
def test_the_verdict_is_the_same(wire: Json) -> None:
    proposal = proposal_of(wire)
    assert judged_as_bytes(proposal) == judge_proposal(proposal).wire()


def test_what_is_absent_is_left_out_and_never_null() -> None:
    proposal = proposal_of(undeclared())
    assert "offending_step" not in judge_proposal(proposal).wire()
    assert "null" not in str(
        verify_bytes(proposal.ctx, proposal.compiled, proposal.spec, canonical_bytes(proposal.plan))
    )
