"""Advice where evidence says something else than is demanded: pin, correct, or obtain."""

from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from critic.repairs import options as means
from tests.critic.repairs.advising import advice_on, call, item, repaired, said, small
from tests.evals.test_evidence import arguments, items_of, tools
from tests.support.effort import examples
from tests.support.judging import judge_proposal
from tests.support.model.facts import Json
from tests.support.patience import PATIENT

OPEN: Json = {"class": "k", "content_schema": {"properties": {"open": {"const": True}}}}
ABOUT: Json = {**OPEN, "about": {"x": "/id"}}
DEMANDS: Json = {"requires_evidence": [OPEN]}
IS_ABOUT: Json = {"requires_evidence": [ABOUT]}
GROUP: Json = {
    "bound_args": {
        "x": {"from": ["k"], "at": ["/x"]},
        "y": {"from": ["k"], "at": ["/y"], "optional": True},
    },
    "bound_together": [["x", "y"]],
}


def correct(name: str = "") -> Json:
    return {"kind": "correct_args", "step": 0, "path": f"/steps/0/args{name}"}


def pin(*refs: str, name: str = "k") -> Json:
    return {"kind": "pin_evidence", "step": 0, "classification": name, "candidates": [*refs]}


def obtain(content: str = "", *names: str) -> Json:
    wanted = {"kind": "obtain_evidence", "step": 0, "classifications": [*(names or ["k"])]}
    return {**wanted, "content": content} if content else wanted


BOTH: Json = {"requires_evidence": [{**OPEN, "about": {"x": "/id", "y": "/n"}}]}
PLAIN: Json = {"requires_evidence": ["l", OPEN]}
NO_CLASS: Json = {"bound_args": {"x": {"from": []}}}
BOUND: Json = {"bound_args": {"x": {"from": ["k"]}}}

SATISFIES = "satisfies the content_schema"
HOLDS = f"{SATISFIES} and holds argument x at /id"
ITEMS: dict[str, Json] = {
    "shut": item("shut", content={"open": False, "id": 1}),
    "open": item("open", content={"open": True, "id": 1}),
    "else": item("else", content={"open": True, "id": 2}),
    "bare": item("bare"),
    "old": item("old", content={"open": True, "id": 1}, expires_at="2026-01-01T00:00:00Z"),
    "other": item("other", "l"),
    "a": item("a", content={"x": 1, "y": 1}),
    "b": item("b", content={"x": 2, "y": 2}),
}


@pytest.mark.parametrize(
    ("tool", "listed", "pinned", "args", "repairs"),
    [
        (DEMANDS, "shut open else", "shut", {}, [pin("open", "else")]),
        (DEMANDS, "shut open else", "", {}, [pin("open", "else")]),
        (DEMANDS, "shut bare", "shut", {}, [obtain(SATISFIES)]),
        (DEMANDS, "", "", {}, [obtain(SATISFIES)]),
        (IS_ABOUT, "shut open else", "else", {"x": 1}, [pin("open")]),
        (IS_ABOUT, "shut else", "else", {"x": 1}, [correct("/x")]),
        (IS_ABOUT, "shut open", "open", {}, [correct()]),
        (IS_ABOUT, "shut", "shut", {"x": 1}, [obtain(HOLDS)]),
        (BOTH, "else", "else", {"x": 1, "y": 1}, [correct()]),
        (PLAIN, "open other", "", {}, [pin("other", name="l"), pin("open")]),
        (NO_CLASS, "a", "a", {}, [correct()]),
        (BOUND, "", "", {"x": 1}, [obtain()]),
        (GROUP, "a b", "a", {}, [correct()]),
        (GROUP, "a b", "a", {"x": ""}, [correct("/x")]),
        (GROUP, "", "", {}, [obtain()]),
        (GROUP, "a b", "a", {"x": 3}, [correct("/x")]),
        (GROUP, "a b", "a b", {"x": 1, "y": 2}, [correct()]),
        (
            GROUP,
            "a b",
            "a",
            {"x": 2, "y": 2},
            [
                {"kind": "back_argument", "step": 0, "argument": name, "candidates": ["b"]}
                for name in "xy"
            ],
        ),
    ],
)
def test_evidence_is_pinned_or_the_args_corrected_or_evidence_obtained(
    tool: Json, listed: str, pinned: str, args: Json, repairs: list[Json]
) -> None:
    steps = [call(args=args, evidence_refs=pinned.split())]
    items = [ITEMS[name] for name in listed.split()]
    proposal = small(tools=[tool], items=items, steps=steps)
    by_operator = any(one["kind"] == "obtain_evidence" for one in repairs)
    assert said(proposal) == ("reject" if by_operator else "replan", repairs)
    assert bool(judge_proposal(repaired(proposal, advice_on(proposal)))) is not by_operator


def test_where_the_looks_end_the_planner_looks_unless_there_is_nothing_to_look_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(means, "_LOOK_UPS", 0)
    tool = {"requires_evidence": [OPEN, {**OPEN, "class": "l"}]}
    steps = [call(args={"x": 1})]
    assert said(small(tools=[DEMANDS], items=[ITEMS["open"]], steps=steps)) == (
        "replan",
        [correct()],
    )
    assert said(small(tools=[tool], items=[ITEMS["open"]], steps=steps)) == (
        "reject",
        [correct(), obtain(SATISFIES, "l")],
    )


def test_one_item_for_a_group_is_pinned_where_each_argument_is_backed_apart() -> None:
    both = item("both", content={"x": 1, "y": 2})
    proposal = small(
        tools=[GROUP],
        items=[ITEMS["a"], ITEMS["b"], both],
        steps=[call(args={"x": 1, "y": 2}, evidence_refs=["a", "b"])],
    )
    back = {"kind": "back_argument", "step": 0, "argument": "x", "candidates": ["both"]}
    assert said(proposal) == ("replan", [back])
    assert judge_proposal(repaired(proposal, advice_on(proposal)))


def test_a_group_is_backed_by_evidence_of_a_class_of_each_argument() -> None:
    held = {"x": 1, "y": 2}
    bound = {**GROUP["bound_args"], "x": {"from": ["l", "k"], "at": ["/x"]}}
    items = [ITEMS["a"], ITEMS["b"], item("only_x", "l", content=held), item("both", content=held)]
    proposal = small(
        tools=[{**GROUP, "bound_args": bound}],
        items=items,
        steps=[call(args=held, evidence_refs=["a", "b"])],
    )
    back = {"kind": "back_argument", "step": 0, "argument": "x", "candidates": ["both"]}
    assert said(proposal) == ("replan", [back])
    assert judge_proposal(repaired(proposal, advice_on(proposal)))


def test_the_evidence_of_a_step_is_looked_for_once_however_many_faults_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(means, "_LOOK_UPS", 3)
    both = item("both", content={"x": 1, "y": 2})
    proposal = small(
        tools=[GROUP],
        items=[ITEMS["a"], ITEMS["b"], both],
        steps=[call(args={"x": 1, "y": 2}, evidence_refs=["a", "b", "gone"])],
    )
    unpin = {"kind": "unpin_evidence", "step": 0, "ref": "gone"}
    back = {"kind": "back_argument", "step": 0, "argument": "x", "candidates": ["both"]}
    assert said(proposal) == ("replan", [unpin, back])


def test_what_is_dropped_needs_no_evidence() -> None:
    look = {"approval_mode": "read_only", "produces": ["seen"], **DEMANDS}
    proposal = small(
        tools=[{"produces": ["r"]}, look],
        steps=[call(), call(1)],
        declares=["r"],
        required_outputs=["r"],
    )
    assert said(proposal) == ("replan", [{"kind": "drop_step", "step": 1}])


@settings(PATIENT, max_examples=examples(300))
@given(tools(), items_of(), arguments, st.data())
def test_the_law_of_advice_holds_for_what_evidence_must_say(
    tool: Json, items: list[Json], args: Json, data: st.DataObject
) -> None:
    refs: Any = st.lists(st.sampled_from(["e0", "e1", "e2", "no"]), max_size=3, unique=True)
    step = call(args=args, evidence_refs=data.draw(refs), requires_evidence=["m"])
    proposal = small(tools=[tool], items=items, steps=[step])
    if judge_proposal(proposal):
        return
    advice = advice_on(proposal)
    event(advice.disposition)
    assert advice.repairs
    alone = all(repair.by == "planner" for repair in advice.repairs)
    assert (advice.disposition == "replan") is alone
    if alone:
        assert judge_proposal(repaired(proposal, advice))
