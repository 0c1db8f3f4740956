"""Every repair by example: what each refusal of the refund plan is answered with."""

import hashlib

import pytest

from evals.canonical_json import canonical_json
from tests.critic.repairs.advising import (
    ORDER,
    PAYS,
    PRODUCE_BOTH,
    REASON,
    WINDOW,
    Change,
    advice_on,
    completed,
    ctx_with,
    evidence_with,
    more_steps,
    plan_with,
    said,
    spec_with,
    step_with,
)
from tests.support.examples import good_proposal, proposal_of, refused_proposal
from tests.support.judging import judge_proposal
from tests.support.model.facts import Json

PLANNERS: dict[str, tuple[Change, list[Json]]] = {
    "undeclared": (
        plan_with(declared_outputs=["refund_amount_inr"]),
        [{"kind": "declare_output", "output": "refund_reason_class"}],
    ),
    "unproducible": (
        lambda wire: plan_with(steps=wire["plan"]["steps"][:1])(wire),
        PRODUCE_BOTH,
    ),
    "foreign trace": (
        plan_with(trace_id="other"),
        [{"kind": "set_trace", "trace_id": "trace_refund_881"}],
    ),
    "unsurfaced": (
        more_steps({**REASON, "kind": "tool", "adapter_id": "x", "capability_id": "y"}),
        [{"kind": "drop_step", "step": 2}],
    ),
    "broken args": (
        step_with(0, args={"id": 1, "more/~": 2}),
        [
            {"kind": "correct_args", "step": 0, "path": "/steps/0/args"},
            {"kind": "correct_args", "step": 0, "path": "/steps/0/args/id"},
        ],
    ),
    "unpinned class": (
        step_with(1, evidence_refs=[ORDER]),
        [
            {
                "kind": "pin_evidence",
                "step": 1,
                "classification": "refund_window_evidence",
                "candidates": [WINDOW],
            }
        ],
    ),
    "unbacked, evidence is there": (
        step_with(1, evidence_refs=[WINDOW]),
        [
            {"kind": "back_argument", "step": 1, "argument": name, "candidates": [ORDER]}
            for name in ("amount_inr", "id")
        ],
    ),
    "unbacked, made up": (
        step_with(1, args={"id": "pay_8861", "amount_inr": 24501}),
        [{"kind": "correct_args", "step": 1, "path": "/steps/1/args/amount_inr"}],
    ),
    "forged": (
        step_with(0, evidence_refs=["kg:forged", ORDER]),
        [{"kind": "unpin_evidence", "step": 0, "ref": "kg:forged"}],
    ),
    "claim of the step's own": (
        step_with(0, requires_evidence=["nothing_such", "order_record"], evidence_refs=[ORDER]),
        [{"kind": "drop_claim", "step": 0, "classification": "nothing_such"}],
    ),
    "class that the spec wants": (
        lambda wire: spec_with(required_evidence=["order_record"])(
            plan_with(steps=[], declared_outputs=[])(spec_with(required_outputs=[])(wire))
        ),
        [{"kind": "pin_evidence", "classification": "order_record", "candidates": [ORDER]}],
    ),
    "late dependency": (
        step_with(0, depends_on=["refund"]),
        [{"kind": "drop_dependency", "step": 0, "dependency": "refund"}],
    ),
    "repeated id": (step_with(1, id="lookup"), [{"kind": "drop_id", "step": 1}]),
    "repeated destructive call": (
        lambda wire: more_steps({**wire["plan"]["steps"][1], "id": "again"})(wire),
        [{"kind": "drop_step", "step": 2}],
    ),
    "too many steps": (more_steps(*[REASON] * 12), [{"kind": "shorten", "steps": 2}]),
    "too many tokens": (
        more_steps({**REASON, "estimated_tokens": 8000}, REASON),
        [{"kind": "save_tokens", "tokens": 600, "steps": [2]}],
    ),
}


@pytest.mark.parametrize("name", PLANNERS)
def test_the_planner_gets_its_own_repairs(name: str) -> None:
    change, repairs = PLANNERS[name]
    proposal = proposal_of(change(good_proposal()))
    assert said(proposal) == ("replan", repairs)
    assert judge_proposal(completed(proposal, advice_on(proposal)))


def args_digest(args: Json) -> str:
    return hashlib.sha256(canonical_json(args)).hexdigest()


ALLOW_BOTH = [{**one, "kind": "allow_tool"} for one in PRODUCE_BOTH]

OTHERS: dict[str, tuple[Change, list[Json]]] = {
    "a tool above the safety mode that alone lists what is required": (
        ctx_with(safety_mode="network"),
        [{"kind": "drop_step", "step": 1}, *ALLOW_BOTH],
    ),
    "a tool above the ceiling that alone lists what is required": (
        spec_with(approval_mode="network"),
        [{"kind": "drop_step", "step": 1}, *ALLOW_BOTH],
    ),
    "a call to add that needs approval": (
        lambda wire: plan_with(steps=wire["plan"]["steps"][:1])(
            spec_with(approval_required_from="destructive")(wire)
        ),
        [*PRODUCE_BOTH, {"kind": "ask_approval", "tier": "destructive", "steps": [1]}],
    ),
    "a destructive call that an earlier plan made": (
        lambda wire: ctx_with(
            spent={
                "calls": [
                    {
                        "adapter_id": "adp_payments",
                        "capability_id": PAYS,
                        "args_digest": args_digest(wire["plan"]["steps"][1]["args"]),
                    }
                ]
            }
        )(wire),
        [{"kind": "ask_approval", "tier": "destructive", "steps": [1]}],
    ),
    "approval never given": (
        spec_with(approval_required_from="read_only"),
        [
            {"kind": "ask_approval", "tier": "read_only", "steps": [0]},
            {"kind": "ask_approval", "tier": "destructive", "steps": [1]},
        ],
    ),
    "evidence that is nowhere": (
        evidence_with("order_record"),
        [
            {"kind": "unpin_evidence", "step": 1, "ref": WINDOW},
            {
                "kind": "obtain_evidence",
                "step": 1,
                "classifications": ["refund_window_evidence"],
                "content": "satisfies the content_schema and holds argument id at /payment_id",
            },
        ],
    ),
    "evidence for an argument that cannot be left out": (
        evidence_with("refund_window_evidence"),
        [
            {"kind": "unpin_evidence", "step": 1, "ref": ORDER},
            {"kind": "obtain_evidence", "step": 1, "classifications": ["order_record"]},
        ],
    ),
    "evidence that the spec wants": (
        spec_with(required_evidence=["order_record", "nothing_such"]),
        [{"kind": "obtain_evidence", "classifications": ["nothing_such"]}],
    ),
    "no step left": (
        ctx_with(spent={"steps": 12}),
        [{"kind": "grant_budget", "of": "steps", "by_how_much": 2}],
    ),
    "no token left": (
        ctx_with(spent={"tokens": 8000}),
        [{"kind": "grant_budget", "of": "tokens", "by_how_much": 600}],
    ),
    "more steps spent than can be counted on from": (
        ctx_with(spent={"steps": 2**53 - 1}, run_budget={"max_steps": 0}),
        [{"kind": "grant_budget", "of": "steps", "by_how_much": 2**53 - 1}],
    ),
    "nothing left at all": (
        ctx_with(spent={"steps": 13, "tokens": 9000}),
        [
            {"kind": "grant_budget", "of": "steps", "by_how_much": 3},
            {"kind": "grant_budget", "of": "tokens", "by_how_much": 1600},
        ],
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_others_are_asked_for_what_only_they_can_give(name: str) -> None:
    change, repairs = OTHERS[name]
    disposition, found = said(proposal_of(change(good_proposal())))
    assert disposition == "reject"
    assert sorted(map(repr, found)) == sorted(map(repr, repairs))


def test_plan_a_is_repaired_into_a_plan_that_passes() -> None:
    proposal = proposal_of(refused_proposal())
    advice = advice_on(proposal)
    assert advice.disposition == "replan"
    assert judge_proposal(completed(proposal, advice))
