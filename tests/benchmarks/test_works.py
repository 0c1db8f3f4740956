"""The works that the gate counts do what they are named, and all of it."""

import asyncio
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from critic import Plan
from harness.clock import FixedClock
from harness.guard import Guard
from harness.policy import Policy
from harness.wire import InvalidInput, build, parse
from tests.benchmarks import plans
from tests.benchmarks.counted import COUNTED
from tests.benchmarks.desk import NOON, STEPS, decision, run_of_plan, turn
from tests.benchmarks.still import is_known
from tests.benchmarks.works import BATCHES, WORKS, Work, empty_steps, session
from tests.support.paths import FIXTURES, ROOT


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.name)
def test_every_batch_of_a_work_can_be_run(work: Work, tmp_path: Path) -> None:
    batches = work.make(tmp_path)
    assert len(batches) == BATCHES > COUNTED
    for batch in batches:
        batch()


def test_runs_of_the_desk_score_well() -> None:
    report = decision(3, 100).report
    assert (report.status, report.score.ok if report.score else None) == ("completed", True)
    assert len(run_of_plan(3, 100).calls) == STEPS


@pytest.mark.parametrize(("steps", "size"), [(10, 10), (STEPS, 100)])
def test_a_turn_goes_through_to_the_end(steps: int, size: int) -> None:
    outcome = asyncio.run(turn(3, size, steps)())
    assert outcome.report.status == "completed"
    assert outcome.run is not None
    assert len(outcome.run.calls) == steps


def test_a_session_has_two_rulings() -> None:
    wire = json.loads((FIXTURES / "sessions" / "desk.json").read_bytes())["policy"]
    guard = Guard(build(Policy, wire), clock=FixedClock(NOON))
    answers = [guard.handle_line(line) for line in session(1)]
    assert [answer.wire()["action"] for answer in answers if answer] == ["allow", "allow"]


def test_the_invalid_document_is_invalid_in_every_step() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(Plan, empty_steps(40))
    assert len(caught.value.problems) >= 40


def test_the_plans_of_the_works_differ() -> None:
    assert len({plans.plan_bytes(STEPS, number, 100) for number in range(20)}) == 20


@pytest.mark.skipif(not is_known(platform.machine()), reason="no code for this machine")
def test_nothing_is_left_to_chance() -> None:
    program = (
        "from tests.benchmarks.still import hold_still; hold_still(); import os; "
        "print(os.urandom(3).hex(), hash('a'))"
    )
    env = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)}
    runs = {
        subprocess.run(
            [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(runs) == 1
    assert next(iter(runs)).startswith("5a5a5a ")
