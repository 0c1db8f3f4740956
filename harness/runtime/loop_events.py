"""The events of one turn of the canonical loop, for a listener to watch.

Rule 1: a listener observes and decides nothing: it receives copies, and what it raises
        is ignored.
Rule 2: events come in the order in which things happened, numbered from 1 without gaps.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from threading import RLock
from typing import Final

from critic import Opening, Plan, Refused, ScoreVerdict, ToolCall, Verified
from harness.record import DecisionRecord
from harness.wire import detached_copy


@dataclass(frozen=True, slots=True)
class Planned:
    """The planner proposed a plan."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class PlanVerified:
    """`verify` passed the plan."""

    verdict: Verified


@dataclass(frozen=True, slots=True)
class PlanRefused:
    """`verify` refused the plan: it is not executed."""

    verdict: Refused


@dataclass(frozen=True, slots=True)
class PermitIssued:
    """The executor is given a permit for the proposal with this digest."""

    digest: str


@dataclass(frozen=True, slots=True)
class StepOpened:
    """A step of a late plan was judged with its values. It runs only if the verdict passes it."""

    opening: Opening


@dataclass(frozen=True, slots=True)
class CallStarted:
    """The executor is about to make the call of this step, a position in the plan.

    Only executors that report it, such as CallableExecutor, give this event.
    """

    step: int


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call ended and was recorded."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class RunScored:
    """`score` judged the run."""

    verdict: ScoreVerdict


@dataclass(frozen=True, slots=True)
class DecisionRecorded:
    """The log took the decision."""

    record: DecisionRecord


EventDetail = (
    Planned
    | PlanVerified
    | PlanRefused
    | PermitIssued
    | StepOpened
    | CallStarted
    | CallEnded
    | RunScored
    | DecisionRecorded
)


@dataclass(frozen=True, slots=True)
class LoopEvent:
    """One event: its number in this turn, from 1; the time; and what happened.

    `at` is the time of the loop's clock, or None if the clock failed.
    """

    seq: int
    at: datetime | None
    detail: EventDetail


Listener = Callable[[LoopEvent], None]
"""Is called with each event as it happens, in the loop or in the thread that records a call.

It should return at once: the loop waits for it. For an asynchronous consumer pass the `put_nowait`
of a queue. What it raises is ignored.
"""


class EventEmitter:
    """Numbers events and gives each to the listener, if there is one. Thread-safe."""

    def __init__(self, listener: Listener | None, now: Callable[[], datetime | None]) -> None:
        """Start to number events. `now` tells the time, or None; it does not raise."""
        self._listener: Final = listener
        self._now: Final = now
        self._lock: Final = RLock()
        self._seq = 0

    def tell_planned(self, plan: Plan) -> None:
        """Tell of the plan that was proposed."""
        self._tell(lambda: Planned(detached_copy(plan)))

    def tell_verified(self, verdict: Verified | Refused) -> None:
        """Tell of the verdict on the plan."""
        if isinstance(verdict, Refused):
            self._tell(lambda: PlanRefused(detached_copy(verdict)))
        else:
            self._tell(lambda: PlanVerified(detached_copy(verdict)))

    def tell_permitted(self, digest: str) -> None:
        """Tell of the permit that was issued."""
        self._tell(lambda: PermitIssued(digest))

    def tell_opened(self, opening: Opening) -> None:
        """Tell of a step of a late plan that was judged with its values."""
        self._tell(lambda: StepOpened(detached_copy(opening)))

    def call_started(self, step: int) -> None:
        """Tell of a call that is about to be made."""
        self._tell(lambda: CallStarted(step))

    def call_ended(self, call: ToolCall) -> None:
        """Tell of a call that was recorded."""
        self._tell(lambda: CallEnded(detached_copy(call)))

    def tell_scored(self, verdict: ScoreVerdict) -> None:
        """Tell of the verdict on the run."""
        self._tell(lambda: RunScored(detached_copy(verdict)))

    def tell_recorded(self, record: DecisionRecord) -> None:
        """Tell of the record that the log kept."""
        self._tell(lambda: DecisionRecorded(detached_copy(record)))

    def _tell(self, detail: Callable[[], EventDetail]) -> None:
        if self._listener is None:
            return
        with self._lock, suppress(BaseException):
            described = detail()
            self._seq += 1
            self._listener(LoopEvent(self._seq, self._now(), described))
