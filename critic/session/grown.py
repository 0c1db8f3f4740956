"""Values that a session notes one after another, each once: an ordered set that only grows.

Rule 1: a set never changes: adding to it gives a new one, which shares what came before.
Rule 2: adding costs what is added, and looking up a key costs the same in any set.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from threading import Lock
from typing import Final, Generic, TypeVar

_T = TypeVar("_T", bound=Hashable)

Keys = Callable[[_T], Iterable[Hashable]]
"""By what a value can be looked up."""


class _Shared(Generic[_T]):
    """The values of sets that go on from one another, and where each value and key came first."""

    __slots__ = ("keys", "lock", "place", "place_of_key", "values")

    def __init__(self, keys: Keys[_T]) -> None:
        self.keys: Final = keys
        self.lock: Final = Lock()
        self.values: list[_T] = []
        self.place: dict[_T, int] = {}
        self.place_of_key: dict[Hashable, int] = {}

    def add(self, values: Iterable[_T]) -> None:
        for value in values:
            at = len(self.values)
            if self.place.setdefault(value, at) == at:
                for key in self.keys(value):
                    self.place_of_key.setdefault(key, at)
                self.values.append(value)


class Grown(Generic[_T]):
    """An ordered set of values, with the keys that they can be looked up by."""

    __slots__ = ("_count", "_shared")

    def __init__(self, keys: Keys[_T], values: Iterable[_T] = ()) -> None:
        """Start with what is known already."""
        self._shared = _Shared(keys)
        self._shared.add(values)
        self._count = len(self._shared.values)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[_T]:
        return iter(self._shared.values[: self._count])

    def __contains__(self, key: object) -> bool:
        """Return whether a value has a key."""
        return self._shared.place_of_key.get(key, self._count) < self._count

    def plus(self, values: Iterable[_T]) -> "Grown[_T]":
        """Return a set with more values: the same object if all are in it."""
        shared, count = self._shared, self._count
        new = [value for value in values if shared.place.get(value, count) >= count]
        if not new:
            return self
        with shared.lock:
            if len(shared.values) == count:
                shared.add(new)
                return self._grow_at(shared)
        return Grown(shared.keys, [*self, *new])

    def without(self, is_gone: Callable[[_T], bool]) -> "Grown[_T]":
        """Return a set without some values. It costs as much as making it anew."""
        return Grown(self._shared.keys, [value for value in self if not is_gone(value)])

    def _grow_at(self, shared: _Shared[_T]) -> "Grown[_T]":
        grown: Grown[_T] = Grown.__new__(Grown)
        grown._shared, grown._count = shared, len(shared.values)
        return grown
