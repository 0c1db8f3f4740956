"""What an opening says when it is read later, and what came before it: times, yes, and calls."""

from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from critic import Approval, Opening, Proposal, Refused, Verified, digest
from critic.late.opened_run import PlanProgress
from critic.late.opened_steps import EarlierOpening
from critic.late.openings import OpeningError, StepOpener
from harness.wire import build
from tests.critic.late.test_late_verify import LOOK, pay, proposal, take, verdict
from tests.critic.late.test_openings import AFTER_LOOK, NOW, looked, opened, refusal
from tests.support.model.facts import Json

AGAIN: Final[Json] = {**LOOK, "id": "again", "args": {"q": 1}}
SECOND: Final = timedelta(seconds=1)
TIER: Final = {"approval_required_from": "destructive"}


@pytest.mark.parametrize("is_given", [True, False], ids=["with the opening", "with the plan"])
def test_an_approval_of_a_late_plan_counts_at_the_time_of_the_opening(is_given: bool) -> None:
    start = NOW - timedelta(hours=1)
    wire = proposal(pay(take()), spec=TIER, ctx={"as_of": start.isoformat()})
    plan = digest(build(Proposal, wire).plan)
    given = Approval(approval_id="a", plan_digest=plan, approver="emma", late=True, expires_at=NOW)
    how: Json = {"approvals": [given]} if is_given else {}
    if not is_given:
        wire["ctx"]["approvals"] = [given.wire()]
    for moment, holds in ((NOW - SECOND, True), (NOW, False), (NOW + SECOND, False)):
        facts = {"as_of": moment, "openings": (EarlierOpening(0, 0, start),), **how}
        assert opened(wire, looked({"amount": 5}), **facts).ok is holds, moment


def test_a_step_that_depends_on_another_waits_for_it_whatever_it_takes() -> None:
    wire = proposal(AGAIN, pay(take(), depends_on=["again"]))
    both = (*AFTER_LOOK, EarlierOpening(1, 0, NOW))
    first = looked({"amount": 5})
    with pytest.raises(OpeningError, match="step 2 waits for step 1"):
        opened(wire, first, step=2, openings=both)
    second = looked({}, step=1, args={"q": 1})
    assert opened(wire, first, second, step=2, openings=both).ok


def test_a_late_destructive_call_may_repeat_what_was_made_before() -> None:
    made = {"adapter_id": "shop", "capability_id": "pay", "args_digest": "0" * 64}
    for other, late, repeats in (
        *(({}, True, True), ({}, False, False)),
        *(({"capability_id": "look"}, True, False), ({"adapter_id": "Shop"}, True, False)),
    ):
        spent = {"steps": 1, "calls": [{**made, **other}]}
        step = pay(take()) if late else pay(args={"amount": 5}, evidence_steps=["look"])
        found = verdict(proposal(step, ctx={"spent": spent}))
        assert isinstance(found, Verified)
        assert ("repeat" in [one.kind for one in found.conditions or ()]) is repeats, other


def test_a_value_of_a_tool_that_nobody_knows_is_not_there() -> None:
    wire = proposal(pay(take()))
    wire["plan"]["steps"][0]["capability_id"] = "unheard"
    opener = StepOpener(build(Proposal, wire))
    found = opener.judge(1, NOW).verdict
    assert ("evidence", "missing_evidence", "/steps/1/takes/0") in refusal(found)


def test_an_opening_says_the_same_once_others_were_opened() -> None:
    wire = proposal(AGAIN, pay(take()))
    calls = [looked({"amount": 5}), looked({}, step=1, args={"q": 1})]
    told = []
    for is_late in (False, True):
        opener, said, judged = StepOpener(build(Proposal, wire)), list[Any](), list[Any]()
        for step in range(3):
            one = opener.open_now(step, NOW)
            assert one.verdict.ok
            judged.append(one.settled)
            if not is_late:
                said.append((one.settled.plan_digest, one.settled.proposal))
            if step < len(calls):
                opener.end_call(calls[step])
        told.append(said or [(one.plan_digest, one.proposal) for one in judged])
    assert told[0] == told[1]
    assert [name for name, _ in told[1]] == [digest(one.plan) for _, one in told[1] if one]
    assert [len(one.plan.steps) for _, one in told[1] if one] == [1, 2, 3]


def openings_of(case: Proposal, moment: datetime) -> list[Opening]:
    """Return a look that passed, a payment that a person was asked about, and their yes to it."""
    opener = StepOpener(case)
    first = opener.open_now(0, moment).verdict
    opener.end_call(looked({"amount": 5}))
    asked = opener.judge(1, moment)
    assert asked.settled.proposal is not None
    given = Approval(
        approval_id="b", plan_digest=digest(asked.settled.proposal.plan), approver="emma"
    )
    assert isinstance(asked.verdict, Refused)
    passed = opener.judge(1, moment, (given,)).verdict
    assert passed.ok
    return [
        Opening(step=0, after=0, as_of=moment, verdict=first),
        Opening(step=1, after=1, as_of=moment, verdict=asked.verdict),
        Opening(step=1, after=1, as_of=moment, approvals=(given,), verdict=passed),
    ]


def test_a_plan_goes_on_from_the_calls_and_openings_that_are_known_and_no_others() -> None:
    wire = proposal(pay(take()), AGAIN, spec={**TIER, "late": "values"})
    case, calls = build(Proposal, wire), [looked({"amount": 5})]
    known, others = openings_of(case, NOW), openings_of(case, NOW + SECOND)
    progress = PlanProgress(StepOpener(case))
    progress.go_on(calls, known, {0, 1})
    assert [one.step for one in progress.opener.opened] == [0, 1]
    paid = looked({}, step=1, capability_id="pay", args={"amount": 5})
    assert progress.leads_to(calls, known)
    assert progress.leads_to([*calls, paid], [*known, others[0]])
    assert not progress.leads_to([looked({"amount": 6})], known)
    assert not progress.leads_to(calls, known[:2])
    assert not progress.leads_to([], known)
    for at in range(3):
        assert not progress.leads_to(calls, [*known[:at], others[at], *known[at + 1 :]])
    progress.go_on([*calls, paid], known, {0, 1})
    assert progress.opener.open_now(2, NOW).verdict.ok


@pytest.mark.parametrize("part", [{"shell": {"cwd": "/"}}, {"of": 1}])
def test_no_step_of_a_plan_with_a_shell_command_is_opened(part: Json) -> None:
    case = build(Proposal, proposal(pay(take()), {**AGAIN, **part}))
    for step in range(3):
        with pytest.raises(OpeningError, match="shell command"):
            StepOpener(case).judge(step, NOW)
