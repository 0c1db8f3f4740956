"""Quantiles, and seeded bootstrap intervals of how much worse one sample is. Pure.

Rule 1: the same samples give the same interval: the seed is fixed.
Rule 2: an interval holds the difference that was observed, so equal samples are never surely worse.
"""

from collections.abc import Sequence
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
        ValueError: there are no values, or `percent` is not from 1 to 100.
    """
    if not values or not 1 <= percent <= 100:
        raise ValueError("a quantile needs values, and a percentage from 1 to 100")
    return sorted(values)[ceil(Fraction(len(values) * percent, 100)) - 1]


def mean_drop(baseline: Sequence[float], candidate: Sequence[float]) -> BootstrapInterval:
    """Return by how much the mean of the candidate is lower.

    Raises:
        ValueError: one of them has no values.
    """
    return _interval(baseline, candidate, is_share=False)


def mean_rise(baseline: Sequence[float], candidate: Sequence[float]) -> BootstrapInterval:
    """Return by which share of the baseline's mean that of the candidate is higher.

    From a mean of zero, any rise is infinite.

    Raises:
        ValueError: one of them has no values.
    """
    return _interval(baseline, candidate, is_share=True)


def _interval(
    baseline: Sequence[float], candidate: Sequence[float], *, is_share: bool
) -> BootstrapInterval:
    if not baseline or not candidate:
        raise ValueError("an interval needs values of both")
    worse = _rise if is_share else _drop
    observed = worse(fmean(baseline), fmean(candidate))
    random = Random(_SEED)  # noqa: S311 - the same interval each time, and no secret
    found = sorted(
        worse(_resampled_mean(random, baseline), _resampled_mean(random, candidate))
        for _ in range(_RESAMPLES)
    )
    cut = int(_RESAMPLES * _TAIL)
    return BootstrapInterval(observed, min(found[cut], observed), max(found[-1 - cut], observed))


def _resampled_mean(random: Random, values: Sequence[float]) -> float:
    return fmean(random.choices(values, k=len(values)))


def _drop(baseline: float, candidate: float) -> float:
    return baseline - candidate


def _rise(baseline: float, candidate: float) -> float:
    if baseline == candidate:
        return 0.0
    return candidate / baseline - 1 if baseline else float("inf")
