"""How a refusal lists what was found: capped, and marked where a person may clear it."""

import sys
import tracemalloc
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from critic import Proposal, Refused, Violation, digest
from critic.checks.grounds import RepeatedCall, TokensSpent
from critic.checks.violation import Found, Wording
from critic.prepared import prepare_plan
from critic.verify import found_in
from evals.canonical_json import canonical_bytes
from evals.plan_verdicts import MOST_LISTED
from harness.testing.strategies import edge_proposals
from harness.wire import parse
from tests.support.examples import proposal_of
from tests.support.judging import LAW, judge_proposal, with_changes
from tests.support.model.facts import Json


def call(name: str, **args: Any) -> Json:
    return {"kind": "tool", "adapter_id": "a", "capability_id": name, "args": args}


def proposal(
    *steps: Json, tools: tuple[Json, ...] = (), ctx: Json | None = None, **spec: Any
) -> Proposal:
    limits = {"run_budget": {"max_steps": 10_000, "bucket_tokens": 8000}}
    manifests = {
        "tool_manifest": [{"adapter_id": "a", **tool} for tool in tools],
        "evidence_manifest": [],
    }
    return proposal_of(
        {
            "ctx": {"trace_id": "t", "safety_mode": "destructive", **limits, **(ctx or {})},
            "compiled": {"manifests": manifests},
            "spec": {"id": "d", "required_outputs": [], **spec},
            "plan": {"steps": [*steps], "declared_outputs": []},
        }
    )


def refusal_of(given: Proposal) -> Refused:
    verdict = judge_proposal(given)
    assert isinstance(verdict, Refused)
    return verdict


# --- capped ------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 999, 1000])
def test_up_to_a_thousand_are_all_listed(count: int) -> None:
    verdict = refusal_of(proposal(*[call("gone")] * count))
    assert [one.offending_step for one in verdict.violations] == [*range(count)]


@pytest.mark.parametrize(
    ("count", "reason"),
    [
        (1001, "and 1 more violation"),
        (1002, "and 2 more violations"),
        (2345, "and 1,345 more violations"),
    ],
)
def test_the_last_entry_counts_the_rest(count: int, reason: str) -> None:
    verdict = refusal_of(proposal(*[call("gone")] * count))
    assert len(verdict.violations) == MOST_LISTED + 1
    last = {"check": "surface", "kind": "violates_decision_spec", "reason": reason, "path": ""}
    assert verdict.violations[-1].wire() == last


def test_the_last_entry_has_the_check_and_kind_of_the_first_that_is_left_out() -> None:
    steps = [*[call("gone")] * 1000, call("pay"), {"kind": "reason", "id": "x"}]
    tool = {"capability_id": "pay", "approval_mode": "delegated"}
    refused = refusal_of(
        proposal(*steps, {"kind": "reason", "id": "x"}, tools=(tool,), approval_mode="network")
    )
    assert refused.violations[-1].wire() == {
        "check": "approval",
        "kind": "approval_mode_mismatch",
        "reason": "and 2 more violations",
        "path": "",
    }
    assert (refused.kind, refused.offending_step) == ("violates_decision_spec", 0)


PAY = {"capability_id": "pay", "approval_mode": "delegated"}


@pytest.mark.parametrize(("spec", "approvable"), [({}, True), ({"required_evidence": ["k"]}, None)])
def test_the_last_entry_is_approvable_where_all_that_are_left_out_are(
    spec: Json, approvable: bool | None
) -> None:
    calls = [call("pay", n=at) for at in range(1500)]
    refused = refusal_of(proposal(*calls, tools=(PAY,), approval_required_from="delegated", **spec))
    assert refused.violations[-1].approvable is approvable
    assert refused.approvable is bool(approvable)


def test_the_last_entry_is_not_approvable_though_the_last_that_is_left_out_is() -> None:
    tool = {"capability_id": "void", "approval_mode": "destructive"}
    args_digest = sha256(b"{}").hexdigest()
    made = {"adapter_id": "a", "capability_id": "void", "args_digest": args_digest}
    refused = refusal_of(
        proposal(
            *[call("gone")] * 1000,
            call("void"),
            tools=(tool,),
            ctx={"spent": {"calls": [made]}},
            required_evidence=["k"],
        )
    )
    assert refused.violations[-1].reason == "and 2 more violations"
    assert refused.violations[-1].approvable is None


@LAW
@given(edge_proposals(), st.integers(1, 4))
def test_a_capped_refusal_is_the_beginning_of_a_whole_one(given: Proposal, most: int) -> None:
    """What is found, in full, is what a cap of any size leaves at the front, and counts."""
    found = [*found_in(prepare_plan(given.ctx, given.compiled, given.spec, given.plan))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["critic.verify"], "MOST_LISTED", most)
        verdict = judge_proposal(given)
    if not found:
        assert verdict.ok
        return
    assert isinstance(verdict, Refused)
    assert verdict.violations[:most] == tuple(one.violation() for one in found[:most])
    assert verdict.approvable == all(one.approvable for one in found)
    if len(found) > most:
        last = verdict.violations[most]
        assert len(verdict.violations) == most + 1
        assert (last.check, last.kind) == (found[most].check, found[most].kind)
        assert last.reason.startswith(f"and {len(found) - most:,} more")
    assert parse(Refused, canonical_bytes(verdict)) == verdict


def test_a_refusal_is_small_however_long_the_keys_of_a_plan_are() -> None:
    """A path is that of the nearest place around with a pointer of 1,000 characters at most."""
    schema = {"additionalProperties": {"items": {"type": "string"}}}
    tool = {"capability_id": "pay", "approval_mode": "read_only", "args_schema": schema}
    args = {"k" * 20_000: [1] * 100}
    refused = refusal_of(proposal(*[call("pay", **args)] * 20, tools=(tool,)))
    assert {one.path for one in refused.violations[:-1]} == {f"/steps/{n}/args" for n in range(10)}
    assert len(canonical_bytes(refused)) < 1_000_000


@LAW
@given(st.lists(st.integers(0, 1002), min_size=1, max_size=4))
@example([1000])
@example([999, 0])
@example([1001])
@example([999, 1])
@example([998, 1])
@example([0, 1000])
def test_a_path_ends_before_a_segment_that_makes_it_longer_than_a_thousand(
    sizes: list[int],
) -> None:
    path = "".join("/" + "k" * (size - 1) if size else "/" for size in sizes)
    places = [path[:at] for at, char in enumerate(path) if char == "/"]
    listed = Found(
        "surface", "violates_decision_spec", None, lambda: Wording("r", path, TokensSpent())
    ).violation()
    assert listed.path == max((one for one in [*places, path] if len(one) <= 1000), key=len)
    assert listed.approvable is None


@pytest.mark.slow
def test_what_is_not_listed_is_not_built() -> None:
    given = proposal(*[call("gone", n=at) for at in range(60_000)])
    judge_proposal(given)
    tracemalloc.start()
    refusal_of(given)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000, "a violation takes more than 500 bytes"


# --- approvable --------------------------------------------------------------------------------


def test_only_kinds_that_an_approval_can_clear_are_approvable() -> None:
    marked: Json = {"reason": "r", "approvable": True}
    for check, kind in (("approval", "approval_mode_mismatch"), ("loop", "loop_guard")):
        assert Violation(**marked | {"check": check, "kind": kind}).approvable
    for check, kind in (
        ("coverage", "violates_decision_spec"),
        ("evidence", "missing_evidence"),
        ("loop", "budget_exceeded"),
    ):
        with pytest.raises(ValidationError, match=f"no approval clears {kind}"):
            Violation(**marked | {"check": check, "kind": kind})


@pytest.mark.parametrize("value", [False, None, 1, 1.0, "true"])
def test_the_mark_is_true_or_absent(value: Any) -> None:
    fields = {"check": "loop", "kind": "loop_guard", "reason": "r", "approvable": value}
    with pytest.raises(ValidationError):
        Violation.model_validate(fields)
    assert "approvable" not in Violation(check="loop", kind="loop_guard", reason="r").wire()


def test_a_refusal_says_on_no_wire_whether_it_is_approvable() -> None:
    refused = refusal_of(proposal(call("pay"), tools=(PAY,), approval_required_from="delegated"))
    assert refused.approvable
    assert set(refused.wire()) == {"ok", "kind", "reasons", "offending_step", "violations"}


@LAW
@given(edge_proposals())
def test_an_approval_clears_what_is_approvable_and_nothing_else(given: Proposal) -> None:
    without = proposal_of(with_changes(given.wire(), "ctx", approvals=[]))
    yes = {"approval_id": "a", "approver": "emma", "plan_digest": digest(given.plan)}
    approved = proposal_of(with_changes(given.wire(), "ctx", approvals=[yes]))
    found = [
        [*found_in(prepare_plan(one.ctx, one.compiled, one.spec, one.plan))]
        for one in (without, approved)
    ]
    left = [one.violation() for one in found[0] if not one.approvable]
    assert left == [one.violation() for one in found[1]]


SAID = Wording("r", "/steps/3", RepeatedCall(by_earlier_plan=True))


def test_found_and_violation_say_the_same() -> None:
    found = Found("loop", "loop_guard", 3, lambda: SAID, approvable=True)
    assert found.violation().wire() == {
        "check": "loop",
        "kind": "loop_guard",
        "reason": "r",
        "offending_step": 3,
        "path": "/steps/3",
        "approvable": True,
    }


@pytest.mark.parametrize(
    ("args", "named"), [({"x": 1}, "argument x is"), ({"x": 1, "y": 2}, "arguments x and y are")]
)
def test_a_group_that_is_not_backed_names_the_arguments_that_are_there(
    args: Json, named: str
) -> None:
    bound = {name: {"from": ["k"], "optional": True} for name in ("x", "y")}
    tool = {"capability_id": "b", "approval_mode": "network", "bound_args": bound}
    verdict = judge_proposal(
        proposal(call("b", **args), tools=({**tool, "bound_together": [["x", "y"]]},))
    )
    assert isinstance(verdict, Refused)
    last = verdict.violations[-1].reason
    assert last == f"step 0 {named} not backed by one and the same pinned item"
