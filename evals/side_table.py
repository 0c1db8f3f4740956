"""Keep something beside an object: for this very object, as long as it lives.

Nothing on the object leads to what is kept, so a holder of the object cannot change it.
"""

from threading import Lock
from typing import Generic, TypeVar
from weakref import ref

_T = TypeVar("_T")


class Beside(Generic[_T]):
    """A table of values that are kept beside objects, by their identity. Thread-safe.

    What is kept must not hold the object itself, which would then live forever.
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[ref[object], _T]] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, owner: object) -> _T | None:
        """Return what is kept beside the object, or None."""
        kept = self._kept.get(id(owner))
        return kept[1] if kept is not None and kept[0]() is owner else None

    def keep(self, owner: object, value: _T) -> _T:
        """Keep a value, and return it. If another thread was first, return what that kept."""
        key = id(owner)
        entry = ref(owner, lambda _gone: self._kept.pop(key, None)), value
        with self._lock:
            first = self.get(owner)
            if first is not None:
                return first
            self._kept[key] = entry
        return value
