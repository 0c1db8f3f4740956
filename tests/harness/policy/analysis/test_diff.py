"""The diff of two policies: its answer, the plans that show it, and what it must never claim."""

import copy
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from critic import Plan, Proposal, Refused, RunContext, Verified, verify, verify_proposal
from evals.json_schemas import compile_schema
from evals.pointers import values_at
from harness.policy import Policy, PolicyTool, diff_policies
from harness.policy.analysis import backing
from harness.policy.analysis.backing import backed_steps
from harness.policy.analysis.policy_diff import PolicyChange, overall
from harness.policy.analysis.policy_effects import effects_on_plans, effects_on_tool, sides_of
from harness.policy.analysis.samples import matching_text, samples
from harness.policy.analysis.witness import Search, Witness
from harness.policy.partial_documents import completed_proposal
from harness.testing.strategies import valid_proposals
from harness.wire import build
from tests.harness.policy.policies import (
    document,
    plain,
    with_guard,
    with_spec,
    with_tool,
)
from tests.support.effort import examples, sampled_rows
from tests.support.patience import PATIENT

Json = dict[str, Any]

SPOKEN = with_tool(with_spec(plain(), provenance=...), requested=...)
BASE = {**SPOKEN, "class": plain()["class"][:1], "accept": []}
ARGS = BASE["tool"][1]["args_schema"]
FREE = with_tool(BASE, bound_args=..., requires_evidence=...)


def policy_of(value: Json) -> Policy:
    return document(value).policy


def with_amount(**schema: Any) -> Json:
    properties = {**ARGS["properties"], "amount": {"type": "integer", **schema}}
    return with_tool(BASE, args_schema={**ARGS, "properties": properties})


def with_formats(to: str, **schema: Any) -> Json:
    properties = {**ARGS["properties"], "to": {"type": "string", "format": to, **schema}}
    return with_tool(BASE, args_schema={**ARGS, "properties": properties})


def changes_of(old: Json, new: Json) -> dict[str, PolicyChange]:
    """Return the changes by subject, after a look at every witness."""
    before, after = policy_of(old), policy_of(new)
    changes = diff_policies(before, after)
    for change in changes:
        if change.looser is not None:
            shows(change.looser, accepting=after, refusing=before)
        if change.tighter is not None:
            shows(change.tighter, accepting=before, refusing=after)
    assert len({change.subject for change in changes}) == len(changes)
    return {change.subject: change for change in changes}


def shows(witness: Witness, accepting: Policy, refusing: Policy) -> None:
    """Judge the document of a witness as `critic verify --policy` does, by both."""
    judged = [
        verify_proposal(build(Proposal, completed_proposal(one, copy.deepcopy(witness.document))))
        for one in (accepting, refusing)
    ]
    assert isinstance(judged[0], Verified)
    assert judged[1] == witness.verdict
    assert isinstance(witness.verdict, Refused)


PAY, READ, PLANS = "tool pay", "tool read_file", "plans"
RATES = BASE["evidence"][0]
FILE = {"id": "customers/1", "classification": "file", "content": {"name": "Emma Johnson"}}
SENT = with_spec(FREE, confined_evidence=["file"])
ROLE_OF = {"to": "recipient", "memo": "content", "amount": "attribute"}
ROLES = with_tool(
    with_spec(FREE, provenance="closed"),
    arg_roles=ROLE_OF,
    follows=[{"adapter_id": "files", "capability_id": "read_file"}],
)

LASTING = {name: value for name, value in RATES.items() if name != "expires_at"}
LATER = {**RATES, "expires_at": "2031-01-01T00:00:00Z"}
OF_RECORD = {"author": "system", "standing": "named"}


def holding(value: Json, *items: Json) -> Json:
    return {**value, "evidence": list(items)}


def with_role(role: Any, mode: str = "closed", tier: str = "delegated") -> Json:
    """Return a policy in which the recipient of a payment has another role, or none."""
    roles = {name: one for name, one in {**ROLE_OF, "to": role}.items() if one is not ...}
    judged = with_spec(ROLES, provenance=mode)
    return with_tool(judged, arg_roles=roles, approval_mode=tier, follows=...)


def with_result(**result: Any) -> Json:
    return with_tool(BASE, result=result)


def with_fresh(seconds: int | None) -> Json:
    """Return a policy whose receipts are fresh for so long by their class."""
    one, *others = BASE["class"]
    limit = {} if seconds is None else {"fresh_s": seconds}
    return {**with_tool(BASE, expires_after_s=...), "class": [{**one, **limit}, *others]}


WRITES: Json = {"author": "member", "format": "json"}
LOOSER = [
    (with_tool(BASE, expires_after_s=60), BASE),
    (BASE, with_tool(BASE, expires_after_s=...)),
    (with_fresh(60), with_fresh(600)),
    (with_fresh(600), with_fresh(None)),
    (with_tool(BASE, result=...), with_result(author="member")),
    (with_result(**WRITES), with_result(**{**WRITES, "author": "system"})),
    (with_result(**WRITES, web=True), with_result(**WRITES)),
    (with_result(**WRITES), with_result(**WRITES, makes={"memo": "note"})),
    (
        with_result(**WRITES, makes={"memo": "note"}),
        with_result(**WRITES, makes={"memo": "note", "to": "account"}),
    ),
]
"""What is believed more, counts for longer or makes more, the looser one second."""

CHANGES = [
    ("equal", PAY, BASE, BASE),
    # Its arguments.
    ("tighter", PAY, BASE, with_amount(minimum=1, maximum=100)),
    ("tighter", PAY, BASE, with_amount(minimum=1, maximum=500, multipleOf=7)),
    ("both", PAY, BASE, with_amount(minimum=10, maximum=900)),
    ("looser", PAY, BASE, with_tool(BASE, args_schema=...)),
    ("looser", PAY, BASE, with_tool(BASE, args_schema={**ARGS, "additionalProperties": True})),
    ("both", PAY, BASE, with_tool(BASE, args_schema={**ARGS, "required": ["to", "memo"]})),
    ("tighter", PAY, BASE, with_tool(BASE, args_schema=False)),
    ("equal", PAY, BASE, with_tool(BASE, args_schema={**ARGS, "description": "pays"})),
    ("tighter", PAY, BASE, with_formats(to="email")),
    ("tighter", PAY, with_formats(to="email"), with_formats(to="email", enum=["a@b.co"])),
    # Its evidence.
    ("looser", PAY, BASE, with_tool(BASE, bound_args=...)),
    ("looser", PAY, BASE, FREE),
    ("tighter", PAY, BASE, with_tool(BASE, requires_evidence=["bill", "rate_table"])),
    ("tighter", PAY, BASE, with_tool(BASE, bound_args={"amount": ["bill"], "to": ["bill"]})),
    ("looser", PAY, BASE, with_tool(BASE, bound_args={"amount": ["bill", "rate_table"]})),
    ("both", PAY, FREE, with_tool(FREE, requires_evidence=["bill"], args_schema=...)),
    # Its tier, and what is asked of tiers.
    ("tighter", PAY, BASE, with_tool(BASE, approval_mode="destructive")),
    ("equal", PAY, BASE, with_tool(BASE, approval_mode="network")),
    ("tighter", PAY, BASE, with_guard(BASE, safety_mode="network")),
    ("tighter", PAY, BASE, with_spec(BASE, approval_mode="network")),
    ("tighter", PAY, BASE, with_spec(BASE, approval_required_from="delegated")),
    ("equal", PAY, BASE, with_spec(BASE, approval_required_from=...)),
    ("tighter", PAY, BASE, with_tool(BASE, min_tokens=500)),
    # A tool that is new or gone, or that cannot run.
    ("tighter", PAY, BASE, {**BASE, "tool": BASE["tool"][:1]}),
    ("looser", PAY, {**BASE, "tool": BASE["tool"][:1]}, BASE),
    (
        "equal",
        PAY,
        with_guard(BASE, safety_mode="network"),
        with_guard(with_tool(BASE, args_schema=...), safety_mode="network"),
    ),
    # Plans as a whole.
    ("equal", PLANS, BASE, BASE),
    ("looser", PLANS, BASE, with_spec(BASE, required_outputs=[])),
    ("tighter", PLANS, BASE, with_spec(BASE, required_outputs=["receipt", "letter"])),
    ("tighter", PLANS, BASE, with_spec(BASE, required_evidence=["rate_table"])),
    ("tighter", PLANS, BASE, with_guard(BASE, budget={"max_steps": 3, "bucket_tokens": 200000})),
    ("tighter", PLANS, BASE, with_guard(BASE, budget={"max_steps": 40, "bucket_tokens": 9})),
    ("tighter", PLANS, BASE, {**BASE, "evidence": []}),
    ("both", PLANS, BASE, {**BASE, "evidence": [{**RATES, "classification": "rates"}]}),
    ("equal", PLANS, BASE, {**BASE, "evidence": [{**RATES, "snapshot": "v2"}]}),
    ("tighter", PLANS, BASE, with_guard(BASE, budget=...)),
    # How long evidence is fresh.
    ("tighter", PLANS, holding(BASE, LASTING), BASE),
    ("looser", PLANS, BASE, holding(BASE, LATER)),
    ("equal", PAY, BASE, holding(BASE, LATER)),
    *(
        (change, subject, holding(value, *old), holding(value, *new))
        for value in (
            with_tool(BASE, requires_evidence=["rate_table"]),
            with_tool(FREE, bound_args={"amount": ["rate_table"]}),
        )
        for subject in (PAY, PLANS)
        for change, old, new in (
            ("tighter", [LASTING], [LATER]),
            ("tighter", [LATER], [RATES]),
            ("looser", [RATES], [LASTING]),
            ("tighter", [RATES], []),
        )
    ),
    *(
        ("tighter", subject, holding(ROLES, {**old, "source": OF_RECORD}), holding(ROLES, new))
        for new in ({**RATES, "source": OF_RECORD},)
        for old in (LASTING, LATER)
        for subject in (PAY, PLANS)
    ),
    ("equal", PAY, holding(SENT, LASTING, FILE), holding(SENT, RATES, FILE)),
    # Where values come from.
    ("looser", PAY, with_role("recipient"), with_role("object")),
    ("both", PAY, with_role("recipient", tier="network"), with_role("object", tier="network")),
    ("looser", PAY, with_role("recipient", "open"), with_role("object", "open")),
    ("looser", PAY, with_role("recipient"), with_role("locator")),
    ("tighter", PAY, with_role("recipient"), with_role("secret")),
    ("looser", PAY, with_role("recipient"), with_role("code")),
    ("looser", PAY, with_role("recipient"), with_role("attribute")),
    ("looser", PAY, with_role("object"), with_role("locator")),
    ("both", PAY, with_role("object"), with_role("code")),
    ("both", PAY, with_role("attribute"), with_role("locator")),
    ("tighter", PAY, ROLES, with_tool(ROLES, arg_roles={**ROLE_OF, "memo": "recipient"})),
    ("tighter", PAY, ROLES, with_tool(ROLES, follows=...)),
    ("looser", PAY, ROLES, with_spec(ROLES, party_recipients="allow")),
    ("looser", PAY, ROLES, with_spec(ROLES, provenance="open")),
    ("looser", PAY, ROLES, with_spec(ROLES, provenance=...)),
    ("not decided", READ, ROLES, with_tool(ROLES, 0, arg_roles={"path": "object"})),
    ("equal", READ, ROLES, with_tool(ROLES, 1, arg_roles=...)),
    ("equal", PAY, ROLES, {**ROLES, "evidence": [{**RATES, "content": {"eur": 2}}]}),
    # The scope: of tools that are asked for by name.
    ("looser", PAY, ROLES, with_guard(ROLES, scope="all")),
    ("tighter", PAY, with_guard(ROLES, scope=["pay"]), with_guard(ROLES, scope=["read_file"])),
    ("looser", PAY, ROLES, with_tool(ROLES, requested="always")),
    ("equal", PAY, with_tool(ROLES, requested="always"), with_guard(ROLES, scope=["pay"])),
    ("equal", READ, ROLES, with_guard(ROLES, scope=["read_file"])),
    ("equal", PAY, BASE, with_guard(BASE, scope="all")),
    # Confined content.
    ("tighter", PAY, SENT, {**SENT, "evidence": [RATES, FILE]}),
    ("equal", READ, SENT, {**SENT, "evidence": [RATES, FILE]}),
    # The guard.
    ("looser", "guard", BASE, with_guard(BASE, budget=...)),
    ("looser", "guard", BASE, with_guard(BASE, shadow=True)),
    ("tighter", "guard", BASE, with_guard(BASE, on_ask="refuse")),
    ("both", "guard", BASE, with_guard(BASE, on_refusal="halt", max_questions=9)),
    # What no plan shows, and is so by order.
    *(("looser", PAY, one, other) for one, other in LOOSER),
    # What no plan shows.
    ("not decided", PAY, BASE, with_tool(BASE, yields="other")),
    ("not decided", PAY, BASE, with_result(author="system")),
    ("not decided", PAY, BASE, with_result(author="user", format="json")),
    ("not decided", PLANS, BASE, with_spec(BASE, output_schemas={"receipt": False})),
]
NAMED = [
    ("fresh_s of class payment_receipt (no plan shows it)", with_fresh(60), with_fresh(600)),
    ("expires_after_s (no plan shows it)", BASE, with_tool(BASE, expires_after_s=...)),
    ("result.author (no plan shows it)", BASE, with_result(author="public", format="json")),
    (
        "result.makes (no plan shows it)",
        BASE,
        with_result(author="system", format="json", makes={"memo": "note"}),
    ),
    ("arg_kinds", ROLES, with_tool(ROLES, arg_kinds={"to": "account"})),
    ("may_be_empty", ROLES, with_tool(ROLES, may_be_empty=["to"])),
    ("spec.party_recipients", ROLES, with_spec(ROLES, party_recipients="allow")),
    ("fields of class payment_receipt", ROLES, {**ROLES, "class": [{"name": "payment_receipt"}]}),
    (
        "schema of class payment_receipt",
        ROLES,
        {**ROLES, "class": [{**ROLES["class"][0], "schema": {"type": "array"}}]},
    ),
    (
        "fields of class mail",
        ROLES,
        {**ROLES, "class": [*ROLES["class"], {"name": "mail", "fields": {"sender": "party"}}]},
    ),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("what", "old", "new"), NAMED)
def test_a_change_is_named_by_its_member(what: str, old: Json, new: Json) -> None:
    assert changes_of(old, new)[PAY].changed == (what,)


def test_an_example_of_a_class_decides_nothing() -> None:
    one = {**ROLES["class"][0], "example": {"id": "7"}}
    assert overall(changes_of(ROLES, {**ROLES, "class": [one]}).values()) == "equal"


def test_trust_in_parties_is_of_tools_with_a_recipient() -> None:
    writes = {"adapter_id": "a", "capability_id": "w", "approval_mode": "local_write"}
    old = {**ROLES, "tool": [*ROLES["tool"], {**writes, "arg_roles": {"x": "attribute"}}]}
    changes = changes_of(old, with_spec(old, party_recipients="allow"))
    assert changes["tool w"].change == "equal"


REVERSED = {"tighter": "looser", "looser": "tighter"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("change", "subject", "old", "new"), sampled_rows(CHANGES, one_in=2))
def test_each_change_is_named_and_shown(change: str, subject: str, old: Json, new: Json) -> None:
    assert changes_of(old, new)[subject].change == change
    assert changes_of(new, old)[subject].change == REVERSED.get(change, change)


def test_equal_policies_are_equal_in_every_part() -> None:
    changes = changes_of(BASE, BASE)
    assert list(changes) == ["tool read_file", PAY, PLANS, "guard"]
    assert {change.change for change in changes.values()} == {"equal"}
    assert overall(changes.values()) == "equal"


def test_only_the_tools_that_changed_are_named() -> None:
    changes = changes_of(BASE, with_guard(BASE, safety_mode="network"))
    assert {name: one.change for name, one in changes.items() if one.change != "equal"} == {
        PAY: "tighter"
    }


@pytest.mark.parametrize(
    ("known", "total"),
    [
        (["equal", "looser"], "looser"),
        (["tighter", "equal"], "tighter"),
        (["looser", "tighter"], "both"),
        (["both", "equal"], "both"),
        (["not decided", "equal"], "not decided"),
        (["not decided", "looser"], "looser"),
        ([], "equal"),
    ],
)
def test_the_whole_is_what_its_parts_come_to(known: list[Any], total: str) -> None:
    assert overall(PolicyChange("x", change) for change in known) == total


@pytest.mark.parametrize(
    ("undecided", "total"),
    [
        (("looser",), "not decided"),
        (("looser", "tighter"), "not decided"),
        (("tighter",), "tighter"),
    ],
)
def test_the_whole_is_tighter_only_if_nothing_may_be_looser(
    undecided: tuple[Any, ...], total: str
) -> None:
    open_ = PolicyChange("x", "not decided", undecided=undecided)
    assert overall([PolicyChange("y", "tighter"), open_]) == total
    assert overall([PolicyChange("y", "looser"), open_]) == "looser"
    assert overall([PolicyChange("y", "tighter", undecided=("looser",))]) == "not decided"


def test_a_kind_of_links_is_looser_where_it_names_the_pages_below() -> None:
    old = with_tool(ROLES, arg_roles={"to": "object"}, arg_kinds=...)
    change = changes_of(old, with_tool(old, arg_kinds={"to": "url"}))[PAY]
    assert change.looser is not None


def test_a_direction_that_nothing_shows_is_not_decided() -> None:
    odd = with_amount(minimum=1, maximum=500, **{"not": {"const": 17}})
    (change,) = (one for one in changes_of(BASE, odd).values() if one.change != "equal")
    assert change.change in ("tighter", "not decided")
    assert "looser" not in change.undecided, "the schema library proves that it cannot be looser"


def demanding(count: int, **tool: Any) -> Json:
    demands = [{"class": "c", "content_schema": {"required": [f"n{n}"]}} for n in range(count)]
    return with_tool(FREE, requires_evidence=demands, **tool)


@pytest.mark.parametrize(("count", "change"), [(3, "tighter"), (400, "not decided")])
def test_a_tool_of_very_many_demands_is_not_searched(
    count: int, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each demand has contents that meet it and not the other policy's: their product is a cost."""
    sampled = list[Any]()
    monkeypatch.setattr(backing, "samples", lambda schema: [*samples(schema), *noted(schema)])

    def noted(schema: Any) -> list[Any]:
        sampled.append(schema)
        return []

    changes = changes_of(demanding(count), demanding(count, min_tokens=300_000))
    assert changes[PAY].change == change
    assert len(sampled) == (count * (count + 1) if change == "tighter" else 0)


def test_a_witness_can_be_small() -> None:
    change = changes_of(FREE, with_tool(FREE, min_tokens=300_000))[PAY]
    assert change.tighter is not None
    (step,) = change.tighter.document["plan"]["steps"][:1]
    assert step["args"] == {"to": "a", "amount": 1}
    assert change.tighter.reason == "budget_exceeded: plan exceeds bucket_tokens"


def test_what_is_confined_by_one_policy_is_sent_under_the_other() -> None:
    confined = policy_of(with_spec(FREE, confined_evidence=["rate_table"]))
    search = Search(policy_of(FREE), confined)
    tool = policy_of(FREE).tools["pay"]
    plans = list(search._plans(tool, tool))
    sent = [
        (plan["steps"][0]["args"], facts.evidence)
        for plan, facts in plans
        if "confidential rate_table" in plan["steps"][0].get("args", {}).values()
    ]
    assert sent
    assert all("confined/rate_table" in [item["id"] for item in items] for _, items in sent)


TARGETS = ("recipient", "object", "attribute", "locator", "secret", "code", "content", "time", ...)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("tier", ["network", "delegated"])
@pytest.mark.parametrize("mode", ["closed", "open"])
def test_no_plan_shows_what_a_change_of_roles_may_not_do(mode: str, tier: str) -> None:
    for one, other in combinations(TARGETS, 2):
        old, new = (policy_of(with_role(role, mode, tier)) for role in (one, other))
        (effect,) = (
            effect
            for effect in effects_on_tool(sides_of(old, new), ("bank", "send_money"))
            if effect.what == "arg_roles"
        )
        pair = ("bank", "send_money")
        if not effect.tighter:
            assert Search(old, new, tools=200).for_tool(pair) is None, (one, other)
        if not effect.looser:
            assert Search(new, old, tools=200).for_tool(pair) is None, (one, other)


def test_a_yes_to_a_value_in_one_role_counts_in_no_other() -> None:
    old, new = policy_of(with_role("recipient")), policy_of(with_role("object"))
    pair = {"adapter_id": "bank", "capability_id": "send_money"}
    given = {"value": "acct-9911", "role": "recipient", "tool": pair, "approval_mode": "delegated"}
    session = {"id": "s", "turn": 2, "approved": [given]}
    ctx = build(RunContext, {"trace_id": "t", "safety_mode": "destructive", "session": session})
    step = {"kind": "tool", **pair, "args": {"to": "acct-9911", "amount": 1}}
    plan = build(Plan, {"steps": [step], "declared_outputs": ["receipt"]})
    ctx = ctx.model_copy(update={"scope": [given["tool"]]})
    assert isinstance(verify(ctx, old.compiled(), old.spec, plan), Verified)
    assert isinstance(verify(ctx, new.compiled(), new.spec, plan), Refused)
    effects = effects_on_tool(sides_of(old, new), ("bank", "send_money"))
    assert any(effect.tighter for effect in effects)


# --- the proofs -------------------------------------------------------------------------------


def policy_like(proposal: Proposal) -> Json:
    manifests = proposal.compiled.manifests.wire()
    budget = proposal.ctx.run_budget
    return {
        "guard": {
            "safety_mode": proposal.ctx.safety_mode,
            "budget": budget.wire() if budget else {},
        },
        "spec": proposal.spec.wire(),
        "tool": [
            {**tool, "name": f"t{index}"} for index, tool in enumerate(manifests["tool_manifest"])
        ],
        "evidence": manifests["evidence_manifest"],
    }


MODES = ["read_only", "local_write", "network", "delegated", "destructive"]
OF_TOOL: dict[str, list[Any]] = {
    "approval_mode": MODES,
    "requires_evidence": [..., [], ["e"], ["f", "e"]],
    "bound_args": [..., {}, {"a": ["e"]}, {"a": ["e", "f"], "x": ["f"]}],
    "bound_together": [..., [["a"]], [["a", "x"]], [["x"], ["a", "x"]]],
    "args_schema": [
        *(..., True, False, {"type": "object", "required": ["a"]}),
        {"additionalProperties": {"format": "email"}},
    ],
    "arg_roles": [
        *(..., {"a": "content", "x": "locator"}, {"a": "locator"}, {"/a/0": "recipient"}),
        *({"a": role} for role in ("recipient", "object", "attribute", "secret", "code", "time")),
    ],
    "produces": [..., [], ["o"], ["extra"]],
    "min_tokens": [..., 0, 10, 7990],
}
OF_SPEC: dict[str, list[Any]] = {
    "required_outputs": [[], ["o"], ["extra"]],
    "required_evidence": [..., ["e"]],
    "approval_mode": [..., *MODES],
    "approval_required_from": [..., *MODES],
    "provenance": [..., "closed", "open"],
    "confined_evidence": [..., ["e"], ["e", "f"]],
}


def others_of(items: list[Json]) -> list[list[Json]]:
    """Return the evidence with one fewer, of another class, and with other content."""
    kept = items[1:]
    changed = [{**item, **change} for item in items[:1] for change in ALTERED]
    return [kept, *([item, *kept] for item in changed)]


ALTERED: list[Json] = [
    *({"classification": "f"}, {"content": "something else"}, {"snapshot": "v9"}),
    *({"expires_at": f"{year}-01-01T00:00:00Z"} for year in (1990, 2025, 2026, 2090)),
]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Policy, Policy, Proposal]:
    """Draw a policy, another one with a few changes, and a plan that passes the first."""
    proposal = draw(valid_proposals())
    value = policy_like(proposal)
    assume(not any(item["id"].startswith(("call/", "user/")) for item in value["evidence"]))
    changed = value
    for name in draw(
        st.lists(st.sampled_from([*OF_TOOL, *OF_SPEC, "evidence", "mode"]), max_size=3)
    ):
        if name in OF_TOOL and changed["tool"]:
            index = draw(st.integers(0, len(changed["tool"]) - 1))
            changed = with_tool(changed, index, **{name: draw(st.sampled_from(OF_TOOL[name]))})
        elif name in OF_SPEC:
            changed = with_spec(changed, **{name: draw(st.sampled_from(OF_SPEC[name]))})
        elif name == "evidence":
            changed = {**changed, "evidence": draw(st.sampled_from(others_of(value["evidence"])))}
        elif name == "mode":
            changed = with_guard(changed, safety_mode=draw(st.sampled_from(MODES)))
    return policy_of(value), policy_of(as_bound(changed)), proposal


def as_bound(value: Json) -> Json:
    """Return the policy with the groups whose arguments are all bound: others are invalid."""
    for index, tool in enumerate(value["tool"]):
        bound, groups = {*tool.get("bound_args", ())}, tool.get("bound_together", ())
        kept = [group for group in groups if bound.issuperset(group)]
        value = with_tool(value, index, bound_together=kept or ...)
    return value


def test_a_changed_policy_keeps_the_groups_that_are_still_bound() -> None:
    grouped = with_tool(
        FREE, bound_args={"to": ["bill"], "memo": ["bill"]}, bound_together=[["to", "memo"], ["to"]]
    )
    assert as_bound(grouped) == grouped
    fewer = as_bound(with_tool(grouped, bound_args={"to": ["bill"]}))
    assert policy_of(fewer).tools["pay"].bound_together == (("to",),)
    assert (
        policy_of(as_bound(with_tool(grouped, bound_args=...))).tools["pay"]
        == (policy_of(FREE).tools["pay"])
    )


@settings(PATIENT, max_examples=examples(60))
@given(pairs())
def test_what_may_not_be_looser_or_tighter_never_is(drawn: Any) -> None:
    old, new, proposal = drawn
    for accepting, refusing, direction in ((old, new, "tighter"), (new, old, "looser")):
        verdicts = [judged(one, proposal) for one in (accepting, refusing)]
        if not isinstance(verdicts[0], Verified) or not isinstance(verdicts[1], Refused):
            continue
        effects, sides = effects_on_plans(old, new), sides_of(old, new)
        for step in proposal.plan.wire()["steps"]:
            if step["kind"] == "tool":
                effects += effects_on_tool(sides, (step["adapter_id"], step["capability_id"]))
        assert any(getattr(effect, direction) for effect in effects), verdicts[1]


def judged(policy: Policy, proposal: Proposal) -> Verified | Refused:
    ctx: RunContext = proposal.ctx.model_copy(
        update={"safety_mode": policy.guard.safety_mode, "run_budget": policy.guard.budget}
    )
    return verify(ctx, policy.compiled(), policy.spec, proposal.plan)


# --- plans and evidence -----------------------------------------------------------------------

SCHEMA: Json = {
    "type": "object",
    "required": ["id", "to"],
    "properties": {
        "id": {"type": "string", "pattern": "^pay_[0-9]+$"},
        "to": {"$ref": "#/$defs/person"},
        "amount": {"type": "integer", "exclusiveMinimum": 3, "multipleOf": 2},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2},
        "share": {"type": "number", "maximum": 0.4},
        "when": {"format": "date", "type": "string"},
    },
    "$defs": {
        "person": {"type": "object", "required": ["n"], "properties": {"n": {"minLength": 2}}}
    },
}


def test_samples_hold_values_on_both_sides_of_each_bound() -> None:
    valid = compile_schema(SCHEMA).is_valid
    found = samples(SCHEMA)
    assert valid(found[0])
    fitting = [value for value in found if valid(value)]
    for name in SCHEMA["properties"]:
        assert any(name in value for value in fitting), name
    assert len(fitting) < len(found)
    assert found == samples(copy.deepcopy(SCHEMA))


@pytest.mark.parametrize(
    ("schema", "count"),
    [(True, 1), (False, 0), ({"const": 5}, 1), ({"$ref": "#"}, 0), ({"maximum": 1e300}, 1)],
)
def test_samples_of_odd_schemas(schema: Any, count: int) -> None:
    assert len(samples(schema)) >= count


def test_samples_of_a_schema_that_holds_itself_end() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}
    assert {} in samples(tree)
    many = {"type": "object", "properties": {f"p{n}": {"$ref": "#"} for n in range(30)}}
    assert {} in samples(many)


def test_places_that_share_one_schema_keep_what_else_judges_them() -> None:
    shared = {"type": "integer"}
    own = {"properties": {"x": {"const": 11}, "y": {"const": 22}}}
    both = {"properties": {"x": shared, "y": shared}}
    for parts in ([own, both], [both, own]):
        found = samples({"type": "object", "allOf": parts})
        assert {11, 22} <= {value for one in found for value in one.values()}
        assert not any(one.get("x") == 22 or one.get("y") == 11 for one in found)


def test_a_place_is_sampled_once_however_many_lead_to_it() -> None:
    many = {"properties": {name: {"$ref": "#/$defs/n"} for name in "abcd"}}
    found = samples({"$defs": {"n": many}, "$ref": "#/$defs/n"})
    assert any(isinstance(value.get("d"), dict) for value in found if isinstance(value, dict))


@pytest.mark.parametrize(
    "pattern",
    [
        *("^pay_[0-9]+$", r"^\d{3}-[A-Z]{2,4}$", "^(?:a|b)+x?$", r"https?://.*", "^a|b$"),
        *("^[^@]+@x$", r"\.\+", "", "a{2}", r"^\w\s\S$"),
    ],
)
def test_a_simple_pattern_has_a_text(pattern: str) -> None:
    text = matching_text(pattern)
    assert text is not None
    assert compile_schema({"pattern": pattern}).is_valid(text)


@pytest.mark.parametrize("pattern", ["(a(b))", "(", "[z]", "[]]"])
def test_another_pattern_may_have_none(pattern: str) -> None:
    assert matching_text(pattern) is None


def test_evidence_is_built_to_meet_what_is_demanded() -> None:
    content_schema = {"properties": {"open": {"const": True}}, "required": ["open"]}
    tool = PolicyTool(
        adapter_id="a",
        capability_id="b",
        approval_mode="network",
        requires_evidence=[
            {"class": "order", "content_schema": content_schema, "about": {"id": "/order/id"}}
        ],
        bound_args={
            "id": {"from": ["order", "bill"], "at": ["/order/id"]},
            "sum": {"from": ["bill"], "at": ["/lines/*/sum", "/total"]},
            "list": {"from": ["bill"], "at": ["/all/*"]},
            "bare": ["bill"],
        },
        bound_together=[["id", "sum"]],
    )
    args = {"id": "o1", "sum": 7, "list": [1, 2], "bare": "x"}
    steps = list(backed_steps(tool, [args], None))
    apart = steps[-1][1]
    assert [item["classification"] for item in apart] == ["order", "bill", "bill", "bill"]
    assert len({item["id"] for item in apart}) == 4
    step, items = steps[0]
    order, bill = items
    assert step["evidence_refs"] == [order["id"], bill["id"]]
    assert compile_schema(content_schema).is_valid(order["content"])
    assert order["content"]["order"]["id"] == "o1"
    for pointer, values in {
        "/order/id": ["o1"],
        "/lines/*/sum": [7],
        "/all/*": [1, 2],
        "/bare": ["x"],
    }.items():
        assert list(values_at(bill["content"], pointer, wildcard=True)) == values
    assert build(Plan, {"steps": [step], "declared_outputs": []})
