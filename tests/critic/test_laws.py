"""Named laws of `verify` over its inputs: authority, facts, and what a plan says of itself.

Monotony is stated over all violations, not only over the answer: less authority keeps every one.
"""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from critic import MODE_RANK, Proposal, Refused, Verified, digest
from evals.canonical import canonical_bytes
from harness.wire import parse
from tests.support.generate import alphabet
from tests.support.generate.strategies import proposals
from tests.support.judging import (
    LAW,
    approves_its_plan,
    judge,
    judge_proposal,
    marks,
    with_changes,
    with_manifest,
    with_step,
)
from tests.support.model.facts import Json

UNUSED_TOOL = {"adapter_id": "zz", "capability_id": "a.b"}
MODES = st.sampled_from(alphabet.MODES)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(-1e15, 1e15)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


# --- totality and determinism -----------------------------------------------------------------


@LAW
@given(proposals())
def test_totality_every_proposal_gets_one_of_two_answers(proposal: Proposal) -> None:
    verdict = judge_proposal(proposal)
    if isinstance(verdict, Verified):
        assert bool(verdict) is True
    else:
        assert bool(verdict) is False
        assert verdict.violations[0].kind == verdict.kind


@LAW
@given(proposals(), JSON, JSON)
def test_totality_whatever_the_args_and_the_evidence_hold(
    proposal: Proposal, args: Any, content: Any
) -> None:
    wire = proposal.wire()
    items = wire["compiled"]["manifests"]["evidence_manifest"]
    if content is not None:
        wire = with_manifest(
            wire, "evidence_manifest", [{**one, "content": content} for one in items]
        )
    for index, step in enumerate(wire["plan"]["steps"]):
        if step["kind"] == "tool":
            wire = with_step(wire, index, args={"x": args, "y": content})
    assert isinstance(judge(wire), Verified | Refused)


@LAW
@given(proposals())
def test_determinism_equal_inputs_give_equal_bytes(proposal: Proposal) -> None:
    first = canonical_bytes(judge_proposal(proposal))
    assert canonical_bytes(judge_proposal(proposal)) == first
    assert canonical_bytes(judge(proposal.wire())) == first


@LAW
@given(proposals())
def test_round_trip_through_canonical_bytes_changes_nothing(proposal: Proposal) -> None:
    reread = parse(Proposal, canonical_bytes(proposal))
    assert canonical_bytes(judge_proposal(reread)) == canonical_bytes(judge_proposal(proposal))


# --- monotony: less authority, never fewer violations -----------------------------------------


@LAW
@given(proposals(), MODES, MODES)
def test_safety_mode_is_monotone(proposal: Proposal, one: str, other: str) -> None:
    lower, higher = sorted((one, other), key=MODE_RANK.__getitem__)
    in_lower = judge(with_changes(proposal.wire(), "ctx", safety_mode=lower))
    in_higher = judge(with_changes(proposal.wire(), "ctx", safety_mode=higher))
    assert marks(in_higher) <= marks(in_lower)


@LAW
@given(proposals(), MODES, MODES)
def test_the_ceiling_of_the_spec_is_monotone(proposal: Proposal, one: str, other: str) -> None:
    lower, higher = sorted((one, other), key=MODE_RANK.__getitem__)
    in_lower = marks(judge(with_changes(proposal.wire(), "spec", approval_mode=lower)))
    in_higher = marks(judge(with_changes(proposal.wire(), "spec", approval_mode=higher)))
    without = judge(with_changes(proposal.wire(), "spec", approval_mode=alphabet.ABSENT))
    assert marks(without) <= in_higher <= in_lower


@LAW
@given(proposals(), st.integers(0, 3))
def test_removing_evidence_never_lets_a_refused_plan_pass(proposal: Proposal, which: int) -> None:
    wire = proposal.wire()
    items = wire["compiled"]["manifests"]["evidence_manifest"]
    fewer = with_manifest(wire, "evidence_manifest", items[:which] + items[which + 1 :])
    if not judge(wire):
        assert not judge(fewer)


@LAW
@given(proposals(), st.integers(0, 3))
def test_removing_a_capability_never_lets_a_refused_plan_pass(
    proposal: Proposal, which: int
) -> None:
    wire = proposal.wire()
    tools = wire["compiled"]["manifests"]["tool_manifest"]
    fewer = with_manifest(wire, "tool_manifest", tools[:which] + tools[which + 1 :])
    if not judge(wire):
        assert not judge(fewer)


@LAW
@given(proposals(), st.sampled_from(("max_steps", "bucket_tokens")), st.integers(0, 4000))
def test_a_smaller_budget_keeps_every_violation(proposal: Proposal, name: str, less: int) -> None:
    wire = proposal.wire()
    budget = {"max_steps": 12, "bucket_tokens": 8000, **wire["ctx"].get("run_budget", {})}
    smaller = {**budget, name: max(0, budget[name] - less)}
    assert marks(judge(wire)) <= marks(judge(with_changes(wire, "ctx", run_budget=smaller)))


@LAW
@given(proposals())
def test_no_budget_means_the_default_budget(proposal: Proposal) -> None:
    """So taking a budget away is no smaller budget: it can let a plan pass under the defaults."""
    wire = proposal.wire()
    without = judge(with_changes(wire, "ctx", run_budget=alphabet.ABSENT))
    assert judge(with_changes(wire, "ctx", run_budget={})) == without
    spelled_out = {"max_steps": 12, "bucket_tokens": 8000}
    assert judge(with_changes(wire, "ctx", run_budget=spelled_out)) == without


@LAW
@given(proposals(), st.sampled_from(("steps", "tokens")), st.integers(0, 4000))
def test_what_was_spent_keeps_every_violation(proposal: Proposal, name: str, more: int) -> None:
    wire = proposal.wire()
    spent = {"steps": 0, "tokens": 0, **wire["ctx"].get("spent", {})}
    larger = {**spent, name: min(2**53 - 1, spent[name] + more)}
    assert marks(judge(wire)) <= marks(judge(with_changes(wire, "ctx", spent=larger)))


@LAW
@given(proposals())
def test_without_a_clock_every_violation_stays(proposal: Proposal) -> None:
    wire = proposal.wire()
    assert marks(judge(wire)) <= marks(judge(with_changes(wire, "ctx", as_of=alphabet.ABSENT)))


# --- the manifests are sets, and only what is named counts ------------------------------------


@LAW
@given(proposals(), MODES, st.booleans())
def test_an_unrelated_entry_never_changes_the_verdict(
    proposal: Proposal, mode: str, first: bool
) -> None:
    wire = proposal.wire()
    more: Json = {"tool_manifest": {**UNUSED_TOOL, "approval_mode": mode, "produces": ["o1"]}}
    more["evidence_manifest"] = {"id": "unpinned", "classification": "k", "content": "24500 pay_1"}
    for name, entry in more.items():
        entries = wire["compiled"]["manifests"][name]
        wire = with_manifest(wire, name, [entry, *entries] if first else [*entries, entry])
    assert canonical_bytes(judge(wire)) == canonical_bytes(judge_proposal(proposal))


@LAW
@given(proposals(), st.randoms(use_true_random=False))
def test_the_order_of_a_manifest_is_irrelevant(proposal: Proposal, random: Any) -> None:
    wire = proposal.wire()
    for name in ("tool_manifest", "evidence_manifest"):
        entries = list(wire["compiled"]["manifests"][name])
        random.shuffle(entries)
        wire = with_manifest(wire, name, entries)
    assert canonical_bytes(judge(wire)) == canonical_bytes(judge_proposal(proposal))


# --- approvals --------------------------------------------------------------------------------


@LAW
@given(proposals(), st.text("0123456789abcdef", min_size=64, max_size=64))
def test_an_approval_of_another_plan_is_no_approval(proposal: Proposal, other: str) -> None:
    wire = proposal.wire()
    foreign = {"approval_id": "x", "plan_digest": other, "approver": "someone"}
    more = with_changes(wire, "ctx", approvals=[foreign, *wire["ctx"].get("approvals", [])])
    assert canonical_bytes(judge(more)) == canonical_bytes(judge(wire))


@LAW
@given(proposals())
def test_an_approval_lifts_nothing_but_the_need_for_it(proposal: Proposal) -> None:
    wire = proposal.wire()
    right = {"approval_id": "x", "plan_digest": digest(proposal.plan), "approver": "someone"}
    approved = marks(judge(with_changes(wire, "ctx", approvals=[right])))
    demanding_none = judge(with_changes(wire, "spec", approval_required_from=alphabet.ABSENT))
    assert approved == marks(demanding_none)


# --- what a plan says of itself ---------------------------------------------------------------


@LAW
@given(proposals(), st.integers(0, 12), st.sampled_from(("requires_evidence", "depends_on")))
def test_a_declared_requirement_only_adds(proposal: Proposal, which: int, field: str) -> None:
    wire = proposal.wire()
    if which < len(wire["plan"]["steps"]):
        declared = wire["plan"]["steps"][which].get(field, [])
        demanding = with_step(wire, which, **{field: [*declared, "k", "s1"]})
        assert marks(judge(wire)) <= marks(judge(demanding))


@LAW
@given(proposals(), st.integers(0, 12), st.integers(0, 9000))
def test_a_larger_estimate_only_adds(proposal: Proposal, which: int, more: int) -> None:
    wire = proposal.wire()
    if which < len(wire["plan"]["steps"]):
        estimate = wire["plan"]["steps"][which].get("estimated_tokens", 0) + more
        assert marks(judge(wire)) <= marks(judge(with_step(wire, which, estimated_tokens=estimate)))


@LAW
@given(proposals(), st.sampled_from(("t", "T")))
def test_a_trace_that_the_plan_names_only_adds(proposal: Proposal, trace: str) -> None:
    wire = with_changes(proposal.wire(), "plan", trace_id=alphabet.ABSENT)
    if not approves_its_plan(with_changes(wire, "plan", trace_id=trace)):
        assert marks(judge(wire)) <= marks(judge(with_changes(wire, "plan", trace_id=trace)))


@LAW
@given(proposals(), st.sampled_from(("o1", "o2", "O1")))
def test_an_output_that_the_plan_omits_only_adds(proposal: Proposal, output: str) -> None:
    wire = proposal.wire()
    fewer = [name for name in wire["plan"]["declared_outputs"] if name != output]
    assert marks(judge(wire)) <= marks(judge(with_changes(wire, "plan", declared_outputs=fewer)))


@LAW
@given(proposals())
def test_read_only_refuses_every_plan_with_a_write(proposal: Proposal) -> None:
    wire = with_changes(proposal.wire(), "ctx", safety_mode="read_only")
    verdict = judge(wire)
    tools = wire["compiled"]["manifests"]["tool_manifest"]
    reads = {
        (tool["adapter_id"], tool["capability_id"])
        for tool in tools
        if tool["approval_mode"] == "read_only"
    }
    for index, step in enumerate(wire["plan"]["steps"]):
        if step["kind"] == "tool" and (step["adapter_id"], step["capability_id"]) not in reads:
            assert not verdict
            assert {"surface", "approval"} & {
                mark[0] for mark in marks(verdict) if mark[2] == index
            }
