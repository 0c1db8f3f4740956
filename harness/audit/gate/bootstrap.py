"""Quantiles, and seeded bootstrap intervals of how much worse one sample is. Pure.

Rule 1: the same samples give the same interval: the seed is fixed.
Rule 2: an interval holds the difference that was observed, so equal samples are never surely worse.
Rule 3: paired samples are drawn in pairs, so what differs between cases widens nothing.
Rule 4: where there are few different values, as of shares, how often each is drawn is drawn: that
        takes as long for a million values as for a thousand.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import ceil, fsum
from random import Random
from statistics import fmean
from typing import Final, NamedTuple

_SEED: Final = 56
_RESAMPLES: Final = 1000
_TAIL: Final = 0.025
"""What lies below and above an interval: it is one of 95 percent."""
_LIKE_EACH: Final = 50
"""How many values there are for each different one, on average, where there are few of those."""


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
    if is_paired:
        means = _resampled_means(random, [*zip(baseline, candidate, strict=True)])
    else:
        sides = [
            _resampled_means(random, [(one,) for one in side]) for side in (baseline, candidate)
        ]
        means = ((before, after) for (before,), (after,) in zip(*sides, strict=False))
    found = sorted(worse(*next(means)) for _ in range(_RESAMPLES))
    cut = int(_RESAMPLES * _TAIL)
    return BootstrapInterval(observed, min(found[cut], observed), max(found[-1 - cut], observed))


def _resampled_means(
    random: Random, rows: Sequence[tuple[float, ...]]
) -> Iterator[tuple[float, ...]]:
    """Yield the means of the columns of as many rows, drawn again and again with replacement."""
    counts = Counter(rows)
    few = len(counts) * _LIKE_EACH <= len(rows)
    while True:
        if few:
            drawn = [*zip(counts, _draw_counts(random, [*counts.values()]), strict=True)]
            columns = zip(*([one * count for one in row] for row, count in drawn), strict=True)
        else:
            columns = zip(*random.choices(rows, k=len(rows)), strict=True)
        yield tuple(fsum(column) / len(rows) for column in columns)


def _draw_counts(random: Random, counts: Sequence[int]) -> Iterator[int]:
    """Yield how often each of some values is drawn, where all together are drawn once each.

    Each count is drawn given those before it, which takes no time for each single draw.
    """
    left = total = sum(counts)
    for count in counts:
        drawn = left if count == total else binomial(random, left, Fraction(count, total))
        yield drawn
        left, total = left - drawn, total - count


def binomial(random: Random, size: int, share: Fraction) -> int:
    """Return how many of `size` uniform numbers are below a share, which is below 1: drawn exactly.

    The numbers are compared with it digit by digit, all at once. At each digit half of those that
    were like it so far are settled.
    """
    part, whole = share.as_integer_ratio()
    below = 0
    while size and part:
        digit, part = divmod(2 * part, whole)
        ones = random.getrandbits(size).bit_count()
        if digit:
            below += size - ones
            size = ones
        else:
            size -= ones
    return below


def _drop(baseline: float, candidate: float) -> float:
    return baseline - candidate


def _rise(baseline: float, candidate: float) -> float:
    if baseline == candidate:
        return 0.0
    return candidate / baseline - 1 if baseline else float("inf")
