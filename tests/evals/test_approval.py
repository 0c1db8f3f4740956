"""Which steps an approval covers: of this plan, in this context, and as long as it holds."""

from typing import Any

import pytest

from critic import Proposal, context_digest, digest
from evals.approval import Approvals
from harness.canonical import canonical_json
from harness.record import sha256
from tests.support.examples import good_proposal, proposal_of
from tests.support.judging import with_changes
from tests.support.model.facts import Json

GOOD = proposal_of(good_proposal())
PLAN = digest(GOOD.plan)
CONTEXT = context_digest(GOOD.ctx, GOOD.compiled, GOOD.spec)


def approval(**fields: Any) -> Json:
    return {"approval_id": "a1", "approver": "emma", "plan_digest": PLAN, **fields}


def covered(*approvals: Json, proposal: Proposal = GOOD) -> list[int]:
    wire = with_changes(proposal.wire(), "ctx", approvals=[*approvals])
    given = proposal_of(wire)
    known = Approvals(given.ctx, given.compiled, given.spec, given.plan)
    return [step for step in range(len(given.plan.steps)) if known.cover(step)]


def test_the_digest_of_the_context_is_of_one_canonical_object() -> None:
    wire = GOOD.wire()
    members = {
        "compiled": wire["compiled"],
        "spec": wire["spec"],
        "trace_id": wire["ctx"]["trace_id"],
    }
    assert sha256(canonical_json(members)) == CONTEXT


@pytest.mark.parametrize("prefix", ["", "sha256:"])
def test_an_approval_of_this_plan_in_this_context_covers(prefix: str) -> None:
    assert covered(approval(context_digest=prefix + CONTEXT)) == [0, 1]
    assert covered(approval(plan_digest=prefix + PLAN, steps=[1])) == [1]


@pytest.mark.parametrize(
    "fields",
    [
        {"plan_digest": "0" * 64},
        {"context_digest": "0" * 64},
        {"context_digest": PLAN},
        {"context_digest": f"sha512:{CONTEXT}"},
        {"expires_at": "2020-01-01T00:00:00Z"},
        {"steps": []},
        {"steps": [2]},
    ],
)
def test_any_other_covers_nothing(fields: Json) -> None:
    assert covered(approval(context_digest=CONTEXT) | fields) == []


CHANGES: dict[str, tuple[str, Json]] = {
    "trace": ("ctx", {"trace_id": "another"}),
    "spec": ("spec", {"id": "another"}),
    "manifest": ("compiled", {"pack_version": "another"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_the_context_holds_is_part_of_its_digest(name: str) -> None:
    part, change = CHANGES[name]
    other = proposal_of(with_changes(GOOD.wire(), part, **change))
    assert covered(approval(context_digest=CONTEXT), proposal=other) == []
    assert covered(approval(), proposal=other) == [0, 1]


def test_what_the_run_was_given_beside_it_is_not() -> None:
    wire = with_changes(GOOD.wire(), "ctx", spent={"steps": 1}, run_id="run_2")
    assert covered(approval(context_digest=CONTEXT), proposal=proposal_of(wire)) == [0, 1]


def test_the_steps_covered_without_a_context_are_known() -> None:
    approvals = [approval(context_digest=CONTEXT, steps=[0]), approval()]
    given = proposal_of(with_changes(GOOD.wire(), "ctx", approvals=approvals))
    known = Approvals(given.ctx, given.compiled, given.spec, given.plan)
    assert known.loosely_covered == []
    assert known.cover(0)
    assert known.cover(1)
    assert not known.cover(2)
    assert known.loosely_covered == [1]


def test_the_steps_covered_without_a_context_are_in_order() -> None:
    given = proposal_of(with_changes(GOOD.wire(), "ctx", approvals=[approval(steps=[1, 8])]))
    known = Approvals(given.ctx, given.compiled, given.spec, given.plan)
    assert [known.cover(step) for step in (8, 1, 0)] == [True, True, False]
    assert known.loosely_covered == [1, 8]
    none = Approvals(GOOD.ctx, GOOD.compiled, GOOD.spec, GOOD.plan)
    assert none.cover(0) is False
