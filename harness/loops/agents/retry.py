"""The policy of calls: how often a failed one is tried again, and how long one may take.

Retry libraries wrap a function and wait by themselves. A call here is a stream of events whose
usage and budget count across its tries, so the policy is a plain value and the waiting is a port.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from harness.errors import HarnessError
from harness.loops.agents.agent import TransientFailure
from harness.loops.agents.journal import JournalError

_T = TypeVar("_T")

Sleep = Callable[[float], Awaitable[object]]
"""Waits for a number of seconds."""

_OUT_OF_TIME: Final = "budget:max_seconds"


class OutOfTime(HarnessError):
    """The time of the budget was over before the call had ended."""


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How often a call is tried, and how long one try may take. All times are in seconds.

    The waits double from `first_wait` up to `longest_wait`. They have no random part: where many
    processes would try again at the same moment, give a `sleep` that adds one.

    Attributes:
        tries: how often a call is made at most; 1 never tries again.
        transient: the errors after which it is made again.
        first_wait: the wait before the second try.
        longest_wait: the longest wait.
        time_limit: after how long a try is cancelled and counts as a `TimeoutError`; None for
            never. A function that is not async cannot be cancelled.
        sleep: waits between tries.

    Raises:
        ValueError: a number is out of range.
    """

    tries: int = 3
    transient: tuple[type[Exception], ...] = (ConnectionError, TimeoutError, TransientFailure)
    first_wait: float = 0.5
    longest_wait: float = 8.0
    time_limit: float | None = None
    sleep: Sleep = asyncio.sleep

    def __post_init__(self) -> None:
        if type(self.tries) is not int or self.tries < 1:
            raise ValueError(f"tries must be a whole number of at least 1, not {self.tries!r}")
        for name in ("first_wait", "longest_wait"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be a number of seconds, not {getattr(self, name)!r}")
        if self.time_limit is not None and not 0 < self.time_limit < float("inf"):
            raise ValueError(f"time_limit must be more than 0 seconds, not {self.time_limit!r}")

    def allows_another(self, tries: int, error: Exception) -> bool:
        """Return whether to try again after this many tries, of which the last raised `error`."""
        # The errors of a journal and the end of the budget are always final.
        final = isinstance(error, JournalError | OutOfTime)
        return tries < self.tries and not final and isinstance(error, self.transient)

    def wait_after(self, tries: int) -> float:
        """Return how long to wait after this many failed tries."""
        doubled: float = self.first_wait * 2 ** min(tries - 1, 60)
        return min(self.longest_wait, doubled)


DEFAULT_CALLS: Final = CallPolicy()
"""Three tries, without a time limit."""


class Deadline:
    """The time that a budget leaves, counted from now."""

    def __init__(self, seconds: float | None) -> None:
        self._ends = None if seconds is None else asyncio.get_running_loop().time() + seconds

    def seconds_left(self) -> float | None:
        """Return the seconds that are left, or None without a limit."""
        if self._ends is None:
            return None
        return max(0.0, self._ends - asyncio.get_running_loop().time())

    async def wait_within(self, awaitable: Awaitable[_T], seconds: float | None = None) -> _T:
        """Wait for a value, at most this long and at most until the deadline.

        Raises:
            OutOfTime: the deadline came first.
            TimeoutError: the other limit did, or the awaitable raised it.
        """
        left = self.seconds_left()
        ends_budget = left is not None and (seconds is None or left <= seconds)
        try:
            async with asyncio.timeout(left if ends_budget else seconds) as limit:
                return await awaitable
        except TimeoutError:
            if limit.expired() and ends_budget:
                raise OutOfTime(_OUT_OF_TIME) from None
            if limit.expired():
                raise TimeoutError("the call took longer than its time limit") from None
            raise


async def call_with_retries(
    call: Callable[[], Awaitable[_T]],
    policy: CallPolicy,
    *,
    seconds: float | None = None,
    on_failure: Callable[[int, float, Exception], None],
) -> _T:
    """Return what `call` gives, tried again as the policy says.

    `seconds` is the time for all tries together. `on_failure` is called before each wait with the
    number of tries so far, the wait, and the error.

    Raises:
        OutOfTime: `seconds` have passed.
        Exception: the error of the last try.
    """
    deadline, tries = Deadline(seconds), 0
    while True:
        tries += 1
        try:
            return await deadline.wait_within(call(), policy.time_limit)
        except Exception as error:
            if not policy.allows_another(tries, error):
                raise
            wait = policy.wait_after(tries)
            on_failure(tries, wait, error)
        await deadline.wait_within(policy.sleep(wait))
