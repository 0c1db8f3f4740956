"""The values that agents and loops exchange: exact, closed, and honest about what is unknown."""

from collections.abc import Mapping
from functools import reduce
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evals.json_value import SAFE_INTEGER
from harness.loops.agents.agent import AgentFailed, AgentResult, Event, EventKind, describe
from harness.loops.agents.usage import NO_USAGE, UNLIMITED, Budget, Usage, add_usage
from harness.wire import build

COUNTS = st.integers(0, 10**6)
PARTS = ("tokens_in", "tokens_out", "cost_micros")


def some(draw: Mapping[str, int | None]) -> Usage:
    return Usage(**{name: value for name, value in draw.items() if value is not None})


USAGES = st.fixed_dictionaries({name: st.none() | COUNTS for name in PARTS}).map(some)
MEASURED = st.fixed_dictionaries(dict.fromkeys(PARTS, COUNTS)).map(some)
LIMITS = {"max_tokens": COUNTS, "max_cost_micros": COUNTS, "max_seconds": st.integers(0, 99)}
BUDGETS = st.fixed_dictionaries({}, optional=LIMITS).map(lambda limits: Budget(**limits))


@given(USAGES, USAGES, USAGES)
def test_usage_adds_up_in_any_order(a: Usage, b: Usage, c: Usage) -> None:
    assert add_usage(a, b) == add_usage(b, a)
    assert add_usage(add_usage(a, b), c) == add_usage(a, add_usage(b, c))
    assert add_usage(a, NO_USAGE) == a


@given(st.lists(USAGES))
def test_a_sum_is_exact_or_absent(usages: list[Usage]) -> None:
    total = reduce(add_usage, usages, NO_USAGE)
    for name in PARTS:
        parts = [getattr(usage, name) for usage in usages]
        assert getattr(total, name) == (None if None in parts else sum(parts))


def test_a_sum_stops_where_json_is_no_longer_exact() -> None:
    most = Usage(tokens_in=SAFE_INTEGER, tokens_out=1, cost_micros=SAFE_INTEGER)
    assert add_usage(most, most) == most.model_copy(update={"tokens_out": 2})
    assert most.tokens == SAFE_INTEGER


@pytest.mark.parametrize("count", [-1, 1.0, True, "1", float("nan"), SAFE_INTEGER + 1])
@pytest.mark.parametrize("name", PARTS)
def test_a_count_is_an_exact_whole_number(name: str, count: Any) -> None:
    with pytest.raises(ValidationError):
        Usage(**{name: count})


@given(BUDGETS, USAGES, USAGES, st.integers(0, 99), st.integers(0, 99))
def test_what_is_left_forbids_what_the_whole_forbids(
    budget: Budget, spent: Usage, more: Usage, seconds: int, later: int
) -> None:
    left = budget.remaining_after(spent, seconds)
    both = add_usage(spent, more)
    assert left.exceeded_by(more, later) == budget.exceeded_by(both, seconds + later)
    assert left.exceeded_by(NO_USAGE) == budget.exceeded_by(spent, seconds)


@given(BUDGETS, MEASURED, MEASURED)
def test_what_is_exceeded_stays_exceeded(budget: Budget, spent: Usage, more: Usage) -> None:
    if budget.exceeded_by(spent):
        assert budget.exceeded_by(add_usage(spent, more))


def test_the_bounds_of_a_budget() -> None:
    budget = Budget(max_tokens=10, max_cost_micros=5)
    assert Budget(max_tokens=0).exceeded_by(NO_USAGE) == "max_tokens"
    assert budget.exceeded_by(Usage(tokens_in=9, tokens_out=0, cost_micros=4)) is None
    assert budget.exceeded_by(Usage(tokens_in=9, tokens_out=1, cost_micros=0)) == "max_tokens"
    assert budget.exceeded_by(Usage(tokens_in=0, tokens_out=0, cost_micros=5)) == "max_cost_micros"
    assert budget.exceeded_by(Usage(tokens_in=0, tokens_out=0)) == "max_cost_micros"
    assert UNLIMITED.exceeded_by(Usage()) is None
    assert not budget.nearly_exceeded_by(Usage(tokens_in=7, tokens_out=0, cost_micros=3))
    assert budget.nearly_exceeded_by(Usage(tokens_in=8, tokens_out=0, cost_micros=0))


def test_the_time_of_a_budget_is_a_limit() -> None:
    budget = Budget(max_seconds=2.5)
    assert budget.exceeded_by(Usage(), 2.4) is None
    assert budget.exceeded_by(NO_USAGE, 2.5) == "max_seconds"
    assert Budget(max_seconds=0).exceeded_by(NO_USAGE) == "max_seconds"
    assert budget.remaining_after(NO_USAGE, 9).max_seconds == 0
    assert budget.nearly_exceeded_by(NO_USAGE, 2.0)
    assert not budget.nearly_exceeded_by(NO_USAGE, 1.9)
    wrong: Any
    for wrong in (-1, float("nan"), float("inf"), "1"):
        with pytest.raises(ValidationError):
            Budget(max_seconds=wrong)


def test_only_an_interrupted_result_is_transient() -> None:
    facts: dict[str, Any] = {"output": "", "usage": NO_USAGE, "transient": True}
    assert AgentResult(**facts, interrupted=True, interruption_reason="busy").transient
    for wrong in (facts, {**facts, "transient": False}):
        with pytest.raises(ValidationError):
            AgentResult(**wrong)


def test_the_kinds_of_events() -> None:
    assert get_args(EventKind) == (
        *("started", "model_chunk", "tool_call", "tool_result", "budget_warning"),
        *("budget_exceeded", "error", "architecture_event", "completed"),
    )


def test_exactly_a_completed_event_carries_a_result() -> None:
    result = AgentResult(output="", usage=NO_USAGE)
    event = Event(kind="completed", session_id="P", result=result)
    assert event.result == result
    assert event.data == {}
    for facts in ({"kind": "completed"}, {"kind": "error", "result": result}, {"kind": "done"}):
        with pytest.raises(ValidationError):
            Event(session_id="P", **facts)
    with pytest.raises(ValidationError):
        Event(kind="started", session_id="")


def test_exactly_what_was_interrupted_has_a_reason() -> None:
    why = AgentResult(output="", usage=NO_USAGE, interrupted=True, interruption_reason="why")
    assert why.turns == 1
    for facts in ({"interrupted": True}, {"interruption_reason": "why"}):
        with pytest.raises(ValidationError):
            AgentResult(output="", usage=NO_USAGE, **facts)


def test_an_event_goes_through_json_unchanged() -> None:
    result = AgentResult(
        output="v", usage=Usage(tokens_in=1), stop_reason="max_rounds", round=0, turns=2
    )
    data = {"text": None, "args": {"a": [None, 1.5]}}
    event = Event(kind="completed", session_id="P", data=data, result=result)
    assert build(Event, event.wire()) == event
    assert not result.approved


def test_a_failure_is_described_in_one_line() -> None:
    assert describe(AgentFailed("it's\nbroken")) == "it's\\u000abroken"
    assert describe(ValueError("it's")) == "ValueError: it's"
    assert describe(KeyError()) == "KeyError"
    once = describe(ValueError("\u202e'<"))
    assert describe(AgentFailed(once)) == once
