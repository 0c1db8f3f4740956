"""The options for repairs: room, evidence, tools, and how far they are searched."""

from typing import Any

import pytest

from critic.repairs import options as means
from critic.repairs.options import RepairOptions
from critic.surface import ToolEntry, surface_of
from evals.needs import Need
from tests.critic.repairs.advising import item, small
from tests.support.model.facts import Json


def means_of(**parts: Any) -> RepairOptions:
    proposal = small(**parts)
    return RepairOptions(proposal.ctx, surface_of(proposal.compiled), proposal.spec)


def tool_of(having: RepairOptions, at: int = 0) -> ToolEntry:
    return having.surface.tools[("a", f"c{at}")]


@pytest.mark.parametrize(
    ("ctx", "steps", "tokens"),
    [
        ({}, 12, 8000),
        ({"run_budget": {"max_steps": 3}}, 3, 8000),
        ({"run_budget": {"bucket_tokens": 5}}, 12, 5),
        ({"spent": {"steps": 2}}, 10, 8000),
        ({"spent": {"tokens": 7}}, 12, 7993),
        ({"run_budget": {"max_steps": 1}, "spent": {"steps": 2, "tokens": 8001}}, -1, -1),
    ],
)
def test_what_is_left_is_what_is_granted_less_what_is_spent(
    ctx: Json, steps: int, tokens: int
) -> None:
    having = means_of(ctx=ctx)
    assert (having.steps_left, having.tokens_left) == (steps, tokens)


MODES = ("read_only", "local_write", "network", "delegated", "destructive")


@pytest.mark.parametrize("limit", ["safety_mode", "approval_mode", "approval_required_from"])
@pytest.mark.parametrize("mode", MODES)
def test_a_tool_produces_where_it_may_run_without_asking(limit: str, mode: str) -> None:
    tools = [{"approval_mode": one, "produces": ["o"]} for one in MODES]
    bounds: Json = {"ctx": {limit: mode}} if limit == "safety_mode" else {limit: mode}
    named = [one.capability_id for one in means_of(tools=tools, **bounds).producers("o", set())]
    count = MODES.index(mode) + (limit != "approval_required_from")
    assert named == [f"c{at}" for at in range(count or len(MODES))]


def test_a_tool_that_needs_approval_produces_only_where_no_other_does() -> None:
    tools = [{"approval_mode": "delegated", "produces": ["o", "p"]}]
    tools += [{"approval_mode": "read_only", "produces": ["p"]}]
    having = means_of(tools=tools, approval_required_from="network")
    assert [one.capability_id for one in having.producers("o", set())] == ["c0"]
    assert [one.capability_id for one in having.producers("p", set())] == ["c1"]
    assert [one.capability_id for one in having.forbidden_producers("p")] == ["c0", "c1"]
    assert means_of(tools=tools, approval_mode="local_write").producers("o", set()) == ()


def test_the_tool_that_produces_most_of_what_is_wanted_comes_first() -> None:
    tools = [{"produces": ["o"]}, {"produces": ["o", "p"]}, {"produces": ["o", "q", "r"]}]
    having = means_of(tools=tools)
    named = [one.capability_id for one in having.producers("o", {"o", "p"})]
    assert named == ["c1", "c0", "c2"]


def test_what_has_expired_is_not_an_option() -> None:
    items = [
        item("e0", expires_at="2026-01-01T00:00:00Z"),
        item("e1", expires_at="2026-01-03T00:00:00Z"),
        item("e2"),
    ]
    assert means_of(items=items).evidence_for("k") == ("e2",)
    having = means_of(items=items, ctx={"as_of": "2026-01-02T00:00:00Z"})
    assert having.evidence_for("k") == ("e1", "e2")
    assert having.evidence_for("other") == ()


def test_five_of_many_are_named_and_the_first_are() -> None:
    items = [item(f"e{at}", content=["v"]) for at in range(7)]
    tools = [{"produces": ["o"], "bound_args": {"x": ["k"]}} for _ in range(7)]
    having = means_of(items=items, tools=tools)
    first = tuple(f"e{at}" for at in range(5))
    assert having.evidence_for("k") == first
    assert having.evidence_backing(tool_of(having), "x", "v") == first
    assert [one.capability_id for one in having.producers("o", set())] == [
        f"c{at}" for at in range(5)
    ]


def test_what_may_back_an_argument_depends_on_the_tool_and_on_the_argument() -> None:
    bound = [{"x": ["k", "l", "k"], "y": ["l"]}, {"x": ["l"]}]
    items = [item("e0", "l", content=["v"]), item("e1", "k", content=["v"])]
    having = means_of(items=items, tools=[{"bound_args": args} for args in bound])
    places = [(0, "x"), (0, "y"), (1, "x")]
    expected = [("e1", "e0"), ("e0",), ("e0",)]
    assert [
        having.evidence_backing(tool_of(having, at), name, "v") for at, name in places
    ] == expected
    allowed = [having.allowed_evidence(tool_of(having, at), name) for at, name in places]
    assert [tuple(one.id for one in items) for items in allowed] == expected
    again = [having.allowed_evidence(tool_of(having, at), name) for at, name in places]
    assert all(one is other for one, other in zip(allowed, again, strict=True)), "gathered twice"


def test_a_boolean_is_not_a_number() -> None:
    items = [item("e0", content=[1]), item("e1", content=[True])]
    having = means_of(items=items, tools=[{"bound_args": {"x": ["k"]}}])
    values = (1, True, 1.0)
    found = [having.evidence_backing(tool_of(having), "x", value) for value in values]
    assert found == [("e0",), ("e1",), ("e0",)]


def looks_needed(*contents: object, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the fewest lookups that find the value in the last of these contents."""
    items = [item(f"e{at}", content=content) for at, content in enumerate(contents)]
    for looks in range(20):
        monkeypatch.setattr(means, "_LOOK_UPS", looks)
        having = means_of(items=items, tools=[{"bound_args": {"x": ["k"]}}])
        if having.evidence_backing(tool_of(having), "x", "v"):
            return looks
    raise AssertionError("never found")


@pytest.mark.parametrize(
    ("contents", "looks"),
    [
        ([["v"]], 1),
        (["v"], 1),
        ([3, True, {"v": 1}, {"x": "v"}], 4),
        (["w " * 2047 + "v"], 1),
        (["w " * 2047 + " v"], 2),
        (["w " * 4096 + "v"], 3),
        (["w" * 4096, "w" * 8192, "v"], 6),
    ],
)
def test_a_look_is_one_and_one_more_for_each_four_kib_of_text(
    contents: list[object], looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert looks_needed(*contents, monkeypatch=monkeypatch) == looks


def test_the_same_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(means, "_LOOK_UPS", 1)
    having = means_of(items=[item("e", content=["v", "w"])], tools=[{"bound_args": {"x": ["k"]}}])
    found = [having.evidence_backing(tool_of(having), "x", value) for value in ("v", "v", "w", "v")]
    assert found == [("e",), ("e",), (), ("e",)]


def test_the_looks_are_exhausted_once_one_was_wanted_in_vain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(means, "_LOOK_UPS", 1)
    having = means_of(items=[item("e", content=["v"])], tools=[{"bound_args": {"x": ["k"]}}])
    told = [having.is_exhausted]
    for value in ("v", "w"):
        having.evidence_backing(tool_of(having), "x", value)
        told.append(having.is_exhausted)
    assert told == [False, False, True]


def test_each_demand_is_looked_for_once_with_each_value(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [item("e", content={"id": "v"}), item("f", "l", content={"id": "v"})]
    about = (("x", "/id"),)
    asked = [(Need(name, None, about), {"x": value}) for name in ("k", "l") for value in ("v", "w")]
    for looks, found in ((4, [("e",), (), ("f",), ()]), (2, [("e",), (), (), ()])):
        monkeypatch.setattr(means, "_LOOK_UPS", looks)
        having = means_of(items=items)
        assert [having.evidence_meeting(*one) for one in asked] == found
        assert [having.evidence_meeting(*one) for one in asked] == found


def test_nothing_is_looked_at_once_enough_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(means, "_LOOK_UPS", 13)
    items = [item(f"e{at}", content=["v"]) for at in range(1000)]
    having = means_of(items=items, tools=[{"bound_args": {"x": ["k"], "y": ["k"], "z": ["k"]}}])
    found = [len(having.evidence_backing(tool_of(having), name, "v")) for name in ("x", "y", "z")]
    assert found == [5, 5, 1]


def test_two_hundred_thousand_looks_are_taken() -> None:
    items = [item(f"e{at}", content=[at]) for at in range(1000)]
    having = means_of(items=items, tools=[{"bound_args": {"x": ["k"]}}])
    tool = tool_of(having)
    assert not any(having.evidence_backing(tool, "x", f"no {at}") for at in range(199))
    assert having.evidence_backing(tool, "x", 999) == ("e999",)
    assert having.evidence_backing(tool, "x", 0) == ()
