"""The time of a session: what its events tell, and the clock from there on. Pure.

Rule 1: it never goes back. An event with an earlier time than the last is in the wrong place.
Rule 2: what an event tells does not stand: the clock goes on from it, by whole seconds.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from evals.timestamps import format_time
from harness.errors import HarnessError

_SECOND = timedelta(seconds=1)


class WrongTime(HarnessError, ValueError):
    """An event tells a time that cannot be."""


@dataclass(frozen=True, slots=True)
class SessionTime:
    """The time of a session.

    Attributes:
        latest: when its last event was judged.
        told: the last time that an event told, if one did.
        read: what the clock said then.
    """

    latest: datetime | None = None
    told: datetime | None = None
    read: datetime | None = None

    def after(
        self, as_of: datetime | None, now: datetime, max_skew: timedelta | None = None
    ) -> "SessionTime":
        """Return the time at an event.

        Args:
            as_of: what the event tells.
            now: what the clock says.
            max_skew: how far both may differ.

        Raises:
            WrongTime: the event tells an earlier time than the last, or differs too much.
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
