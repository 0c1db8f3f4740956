"""Retries: which attempts of a step are still its plan, and what judging many of them costs."""

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic import Run
from evals.policy import evaluate
from evals.retries import MOST_RETRIES
from tests.support.agreement import ONE_FAILURE
from tests.support.effort import examples
from tests.support.model.facts import Json

PAIR: Json = {"adapter_id": "a", "capability_id": "b"}
TOOL: Json = {"kind": "tool", **PAIR, "args": {}}


def failed(attempt: int, step: int = 0, **said: object) -> Json:
    return {**PAIR, "step": step, "args": {}, "status": "failed", "attempt": attempt, **said}


def run_of(calls: list[Json], steps: list[Json]) -> Run:
    tool = {**PAIR, "approval_mode": "destructive"}
    manifests = {"tool_manifest": [tool], "evidence_manifest": []}
    wire: Json = {
        "run_id": "r",
        "trace_id": "t",
        "calls": calls,
        "outputs": {},
        "proposal": {
            "ctx": {"trace_id": "t", "safety_mode": "destructive"},
            "compiled": {"manifests": manifests},
            "spec": {"id": "d", "required_outputs": []},
            "plan": {"steps": steps, "declared_outputs": []},
        },
    }
    return Run(**wire)


def violating(calls: list[Json], steps: list[Json]) -> list[int]:
    """Return the positions of the calls with a policy finding."""
    return [int(one.message.split()[1]) for one in evaluate(run_of(calls, steps)).findings]


STEPS_OF_CALLS = st.lists(st.integers(0, 2), min_size=1, max_size=40)


@settings(ONE_FAILURE, max_examples=examples(200))
@given(STEPS_OF_CALLS, st.data())
def test_the_nth_call_of_a_step_is_attempt_n_and_there_are_eleven_at_most(
    order: list[int], data: st.DataObject
) -> None:
    numbers = [order[: at + 1].count(step) for at, step in enumerate(order)]
    wrong = data.draw(st.dictionaries(st.integers(0, len(order) - 1), st.integers(0, 50)))
    said = [wrong.get(at, number) for at, number in enumerate(numbers)]
    calls = [failed(attempt, step) for attempt, step in zip(said, order, strict=True)]
    expected = [
        at for at, number in enumerate(numbers) if said[at] != number or number > 1 + MOST_RETRIES
    ]
    assert violating(calls, [TOOL] * 3) == expected


def test_a_destructive_call_is_not_repeated_for_ever_by_failing() -> None:
    verdict = evaluate(run_of([failed(at + 1) for at in range(5001)], [TOOL]))
    assert verdict.status == "fail"
    assert verdict.score == pytest.approx(11 / 5001)
    first = "call 11 of step 0 is retry 11 of its step, over the limit of 10"
    assert verdict.findings[0].message == first


def test_a_completed_step_is_not_tried_again_under_any_number() -> None:
    for attempt in range(4):
        done = failed(1, status="completed")
        assert violating([done, failed(attempt)], [TOOL]) == [1]


@pytest.mark.slow
def test_many_retries_of_a_large_step_take_no_longer_than_its_size_and_theirs() -> None:
    """Quadratic judging takes minutes here."""
    count = 20_000
    needed = [{"kind": "reason", "id": f"s{at}"} for at in range(count)]
    large = {**TOOL, "args": {"x": ["y"] * count}, "depends_on": [one["id"] for one in needed]}
    run = run_of([failed(at + 1, count) for at in range(count)], [*needed, large])
    start = process_time()
    assert len(evaluate(run).findings) == count
    as_planned = run_of(
        [failed(at + 1, count) for at in range(count)], [*needed, {**large, "args": {}}]
    )
    assert len(evaluate(as_planned).findings) == count - 1 - MOST_RETRIES
    assert process_time() - start < 5
