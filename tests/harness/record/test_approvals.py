"""The approvals that an execution relies on: each that clears something, of its plan alone."""

from typing import Any

import pytest

from critic import Proposal, verify_proposal
from harness.canonical import digest
from harness.record import used_approvals, without_approvals
from tests.harness.runtime.test_beginning import approved

OTHER = "f" * 64


def ids(proposal: Proposal) -> list[str]:
    return [one.approval_id for one in used_approvals(proposal)]


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ([], []),
        ([{}], ["a_0"]),
        ([{}, {}], ["a_0", "a_1"]),
        ([{}, {}, {"plan_digest": OTHER}], ["a_0", "a_1"]),
        ([{"plan_digest": OTHER}], []),
        ([{"steps": [0]}, {}], ["a_1"]),
        ([{"approval_id": "b"}, {"approval_id": "a"}], ["b", "a"]),
        ([{"expires_at": "2001-01-01T00:00:00Z"}, {}], ["a_1"]),
    ],
)
def test_each_approval_that_clears_something_is_used(given: list[Any], used: list[str]) -> None:
    proposal = approved(*given, as_of="2025-03-01T12:00:00Z")
    assert ids(proposal) == used
    assert verify_proposal(proposal).ok == bool(used)
    assert {one.plan_digest for one in used_approvals(proposal)} <= {digest(proposal.plan)}


def test_an_approval_with_a_prefix_is_of_its_plan() -> None:
    bare = approved({})
    named = f"sha256:{digest(bare.plan)}"
    assert used_approvals(approved({"plan_digest": named})) == used_approvals(bare)


def test_what_is_left_without_approvals_are_those_of_other_ids_and_plans() -> None:
    given: list[Any] = [{}, {}, {"approval_id": "a_0", "plan_digest": OTHER}]
    proposal = approved(*given)
    left = without_approvals(proposal, frozenset({"a_0"})).ctx.approvals or ()
    assert [(one.approval_id, one.plan_digest == OTHER) for one in left] == [
        ("a_1", False),
        ("a_0", True),
    ]
    assert without_approvals(proposal, None).ctx.approvals is None
    assert without_approvals(proposal, frozenset()) == proposal
