"""Order among calls with reason steps between them, with ids twice, or out of place."""

from typing import Any

import pytest

from critic import Run
from evals import score_run
from evals.passed_openings import NOTHING_OPENED, PassedOpening, PassedOpenings
from tests.support.model.facts import Json

TOOL: Json = {"kind": "tool", "adapter_id": "a", "capability_id": "b", "args": {}}
REASON: Json = {"kind": "reason"}


def violating(
    steps: list[Json], calls: list[Json], passed: PassedOpenings = NOTHING_OPENED
) -> list[int]:
    """Return the positions of the calls with a policy finding."""
    tool = {"adapter_id": "a", "capability_id": "b", "approval_mode": "read_only"}
    proposal = {
        "ctx": {"trace_id": "t", "safety_mode": "read_only"},
        "compiled": {"manifests": {"tool_manifest": [tool], "evidence_manifest": []}},
        "spec": {"id": "d", "required_outputs": []},
        "plan": {"steps": steps, "declared_outputs": []},
    }
    made = [{"adapter_id": "a", "capability_id": "b", "args": {}, **call} for call in calls]
    wire: dict[str, Any] = {
        "run_id": "r",
        "trace_id": "t",
        "proposal": proposal,
        "outputs": {},
        "calls": made,
    }
    findings = score_run(Run(**wire), passed).scores.policy.findings
    return [int(one.message.split()[1]) for one in findings]


def call(step: int, status: str = "completed", **said: Any) -> Json:
    return {"step": step, "status": status, **said}


BETWEEN = [
    {**TOOL, "id": "a"},
    {**TOOL, "id": "b"},
    {**REASON, "id": "c", "depends_on": ["a", "b"]},
    {**REASON, "id": "d", "depends_on": ["c"]},
    {**TOOL, "depends_on": ["d"]},
]


@pytest.mark.parametrize("status", ["failed", "timed_out", "unknown"])
def test_a_call_that_did_not_complete_is_not_done(status: str) -> None:
    steps = [{**TOOL, "id": "a"}, {**REASON, "id": "b", "depends_on": ["a"]}]
    for needed in ("a", "b"):
        plan = [*steps, {**TOOL, "depends_on": [needed]}]
        assert violating(plan, [call(0, status), call(2)]) == [1]
        assert violating(plan, [call(0, status), call(0, attempt=2), call(2)]) == []
        assert violating(plan, [call(0, status), call(2), call(0, attempt=2)]) == [1]


@pytest.mark.parametrize(
    ("order", "wrong"),
    [
        ([0, 1, 4], []),
        ([1, 0, 4], []),
        ([0, 4, 1], [1]),
        ([1, 4], [1]),
        ([4], [0]),
        ([4, 0, 1], [0]),
        ([0, 2, 4], [1, 2]),
        ([0, 1, 2, 4], [2]),
        ([0, 1, 9, 4], [2]),
    ],
)
def test_a_reason_step_counts_for_all_that_it_depends_on(
    order: list[int], wrong: list[int]
) -> None:
    assert violating(BETWEEN, [call(at) for at in order]) == wrong


def test_a_step_called_twice_does_not_stand_for_another_of_its_id() -> None:
    steps = [{**TOOL, "id": "a"}, {**TOOL, "id": "a"}, {**TOOL, "depends_on": ["a"]}]
    again = [call(0, "failed"), call(0, attempt=2)]
    assert violating(steps, [*again, call(2)]) == [2]
    assert violating(steps, [*again, call(1), call(2)]) == []


def test_a_reason_step_waits_for_every_step_of_an_id() -> None:
    steps = [{**TOOL, "id": "a"}, {**TOOL, "id": "a"}, {**REASON, "id": "b", "depends_on": ["a"]}]
    steps.append({**TOOL, "depends_on": ["b"]})
    assert violating(steps, [call(0), call(3), call(1)]) == [1]
    assert violating(steps, [call(0), call(1), call(3)]) == []


def test_reason_steps_that_wait_for_one_another_never_settle() -> None:
    steps = [
        {**REASON, "id": "a", "depends_on": ["b"]},
        {**REASON, "id": "b", "depends_on": ["a"]},
        {**TOOL, "depends_on": ["a"]},
        {**REASON, "depends_on": ["a"]},
        {**TOOL, "depends_on": []},
    ]
    assert violating(steps, [call(4), call(2)]) == [1]


def test_a_call_on_a_reason_step_settles_nothing() -> None:
    steps = [{**TOOL, "id": "a"}, {**REASON, "id": "b", "depends_on": ["a"]}]
    steps.append({**TOOL, "depends_on": ["b"]})
    assert violating(steps, [call(1), call(2)]) == [0, 1]


def test_thousands_of_reason_steps_take_no_longer_than_they_are_many() -> None:
    count = 20_000
    steps = [{**TOOL, "id": "s0"}]
    steps += [
        {**REASON, "id": f"s{at}", "depends_on": [f"s{at - 1}", "s0"]} for at in range(1, count)
    ]
    steps.append({**TOOL, "depends_on": [f"s{count - 1}"]})
    assert violating(steps, [call(count), call(0)]) == [0]
    assert violating(steps, [call(0), call(count)]) == []


def test_a_call_of_a_late_plan_is_the_one_that_was_opened_before_it() -> None:
    steps = [{**TOOL, "id": "a"}, {**TOOL, "evidence_steps": ["a"]}]

    def opened(*after: int) -> PassedOpenings:
        openings = [PassedOpening(one, None, b'{"x":1}', (), 0) for one in after]
        return PassedOpenings(dict(enumerate(openings)), ())

    as_opened = [call(0, args={"x": 1}), call(1, args={"x": 1})]
    assert violating(steps, as_opened) == [0, 1]
    assert violating(steps, as_opened, opened(0)) == [1]
    assert violating(steps, as_opened, opened(0, 1)) == []
    assert violating(steps, as_opened, opened(0, 2)) == [1]
    assert violating(steps, [as_opened[0], call(1, args={"x": 2})], opened(0, 1)) == [1]
