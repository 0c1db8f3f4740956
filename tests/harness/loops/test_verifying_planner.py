"""The plan loop within the canonical loop: it executes what was approved, and records the rest."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from critic import Finding, verify
from harness.loops.verifying_planner import NotApproved, VerifyingPlanner
from harness.runtime.ports import RecordsAttempts
from tests.harness.loops.plans import GOOD, ScriptedAdvisor, ScriptedPlanner, plan_with
from tests.harness.runtime.world import KeptLog, Scripted, do_all, turn

ERROR = Finding(severity="error", message="this pays the wrong person")


def test_an_approved_plan_is_executed() -> None:
    planner, executor = VerifyingPlanner(ScriptedPlanner(plan_with(1), GOOD.plan)), Scripted(do_all)
    log = KeptLog()
    outcome = asyncio.run(turn(executor, planner=planner, log=log))
    assert outcome.report.status == "completed"
    assert log.decisions[0].proposal.plan == GOOD.plan
    assert planner.revision is not None
    assert len(planner.revision.attempts) == 2


def test_where_none_is_approved_the_best_refused_plan_is_recorded_and_nothing_runs() -> None:
    planner = VerifyingPlanner(ScriptedPlanner(*map(plan_with, (2, 1, 3))))
    executor, log = Scripted(do_all), KeptLog()
    outcome = asyncio.run(turn(executor, planner=planner, log=log))
    assert outcome.report.status == "refused_by_critic"
    assert (log.decisions[0].proposal.plan, executor.asked) == (plan_with(1), 0)


def test_of_equally_bad_plans_the_first_is_proposed() -> None:
    plans = [plan_with(1, name) for name in ("first", "second", "third")]
    planner = VerifyingPlanner(ScriptedPlanner(*plans))
    log = KeptLog()
    asyncio.run(turn(Scripted(do_all), planner=planner, log=log))
    assert log.decisions[0].proposal.plan == plans[0]
    assert planner.revision is not None
    assert planner.revision.best_attempt == planner.revision.attempts[0]


def test_every_refused_attempt_can_be_recorded() -> None:
    planner = VerifyingPlanner(ScriptedPlanner(plan_with(2), plan_with(1), GOOD.plan))
    assert isinstance(planner, RecordsAttempts)
    assert planner.refused_attempts() == ()
    asyncio.run(turn(Scripted(do_all), planner=planner))
    plans = [plan for plan, _ in planner.refused_attempts()]
    assert plans == [plan_with(2), plan_with(1)]
    for plan, verdict in planner.refused_attempts():
        assert verdict == verify(GOOD.ctx, GOOD.compiled, GOOD.spec, plan)


@pytest.mark.parametrize("error", [asyncio.CancelledError(), RuntimeError("no model")])
def test_refused_attempts_are_there_after_an_error_too(error: BaseException) -> None:
    planner = VerifyingPlanner(ScriptedPlanner(plan_with(1), error))
    with suppress(asyncio.CancelledError):
        asyncio.run(turn(Scripted(do_all), planner=planner))
    assert [plan for plan, _ in planner.refused_attempts()] == [plan_with(1)]


def test_each_plan_begins_with_no_refused_attempts() -> None:
    planner = VerifyingPlanner(ScriptedPlanner(plan_with(1), GOOD.plan, RuntimeError("no model")))
    asyncio.run(turn(Scripted(do_all), planner=planner))
    with pytest.raises(NotApproved):
        asyncio.run(turn(Scripted(do_all), planner=planner))
    assert planner.refused_attempts() == ()


def test_a_plan_that_the_advisor_holds_back_is_not_proposed() -> None:
    advisor = ScriptedAdvisor([], [ERROR])
    scripted = ScriptedPlanner(plan_with(1), GOOD.plan)
    planner = VerifyingPlanner(scripted, advisor=advisor, max_rounds=2)
    executor, log = Scripted(do_all), KeptLog()
    asyncio.run(turn(executor, planner=planner, log=log))
    assert (log.decisions[0].proposal.plan, executor.asked) == (plan_with(1), 0)


@pytest.mark.parametrize(
    ("script", "options"),
    [
        ([GOOD.plan], {"advisor": ScriptedAdvisor([ERROR]), "max_rounds": 1}),
        ([RuntimeError("no model")], {}),
        (["sorry", "sorry"], {}),
    ],
)
def test_where_there_is_nothing_to_propose_nothing_runs(script: Any, options: Any) -> None:
    planner = VerifyingPlanner(ScriptedPlanner(*script), **options)
    executor, log = Scripted(do_all), KeptLog()
    with pytest.raises(NotApproved) as caught:
        asyncio.run(turn(executor, planner=planner, log=log))
    assert (executor.asked, log.records) == (0, [])
    assert caught.value.revision == planner.revision


def test_a_cancelled_plan_loop_can_be_looked_at() -> None:
    planner = VerifyingPlanner(ScriptedPlanner(plan_with(1), asyncio.CancelledError()))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(turn(Scripted(do_all), planner=planner))
    assert planner.revision is not None
    assert planner.revision.stop_reason == "cancelled"
    assert len(planner.revision.attempts) == 1
