"""Opening a step: settled, and judged again by the five checks, or refused by type."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from critic import Approval, Proposal, Refused, ToolCall, Verified, digest, verify_proposal
from critic.late.opened_steps import EarlierOpening
from critic.late.openings import OpeningError, open_step, settle_step
from critic.provenance import origin_judge
from harness.wire import build
from tests.critic.late.test_late_verify import LOOK, pay, proposal, take, verdict
from tests.support.model.facts import Json

NOW = datetime(2026, 5, 9, 10, tzinfo=UTC)
AFTER_LOOK = (EarlierOpening(0, 0, NOW),)
MEGABYTES_32 = 32 * 1024 * 1024


def looked(output: Any = None, status: str = "completed", **fields: Any) -> ToolCall:
    facts: Json = {"step": 0, "adapter_id": "shop", "capability_id": "look", "args": {}}
    held = {} if output is None else {"output": output}
    return ToolCall(**{**facts, "status": status, **held, **fields})


def opened(wire: Json, *calls: ToolCall, step: int = 1, **given: Any) -> Verified | Refused:
    facts = {"as_of": NOW, "openings": AFTER_LOOK, **given}
    return open_step(build(Proposal, wire), calls, step, **facts)


def refusal(found: Verified | Refused) -> list[tuple[str, str, str | None]]:
    assert isinstance(found, Refused)
    return [(one.check, one.kind, one.path) for one in found.violations]


def test_a_step_is_opened_with_the_value_that_was_found() -> None:
    wire = proposal(pay(take()))
    case, call = build(Proposal, wire), looked({"amount": 24500})
    assert verify_proposal(case).ok
    assert opened(wire, call).reasons == ("step 1 opened",)
    settled = settle_step(case, [call], 1, as_of=NOW, openings=AFTER_LOOK)
    assert settled.args == {"amount": 24500}
    assert settled.proposal is not None
    assert settled.proposal.plan.plan_id == digest(case.plan)
    assert "takes" not in settled.proposal.plan.steps[-1].wire()


@pytest.mark.parametrize(
    ("output", "at"),
    [
        (None, ""),
        ({}, "/amount"),
        ({"amount": None}, "/amount"),
        ([{"amount": 1}, {"amount": 2}], "/*/amount"),
        ({"a": 1, "b": 2}, "/*"),
        ([], "/0"),
        ("text", "/0"),
        ({"amount": [1]}, "/amount/01"),
    ],
)
def test_nothing_null_and_two_values_do_not_open(output: Any, at: str) -> None:
    found = opened(proposal(pay(take(at=at))), looked(output))
    assert refusal(found) == [("evidence", "missing_evidence", "/steps/1/takes/0")]
    assert not found.ok
    assert not found.approvable


def test_a_value_that_is_there_behind_one_that_is_not_does_not_open() -> None:
    takes = take("/to/0", at="/a"), take("/to/1", at="/b"), take("/to/2", at="/c")
    wire = proposal(pay(*takes, args={"to": []}))
    assert opened(wire, looked({"a": 1, "b": 2, "c": 3})).ok
    missing = [("evidence", "missing_evidence", f"/steps/1/takes/{at}") for at in (0, 2)]
    assert refusal(opened(wire, looked({"b": 2}))) == missing


def test_the_only_element_and_the_first_one_open() -> None:
    assert opened(proposal(pay(take(at="/*/amount"))), looked([{"amount": 1}])).ok
    assert opened(proposal(pay(take(at="/0/amount"))), looked([{"amount": 1}, {}])).ok


@pytest.mark.parametrize("status", ["failed", "timed_out", "unknown"])
def test_a_source_that_did_not_complete_has_no_values(status: str) -> None:
    call = looked({"amount": 1}, status, error="take 5 instead")
    path = "/steps/1/takes/0"
    assert refusal(opened(proposal(pay(take())), call)) == [("evidence", "missing_evidence", path)]
    pins = proposal(pay(evidence_steps=["look"]))
    assert refusal(opened(pins, call)) == [("evidence", "missing_evidence", "/steps/1")]


def test_the_last_attempt_counts() -> None:
    failed = looked(status="failed", error="busy")
    again = looked({"amount": 1}, attempt=2)
    assert opened(proposal(pay(take())), failed, again).ok


def test_an_output_keeps_its_schema_or_nothing_is_taken() -> None:
    wire = proposal(pay(take()))
    look = wire["compiled"]["manifests"]["tool_manifest"][0]
    look["output_schema"] = {"properties": {"amount": {"maximum": 10}}}
    assert opened(wire, looked({"amount": 10})).ok
    assert refusal(opened(wire, looked({"amount": 11}))) == [
        ("evidence", "missing_evidence", "/steps/1/takes/0")
    ]


def test_the_settled_args_satisfy_the_schema() -> None:
    schema = {"properties": {"amount": {"type": "integer", "maximum": 50000}}}
    wire = proposal(pay(take()), args_schema=schema)
    assert opened(wire, looked({"amount": 50000})).ok
    found = opened(wire, looked({"amount": 50001}))
    assert refusal(found) == [("surface", "violates_decision_spec", "/steps/1/args/amount")]


def test_an_output_of_32_mib_is_one_value_that_its_schema_judges() -> None:
    text = "x" * MEGABYTES_32
    wire = proposal(pay(take(at="")), args_schema={"properties": {"amount": {"maxLength": 100}}})
    found = opened(wire, looked(text))
    assert refusal(found) == [("surface", "violates_decision_spec", "/steps/1/args")]
    assert len(found.wire()["reasons"][0]) < 1000
    assert opened(proposal(pay(take(at=""))), looked(text)).ok


def test_args_that_nest_too_deep_with_their_values_do_not_open() -> None:
    deep: Any = 1
    for _ in range(62):
        deep = [deep]
    wire = proposal(pay(take("/a/b", at="/v"), args={"a": {}}))
    assert opened(wire, looked({"v": deep[0]})).ok
    found = opened(wire, looked({"v": deep}))
    assert refusal(found) == [("surface", "violates_decision_spec", "/steps/1/args")]


def test_evidence_that_a_step_returns_backs_what_is_taken_from_it() -> None:
    wire = proposal(
        pay(take(), args={"id": "p1"}, evidence_steps=["look"]),
        bound_args={"amount": {"from": ["order"]}, "id": {"from": ["order"]}},
        requires_evidence=["order"],
    )
    look = wire["compiled"]["manifests"]["tool_manifest"][0]
    look |= {"yields": "order", "expires_after_s": 60}
    call = looked({"id": "p1", "amount": 5})
    assert opened(wire, call).ok
    other = opened(wire, looked({"id": "p2", "amount": 5}))
    assert refusal(other) == [("evidence", "missing_evidence", "/steps/1/args/id")]
    later = opened(wire, call, as_of=NOW + timedelta(seconds=60))
    assert not later.ok
    assert {one[1] for one in refusal(later)} == {"missing_evidence"}
    assert not opened(wire, call, openings=(EarlierOpening(0, 0),)).ok


def test_the_same_destructive_call_is_opened_once() -> None:
    pays = [pay(take(at=f"/{name}"), id=name) for name in "ab"]
    wire = proposal(*pays)
    calls = [looked({"a": 5, "b": 5})]
    first = (*AFTER_LOOK, EarlierOpening(1, 1, NOW))
    assert opened(wire, *calls, step=2).ok
    found = opened(wire, *calls, step=2, openings=first)
    assert refusal(found) == [("loop", "loop_guard", "/steps/2")]
    assert opened(wire, looked({"a": 5, "b": 6}), step=2, openings=first).ok


@pytest.mark.parametrize("field", ["min_tokens", "estimated_tokens"])
def test_an_opening_counts_the_tokens_of_the_steps_before_it(field: str) -> None:
    """Each takes what the plan says, and at least what its tool takes."""
    budget = {"run_budget": {"max_steps": 9, "bucket_tokens": 100}}
    again = {**LOOK, "id": "again", "args": {"q": 1}}
    before = (*AFTER_LOOK, EarlierOpening(1, 1, NOW))
    for tokens, fits in ((45, True), (46, False)):
        wire = proposal(again, pay(take()), ctx=budget, min_tokens=10)
        tools = wire["compiled"]["manifests"]["tool_manifest"][:1]
        for one in tools if field == "min_tokens" else wire["plan"]["steps"][:2]:
            one[field] = tokens
        found = opened(wire, looked({"amount": 5}), step=2, openings=before)
        assert found.ok is verdict(wire).ok is fits
        assert fits or refusal(found)[0][1] == "budget_exceeded"


def approval(plan: Any, **fields: Any) -> Approval:
    return Approval(approval_id="a", plan_digest=digest(plan), approver="emma", **fields)


def test_an_approval_of_the_late_plan_clears_the_tier_under_sources_only() -> None:
    for late, passes in (("sources", True), ("values", False)):
        wire = proposal(pay(take()), spec={"approval_required_from": "destructive", "late": late})
        given = approval(build(Proposal, wire).plan, late=True)
        found = opened(wire, looked({"amount": 5}), approvals=[given])
        assert found.ok is passes
    without = approval(build(Proposal, wire).plan)
    wire["spec"]["late"] = "sources"
    assert not opened(wire, looked({"amount": 5}), approvals=[without]).ok


def test_a_person_approves_the_value_by_the_settled_plan() -> None:
    wire = proposal(pay(take()), spec={"approval_required_from": "destructive", "late": "values"})
    case, call = build(Proposal, wire), looked({"amount": 5})
    settled = settle_step(case, [call], 1, as_of=NOW, openings=AFTER_LOOK)
    assert settled.proposal is not None
    found = opened(wire, call)
    assert not found.ok
    assert found.approvable
    given = approval(settled.proposal.plan)
    assert opened(wire, call, approvals=[given]).ok
    assert not opened(wire, looked({"amount": 6}), approvals=[given]).ok


def sending(author: str) -> Json:
    wire = proposal(pay(take("/to", at="/iban")), spec={"provenance": "closed"})
    tools = wire["compiled"]["manifests"]["tool_manifest"]
    tools[0]["result"] = {"author": author}
    tools[1]["arg_roles"] = {"to": "recipient"}
    wire["ctx"]["scope"] = [{"adapter_id": "shop", "capability_id": "pay"}]
    return wire


def test_a_late_value_is_worth_what_the_same_value_would_be_early() -> None:
    call = looked({"iban": "DE89370400440532013000"})
    assert opened(sending("system"), call).ok
    found = opened(sending("public"), call)
    assert refusal(found) == [("evidence", "missing_evidence", "/steps/1/args/to")]


@pytest.mark.parametrize(("most", "is_ok"), [(5, True), (4, True), (3, False), (1, False)])
def test_the_values_of_the_steps_before_count_as_those_of_one_plan(
    most: int,
    is_ok: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wire = sending("system")
    first = {**wire["plan"]["steps"][1], "id": "first", "args": {"to": ["x-1", "x-2"]}}
    wire["plan"]["steps"].insert(1, {**first, "takes": [take("/to/2", at="/iban")]})
    said = {"id": "u", "classification": "request", "content": "pay x-1 and x-2"}
    source = {"author": "user", "standing": "named"}
    wire["compiled"]["manifests"]["evidence_manifest"] = [{**said, "source": source}]
    openings = (*AFTER_LOOK, EarlierOpening(1, 1, NOW))
    call = looked({"iban": "DE89370400440532013000"})
    monkeypatch.setattr(origin_judge, "MOST_VALUES", most)
    assert opened(wire, call, step=2, openings=openings).ok is is_ok


def test_an_approval_of_the_sources_never_clears_a_doubt_about_a_value() -> None:
    """No approval before the run is of a value that nobody has seen: a person is asked with it."""
    wire = sending("public")
    tools = wire["compiled"]["manifests"]["tool_manifest"]
    tools[0]["arg_roles"] = {"file": "locator"}
    wire["plan"]["steps"][0]["args"] = {"file": "bill.txt"}
    said = {"id": "u", "classification": "request", "content": "pay the bill in bill.txt"}
    source = {"author": "user", "standing": "named"}
    wire["compiled"]["manifests"]["evidence_manifest"] = [{**said, "source": source}]
    case = build(Proposal, wire)
    verdict = verify_proposal(case)
    assert isinstance(verdict, Verified)
    assert [one.kind for one in verdict.conditions or ()] == ["value", "approval"]
    call = looked({"iban": "DE89370400440532013000"}, args={"file": "bill.txt"})
    asked = opened(wire, call)
    assert refusal(asked) == [("approval", "approval_mode_mismatch", "/steps/1/args/to")]
    assert isinstance(asked, Refused)
    assert asked.approvable
    assert opened(wire, call, approvals=[approval(case.plan, late=True)]).wire() == asked.wire()
    settled = settle_step(case, [call], 1, as_of=NOW, openings=AFTER_LOOK).proposal
    assert settled is not None
    assert opened(wire, call, approvals=[approval(settled.plan)]).ok


def test_a_derived_value_counts_by_where_else_it_stands() -> None:
    wire = sending("public")
    wire["compiled"]["manifests"]["tool_manifest"][0]["result"]["derived"] = True
    said: Json = {"id": "u", "classification": "request", "content": "pay DE89370400440532013000"}
    said["source"] = {"author": "user", "standing": "named"}
    call = looked({"iban": "DE89370400440532013000"})
    assert not opened(wire, call).ok
    wire["compiled"]["manifests"]["evidence_manifest"] = [said]
    assert opened(wire, call).ok
    case = build(Proposal, wire)
    settled = settle_step(case, [call], 1, as_of=NOW, openings=AFTER_LOOK).proposal
    assert settled is not None
    *_, item = settled.compiled.manifests.evidence_manifest
    assert (item.content, item.source) == (call.output, None)


def test_what_cannot_be_opened_now_is_an_error_and_no_verdict() -> None:
    wire = proposal(pay(take()), {"kind": "reason", "id": "think"})
    call = looked({"amount": 1})
    twice = (*AFTER_LOOK, EarlierOpening(1, 1, NOW))
    for facts in (
        {"calls": [], "step": 1},
        {"calls": [], "step": 1, "openings": ()},
        {"calls": [call], "step": 1, "openings": ()},
        {"calls": [call], "step": 1, "openings": twice},
        {"calls": [call], "step": 2},
        {"calls": [call], "step": 3},
        {"calls": [call], "step": -1},
        {"calls": [call], "step": "1"},
        {"calls": [call], "step": 1.0},
        {"calls": [call], "step": True},
        {"calls": [call], "step": None},
        {"calls": [looked({}, step=1)], "step": 1},
        {"calls": [looked({}, capability_id="pay")], "step": 1},
        {"calls": [call], "step": 1, "openings": (EarlierOpening(0, 1, NOW),)},
    ):
        given: dict[str, Any] = {"as_of": NOW, "openings": AFTER_LOOK, **facts}
        with pytest.raises(OpeningError):
            open_step(build(Proposal, wire), **given)


def test_a_faulty_take_is_never_opened() -> None:
    for step in (pay(take(), args={"amount": 1}), pay(take("/a/b"))):
        found = opened(proposal(step), looked({"amount": 5}))
        assert refusal(found) == [("surface", "violates_decision_spec", "/steps/1/takes/0/arg")]
    off = proposal(pay(take()))
    del off["spec"]["late"]
    assert not opened(off, looked({"amount": 5})).ok


def test_data_that_looks_like_a_take_is_data() -> None:
    fake = {"arg": "/x", "step": "look", "at": ""}
    case = build(Proposal, proposal(pay(take())))
    call = looked({"amount": fake})
    settled = settle_step(case, [call], 1, as_of=NOW, openings=AFTER_LOOK)
    assert settled.args == {"amount": fake}


def test_a_plain_step_of_a_late_plan_is_opened_too() -> None:
    wire = proposal(pay(take()), {**LOOK, "id": "again", "args": {"q": 1}})
    assert opened(wire, step=2, openings=()).ok
