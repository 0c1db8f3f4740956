"""The laws of the testing kit, on proposals from the edge between yes and no.

`tests.harness.testing.test_laws_kit` checks the same laws on the kit's own proposals.
"""

import pytest

from critic import Proposal, Verified
from harness.testing.laws import Laws
from harness.testing.strategies import edge_proposals
from tests.support.effort import sampled
from tests.support.judging import LAW, judge, judge_proposal, with_changes
from tests.support.model.facts import Json


def is_short(proposal: Proposal) -> bool:
    """Return whether all that a law adds is still listed: a verdict lists a thousand violations."""
    verdict = judge_proposal(proposal)
    return isinstance(verdict, Verified) or len(verdict.violations) < 900


LAWS = Laws(proposals=edge_proposals().filter(is_short), settings=LAW)

BARE: Json = {
    "ctx": {"trace_id": "t", "safety_mode": "read_only"},
    "compiled": {
        "manifests": {
            "tool_manifest": [],
            "evidence_manifest": [{"id": "e1", "classification": "k"}],
        }
    },
    "spec": {"id": "d", "required_outputs": []},
    "plan": {"steps": [], "declared_outputs": []},
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("law", sampled(LAWS.names, one_in=2))
def test_the_engine_keeps_the_law_at_the_edge(law: str) -> None:
    LAWS.check(law)


def appended(wire: Json, step: Json) -> Json:
    return with_changes(wire, "plan", steps=[*wire["plan"]["steps"], step])


def test_an_appended_step_can_produce_what_nothing_produced() -> None:
    wire = with_changes(BARE, "spec", required_outputs=["o1"])
    wire = with_changes(wire, "plan", declared_outputs=["o1"])
    assert not judge(wire)
    assert judge(appended(wire, {"kind": "reason"}))


def test_an_appended_step_can_pin_what_the_spec_wants_pinned() -> None:
    wire = with_changes(BARE, "spec", required_evidence=["k"])
    assert not judge(wire)
    assert not judge(appended(wire, {"kind": "reason"}))
    assert judge(appended(wire, {"kind": "reason", "evidence_refs": ["e1"]}))
