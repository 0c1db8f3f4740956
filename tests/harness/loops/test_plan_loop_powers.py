"""The plan loop: who decides, who holds what, what it costs, and what is left when cut short."""

import asyncio
from typing import Any

import pytest

from critic import ApprovalMode, CompiledContext, Finding, Plan, ToolStep
from critic.repairs.repair_kinds import AskApproval
from harness.loops.agents.usage import Budget, Usage
from harness.loops.plan_types import PlannerReply
from tests.harness.loops.plans import (
    GOOD,
    ScriptedAdvisor,
    ScriptedPlanner,
    a_loop,
    plan_with,
    revised,
    rulings,
)
from tests.support.examples import good_proposal, proposal_of

ERROR = Finding(severity="error", message="this pays the wrong person")
HINT = Finding(severity="warn", message="this could be cheaper")


# --- who decides ------------------------------------------------------------------------------


def test_an_advisor_holds_back_a_plan_that_verifies() -> None:
    other = GOOD.plan.model_copy(update={"plan_id": "other"})
    planner, advisor = ScriptedPlanner(GOOD.plan, other), ScriptedAdvisor([ERROR], [HINT])
    revision = revised(planner, advisor=advisor)
    assert revision.plan == other
    assert rulings(revision) == ["refused", "approved"]
    _, request = planner.requests
    assert request is not None
    assert (request.findings, request.violations, request.advice) == ((ERROR,), (), None)
    assert [plan for plan, _ in advisor.asked] == [GOOD.plan, other]


def test_an_advisor_never_overrules_a_refusal() -> None:
    advisor = ScriptedAdvisor([], [HINT])
    revision = revised(ScriptedPlanner(*map(plan_with, (3, 2, 1))), advisor=advisor)
    assert (revision.stop_reason, revision.plan) == ("max_rounds", None)
    assert rulings(revision) == ["refused"] * 3
    # It is not asked about the last one: its answer could change nothing.
    assert len(advisor.asked) == 2


def test_findings_go_along_with_violations() -> None:
    planner = ScriptedPlanner(plan_with(1), GOOD.plan)
    revised(planner, advisor=ScriptedAdvisor((HINT,), ()))
    request = planner.requests[1]
    assert request is not None
    assert (request.findings, len(request.violations)) == ((HINT,), 1)


def test_a_plan_held_back_to_the_end_is_best_but_not_approved() -> None:
    planner = ScriptedPlanner(plan_with(1), GOOD.plan)
    revision = revised(planner, advisor=ScriptedAdvisor([], [ERROR]), max_rounds=2)
    assert (revision.stop_reason, revision.plan) == ("max_rounds", None)
    assert revision.best_attempt == revision.attempts[1]
    assert revision.best_refused == revision.attempts[0]
    assert revision.detail == ERROR.message


def test_an_advisor_that_raises_approves_nothing_and_loses_nothing() -> None:
    error = RuntimeError("no model")
    revision = revised(ScriptedPlanner(GOOD.plan), advisor=ScriptedAdvisor(error))
    assert (revision.stop_reason, revision.plan) == ("unrecoverable", None)
    assert revision.error is error
    assert revision.detail == "no advice: RuntimeError: no model"
    assert revision.best_attempt is not None
    assert revision.best_attempt.draft == GOOD.plan


def test_an_advisor_that_raises_on_a_refused_plan_leaves_the_refusal_standing() -> None:
    advisor = ScriptedAdvisor(RuntimeError("no model"), [])
    planner = ScriptedPlanner(plan_with(1), GOOD.plan)
    revision = revised(planner, advisor=advisor)
    assert (revision.stop_reason, revision.plan) == ("approved", GOOD.plan)
    assert planner.requests[1] is not None
    assert len(planner.requests[1].violations) == 1


@pytest.mark.parametrize("reply", [None, "fine", [ERROR, "fine"], {"ok": True}, True])
def test_an_advisor_that_gives_no_findings_is_asked_again_once(reply: Any) -> None:
    good = revised(ScriptedPlanner(GOOD.plan), advisor=ScriptedAdvisor(reply, []))
    assert good.stop_reason == "approved"
    bad = revised(ScriptedPlanner(GOOD.plan), advisor=ScriptedAdvisor(reply, reply, []))
    assert (bad.stop_reason, bad.plan) == ("unrecoverable", None)
    assert rulings(bad) == ["rejected"]


def test_what_only_an_approver_can_do_ends_the_loop_and_is_asked_for() -> None:
    tier: ApprovalMode = "destructive"
    spec = GOOD.spec.model_copy(update={"approval_required_from": tier})
    planner, advisor = ScriptedPlanner(GOOD.plan, GOOD.plan), ScriptedAdvisor()
    revision = revised(planner, spec=spec, advisor=advisor)
    assert (revision.stop_reason, revision.plan) == ("unrecoverable", None)
    assert revision.outstanding == (AskApproval(tier=tier, steps=(1,)),)
    assert (len(planner.requests), advisor.asked) == (1, [])


def test_what_is_to_be_approved_is_the_plan_that_lacks_nothing_else() -> None:
    tier: ApprovalMode = "destructive"
    spec = GOOD.spec.model_copy(update={"approval_required_from": tier})
    planner, advisor = ScriptedPlanner(plan_with(1), GOOD.plan), ScriptedAdvisor([HINT])
    revision = revised(planner, spec=spec, advisor=advisor)
    assert (revision.stop_reason, revision.plan) == ("unrecoverable", None)
    assert rulings(revision) == ["refused", "rejected"]
    assert revision.outstanding == (AskApproval(tier=tier, steps=(1,)),)
    assert revision.best_attempt is not None
    assert revision.best_attempt.draft == GOOD.plan


# --- what others may do with what they hold ---------------------------------------------------


def test_what_is_approved_is_a_copy_that_nobody_else_holds() -> None:
    plan = plan_with(0)
    holders: list[Plan] = [plan]

    class Meddler(ScriptedAdvisor):
        def review(self, *given: Any) -> Any:
            holders.append(given[3])
            _spoil(given[3])
            return super().review(*given)

    revision = revised(ScriptedPlanner(plan), advisor=Meddler([]))
    _spoil(plan)
    assert revision.plan == plan_with(0)
    assert all(one != revision.plan for one in holders)


def _spoil(plan: Plan) -> None:
    step = plan.steps[1]
    assert isinstance(step, ToolStep)
    step.args["amount_inr"] = 10**6


def test_a_plan_that_was_changed_into_what_is_not_json_is_malformed() -> None:
    plan = plan_with(0)
    step = plan.steps[1]
    assert isinstance(step, ToolStep)
    step.args["amount_inr"] = object()
    revision = revised(ScriptedPlanner(plan, GOOD.plan))
    assert (revision.plan, len(revision.attempts)) == (GOOD.plan, 1)


def test_a_planner_cannot_change_the_attempt_in_its_request() -> None:
    class Vandal(ScriptedPlanner):
        def plan(self, *given: Any) -> Any:
            if given[3] is not None:
                _spoil(given[3].plan)
            return super().plan(*given)

    revision = revised(Vandal(plan_with(1), GOOD.plan))
    assert revision.attempts[0].draft == plan_with(1)


class Forger(ScriptedPlanner):
    """Has the manifests say what it wants them to."""

    def plan(self, *given: Any) -> Any:
        _unbind(given[1])
        return super().plan(*given)


def _unbind(compiled: CompiledContext) -> None:
    for tool in compiled.manifests.tool_manifest:
        if tool.bound_args is not None:
            tool.bound_args.clear()


def test_a_planner_cannot_change_what_its_plan_is_verified_against() -> None:
    world, made_up = proposal_of(good_proposal()), plan_with(0)
    step = made_up.steps[1]
    assert isinstance(step, ToolStep)
    step.args["amount_inr"] = 24499
    planner = Forger(made_up, made_up)
    assert revised(planner, compiled=world.compiled).plan is None
    # Nor anybody else who looks there afterwards: the canonical loop, say.
    assert world == proposal_of(good_proposal())


def test_an_advisor_changes_neither_what_is_verified_nor_what_the_planner_sees() -> None:
    class Unbinding(ScriptedAdvisor):
        def review(self, *given: Any) -> Any:
            _unbind(given[1])
            return super().review(*given)

    class Looking(ScriptedPlanner):
        def plan(self, *given: Any) -> Any:
            assert given[1] == proposal_of(good_proposal()).compiled
            return super().plan(*given)

    world = proposal_of(good_proposal())
    planner, advisor = Looking(plan_with(1), GOOD.plan), Unbinding([], [])
    revision = revised(planner, compiled=world.compiled, advisor=advisor)
    assert (revision.plan, world) == (GOOD.plan, proposal_of(good_proposal()))


# --- money, and being cut short ---------------------------------------------------------------


def test_no_reply_is_asked_for_that_is_not_paid_for() -> None:
    cost = Usage(tokens_in=60, tokens_out=40, cost_micros=7)
    planner = ScriptedPlanner(*(PlannerReply(plan_with(n), cost) for n in (3, 2, 1)))
    revision = revised(planner, budget=Budget(max_tokens=200), max_rounds=9)
    assert (revision.stop_reason, revision.detail) == ("budget", "budget:max_tokens")
    assert (len(revision.attempts), revision.usage.tokens, revision.usage.cost_micros) == (
        2,
        200,
        14,
    )
    assert revision.best_attempt == revision.attempts[1]


def test_what_nobody_counted_is_spent() -> None:
    revision = revised(ScriptedPlanner(plan_with(1)), budget=Budget(max_tokens=10**6))
    assert (revision.stop_reason, revision.usage) == ("budget", Usage())
    assert rulings(revision) == ["refused"]


def test_an_advisor_that_is_not_paid_for_is_not_asked_and_approves_nothing() -> None:
    cost, advisor = Usage(tokens_in=1, tokens_out=1), ScriptedAdvisor([])
    for plan, ruling in ((GOOD.plan, None), (plan_with(1), "refused")):
        planner = ScriptedPlanner(PlannerReply(plan, cost))
        revision = revised(planner, advisor=advisor, budget=Budget(max_tokens=2))
        assert (revision.stop_reason, revision.plan) == ("budget", None)
        assert rulings(revision) == [ruling]
    assert advisor.asked == []


def test_what_an_advisor_costs_counts_too() -> None:
    cost = Usage(tokens_in=1, tokens_out=1, cost_micros=1)
    planner, advisor = (
        ScriptedPlanner(PlannerReply(GOOD.plan, cost)),
        ScriptedAdvisor(PlannerReply([], cost)),
    )
    assert revised(planner, advisor=advisor).usage == Usage(
        tokens_in=2, tokens_out=2, cost_micros=2
    )


class Waiting(ScriptedPlanner):
    """Waits without end once its script is through."""

    async def plan(self, *given: Any) -> Any:
        if not self.script:
            await asyncio.Event().wait()
        return super().plan(*given)


def test_a_cancelled_loop_has_what_there_was() -> None:
    loop = a_loop(Waiting(plan_with(1)))

    async def cut_short() -> None:
        task = asyncio.create_task(loop.run())
        while not loop.revision.attempts:
            await asyncio.sleep(0)
        task.cancel()
        await task

    assert loop.revision.stop_reason is None
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cut_short())
    revision = loop.revision
    assert (revision.stop_reason, revision.detail) == ("cancelled", "cancelled")
    assert revision.best_attempt == revision.attempts[0]
    assert rulings(revision) == ["refused"]
    assert asyncio.run(loop.run()) == revision, "what has stopped stays stopped"


def test_a_program_that_has_to_end_ends() -> None:
    loop = a_loop(ScriptedPlanner(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(loop.run())
    assert (loop.revision.stop_reason, loop.revision.detail) == ("cancelled", "KeyboardInterrupt")
