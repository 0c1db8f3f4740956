"""latency and cost: what counts where measures contradict each other or no budget is declared."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic import EvaluatorVerdict, Run
from evals import cost, latency
from evals.context import DEFAULT_BUCKET_TOKENS, DEFAULT_SESSION_TOKENS
from tests.support.agreement import ONE_FAILURE
from tests.support.effort import examples
from tests.support.model.facts import Json

PAIR: Json = {"adapter_id": "a", "capability_id": "b"}
SMALL = st.integers(0, 30)


def run_of(calls: list[Json], ctx: Json, **measures: Any) -> Run:
    """Return a run whose calls have these measures."""
    manifests = {
        "tool_manifest": [{**PAIR, "approval_mode": "read_only"}],
        "evidence_manifest": [],
    }
    base = {**PAIR, "step": 0, "args": {}, "status": "completed"}
    wire: Json = {
        "run_id": "r",
        "trace_id": "t",
        "calls": [{**base, **call} for call in calls],
        "outputs": {},
        "proposal": {
            "ctx": {"trace_id": "t", "safety_mode": "read_only", **ctx},
            "compiled": {"manifests": manifests},
            "spec": {"id": "d", "required_outputs": []},
            "plan": {"steps": [{"kind": "tool", **PAIR}], "declared_outputs": []},
        },
    }
    return Run(**wire, **measures)


def found(verdict: EvaluatorVerdict) -> list[tuple[str, str]]:
    return [(one.severity, one.message) for one in verdict.findings]


@settings(ONE_FAILURE, max_examples=examples(300))
@given(SMALL, st.lists(SMALL), st.none() | SMALL)
def test_no_run_is_shorter_than_its_longest_call(
    wall: int, durations: list[int], budget: int | None
) -> None:
    ctx = {} if budget is None else {"run_budget": {"wall_ms": budget}}
    calls: list[Json] = [{"duration_ms": one} for one in durations]
    verdict = latency.evaluate(run_of([{}, *calls], ctx, wall_ms=wall))
    counted = max([wall, *durations])
    if budget is None:
        assert (verdict.status, verdict.score) == ("pass", 1.0)
        assert verdict.findings[0].message == "no budget declared for wall_ms"
    else:
        assert verdict.score == (1 if counted <= budget else budget / counted)
        assert (verdict.status == "fail") is (counted > 2 * budget)
        assert (verdict.status == "pass") is (counted <= budget and counted == wall)
    shorter = [message for _, message in found(verdict) if "shorter than call" in message]
    at = [0, *durations].index(counted) if counted > wall else 0
    text = f"wall_ms is {wall}, shorter than call {at}, which took {counted}"
    assert shorter == ([text] if counted > wall else [])


def test_what_is_over_the_budget_is_named_after_what_was_counted() -> None:
    ctx = {"run_budget": {"wall_ms": 10}}
    slow = [{"duration_ms": 15}, {"duration_ms": 15}]
    assert found(latency.evaluate(run_of(slow, ctx, wall_ms=12))) == [
        ("warn", "the longest call is 15, over the budget of 10"),
        ("warn", "wall_ms is 12, shorter than call 0, which took 15"),
    ]
    assert found(latency.evaluate(run_of(slow, ctx, wall_ms=15))) == [
        ("warn", "wall_ms is 15, over the budget of 10"),
    ]


def test_calls_do_not_stand_in_for_a_wall_clock_that_was_not_read() -> None:
    verdict = latency.evaluate(run_of([{"duration_ms": 99}], {"run_budget": {"wall_ms": 10}}))
    assert (verdict.status, verdict.score) == ("warn", 0.0)


@pytest.mark.parametrize(
    ("spent", "tokens", "status"),
    [
        (None, None, "pass"),
        (None, DEFAULT_BUCKET_TOKENS, "pass"),
        (None, DEFAULT_BUCKET_TOKENS + 1, "warn"),
        (None, 2 * DEFAULT_BUCKET_TOKENS + 1, "fail"),
        (None, 50_000_000, "fail"),
        (DEFAULT_BUCKET_TOKENS, 0, "pass"),
        (DEFAULT_BUCKET_TOKENS, 1, "warn"),
        (DEFAULT_BUCKET_TOKENS, None, "pass"),
        (DEFAULT_BUCKET_TOKENS + 1, None, "warn"),
    ],
)
def test_without_a_budget_measured_tokens_count_against_the_default_of_verify(
    spent: int | None, tokens: int | None, status: str
) -> None:
    ctx: Json = {} if spent is None else {"spent": {"tokens": spent}}
    measures = {} if tokens is None else {"tokens": tokens}
    verdict = cost.evaluate(run_of([{}], ctx, **measures))
    total = (spent or 0) + (tokens or 0)
    assert verdict.status == status
    assert verdict.score == (1 if status == "pass" else DEFAULT_BUCKET_TOKENS / total)
    over = f"tokens is {total}, over the default budget of {DEFAULT_BUCKET_TOKENS}"
    quiet = "no budget declared for tokens"
    assert verdict.findings[0].message == (quiet if status == "pass" else over)


def test_the_default_budget_judges_as_the_same_budget_does_when_it_is_declared() -> None:
    for tokens in (0, 8000, 8001, 16_000, 16_001):
        declared = cost.evaluate(run_of([{}], {"run_budget": {}}, tokens=tokens))
        default = cost.evaluate(run_of([{}], {}, tokens=tokens))
        assert (declared.score, declared.status) == (default.score, default.status)


def test_the_default_budget_of_a_session_asks_for_no_measure_in_a_session() -> None:
    budget: Json = {"run_budget": {"bucket_tokens": DEFAULT_SESSION_TOKENS}}
    facts = {"session": {"id": "s", "turn": 1}}
    assert cost.evaluate(run_of([{}], {**budget, **facts})).status == "pass"
    assert cost.evaluate(run_of([{}], budget)).status == "warn"
    over = cost.evaluate(run_of([{}], {**budget, **facts}, tokens=DEFAULT_SESSION_TOKENS + 1))
    assert over.findings[0].message == "tokens is 1000001, over the default budget of 1000000"


def test_what_was_not_measured_warns_where_a_budget_asks_and_is_quiet_where_none_does() -> None:
    asked = {"wall_ms": 1, "cost_micros": 1, "bucket_tokens": 1}
    run = run_of([{}], {"run_budget": asked})
    for verdict in (latency.evaluate(run), cost.evaluate(run)):
        assert (verdict.status, verdict.score) == ("warn", 0.0)
        assert {severity for severity, _ in found(verdict)} == {"warn"}
    unasked_for: tuple[Json, ...] = ({}, {"run_budget": {}}, {"run_budget": {"max_steps": 3}})
    for unasked in unasked_for:
        run = run_of([{}], unasked)
        for verdict in (latency.evaluate(run), cost.evaluate(run)):
            assert (verdict.status, verdict.score) == ("pass", 1.0)
            assert {severity for severity, _ in found(verdict)} == {"info"}


def test_a_default_budget_that_is_written_judges_as_one_that_is_left_out() -> None:
    """Both have one digest, so a record cannot say which it was."""
    for measures in ({}, {"tokens": 8000}, {"tokens": 8001}, {"tokens": 16_001}):
        left_out, written = (
            cost.evaluate(run_of([{}], {"run_budget": {"max_steps": 12, **bucket}}, **measures))
            for bucket in ({}, {"bucket_tokens": DEFAULT_BUCKET_TOKENS})
        )
        assert left_out == written
