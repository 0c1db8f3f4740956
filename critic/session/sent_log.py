"""What the calls of a session sent, in order: it is only added to.

Rule 1: a log never changes: adding to it gives a new one, which shares what came before.
Rule 2: adding costs what is added, and looking up a value what it costs in any index.
"""

from collections.abc import Iterable, Iterator
from threading import Lock
from typing import Final

from critic.session.session_values import SentIndex, Sought
from evals.context import SentValues


class _Shared:
    """What logs that go on from one another sent."""

    __slots__ = ("index", "lock", "values")

    def __init__(self) -> None:
        self.lock: Final = Lock()
        self.index: Final = SentIndex()
        self.values: Final[list[SentValues]] = []

    def add(self, values: Iterable[SentValues]) -> None:
        for one in values:
            self.index.add(one)
            self.values.append(one)


class SentLog:
    """What a session sent up to some moment."""

    __slots__ = ("_count", "_shared")

    def __init__(self, values: Iterable[SentValues] = ()) -> None:
        """Start with what is known already, in the order in which it was sent."""
        self._shared = _Shared()
        self._shared.add(sorted(values, key=lambda one: one.seq))
        self._count = len(self._shared.values)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[SentValues]:
        return iter(self._shared.values[: self._count])

    def first_seq(self, value: Sought) -> int | None:
        """Return when a value was sent first; None where it never was."""
        with self._shared.lock:
            return self._shared.index.first_seq(value, self._count)

    @property
    def last_seq(self) -> int:
        """When the last value was sent; -1 where none was."""
        return self._shared.values[self._count - 1].seq if self._count else -1

    def plus(self, values: Iterable[SentValues]) -> "SentLog":
        """Return a log with more, which costs what it adds unless that was sent earlier."""
        new = tuple(values)
        if not new:
            return self
        shared = self._shared
        with shared.lock:
            last = shared.values[self._count - 1].seq if self._count else 0
            if len(shared.values) == self._count and all(one.seq >= last for one in new):
                shared.add(new)
                log = SentLog.__new__(SentLog)
                log._shared, log._count = shared, len(shared.values)
                return log
        return SentLog([*self, *new])
