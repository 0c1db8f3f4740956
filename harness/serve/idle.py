"""Sessions that had no event for too long, so that they can be ended. Keeps names and times."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

Monotonic = Callable[[], float]
"""Tells seconds that never go back."""


class IdleSessions:
    """When each open session had its last event. Use it from one event loop."""

    def __init__(self, seconds: float, most: int, monotonic: Monotonic) -> None:
        """End sessions after so many seconds, and remember at most so many that have ended."""
        self._seconds, self._most, self._monotonic = seconds, most, monotonic
        self._since: Final[OrderedDict[str, float]] = OrderedDict()
        self._in_use: Final[Counter[str]] = Counter()
        self._ended: Final[OrderedDict[str, None]] = OrderedDict()

    @contextmanager
    def in_use(self, name: str, is_open: Callable[[], bool]) -> Iterator[None]:
        """Keep a session from ending during an event. If it is open then, its time begins anew."""
        self._in_use[name] += 1
        self._since.pop(name, None)
        try:
            yield
        finally:
            self._in_use[name] -= 1
            if not self._in_use[name]:
                del self._in_use[name]
            if name not in self._in_use and is_open():
                self._since[name] = self._monotonic()
                self._ended.pop(name, None)

    def overdue(self) -> list[str]:
        """Return the sessions that are to be ended now. They are given once."""
        latest = self._monotonic() - self._seconds
        found: list[str] = []
        while self._since and next(iter(self._since.values())) <= latest:
            found.append(self._since.popitem(last=False)[0])
        for name in found:
            self._ended[name] = None
        while len(self._ended) > self._most:
            self._ended.popitem(last=False)
        return found

    def has_ended(self, name: str) -> bool:
        """Return whether a session was ended, and not opened again. Old ones are forgotten."""
        return name in self._ended
