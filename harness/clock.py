"""Clocks for the loop: the one place where this software asks what time it is."""

from datetime import UTC, datetime


class SystemClock:
    """The time of this machine, in UTC."""

    def now(self) -> datetime:
        """Now."""
        return datetime.now(UTC)


class FixedClock:
    """Always the same time, for records that are to be the same at every run."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        """The time it was made with."""
        return self._moment
