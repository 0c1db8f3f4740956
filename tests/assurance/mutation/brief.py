"""A plugin of pytest: tests take the seconds that they compute, and no more than any killer may.

Of a busy machine the clock on the wall says little. A test that computes for longer is ended, and
passes: it would take minutes while its lines are measured, and no mutant ever meets it.
"""

import os
import signal
from collections.abc import Generator
from typing import Any, Final

import pytest

MOST_SECONDS: Final = 15


class _TooLong(BaseException):
    """Nothing that a test catches."""


def _end(*_: Any) -> None:
    raise _TooLong


class _Computed:
    """How long this process and its children had computed when it was last asked."""

    def __init__(self) -> None:
        self._last = 0.0

    def since_last(self) -> float:
        last, self._last = self._last, sum(os.times()[:4])
        return self._last - last


_COMPUTED: Final = _Computed()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """End the test when the time is up."""
    signal.signal(signal.SIGPROF, _end)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        return (yield)
    except _TooLong:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the report of each phase tell the seconds computed."""
    report = yield
    report.duration = _COMPUTED.since_last()
    return report


def pytest_runtest_logstart() -> None:
    """Let what was computed between two tests count for neither."""
    _COMPUTED.since_last()
