"""What all calls of a step sent is judged once: the same answer, in the time that it takes once."""

from collections import Counter
from collections.abc import Callable, Iterable
from time import process_time
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings

from critic import Run, ToolCall
from evals import safety
from evals.retries import MOST_RETRIES, RepeatedCalls
from harness.testing.strategies import edge_runs
from tests.support.agreement import ONE_FAILURE
from tests.support.effort import examples
from tests.support.model.facts import Json

PAIR: Json = {"adapter_id": "a", "capability_id": "b"}


class EachByItself(RepeatedCalls):
    """Judges every call, as if none had been before it."""

    def faults(self, call: ToolCall, judge: Callable[[], Iterable[str]]) -> list[str]:
        del call
        return list(judge())


def tried_too_often(run: Run) -> bool:
    """Return whether a step was tried with more args than it may be tried times."""
    sent = {(call.step, call.adapter_id, call.capability_id, str(call.args)) for call in run.calls}
    return any(count > 1 + MOST_RETRIES for count in Counter(one[0] for one in sent).values())


@settings(ONE_FAILURE, max_examples=examples(300))
@given(edge_runs())
def test_calls_that_are_judged_once_are_judged_as_each_is_by_itself(run: Run) -> None:
    assume(not tried_too_often(run))
    once = safety.evaluate(run)
    with patch.object(safety, "RepeatedCalls", EachByItself):
        each = safety.evaluate(run)
    assert (once.status, once.score) == (each.status, each.score)
    if len(run.calls) == len({call.step for call in run.calls}):
        assert once == each


def run_of(args: list[Json], refs: list[str], required: list[str]) -> Run:
    """Return a run whose only step was tried with each of these args; all but the last failed."""
    tool = {**PAIR, "approval_mode": "network", "requires_evidence": required}
    step = {"kind": "tool", **PAIR, "evidence_refs": refs}
    calls = [
        {**PAIR, "step": 0, "args": one, "status": "failed", "attempt": at + 1}
        for at, one in enumerate(args)
    ]
    wire: Json = {
        "run_id": "r",
        "trace_id": "t",
        "calls": calls,
        "outputs": {},
        "proposal": {
            "ctx": {"trace_id": "t", "safety_mode": "network"},
            "compiled": {"manifests": {"tool_manifest": [tool], "evidence_manifest": []}},
            "spec": {"id": "d", "required_outputs": []},
            "plan": {"steps": [step], "declared_outputs": []},
        },
    }
    return Run(**wire)


def messages(run: Run) -> list[str]:
    return [one.message for one in safety.evaluate(run).findings]


def test_a_call_that_sends_the_same_again_names_the_call_whose_evidence_was_missing() -> None:
    run = run_of([{}, {"x": 1}, {"x": 1.0}, {}], [], ["k"])
    missing = "required evidence class k, none pinned"
    assert messages(run) == [
        f"call 0 of step 0 {missing}",
        f"call 1 of step 0 {missing}",
        "call 2 of step 0 lacks evidence as call 1 does",
        "call 3 of step 0 lacks evidence as call 0 does",
    ]
    assert safety.evaluate(run).score == 0


@pytest.mark.parametrize("required", [["k"], []])
def test_other_args_are_judged_as_often_as_a_step_may_be_tried(required: list[str]) -> None:
    limit = 1 + MOST_RETRIES
    run = run_of([{"x": at} for at in (*range(limit + 2), 0)], [], required)
    unjudged = "is not judged: its step was tried too often with other args"
    assert messages(run)[len(required) * limit :] == [
        f"call {limit} of step 0 {unjudged}",
        f"call {limit + 1} of step 0 {unjudged}",
        *(["call 13 of step 0 lacks evidence as call 0 does"] if required else []),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("distinct", [False, True])
def test_many_retries_of_a_step_that_pins_and_demands_much_take_linear_time(distinct: bool) -> None:
    """Judging each retry by itself takes minutes here, and finds 32 million things."""
    many = 4_000
    names = [f"e{at}" for at in range(many)]
    run = run_of([{"x": at} if distinct else {} for at in range(many)], names, names)
    start = process_time()
    verdict = safety.evaluate(run)
    assert process_time() - start < 20
    assert verdict.score == 0
    judged = 1 + MOST_RETRIES if distinct else 1
    assert len(verdict.findings) == 2 * many * judged + (many - judged)
