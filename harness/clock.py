"""Clocks for the loops: the one module that reads the time of the machine."""

from datetime import UTC, datetime


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)


class FixedClock:
    """A clock that always returns the same time, for records that must be equal at every run."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        """Return the time that the clock was created with."""
        return self._moment
