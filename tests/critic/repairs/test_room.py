"""Advice where room or a person's yes is short: by exactly how much, and for which steps."""

from collections.abc import Iterator

import pytest

from critic import advise
from critic.checks.violation import Found
from critic.prepared import PreparedPlan, prepare_plan
from critic.repairs import advise as repair
from critic.repairs.repair_kinds import Advice, DropStep
from critic.verify import found_in
from tests.critic.repairs.advising import REASON, call, said, small
from tests.support.model.facts import Json


def ask(tier: str, *steps: int) -> Json:
    return {"kind": "ask_approval", "tier": tier, "steps": [*steps]}


def test_a_plan_of_one_step_or_one_token_too_many_is_one_too_long() -> None:
    proposal = small(steps=[REASON] * 13)
    assert said(proposal) == ("replan", [{"kind": "shorten", "steps": 1}])
    one = {**REASON, "estimated_tokens": 1}
    exact = {"run_budget": {"max_steps": 3, "bucket_tokens": 1}}
    proposal = small(ctx=exact, steps=[one, one, REASON])
    assert said(proposal) == ("replan", [{"kind": "save_tokens", "tokens": 1, "steps": [0]}])


def test_what_a_capability_takes_at_least_counts_as_tokens_to_save() -> None:
    """The second step says that it takes one token, and its tool takes fifty at least."""
    proposal = small(
        ctx={"run_budget": {"bucket_tokens": 20}},
        tools=[{}, {"min_tokens": 50}],
        steps=[call(0, estimated_tokens=10), call(1, estimated_tokens=1), call(1)],
    )
    saving = {"kind": "save_tokens", "tokens": 90, "steps": [1, 2]}
    assert said(proposal) == ("replan", [saving])


def test_a_plan_that_is_just_short_enough_needs_no_more_room() -> None:
    proposal = small(
        ctx={"run_budget": {"max_steps": 2, "bucket_tokens": 5}},
        tools=[{"min_tokens": 5}],
        steps=[call(), REASON],
        approval_required_from="network",
    )
    assert said(proposal) == ("reject", [ask("network", 0)])


@pytest.mark.parametrize(("max_steps", "steps", "short_by"), [(1, 1, 1), (1, 2, 1), (2, 3, 1)])
def test_outputs_that_need_more_steps_than_there_are_need_a_greater_budget(
    max_steps: int, steps: int, short_by: int
) -> None:
    """Each output needs a step of its own: no revision of the planner makes room for them."""
    outputs = [f"o{at}" for at in range(max_steps + 1)]
    proposal = small(
        ctx={"run_budget": {"max_steps": max_steps}},
        tools=[{"produces": [name]} for name in outputs[:-1]],
        steps=[call()] * steps,
        declares=outputs,
        required_outputs=outputs,
    )
    disposition, repairs = said(proposal)
    assert disposition == "reject"
    granted = [one for one in repairs if one["kind"] == "grant_budget"]
    assert granted == [{"kind": "grant_budget", "of": "steps", "by_how_much": short_by}]
    (shortened,) = [one for one in repairs if one["kind"] == "shorten"]
    assert shortened["steps"] <= steps


def test_approvals_are_asked_for_from_the_lowest_mode_up() -> None:
    modes = ["network", "destructive", "read_only", "network"]
    proposal = small(
        tools=[{"approval_mode": mode} for mode in modes],
        steps=[call(at) for at in range(len(modes))],
        approval_required_from="read_only",
    )
    asked = [ask("read_only", 2), ask("network", 0, 3), ask("destructive", 1)]
    assert said(proposal) == ("reject", asked)


def test_an_approval_names_steps_by_where_they_stood() -> None:
    proposal = small(
        tools=[{}], steps=[call(7), REASON, call()], approval_required_from="read_only"
    )
    assert said(proposal) == ("reject", [{"kind": "drop_step", "step": 0}, ask("network", 2)])


def test_what_the_planner_corrects_is_still_for_a_person_to_approve() -> None:
    proposal = small(
        tools=[{"args_schema": {"required": ["x"]}}],
        steps=[call()],
        approval_required_from="network",
    )
    corrected = {"kind": "correct_args", "step": 0, "path": "/steps/0/args"}
    assert said(proposal) == ("reject", [corrected, ask("network", 0)])


def test_what_is_repaired_at_once_is_judged_three_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is, as repaired, and once more as the proof."""
    judged = [0]

    def counted(case: PreparedPlan) -> Iterator[Found]:
        judged[0] += 1
        return found_in(case)

    monkeypatch.setattr(repair, "found_in", counted)
    assert said(small(steps=[REASON] * 13))[0] == "replan"
    assert judged == [3]


def test_advice_that_never_settles_ends_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """After any repair, the first step is still outside the surface."""
    it = small(ctx={"run_budget": {"max_steps": 20}}, steps=[call(), *[REASON] * 19])
    found = [*found_in(prepare_plan(it.ctx, it.compiled, it.spec, it.plan))]
    monkeypatch.setattr(repair, "found_in", lambda _case: iter(found))
    advice = advise(it.ctx, it.compiled, it.spec, it.plan)
    repairs = tuple(DropStep(step=at) for at in range(12))
    assert advice == Advice(disposition="reject", repairs=repairs)


WRITES: list[Json] = [
    {"approval_mode": "read_only", "produces": ["o"]},
    {"approval_mode": "local_write", "requires_evidence": ["gone"]},
]


@pytest.mark.parametrize(
    ("tools", "wanted"),
    [
        ([WRITES[0], {"approval_mode": "local_write"}], {"approval_required_from": "local_write"}),
        (WRITES, {}),
    ],
)
@pytest.mark.parametrize(
    ("budget", "repair"),
    [
        ({"max_steps": 1, "bucket_tokens": 8000}, {"kind": "shorten", "steps": 1}),
        (
            {"max_steps": 9, "bucket_tokens": 8000},
            {"kind": "save_tokens", "tokens": 1000, "steps": [1]},
        ),
    ],
)
def test_nothing_is_asked_of_others_for_a_step_that_is_left_out(
    tools: list[Json], wanted: Json, budget: Json, repair: Json
) -> None:
    tokens = 9000 if repair["kind"] == "save_tokens" else 1
    proposal = small(
        ctx={"run_budget": budget},
        tools=tools,
        steps=[call(), call(1, estimated_tokens=tokens)],
        declares=["o"],
        required_outputs=["o"],
        **wanted,
    )
    assert said(proposal) == ("replan", [repair])
