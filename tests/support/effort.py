"""How much a run of the tests tries: by default an eighth of the examples, and no slow test.

See decisions 0058, 0070 and 0069.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import pytest
from hypothesis import settings

EVERY_TEST: Final = ("-m", "")
"""Options of pytest that select the tests marked `slow`, too."""
_ALL_EXAMPLES: Final = "--hypothesis-profile=full"
IN_FULL: Final = (*EVERY_TEST, _ALL_EXAMPLES)
"""Options of pytest that also draw all examples."""
LEFT_TO_CI: Final = ("-m", "slow and not long")
"""Options of pytest for what the default run leaves out."""

_PROFILES: Final = {"eighth": 12, "full": 100}
_FEW: Final = 10
_ONE_OF_THE_LEFT: Final = 8
"""Of so many cases that are no samples, `.ci/run` tries one; `.ci/weekly` tries all."""


def register_profiles() -> None:
    """Register the profiles of this project. No test is timed: a busy machine fails none."""
    for name, most in _PROFILES.items():
        settings.register_profile(name, deadline=None, max_examples=most)


def examples(most: int) -> int:
    """Return the share of `most` that the profile in use draws, but of a few a quarter."""
    return max(1, min(most // 4, _FEW), most * settings().max_examples // 100)


def sampled(values: Iterable[Any], *, one_in: int) -> list[Any]:
    """Return the values of a parameter: one in so many as it is, the others marked `slow`.

    Of the others `.ci/run` tries one in a few, so most are marked `long`, too.
    """
    return sampled_rows([(value,) for value in values], one_in=one_in)


def sampled_rows(rows: Iterable[tuple[Any, ...]], *, one_in: int) -> list[Any]:
    """Return the values of several parameters: one row in so many, the others as `sampled` does."""
    return [
        pytest.param(*row, marks=[getattr(pytest.mark, name) for name in _marks_at(at, one_in)])
        for at, row in enumerate(rows)
    ]


def rarely(values: Iterable[Any], *, one_in: int) -> list[Any]:
    """Return the values of a parameter of a slow test: one in so many, the others marked `long`."""
    return [
        pytest.param(value, marks=[pytest.mark.long] if at % one_in else [])
        for at, value in enumerate(values)
    ]


def mark_all_but_samples(items: Iterable[pytest.Item]) -> None:
    """Mark the cases of a test with `one_in(n)` as `sampled` does, but for one in n, the first.

    Cases that are slow already are not counted.
    """
    met = Counter[str]()
    for item in items:
        mark = item.get_closest_marker("one_in")
        if mark is None or item.get_closest_marker("slow") is not None:
            continue
        (most,) = mark.args
        function = item.nodeid.partition("[")[0]
        for name in _marks_at(met[function], most):
            item.add_marker(name)
        met[function] += 1


def _marks_at(at: int, one_in: int) -> tuple[str, ...]:
    """Return the marks of a case by its place: none, `slow`, or `slow` and `long`."""
    rounds, place = divmod(at, one_in)
    if place == 0:
        return ()
    left_out = rounds * (one_in - 1) + place - 1
    return ("slow",) if left_out % _ONE_OF_THE_LEFT == 0 else ("slow", "long")
