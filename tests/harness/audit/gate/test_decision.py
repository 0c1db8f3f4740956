"""Laws of the release gate: what never blocks, what never passes."""

from collections import Counter
from fractions import Fraction
from math import comb, sqrt
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.audit.gate.bootstrap import binomial, mean_drop, mean_rise, quantile
from harness.audit.gate.release_decision import (
    GateBounds,
    GateStatus,
    JudgedCase,
    MeasuredRun,
    ReleaseCase,
    gate_checks,
    overall_status,
    refusal_check,
)
from tests.support.effort import examples

NAMES = ("policy", "utility", "safety")
SHARES = st.integers(0, 8).map(lambda eighths: eighths / 8)
AMOUNTS = st.integers(0, 1000).map(float)


@st.composite
def runs(draw: st.DrawFn) -> MeasuredRun:
    failed = draw(st.frozensets(st.sampled_from(("policy", "safety"))))
    scores = {name: 0.0 if name in failed else draw(SHARES) for name in NAMES}
    measures = {"wall_ms": draw(AMOUNTS), "cost_micros": draw(AMOUNTS)}
    case = ReleaseCase(draw(st.sampled_from("ab")), draw(st.sampled_from("123")))
    return MeasuredRun(case, failed, scores, measures)


SAMPLES: Any = st.lists(runs(), min_size=1, max_size=12)
BOUNDS = GateBounds(min_runs=4)
CASE = ReleaseCase("a", "1")
EVEN = MeasuredRun(CASE, frozenset(), dict.fromkeys(NAMES, 1.0), {"wall_ms": 5.0, "cost_micros": 1})


def status(baseline: list[MeasuredRun], candidate: list[MeasuredRun], **more: Any) -> GateStatus:
    return overall_status(gate_checks(baseline, candidate, BOUNDS, **more))


@given(SAMPLES)
@settings(max_examples=examples(30), deadline=None)
def test_a_candidate_that_equals_the_baseline_never_blocks(sample: list[MeasuredRun]) -> None:
    assert status(sample, sample) != "block"


def cases_of(sample: list[MeasuredRun]) -> list[MeasuredRun]:
    """Return the runs, each of a case of its own."""
    return [
        run._replace(case=ReleaseCase(run.case.decision_key, f"{place}"))
        for place, run in enumerate(sample)
    ]


@given(SAMPLES, st.randoms())
@settings(max_examples=examples(30), deadline=None)
def test_the_same_cases_with_the_same_results_pass_in_any_order(
    sample: list[MeasuredRun], random: Random
) -> None:
    cases = cases_of(sample)
    assert status(cases, random.sample(cases, len(cases))) == (
        "pass" if len(cases) >= BOUNDS.min_runs else "inconclusive"
    )
    judged = [JudgedCase(run.case, run.scores["utility"]) for run in cases]
    assert refusal_check(judged, random.sample(judged, len(judged)), 0.0).status == "pass"


@given(SAMPLES, st.data(), st.sampled_from(("policy", "safety")))
@settings(max_examples=examples(30), deadline=None)
def test_a_failure_is_new_where_its_case_did_not_fail_before(
    sample: list[MeasuredRun], data: st.DataObject, name: str
) -> None:
    cases = cases_of([*sample, EVEN])
    failing = cases[-1]._replace(failed=frozenset({name}))
    at = data.draw(st.integers(0, len(cases) - 2))
    repaired = cases[at]._replace(failed=frozenset())
    candidate = [*cases[:at], repaired, *cases[at + 1 : -1], failing]
    (check,) = [
        one for one in gate_checks(cases, candidate, BOUNDS) if one.name == f"{name} failures"
    ]
    assert check.status == "block"
    assert f"a ({len(cases) - 1})" in check.said


@given(SAMPLES, SAMPLES, st.sampled_from(("policy", "safety")), st.sampled_from("ab"))
@settings(max_examples=examples(30), deadline=None)
def test_one_more_failure_than_the_baseline_always_blocks(
    baseline: list[MeasuredRun], candidate: list[MeasuredRun], name: str, key: str
) -> None:
    scores = {**EVEN.scores, name: 0.0}
    failure = MeasuredRun(ReleaseCase(key, "9"), frozenset({name}), scores, EVEN.measures)
    already = sum(1 for run in baseline if name in run.failed and run.case.decision_key == key)
    assert status(baseline, [*candidate, *[failure] * (already + 1)]) == "block"


@given(SAMPLES, SAMPLES)
@settings(max_examples=examples(30), deadline=None)
def test_too_few_runs_never_pass(baseline: list[MeasuredRun], candidate: list[MeasuredRun]) -> None:
    assert status(baseline[:3], candidate) != "pass"
    assert status(baseline, candidate[:3]) != "pass"
    assert status([], candidate) == "inconclusive" or status([], candidate) == "block"


@given(SAMPLES, SAMPLES)
@settings(max_examples=examples(20), deadline=None)
def test_an_unread_record_never_passes(
    baseline: list[MeasuredRun], candidate: list[MeasuredRun]
) -> None:
    read, unread = status(baseline, candidate), status(baseline, candidate, unread=1)
    assert unread == ("block" if read == "block" else "inconclusive")


def test_even_runs_pass() -> None:
    assert status([EVEN] * 4, [EVEN] * 5) == "pass"
    assert status([EVEN] * 4, [EVEN] * 3) == "inconclusive"


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"scores": {**EVEN.scores, "policy": 0.9}}, "block"),
        ({"scores": {**EVEN.scores, "utility": 0.99}}, "pass"),
        ({"scores": {**EVEN.scores, "utility": 0.9}}, "block"),
        ({"measures": {"wall_ms": 5.4, "cost_micros": 1}}, "pass"),
        ({"measures": {"wall_ms": 5.6, "cost_micros": 1}}, "block"),
        ({"measures": {"wall_ms": 5.0}}, "inconclusive"),
    ],
)
def test_each_bound_is_kept(changed: dict[str, Any], expected: str) -> None:
    assert status([EVEN] * 4, [EVEN._replace(**changed)] * 4) == expected


def test_what_may_be_within_its_bound_or_not_is_inconclusive() -> None:
    slow = EVEN._replace(measures={"wall_ms": 7.0, "cost_micros": 1})
    assert status([EVEN] * 8, [EVEN] * 6 + [slow] * 2) == "inconclusive"


@given(st.lists(AMOUNTS, min_size=1), st.lists(AMOUNTS, min_size=1))
@settings(max_examples=examples(20), deadline=None)
def test_an_interval_holds_what_was_observed_and_is_the_same_each_time(
    baseline: list[float], candidate: list[float]
) -> None:
    for interval in (mean_drop(baseline, candidate), mean_rise(baseline, candidate)):
        assert interval.low <= interval.observed <= interval.high
    assert mean_drop(baseline, candidate) == mean_drop(baseline, candidate)


@pytest.mark.parametrize(
    ("size", "share"), [(3, Fraction(1, 3)), (5, Fraction(7, 8)), (4, Fraction(1, 2))]
)
def test_how_many_are_below_a_share_is_drawn_as_often_as_it_should(
    size: int, share: Fraction
) -> None:
    random, draws = Random(7), 20_000  # noqa: S311 - the same draws each time
    seen = Counter(binomial(random, size, share) for _ in range(draws))
    for number in range(size + 1):
        chance = float(comb(size, number) * share**number * (1 - share) ** (size - number))
        spread = sqrt(draws * chance * (1 - chance))
        assert abs(seen[number] - draws * chance) < 5 * spread, number
    assert binomial(random, 0, share) == binomial(random, 9, Fraction(0)) == 0


@pytest.mark.parametrize("is_paired", [True, False])
def test_an_interval_of_shares_is_as_wide_as_its_cases_allow_and_draws_none_of_them_alone(
    is_paired: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth of 10,000 cases changed, of which a third got better."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("each case was drawn alone")

    baseline = [1.0] * 5_000 + [0.0] * 5_000
    candidate = [0.0] * 600 + [1.0] * 4_400 + [1.0] * 300 + [0.0] * 4_700
    with monkeypatch.context() as patched:
        patched.setattr(Random, "choices", refuse)
        interval = mean_drop(baseline, candidate, is_paired=is_paired)
    variance = 0.09 - 0.03**2 if is_paired else 0.5 * 0.5 + 0.47 * 0.53
    wide = 1.96 * sqrt(variance / 10_000)
    assert interval.observed == pytest.approx(0.03)
    assert 0.03 - interval.low == pytest.approx(wide, rel=0.15)
    assert interval.high - 0.03 == pytest.approx(wide, rel=0.15)


@given(st.lists(AMOUNTS, min_size=1), st.integers(1, 100))
def test_a_quantile_is_a_value_that_so_many_do_not_exceed(
    values: list[float], percent: int
) -> None:
    found = quantile(values, percent)
    assert found in values
    assert sum(value <= found for value in values) * 100 >= percent * len(values)
    assert sum(value < found for value in values) * 100 < percent * len(values)


def test_a_quantile_of_nothing_is_an_error() -> None:
    for values, percent in (([], 50), ([1.0], 0), ([1.0], 101)):
        with pytest.raises(ValueError, match="a quantile needs"):
            quantile(values, percent)
    with pytest.raises(ValueError, match="values of both"):
        mean_drop([], [1.0])
    with pytest.raises(ValueError, match="as many values"):
        mean_drop([1.0], [1.0, 2.0], is_paired=True)
