"""The time of a session, by its events and the clock. Pure.

Rule 1: it never goes back. An event with an earlier time than the last one is out of order.
Rule 2: after an event with a time, the clock continues from there, in whole seconds.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from evals.timestamps import format_time
from harness.errors import HarnessError

_SECOND = timedelta(seconds=1)


class WrongTime(HarnessError, ValueError):
    """The time of an event is wrong."""


@dataclass(frozen=True, slots=True)
class SessionTime:
    """The time of a session.

    Attributes:
        latest: the time of its last event.
        told: the last time given by an event, if any.
        read: the clock at that moment.
    """

    latest: datetime | None = None
    told: datetime | None = None
    read: datetime | None = None

    def after(
        self, as_of: datetime | None, now: datetime, max_skew: timedelta | None = None
    ) -> "SessionTime":
        """Return the time at an event.

        Args:
            as_of: the time in the event.
            now: the clock.
            max_skew: the largest difference of both.

        Raises:
            WrongTime: the event is earlier than the last one, or differs too much.
        """
        if as_of is None:
            return replace(self, latest=self._go_on(now))
        if self.latest is not None and as_of < self.latest:
            earlier = f"the session was at {format_time(self.latest)} already"
            raise WrongTime(f"time does not go back: {earlier}")
        if max_skew is not None and abs(as_of - now) > max_skew:
            most = f"{max_skew // _SECOND} seconds"
            raise WrongTime(
                f"this is more than {most} from the clock, which says {format_time(now)}"
            )
        return SessionTime(as_of, as_of, now)

    @property
    def at(self) -> datetime:
        """The time of the last event.

        Raises:
            WrongTime: there was none.
        """
        if self.latest is None:
            raise WrongTime("no event has come")
        return self.latest

    def _go_on(self, now: datetime) -> datetime:
        moment = now
        if self.told is not None and self.read is not None:
            moment = self.told + max(0, (now - self.read) // _SECOND) * _SECOND
        return moment if self.latest is None else max(moment, self.latest)
