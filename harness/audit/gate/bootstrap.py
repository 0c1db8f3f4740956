"""Quantiles, and seeded bootstrap intervals of how much worse one sample is. Pure.

Rule 1: the same samples give the same interval: the seed is fixed.
Rule 2: an interval holds the difference that was observed, so equal samples are never surely worse.
Rule 3: paired samples are drawn in pairs, so what differs between cases widens nothing.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil
from random import Random
from statistics import fmean
from typing import Final, NamedTuple

_SEED: Final = 56
_RESAMPLES: Final = 1000
_TAIL: Final = 0.025
"""What lies below and above an interval: it is one of 95 percent."""


class BootstrapInterval(NamedTuple):
    """How much worse: as observed, and the ends of the interval around it."""

    observed: float
    low: float
    high: float


def quantile(values: Sequence[float], percent: int) -> float:
    """Return the smallest value that `percent` of a hundred values do not exceed.

    Raises:
        ValueError: `values` is empty, or `percent` is not from 1 to 100.
    """
    if not values or not 1 <= percent <= 100:
        raise ValueError("a quantile needs values, and a percentage from 1 to 100")
    return sorted(values)[ceil(Fraction(len(values) * percent, 100)) - 1]


def mean_drop(
    baseline: Sequence[float], candidate: Sequence[float], *, is_paired: bool = False
) -> BootstrapInterval:
    """Return by how much the mean of the candidate is lower.

    Args:
        is_paired: the values at one place of both are of the same case.

    Raises:
        ValueError: one of them has no values, or pairs are not complete.
    """
    return _interval(baseline, candidate, _drop, is_paired)


def mean_rise(
    baseline: Sequence[float], candidate: Sequence[float], *, is_paired: bool = False
) -> BootstrapInterval:
    """Return by which share of the baseline's mean that of the candidate is higher.

    From a mean of zero, any rise is infinite.

    Args:
        is_paired: the values at one place of both are of the same case.

    Raises:
        ValueError: one of them has no values, or pairs are not complete.
    """
    return _interval(baseline, candidate, _rise, is_paired)


def _interval(
    baseline: Sequence[float],
    candidate: Sequence[float],
    worse: Callable[[float, float], float],
    is_paired: bool,
) -> BootstrapInterval:
    if not baseline or not candidate:
        raise ValueError("an interval needs values of both")
    if is_paired and len(baseline) != len(candidate):
        raise ValueError("pairs need as many values of both")
    observed = worse(fmean(baseline), fmean(candidate))
    random = Random(_SEED)  # noqa: S311 - the same interval each time, and no secret
    resampled = _resampled_pairs if is_paired else _resampled_apart
    found = sorted(
        worse(fmean(before), fmean(after))
        for before, after in (resampled(random, baseline, candidate) for _ in range(_RESAMPLES))
    )
    cut = int(_RESAMPLES * _TAIL)
    return BootstrapInterval(observed, min(found[cut], observed), max(found[-1 - cut], observed))


def _resampled_apart(
    random: Random, baseline: Sequence[float], candidate: Sequence[float]
) -> tuple[Sequence[float], Sequence[float]]:
    before, after = (random.choices(side, k=len(side)) for side in (baseline, candidate))
    return before, after


def _resampled_pairs(
    random: Random, baseline: Sequence[float], candidate: Sequence[float]
) -> tuple[Sequence[float], Sequence[float]]:
    places = random.choices(range(len(baseline)), k=len(baseline))
    return [baseline[place] for place in places], [candidate[place] for place in places]


def _drop(baseline: float, candidate: float) -> float:
    return baseline - candidate


def _rise(baseline: float, candidate: float) -> float:
    if baseline == candidate:
        return 0.0
    return candidate / baseline - 1 if baseline else float("inf")
