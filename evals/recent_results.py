"""The results of a function, kept for as long as they are the last used and take little memory."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Final, Generic, TypeVar

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class RecentResults(Generic[_K, _V]):
    """Calls a function of one argument, or gives its result again.

    What was not used for the longest time goes first, once all results together are too large. A
    result that is too large by itself is not kept. Safe to call from several threads.
    """

    def __init__(self, function: Callable[[_K], tuple[_V, int]], *, most: int) -> None:
        """Keep results of the function, which returns each with its size, up to `most` in all."""
        self._function: Final = function
        self._most: Final = most
        self._kept: dict[_K, tuple[_V, int]] = {}
        self._size = 0
        self._lock: Final = Lock()

    def __call__(self, key: _K) -> _V:
        """Return the result for a key."""
        with self._lock:
            found = self._kept.pop(key, None)
            if found is not None:
                self._kept[key] = found
                return found[0]
        made = self._function(key)
        with self._lock:
            self._keep(key, made)
        return made[0]

    def __len__(self) -> int:
        return len(self._kept)

    def _keep(self, key: _K, made: tuple[_V, int]) -> None:
        if made[1] > self._most or key in self._kept:
            return
        self._kept[key] = made
        self._size += made[1]
        while self._size > self._most:
            oldest = next(iter(self._kept))
            self._size -= self._kept.pop(oldest)[1]
