"""Advice where evidence is short: what is expired, of another class, made up, or nowhere."""

import pytest

from tests.critic.repairs.advising import REASON, advice_on, call, item, repaired, said, small
from tests.support.judging import judge_proposal
from tests.support.model.facts import Json


def correct(name: str) -> Json:
    return {"kind": "correct_args", "step": 0, "path": f"/steps/0/args/{name}"}


def back(*refs: str) -> Json:
    return {"kind": "back_argument", "step": 0, "argument": "x", "candidates": [*refs]}


def obtain(*names: str) -> Json:
    return {"kind": "obtain_evidence", "step": 0, "classifications": [*names]}


BINDS_X: Json = {"bound_args": {"x": ["k"]}}


def test_what_has_expired_is_unpinned_and_something_fresh_is_pinned() -> None:
    proposal = small(
        ctx={"as_of": "2026-01-02T00:00:00Z"},
        tools=[{"requires_evidence": ["k"]}],
        items=[item("e0", expires_at="2026-01-01T00:00:00Z"), item("e1")],
        steps=[call(evidence_refs=["e0"])],
        required_evidence=["k"],
    )
    pin = {"kind": "pin_evidence", "classification": "k", "candidates": ["e1"]}
    unpin = {"kind": "unpin_evidence", "step": 0, "ref": "e0"}
    assert said(proposal) == ("replan", [{**pin, "step": 0}, unpin, pin])
    assert judge_proposal(repaired(proposal, advice_on(proposal)))


def test_what_is_backed_already_needs_no_more() -> None:
    proposal = small(
        tools=[BINDS_X],
        items=[item(f"e{at}", content=[at]) for at in range(3)],
        steps=[call(args={"x": [0, 1]}, evidence_refs=["e0", "e2"])],
    )
    assert said(proposal) == ("replan", [back("e1")])


def test_evidence_of_another_class_backs_nothing() -> None:
    proposal = small(
        tools=[BINDS_X],
        items=[item("e0", "other", content=[0]), item("e1", content=[0])],
        steps=[call(args={"x": 0}, evidence_refs=["e0"])],
    )
    assert said(proposal) == ("replan", [back("e1")])


@pytest.mark.parametrize(
    ("required", "repairs"),
    [
        (["x", "y"], [correct("x"), obtain("m")]),
        (["x"], [correct("x"), correct("y")]),
        (["free"], [correct("x"), correct("y")]),
    ],
)
def test_what_is_made_up_is_corrected_and_what_cannot_be_spared_is_obtained(
    required: list[str], repairs: list[Json]
) -> None:
    proposal = small(
        tools=[{"bound_args": {"x": ["k"], "y": ["m"]}, "args_schema": {"required": required}}],
        items=[item("e0", content=[0])],
        steps=[call(args={"x": 5, "y": 6, "free": 7})],
    )
    assert said(proposal) == ("replan" if repairs[-1] == correct("y") else "reject", repairs)


def test_five_of_many_classes_are_named() -> None:
    names = [f"k{at}" for at in range(7)]
    proposal = small(
        tools=[{"bound_args": {"x": [names[0], *names]}, "args_schema": {"required": ["x"]}}],
        steps=[call(args={"x": 0})],
    )
    assert said(proposal) == ("reject", [obtain(*names[:5])])


def test_a_reason_step_can_produce_whatever_is_declared() -> None:
    proposal = small(tools=[{"produces": []}], steps=[call(), REASON], required_outputs=["o"])
    assert said(proposal) == ("replan", [{"kind": "declare_output", "output": "o"}])


LOOKS: list[Json] = [
    {"produces": ["r"]},
    {"produces": ["looked"], "approval_mode": "read_only", "requires_evidence": ["gone"]},
]


def test_looks_that_only_one_another_need_are_left_out_together() -> None:
    count = 20
    looks = [
        call(1, id=f"s{at}", depends_on=[f"s{at - 1}"][: at - 1]) for at in range(1, count + 1)
    ]
    proposal = small(
        ctx={"run_budget": {"max_steps": 30, "bucket_tokens": 8000}},
        tools=LOOKS,
        steps=[call(), *looks],
        declares=["r"],
        required_outputs=["r"],
    )
    drops = [{"kind": "drop_step", "step": at} for at in range(1, count + 1)]
    assert said(proposal) == ("replan", drops)
    assert judge_proposal(repaired(proposal, advice_on(proposal)))


def test_looks_that_a_step_builds_on_stay() -> None:
    looks = [call(1, id="look"), call(1, id="more", depends_on=["look"])]
    proposal = small(
        tools=LOOKS,
        steps=[*looks, call(depends_on=["more"])],
        declares=["r"],
        required_outputs=["r"],
    )
    lacks = {"kind": "obtain_evidence", "classifications": ["gone"]}
    assert said(proposal) == ("reject", [{**lacks, "step": 0}, {**lacks, "step": 1}])
