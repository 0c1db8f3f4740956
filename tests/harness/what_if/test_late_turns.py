"""What a change makes of late plans: of the plan, and of each step that was opened."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.log import SqlDecisionLog
from harness.policy import Policy
from harness.what_if.columns.plan_rows import _OPENED, RowWriter
from harness.what_if.recorded_change import Alteration
from harness.what_if.rejudging import JudgedPlan, RecordedPlans, recorded_plans
from harness.wire import build
from tests.harness.guard.test_late_calls import (
    TURN,
    close,
    guard_of,
    opened,
    read_both,
    ready,
    result,
)
from tests.harness.runtime.test_late_plans import Shop
from tests.harness.runtime.world import turn
from tests.harness.what_if.test_what_if import plans
from tests.support.guarding import Json, answers_to
from tests.support.late_refund import late_policy, late_refund


def of_session(path: Path) -> None:
    events = [opened(), TURN, *read_both(), ready("c"), result("c"), close()]
    with SqlDecisionLog.open(path) as log:
        assert answers_to(guard_of(log=log), events)[6]["action"] == "allow"


def of_loop(path: Path) -> None:
    with SqlDecisionLog.open(path) as log:
        outcome = asyncio.run(turn(Shop().executor, proposal=late_refund(), log=log))
        assert outcome.report.status == "completed"


RECORDED: dict[str, Callable[[Path], None]] = {"a session": of_session, "the loop": of_loop}


def changed_policy(change: Callable[[Json], Any]) -> Policy:
    wire = late_policy().wire()
    change(wire)
    return build(Policy, wire)


def found(path: Path, change: Callable[[Json], Any]) -> list[JudgedPlan]:
    return plans(path, Alteration(changed_policy(change)))


def lower_limit(wire: Json) -> None:
    (pay,) = (tool for tool in wire["tool"] if tool["capability_id"] == "issue_refund")
    pay["args_schema"]["properties"]["amount_inr"]["maximum"] = 20_000


@pytest.mark.parametrize("recorded", RECORDED)
def test_the_policy_that_was_changes_nothing(recorded: str, tmp_path: Path) -> None:
    RECORDED[recorded](tmp_path / "log")
    assert {one.direction for one in found(tmp_path / "log", lambda _wire: None)} == {"unchanged"}


@pytest.mark.parametrize("recorded", RECORDED)
def test_without_late_plans_it_would_be_refused(recorded: str, tmp_path: Path) -> None:
    RECORDED[recorded](tmp_path / "log")
    judged = found(tmp_path / "log", lambda wire: wire["spec"].pop("late"))
    assert {one.direction for one in judged} == {"tighter"}
    assert all("does not allow late plans" in one.after.reasons[0] for one in judged)


@pytest.mark.parametrize("recorded", RECORDED)
def test_a_limit_that_the_value_is_over_refuses_its_opening(recorded: str, tmp_path: Path) -> None:
    RECORDED[recorded](tmp_path / "log")
    judged = found(tmp_path / "log", lower_limit)
    (changed,) = (one for one in judged if one.direction != "unchanged")
    assert changed.direction == "tighter"
    assert changed.after.reasons[0].startswith("step 2 args do not match the args_schema")


@pytest.mark.parametrize("recorded", RECORDED)
def test_columns_leave_what_was_opened_to_the_log(recorded: str, tmp_path: Path) -> None:
    RECORDED[recorded](tmp_path / "log")
    with SqlDecisionLog.open_for_reading(tmp_path / "log") as log:
        plans_found = [one for one in recorded_plans(log) if isinstance(one, RecordedPlans)]
    rows = [row for one in plans_found for row in RowWriter().rows(one)]
    assert [row.why for row in rows if row.not_judged is not None] == [(_OPENED,)]
