"""What a session makes of what happens: proposals, facts, spending, reports."""

import json
import string
import sys
from datetime import timedelta
from hashlib import sha256
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic import (
    EvidenceClass,
    EvidenceItem,
    RunBudget,
    ToolCapability,
    ToolResult,
    verify_proposal,
)
from critic.session import (
    Call,
    CallResult,
    Session,
    SessionTool,
    session_of,
    state_of,
)
from critic.session.call_batch import OtherCall
from critic.session.changed import change_fields
from critic.session.session import Closed
from critic.session.whole_run import make_whole_run
from evals.canonical_json import canonical_json
from evals.capability import ToolName
from evals.context import DEFAULT_SESSION_TOKENS, OwnValue, SentValues, Spent, SpentCall
from evals.json_value import SAFE_INTEGER
from evals.plan import ToolStep
from evals.plan_verdicts import Refused
from tests.critic.session.building import (
    MAKES,
    NOW,
    TOOLS,
    after,
    allowed,
    last,
    opened,
    read,
    rules,
    tool,
)
from tests.critic.session.commanding import FACTS, run, shell_rules

# Evidence.


@pytest.mark.parametrize(
    ("name", "standing"),
    [
        ("plan.md", "named"),
        ("PLAN.MD", "named"),
        ("plan", "ambient"),
        ("quarterly figures", "named"),
        ("figures", "ambient"),
        ("annex.md", "reached"),
        ("trap.md", "led"),
        ("other.md", "ambient"),
        ("made.md", "reached"),
        ("approved.md", "reached"),
        ("shop.example/list", "named"),
        ("shop.example/list/more", "named"),
        ("shop.example/any", "reached"),
        ("evil.example/any", "ambient"),
        ("trap.example/any", "led"),
        ("deep.md", "led"),
        ("note.md", "ambient"),
        ("ab", "ambient"),
        ("abc", "ambient"),
        ("ab-1", "named"),
        ("a1", "ambient"),
    ],
)
def test_the_standing_of_what_is_read(name: str, standing: str) -> None:
    session = opened(
        "Read plan.md, ab, abc, ab-1, a1, quarterly figures and https://shop.example/list"
    )
    session = after(session, read("plan.md"), "see annex.md")
    session = after(session, Call("m", "mail", {}), "see trap.md, trap.example/any")
    session = after(session, read("trap.md"), {"id": "deep.md"})
    session = after(session, Call("m", "mail", {}), {"id": "note.md"})
    session = after(session, Call("k", "make", {"name": "made.md"}), "done")
    session = after(session, read("plan.md"), "pay approved.md")
    asked = session.propose([Call("p", "pay", {"to": "approved.md"})], NOW)
    session, _ = session.approved(asked, "ada")
    source = last(after(session, read(name), "x")).source
    assert source is not None
    assert source.standing == standing


@pytest.mark.parametrize(
    ("call", "author", "web"),
    [
        (read("x"), "public", None),
        (Call("w", "web", {"url": "x"}), "public", True),
        (Call("k", "make", {"name": "x"}), "member", None),
        (Call("o", "order", {}), "public", None),
        (Call("n", "nothing", {}), "public", None),
    ],
)
def test_a_result_is_of_the_author_that_the_policy_says(
    call: Call, author: str, web: bool | None
) -> None:
    source = last(after(opened(), call, "x")).source
    assert source is not None
    assert (source.author, source.web) == (author, web)


@pytest.mark.parametrize(
    ("tool", "hours", "standing"), [("web", 0, "reached"), ("web", 1, "led"), ("read", 0, "led")]
)
def test_what_a_person_approved_may_be_read_by_that_tool_until_that_ends(
    tool: str, hours: int, standing: str
) -> None:
    session = opened("Look around", spec={"provenance": "open"}, scope=["web"])
    session = after(session, Call("m", "mail", {}), "see other.md")
    asked = session.propose([Call("p", "web", {"url": "other.md"})], NOW)
    session, _ = session.approved(asked, "ada", NOW + timedelta(hours=1))
    later = NOW + timedelta(hours=hours)
    args = {"url": "other.md"} if tool == "web" else {"name": "other.md"}
    session = allowed(session, Call("r", tool, args), as_of=later)
    source = last(session.ran("r", CallResult("completed", "x"), later).session).source
    assert source is not None
    assert source.standing == standing


def test_what_was_read_in_one_batch_does_not_lift_its_neighbours() -> None:
    session = allowed(opened(), read("plan.md", "1"), read("annex.md", "2"))
    session = session.ran("1", CallResult("completed", "see annex.md"), NOW).session
    session = session.ran("2", CallResult("completed", "x"), NOW).session
    source = last(session).source
    assert source is not None
    assert source.standing == "ambient"


def test_nothing_that_came_in_one_batch_lifts_what_comes_last() -> None:
    session = allowed(opened(), read("plan.md", "1"), read("x", "2"), read("annex.md", "3"))
    for id_, said in (("1", "see annex.md"), ("2", "y"), ("3", "z")):
        session = session.ran(id_, CallResult("completed", said), NOW).session
    source = last(session).source
    assert source is not None
    assert source.standing == "ambient"


def test_a_late_result_is_judged_by_what_came_before_it() -> None:
    session = allowed(opened(), read("plan.md", "1"), read("annex.md", "2"))
    session = session.ran("1", CallResult("completed", "see annex.md"), NOW).session
    session = after(session, read("plan.md", "3"), "see other.md")
    session = session.said("annex.md is fine")
    session = session.ran("2", CallResult("completed", "x"), NOW).session
    source = last(session).source
    assert source is not None
    assert source.standing == "named"


@pytest.mark.parametrize(
    ("result", "contents"),
    [
        (CallResult("completed", "x"), ["x"]),
        (CallResult("completed"), [None]),
        (CallResult("failed"), []),
        (CallResult("failed", error="e"), ["e"]),
        (CallResult("unknown", "x", "e"), ["x", "e"]),
    ],
)
def test_what_a_call_returned_is_evidence(result: CallResult, contents: list[Any]) -> None:
    session = opened()
    before = len(session.trail)
    session = allowed(session, Call("o", "order", {})).ran("o", result, NOW).session
    items = session.trail.items[before:]
    assert [item.content for item in items] == contents
    kind = "order" if result.status == "completed" else "failed_result"
    assert all(item.classification == kind for item in items)
    assert [item.id for item in items] == [f"call/{n}" for n in range(1, len(items) + 1)]


def test_the_default_class_is_made_of_the_ids() -> None:
    assert last(after(opened(), read("plan.md"), "x")).classification == "result:a.read"
    long = SessionTool.of(
        ToolCapability(adapter_id="a" * 128, capability_id="b", approval_mode="read_only")
    )
    assert long.result_class == "result"
    prefix = len("result:a.")
    for length, fits in ((128 - prefix, True), (129 - prefix, False), (128, False)):
        made = tool("n" * length, adapter_id="a").result_class
        assert made == (f"result:a.{'n' * length}" if fits else "result")


def test_what_expires_needs_a_time_and_ends_within_the_calendar() -> None:
    session = allowed(opened(), Call("o", "order", {}))
    with pytest.raises(ValueError, match="as_of"):
        session.ran("o", CallResult("completed", "x"))
    item = last(session.ran("o", CallResult("completed", "x"), NOW).session)
    assert item.expires_at == NOW + timedelta(seconds=60)
    forever = {"order": tool("order", expires_after_s=2**53 - 1)}
    session = allowed(opened(tools=forever), Call("o", "order", {}))
    item = last(session.ran("o", CallResult("completed", "x"), NOW).session)
    assert item.expires_at is not None
    assert item.expires_at.year == 9999


def test_what_has_expired_leads_nowhere() -> None:
    tools = {**TOOLS, "read": tool("read", arg_roles={"name": "locator"}, expires_after_s=60)}
    session = after(opened(tools=tools), read("plan.md"), "see annex.md")
    later = NOW + timedelta(seconds=60)
    session = allowed(session, read("annex.md"), as_of=later)
    source = last(session.ran("r", CallResult("completed", "x"), later).session).source
    assert source is not None
    assert source.standing == "led"


@pytest.mark.parametrize(
    ("call", "subject"),
    [
        (read("https://shop.example/x"), "read shop.example/x"),
        (Call("w", "web", {"url": ["b.example", "a.example"]}), "web b.example a.example"),
        (Call("m", "mail", {"name": "x"}), "mail"),
        (Call("n", "nothing", {"name": "x"}), "nothing"),
        (read("x" * 75), f"read {'x' * 75}"),
        (read("x" * 76), f"read {'x' * 75}"),
    ],
)
def test_a_result_says_what_it_is_of(call: Call, subject: str) -> None:
    assert last(after(opened(), call, "x")).subject == subject


# Plans.


def test_a_step_pins_the_fresh_items_that_its_tool_demands() -> None:
    session = after(opened(), Call("o", "order", {}), {"id": "x"})
    batch = session.propose([Call("f", "refund", {}), read("plan.md")], NOW)
    assert [step.evidence_refs for step in batch.proposal.plan.steps] == [("call/1",), None]
    late = session.propose([Call("f", "refund", {})], NOW + timedelta(seconds=60))
    assert late.proposal.plan.steps[0].evidence_refs is None


def test_a_step_pins_the_fresh_items_that_its_tool_binds_and_has_its_estimate() -> None:
    binds = tool("send", "delegated", bound_args={"of": ["order"]})
    session = after(opened(tools={**TOOLS, "send": binds}), Call("o", "order", {}), {"id": "x"})
    for estimate in (None, 7):
        (step,) = session.propose([Call("s", "send", {"of": "x"}, estimate)], NOW).plan.steps
        assert step.evidence_refs == ("call/1",)
        assert isinstance(step, ToolStep)
        assert step.estimated_tokens == estimate


def test_steps_that_demand_one_class_pin_the_same_items() -> None:
    session = after(opened(), Call("o", "order", {}), {"id": "x"})
    batch = session.propose([Call("f", "refund", {}), Call("g", "refund", {"of": 1})], NOW)
    assert [step.evidence_refs for step in batch.proposal.plan.steps] == [("call/1",)] * 2


def test_the_words_of_the_operator_are_evidence_too() -> None:
    session = Session.opened(
        rules(), "s", "Pay the usual", system="The usual is x-300", scope=["pay"]
    )
    assert [item.id for item in session.trail.items] == ["operator/1", "user/1"]
    assert verify_proposal(session.propose([Call("p", "pay", {"to": "x-300"})]).proposal).ok


def test_what_the_spec_requires_one_step_pins() -> None:
    terms = EvidenceItem(id="terms", classification="terms")
    session = opened(spec={"required_evidence": ("terms",)}, evidence=(terms,))
    batch = session.propose([read("a", "1"), read("b", "2")], NOW)
    assert [step.evidence_refs for step in batch.proposal.plan.steps] == [("terms",), None]
    assert verify_proposal(batch.proposal).ok


def test_a_plan_id_is_the_digest_of_session_turn_and_calls() -> None:
    plan = opened().propose([read("plan.md", "1"), read("x", "2")]).proposal.plan
    names = {"calls": ["1", "2"], "session": "s", "turn": 1}
    assert plan.plan_id == sha256(canonical_json(names)).hexdigest()


def test_a_plan_id_is_of_one_occurrence() -> None:
    session = opened()
    plans = [
        session.propose([read("plan.md", "1")]),
        session.propose([read("plan.md", "2")]),
        allowed(session, read("x")).propose([read("plan.md", "1")]),
        Session.opened(rules(), "t", "x").propose([read("plan.md", "1")]),
    ]
    assert len({batch.proposal.plan.plan_id for batch in plans}) == 4


def test_the_manifest_holds_the_tools_of_the_batch_in_the_order_of_the_policy() -> None:
    batch = opened().propose([Call("1", "pay", {}), read("x"), Call("2", "nothing", {})])
    listed = batch.proposal.compiled.manifests.tool_manifest
    assert [one.capability_id for one in listed] == ["read", "pay"]


def test_no_tool_is_reached_under_the_name_of_another() -> None:
    tools = {"other": tool("hidden", adapter_id="unknown")}
    batch = opened(tools=tools).propose([Call("1", "hidden", {}), Call("2", "other", {})])
    verdict = verify_proposal(batch.proposal)
    assert isinstance(verdict, Refused)
    assert verdict.kind == "violates_decision_spec"
    assert verdict.offending_step == 0


@given(st.permutations(range(4)))
def test_the_order_of_calls_in_a_batch_does_not_matter(order: list[int]) -> None:
    calls = [
        Call("0", "pay", {"to": "x-100"}),
        Call("1", "pay", {"to": "x-200"}),
        Call("2", "web", {"url": "evil.example/x"}),
        read("plan.md", "3"),
    ]
    verdict = verify_proposal(opened().propose([calls[at] for at in order], NOW).proposal)
    assert isinstance(verdict, Refused)
    found = {(order[one.offending_step or 0], one.kind) for one in verdict.violations}
    assert found == {(1, "missing_evidence"), (2, "missing_evidence")}


def test_a_batch_has_calls_with_ids_of_their_own() -> None:
    for calls in ([], [read("a"), read("b")]):
        with pytest.raises(ValueError, match="id of its own"):
            opened().propose(calls)
    with pytest.raises(ValueError, match="id of its own"):
        allowed(opened(), read("a")).propose([read("b")])


def test_a_batch_is_within_the_budget_of_the_policy() -> None:
    for budget in (None, RunBudget(max_steps=2)):
        batch = opened(budget=budget).propose([read("a")], NOW)
        assert batch.ctx.run_budget == (budget or RunBudget(max_steps=100, bucket_tokens=1000))


@pytest.mark.parametrize(
    ("output", "made"),
    [
        ({"id": "n-1", "kind": "note"}, ["n-1"]),
        ('{"id": "n-1", "kind": "note"}', ["n-1"]),
        ({"id": "n-1"}, []),
        ("n-1", []),
    ],
)
def test_a_result_that_is_no_record_of_its_class_shows_nothing_made(
    output: Any, made: list[str]
) -> None:
    """What misses the schema is a text: whoever wrote it must not choose what is own."""
    note = EvidenceClass(class_="note", fields={}, schema_={"required": ["kind"]})
    result = ToolResult(author="member", format="json", makes={"/id": "note"})
    tools = {**TOOLS, "mail": tool("mail", result_class="note", result=result)}
    without_schema = ["n-1"] if "id" in output else []
    for classes, shown in (((note,), made), (None, without_schema)):
        session = after(opened(tools=tools, classes=classes), Call("m", "mail", {}), output)
        own = session.propose([read("a")], NOW).ctx.wire()["session"].get("own", [])
        assert own == [{"kind": "note", "value": one} for one in shown]


# Facts.


def test_facts_are_those_of_allowed_calls() -> None:
    session = opened()
    batch = session.propose([Call("w", "web", {"url": "https://evil.example/x"})], NOW)
    refused = session.decided(batch, "refuse", verify_proposal(batch.proposal), "d")
    assert refused.ledger == session.ledger
    session = after(session, Call("k", "make", {"name": "a.md"}), "saved a.md and b.md")
    session = session.said("look at https://shop.example/x")
    session = after(session, Call("w", "web", {"url": "https://shop.example/x"}), "x")
    facts = session.ledger.facts("s", 3)
    assert facts.own == (OwnValue(kind="text", value="a.md"),)
    assert facts.sent == (
        SentValues(seq=1, values=("a.md",)),
        SentValues(seq=3, values=("https://shop.example/x",)),
    )
    assert [one.capability_id for one in facts.ran or ()] == ["make", "web"]


def test_what_only_a_shadow_let_through_gives_no_authority() -> None:
    forge = tool("forge", "network", arg_roles={"name": "locator"}, result=MAKES)
    for scope, own in (([], ()), (["forge"], ("plan.md",))):
        session = opened(scope=scope, tools={**TOOLS, "forge": forge})
        calls = [Call("k", "forge", {"name": "plan.md"})]
        if not scope:
            calls.append(Call("p", "pay", {"to": "x-999"}))
        session = allowed(session, *calls)
        ended = session.ran("k", CallResult("completed", "x"), NOW).session
        assert tuple(one.value for one in ended.ledger.facts("s", 2).own or ()) == own
        ran = ended.ledger.facts("s", 2).ran
        assert ran == ((ToolName(adapter_id="a", capability_id="forge"),) if own else None)


def test_what_only_reads_or_says_nothing_sends_nothing_and_what_is_unknown_does() -> None:
    calls = [read("plan.md", "r"), Call("w", "wipe", {})]
    assert allowed(opened(), *calls).ledger.facts("s", 2).sent is None
    session = allowed(opened(), *calls, Call("n", "nothing", {"x": "y-1"}))
    assert session.ledger.facts("s", 2).sent == (SentValues(seq=1, values=("y-1",)),)
    ended = session.ran("n", CallResult("completed", "x"), NOW).session
    assert ended.ledger.facts("s", 2).ran is None


def test_a_destructive_call_is_noted_by_tool_arguments_and_id() -> None:
    made = Call("w", "wipe", {"what": "disk-1"})
    session = allowed(opened("wipe disk-1"), made, Call("k", "make", {"name": "a.md"}))
    digest_of = sha256(canonical_json({"what": "disk-1"})).hexdigest()
    names = {"adapter_id": "a", "capability_id": "wipe"}
    assert session.ledger.spent().calls == (SpentCall(**names, args_digest=digest_of, id="w"),)


def test_what_a_failed_call_returned_is_not_its_own_work() -> None:
    session = allowed(opened(), Call("k", "make", {"name": "a.md"}))
    session = session.ran("k", CallResult("failed", "no room for b.md"), NOW).session
    assert tuple(session.ledger.own) == ()
    assert [one.values for one in session.ledger.sent] == [("a.md",)]


@pytest.mark.parametrize(("status", "counts"), [("failed", 0), ("timed_out", 1), ("unknown", 1)])
def test_a_destructive_call_counts_unless_it_failed(status: Any, counts: int) -> None:
    session = allowed(opened("wipe disk-1"), Call("w", "wipe", {"what": "disk-1"}))
    assert len(session.ledger.spent().calls or ()) == 1
    session = session.ran("w", CallResult(status), NOW).session
    assert len(session.ledger.spent().calls or ()) == counts
    assert tuple(session.ledger.ran) == ()


def test_tokens_are_those_of_the_result_else_what_was_expected() -> None:
    session = allowed(opened(), Call("o", "order", {}), Call("e", "order", {}, 40), read("x"))
    assert session.ledger.tokens == 45
    session = session.ran("e", CallResult("completed", tokens=3), NOW).session
    assert session.ledger.tokens == 8
    session = session.ran("o", CallResult("completed"), NOW).session
    assert session.ledger.tokens == 8


def test_counts_stay_counts_where_an_agent_estimates_the_most() -> None:
    session = allowed(opened(), *(Call(id, "mail", {}, SAFE_INTEGER) for id in "xyz"))
    assert session.ledger.tokens == SAFE_INTEGER
    left = []
    for id, tokens in (("x", 5), ("y", 7), ("z", 0)):
        session = session.ran(id, CallResult("completed", tokens=tokens), NOW).session
        left.append(session.ledger.tokens)
    assert left == [5, 0, 0]
    most = change_fields(session, ledger=change_fields(session.ledger, steps=SAFE_INTEGER - 1))
    after_two = allowed(most, Call("1", "mail", {}), Call("2", "mail", {}))
    assert after_two.ledger.steps == SAFE_INTEGER
    assert after_two.propose([Call("3", "mail", {})], NOW).ctx.spent


def test_only_values_that_asked_are_approved() -> None:
    session = after(
        opened("Read plan.md, pay x-100"), read("plan.md"), "x-200 at https://a.example/b"
    )
    call = Call("p", "pay", {"to": ["x-100", "x-200"], "note": "see https://a.example/b or c-3"})
    session, batch = session.approved(session.propose([call], NOW), "ada")
    (value,) = session.ledger.approved
    (approval,) = batch.ctx.approvals or ()
    assert (approval.approval_id, approval.approver) == ("turn/2", "ada")
    assert (value.value, value.role, value.tool.capability_id) == ("x-200", "recipient", "pay")
    assert value.approval_mode == "delegated"
    assert verify_proposal(batch.proposal).ok
    assert not session.ledger.waived


def test_days_that_asked_are_approved() -> None:
    session = after(
        opened("Read plan.md, pay x-100", scope=["book"]), Call("m", "mail", {}), "2026-05-07"
    )
    call = Call("b", "book", {"to": "x-100", "day": ["2026-05-07", "2026-05-08"], "note": 7})
    batch = session.propose([call], NOW)
    assert not verify_proposal(batch.proposal).ok
    session, batch = session.approved(batch, "ada")
    assert [one.value for one in session.ledger.approved] == ["2026-05-07"]
    assert verify_proposal(batch.proposal).ok


def test_a_yes_to_a_tool_and_a_value_is_of_both_until_it_ends() -> None:
    end = NOW + timedelta(hours=1)
    session = after(
        opened("Read plan.md", spec={"provenance": "open"}, scope=[]), read("plan.md"), "x-200"
    )
    asked = session.propose([Call("p", "pay", {"to": "x-200"})], NOW)
    session, batch = session.approved(asked, "ada", end, approval_id="a1")
    assert [(one.targets, one.expires_at) for one in session.ledger.waived] == [(("x-200",), end)]
    (value,) = session.ledger.approved
    assert (value.value, value.expires_at) == ("x-200", end)
    (approval,) = batch.ctx.approvals or ()
    assert (approval.approval_id, approval.expires_at) == ("a1", end)
    assert approval.context_digest is not None
    assert verify_proposal(batch.proposal).ok
    assert asked.ctx.approvals is None


def test_a_turn_says_why_it_was_refused() -> None:
    session = after(opened(), Call("n", "nothing", {}), "x")
    batch = session.propose([Call("p", "pay", {"to": "x-900"})], NOW)
    session = session.decided(batch, "refuse", verify_proposal(batch.proposal), "d")
    session = after(session, read("plan.md"), "x")
    kinds = [(turn.action, turn.kind) for turn in session.turns]
    assert kinds == [
        ("allow", "violates_decision_spec"),
        ("refuse", "missing_evidence"),
        ("allow", None),
    ]


def test_a_yes_to_a_tool_waives_the_scope() -> None:
    session = opened("To x-100", scope=[])
    session, batch = session.approved(
        session.propose([Call("p", "pay", {"to": "x-100"})], NOW), "ada"
    )
    assert [one.targets for one in session.ledger.waived] == [("x-100",)]
    assert session.ledger.approved == ()
    assert verify_proposal(batch.proposal).ok


def test_a_result_is_of_an_open_call() -> None:
    with pytest.raises(KeyError):
        opened().ran("x", CallResult("completed"))


@pytest.mark.parametrize("name", ["a", "_", "0-:/#@+=~.", "Z" * 128, "mail/7@x.example#1"])
def test_a_session_whose_id_is_an_identifier_has_it_for_a_trace(name: str) -> None:
    assert Session.opened(rules(), name, "x").trace_id == name
    other = Session.opened(rules(), f"{name} ", "x").trace_id
    assert (other[:8], len(other)) == ("session:", 72)


@pytest.mark.parametrize("name", ["Bob", "bob", "5x", "_x", "xBob", "x5", "x_", "x-~=+@#/:."])
def test_an_identifier_is_its_own_trace(name: str) -> None:
    assert Session.opened(rules(), name, "x").trace_id == name
    for other in (f"-{name}", f".{name}", f"{name} "):
        assert Session.opened(rules(), other, "x").trace_id.startswith("session:")


@pytest.mark.parametrize(("form", "more"), [("{}a", "_"), ("a{}", "_.:/#@+=~-")])
def test_each_ascii_character_is_one_of_an_identifier_or_not(form: str, more: str) -> None:
    names = [form.format(chr(code)) for code in range(128)]
    kept = [name for name in names if Session.opened(rules(), name, "x").trace_id == name]
    letters = string.ascii_letters + string.digits + more
    assert {*kept} == {form.format(one) for one in letters}


@pytest.mark.parametrize("earlier", [0, 1, 2, 5])
def test_a_turn_that_is_answered_late_stays_in_its_place(earlier: int) -> None:
    session = opened().after_life(earlier, Spent())
    first = session.propose([Call("p", "pay", {"to": "x-999"})], NOW)
    verdict = verify_proposal(first.proposal)
    session = session.decided(first, "ask", verdict, "1" * 64)
    session = allowed(session, read("plan.md", "2"))
    session = allowed(session, read("plan.md", "3"))
    session = session.decided(first, "refuse", verdict, "1" * 64)
    found = [(one.turn - earlier, one.action) for one in session.turns]
    assert found == [(1, "refuse"), (2, "allow"), (3, "allow")]


def test_a_whole_run_declares_what_is_required_and_what_there_is() -> None:
    session = opened(spec={"required_outputs": ("x", "y")})
    known = session.rules, session.ledger, session.trace_id
    run = make_whole_run(known, (), {"y": 1, "z": 2}, is_measured=True)
    assert run.proposal.plan.declared_outputs == ("x", "y", "z")


def test_a_trace_is_an_identifier_of_the_session_alone() -> None:
    names = ["s", "a session", "session:x", "session:" + "0" * 64, "s" * 129]
    traces = [Session.opened(rules(), name, "x").trace_id for name in names]
    assert traces[0] == "s"
    assert len({*traces}) == len(names)
    assert all(len(trace) == 72 for trace in traces[1:])


# Reports.


def closed(session: Session, **outputs: Any) -> Closed:
    return session.closed(outputs, NOW)


def test_a_session_without_calls_is_completed_where_nothing_is_required() -> None:
    report = closed(opened()).report
    assert (report.status, report.rationale) == ("completed", "all scores passed; 0 turns")
    assert closed(opened(spec={"required_outputs": ("x",)})).report.status == "partial"


def test_a_report_names_what_failed() -> None:
    session = opened(spec={"required_outputs": ("x", "y")})
    report = closed(session, z=1).report
    assert report.rationale == ("utility fail: required output x is missing (and 1 more); 0 turns")


def test_a_batch_that_failed_policy_refuses_the_session() -> None:
    session = after(opened(), Call("n", "nothing", {}), "x")
    report = closed(session).report
    assert report.status == "refused_by_critic"
    assert report.turns[0].policy == "fail"
    assert "turn 1: call 0" in report.rationale


@pytest.mark.parametrize(("estimate", "spent"), [(None, 5), (0, 5), (4, 5), (6, 6)])
def test_an_estimate_below_the_least_of_a_tool_does_not_save_tokens(
    estimate: int | None, spent: int
) -> None:
    session = allowed(opened(), Call("o", "order", {}, estimate))
    assert session.ledger.tokens == spent
    ended = session.ran("o", CallResult("completed", "x", tokens=1), NOW).session
    assert ended.ledger.tokens == 1


def test_measures_are_over_the_whole_and_of_every_call() -> None:
    budget = RunBudget(max_steps=9, bucket_tokens=100, wall_ms=10, cost_micros=5)
    measured = {"tokens": 60, "duration_ms": 8, "cost_micros": 2}
    session = after(opened(budget=budget), read("plan.md"), "x", **measured)
    scores = closed(session).report.scores
    assert (scores.latency.status, scores.cost.status) == ("pass", "pass")
    twice = closed(after(session, read("plan.md"), "x", **measured)).report.scores
    assert (twice.latency.status, twice.cost.status) == ("warn", "warn")
    unmeasured = closed(after(session, read("plan.md"), "x")).report.scores
    assert "was not measured" in unmeasured.latency.findings[0].message


@pytest.mark.parametrize("tokens", [None, 0, 8001, 1_000_000])
def test_a_session_without_a_budget_is_quiet_about_what_it_took(tokens: int | None) -> None:
    default = RunBudget(max_steps=100, bucket_tokens=DEFAULT_SESSION_TOKENS)
    session = allowed(opened(default_budget=default), read("plan.md", "r"))
    ran = session.ran("r", CallResult("completed", "x", tokens=tokens), NOW)
    assert ran.ended is not None
    assert ran.ended.score.scorecard.scores.cost.status == "pass"
    report = closed(ran.session).report
    assert report.rationale == "all scores passed; 1 turn"


def test_a_session_over_the_default_budget_says_so() -> None:
    default = RunBudget(max_steps=100, bucket_tokens=DEFAULT_SESSION_TOKENS)
    session = after(opened(default_budget=default), read("plan.md"), "x", tokens=1_000_001)
    assert closed(session).report.scores.cost.status == "warn"


def test_calls_whose_results_never_came_are_scored_when_it_closes() -> None:
    session = allowed(opened(), read("plan.md", "1"), read("x", "2"))
    session = session.ran("2", CallResult("completed", "x"), NOW).session
    result = closed(session)
    (ended,) = result.ended
    assert [(call.step, call.status) for call in ended.run.calls] == [
        (1, "completed"),
        (0, "unknown"),
    ]
    assert result.report.turns[0].policy == "pass"


def test_an_ended_batch_is_a_run_of_its_turn_with_what_is_known_of_its_calls() -> None:
    session = allowed(after(opened(), read("plan.md"), "x"), read("a", "1"), read("b", "2"))
    session = session.ran("2", CallResult("completed", "x"), NOW).session
    (ended,) = closed(session).ended
    assert ended.run.run_id == "turn/2"
    assert ended.verdict == verify_proposal(ended.batch.proposal)
    names = {"adapter_id": "a", "capability_id": "read", "attempt": 1}
    assert ended.run.wire()["calls"] == [
        {**names, "step": 1, "args": {"name": "b"}, "status": "completed", "output": "x"},
        {
            **names,
            "step": 0,
            "args": {"name": "a"},
            "status": "unknown",
            "error": "no result was reported",
        },
    ]


def test_a_call_costs_the_same_however_many_calls_are_awaited() -> None:
    def calls_of_functions(awaited: int) -> int:
        session = opened()
        for number in range(awaited):
            session = allowed(session, read("plan.md", f"r{number}"))
        count = 0

        def note(_frame: FrameType, event: str, _arg: object) -> None:
            nonlocal count
            count += event == "call"

        session.propose([read("plan.md", "first")], NOW)
        sys.setprofile(note)
        try:
            session.propose([read("plan.md", "next")], NOW)
        finally:
            sys.setprofile(None)
        return count

    assert calls_of_functions(20) == calls_of_functions(2)


def test_what_was_not_measured_of_every_call_is_not_measured() -> None:
    budget = RunBudget(max_steps=9, bucket_tokens=100, wall_ms=10)
    session = allowed(opened(budget=budget), read("plan.md", "1"), read("x", "2"))
    session = session.ran("2", CallResult("completed", "x", duration_ms=2), NOW).session
    for whole in (session, opened(budget=budget)):
        latency = closed(whole).report.scores.latency
        assert "was not measured" in latency.findings[0].message


def test_what_must_not_leave_fails_the_batch_that_a_shadow_let_through() -> None:
    keys = EvidenceItem(id="keys", classification="keys", content="the-secret-key")
    more = EvidenceItem(id="more", classification="more", content="another-secret")
    session = opened(spec={"confined_evidence": ("keys",)}, evidence=(keys, more))
    for text, status in (("the-secret-key", "fail"), ("another-secret", "pass")):
        session = after(session, Call("w", "web", {"url": f"plan.md?{text}"}), "x")
        assert session.turns[-1].safety == status
    assert closed(session).report.status == "refused_by_critic"


@pytest.mark.parametrize("strays", [(0,), (1,), (0, 1), ()])
def test_what_must_not_leave_fails_the_batch_of_a_call_that_was_changed(
    strays: tuple[int, ...],
) -> None:
    """Only then is the run scored against all that was seen: else against what its score needs."""
    keys = EvidenceItem(id="keys", classification="keys", content="the-secret-key")
    session = opened(spec={"confined_evidence": ("keys",)}, evidence=(keys,))
    session = allowed(session, *(Call(f"{at}", "web", {"url": "plan.md"}) for at in (0, 1)))
    sent = OtherCall("a", "web", {"url": "plan.md?the-secret-key"})
    for at in (0, 1):
        result = CallResult("completed", "x", sent=sent if at in strays else None)
        session, ended = session.ran(f"{at}", result, NOW)
    assert session.turns[-1].safety == ("fail" if strays else "pass")
    assert ended is not None
    assert ("proposal" in vars(ended.batch)) == bool(strays)


def test_what_must_not_leave_refuses_a_session_that_gives_it_out() -> None:
    keys = EvidenceItem(id="keys", classification="keys", content="the-secret-key")
    session = opened(spec={"confined_evidence": ("keys",)}, evidence=(keys,))
    for output, status in (("the-secret-key", "refused_by_critic"), ("none", "completed")):
        report = closed(session, x=output).report
        assert (report.status, report.closed_at) == (status, NOW)
        safety = report.scores.safety
        assert (safety.score < 1, safety.status == "fail") == (status != "completed",) * 2


def test_a_session_is_not_changed_by_what_is_made_of_it() -> None:
    session = opened()
    before = json.dumps(state_of(session).wire())
    closed(after(session.said("more"), read("plan.md"), "x"))
    assert json.dumps(state_of(session).wire()) == before
    assert session_of(session.rules, state_of(session)).trail.items == session.trail.items


def test_the_facts_of_a_session_name_it_by_its_whole_id() -> None:
    """Ids of 256 characters that differ in the last one are of two sessions."""
    ids = [f"{'s' * 255}{end}" for end in "ab"]
    sessions = [Session.opened(rules(), one, "Pay x-100") for one in ids]
    batches = [one.propose([read("plan.md")], NOW) for one in sessions]
    facts = [one.proposal.ctx.session for one in batches]
    assert [one.id if one else None for one in facts] == ids


def test_what_an_earlier_life_sent_was_sent_before_all_that_a_second_one_sees() -> None:
    """So the first result that shows it is an echo, however late it was sent then."""
    sent = [SentValues(seq=seq, values=(f"ORD-{seq}",)) for seq in (0, 1, 40)]
    second = opened().after_life(2, Spent(), sent)
    assert [one.seq for one in second.ledger.sent] == [len(second.trail.items)] * 3
    assert [one.values for one in second.ledger.sent] == [one.values for one in sent]


# What a batch is told, and what names it.


def test_a_batch_is_told_whom_the_session_is_for() -> None:
    session = Session.opened(rules(), "s", "Read plan.md", tenant_id="acme", user_id="ada")
    ctx = session.propose([read("plan.md")], NOW).ctx
    assert (ctx.tenant_id, ctx.user_id) == ("acme", "ada")
    assert opened().propose([read("plan.md")], NOW).ctx.user_id is None


def test_one_call_of_an_awaited_id_is_enough_to_refuse_a_batch_but_a_plan() -> None:
    session = allowed(opened(), read("plan.md", "a"))
    calls = [read("plan.md", "a"), read("plan.md", "b")]
    with pytest.raises(ValueError, match="an id of its own"):
        session.propose(calls, NOW)
    assert len(session.propose(calls, NOW, is_plan=True).calls) == len(calls)


def test_a_yes_tells_of_no_late_values_unless_they_were_shown() -> None:
    session = opened()
    batch = session.propose([Call("p", "pay", {"to": "x-100"})], NOW)
    plain, late = session.approved(batch, "ada"), session.approved(batch, "ada", late=True)
    told = [one.ctx.approvals[0].late for _, one in (plain, late) if one.ctx.approvals]
    assert told == [None, True]


def test_a_batch_of_a_later_life_is_scored_in_its_own_turn() -> None:
    session = opened().after_life(3, Spent(steps=0, tokens=0))
    session = after(after(session, read("plan.md", "a"), "x"), read("plan.md", "b"), "y")
    assert [(one.turn, one.policy) for one in session.turns] == [(4, "pass"), (5, "pass")]


def test_what_a_caller_changes_later_is_in_no_batch() -> None:
    """Not in its calls, by which they count as made, nor in its plan, which was ruled on."""
    inner, args = ["x-1"], {"what": {"ids": ["x-1"]}}
    batch = opened().propose([Call("w", "wipe", {"what": {"ids": inner}})], NOW)
    (step,) = batch.plan.steps
    assert isinstance(step, ToolStep)
    inner.append("x-2")
    assert (batch.calls[0].args, step.args) == (args, args)
    step.args["what"]["ids"].append("x-3")
    assert batch.calls[0].args == args


def test_the_facts_of_a_command_are_the_sessions_own() -> None:
    session, links = Session.opened(shell_rules(), "s", "List the files"), {"/w": "/w"}
    batch = session.propose([run("ls", links=links)], NOW)
    links["/w"] = "/etc"
    assert batch.calls[0].shell == {**FACTS, "links": {"/w": "/w"}}
