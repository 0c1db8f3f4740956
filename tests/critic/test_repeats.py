"""A destructive call that was made before: over turns a person may allow it, in a plan nobody."""

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic import Proposal, Refused, Verified, digest
from harness.canonical import canonical_json
from tests.support.examples import proposal_of
from tests.support.judging import LAW, judge_proposal, with_changes
from tests.support.model.facts import Json

ARGS = st.dictionaries(st.text("ab", max_size=2), st.integers(0, 3) | st.floats(0, 3), max_size=3)
TOOLS = [
    {"adapter_id": "a", "capability_id": name, "approval_mode": mode}
    for name, mode in (("refund", "destructive"), ("void", "destructive"), ("note", "delegated"))
]


def call(args: Json, name: str = "refund") -> Json:
    return {"kind": "tool", "adapter_id": "a", "capability_id": name, "args": args}


def made(args: Json, name: str = "refund", prefix: str = "") -> Json:
    args_digest = prefix + sha256(canonical_json(args)).hexdigest()
    return {"adapter_id": "a", "capability_id": name, "args_digest": args_digest}


def proposal(*steps: Json, before: tuple[Json, ...] = ()) -> Proposal:
    return proposal_of(
        {
            "ctx": {"trace_id": "t", "safety_mode": "destructive", "spent": {"calls": [*before]}},
            "compiled": {"manifests": {"tool_manifest": TOOLS, "evidence_manifest": []}},
            "spec": {"id": "d", "required_outputs": []},
            "plan": {"steps": [*steps], "declared_outputs": []},
        }
    )


def approved(given: Proposal, **fields: Any) -> Proposal:
    yes = {"approval_id": "a", "approver": "emma", "plan_digest": digest(given.plan), **fields}
    return proposal_of(with_changes(given.wire(), "ctx", approvals=[yes]))


def found(given: Proposal) -> list[tuple[int | None, bool]]:
    """Return the step of each violation, and whether it is approvable."""
    verdict = judge_proposal(given)
    violations = verdict.violations if isinstance(verdict, Refused) else ()
    assert {one.kind for one in violations} <= {"loop_guard"}
    return [(one.offending_step, one.approvable is True) for one in violations]


@LAW
@given(st.lists(ARGS, max_size=5), st.lists(ARGS, max_size=4), st.data())
def test_each_step_that_repeats_is_one_violation(
    plan: list[Json], before: list[Json], data: st.DataObject
) -> None:
    prefix = data.draw(st.sampled_from(["", "sha256:"]))
    given = proposal(*map(call, plan), before=tuple(made(args, prefix=prefix) for args in before))
    spelled = [canonical_json(args) for args in plan]
    within = [one in spelled[:at] for at, one in enumerate(spelled)]
    over = [one in map(canonical_json, before) for one in spelled]
    expected = [(at, not within[at]) for at in range(len(plan)) if within[at] or over[at]]
    assert found(given) == expected
    # An approval clears what is approvable, and nothing else.
    assert found(approved(given)) == [one for one in expected if not one[1]]


def test_the_args_are_compared_as_canonical_json() -> None:
    given = proposal(call({"n": 1.0, "id": "p"}), before=(made({"id": "p", "n": 1}),))
    assert found(given) == [(0, True)]


@pytest.mark.parametrize("name", ["void", "note"])
def test_another_tool_or_a_tool_that_is_not_destructive_repeats_nothing(name: str) -> None:
    assert found(proposal(call({}, "note"), call({}), before=(made({}, name),))) == []


def test_absent_args_are_an_empty_object() -> None:
    bare = {"kind": "tool", "adapter_id": "a", "capability_id": "refund"}
    assert found(proposal(bare, before=(made({}),))) == [(0, True)]


@pytest.mark.parametrize(
    ("fields", "cleared"),
    [
        ({}, True),
        ({"steps": [0]}, True),
        ({"steps": [1]}, False),
        ({"plan_digest": "0" * 64}, False),
        ({"expires_at": "2020-01-01T00:00:00Z"}, False),
        ({"context_digest": "0" * 64}, False),
    ],
)
def test_only_a_valid_approval_that_covers_the_step_clears_it(fields: Json, cleared: bool) -> None:
    given = approved(proposal(call({}), before=(made({}),)), **fields)
    assert (found(given) == []) is cleared


def test_an_approval_that_names_no_context_leaves_a_caveat() -> None:
    verdict = judge_proposal(approved(proposal(call({}), before=(made({}),))))
    assert isinstance(verdict, Verified)
    caveat = "approvals not bound to this context, no context_digest: step 0"
    assert caveat in verdict.caveats
    unneeded = judge_proposal(approved(proposal(call({}))))
    assert isinstance(unneeded, Verified)
    assert caveat not in unneeded.caveats


def test_reasons_say_which_of_the_two_it_is() -> None:
    given = proposal(call({}), call({}), before=(made({}),))
    verdict = judge_proposal(given)
    assert isinstance(verdict, Refused)
    assert [one.reason for one in verdict.violations] == [
        "step 0 repeats the destructive call a.refund of an earlier plan with the same args"
        ": needs approval",
        "step 1 repeats the destructive call a.refund of an earlier step with the same args",
    ]
    assert not verdict.approvable
