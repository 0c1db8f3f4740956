"""Two scenes that are played at once, of which one goes on while the other waits.

Each is played in a thread of its own. Where one pauses, the next entry of an order says whether the
other goes on, so that the same order plays the same way each time.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from threading import Condition
from typing import Final, TypeVar

_T = TypeVar("_T")

_LONGEST_WAIT: Final = 30.0


class Baton:
    """What the one of two works holds that may go on."""

    def __init__(self, order: Sequence[bool]) -> None:
        """Hand the baton on at a pause where the next entry of an order, again and again, is so."""
        self._order = cycle(order)
        self._holder, self._over = 0, [False, False]
        self._changed = Condition()
        self.is_stuck = False

    def play(self, works: tuple[Callable[[], _T], Callable[[], _T]]) -> tuple[_T, _T]:
        """Do both works, and return what they give."""
        with ThreadPoolExecutor(2) as threads:
            first, second = (threads.submit(self._do, at, work) for at, work in enumerate(works))
        return first.result(), second.result()

    def pause(self, which: int) -> None:
        """Wait until a work may go on."""
        with self._changed:
            if self._holder == which and next(self._order):
                self._holder = 1 - which
                self._changed.notify_all()
            self._wait(which)

    def _do(self, which: int, work: Callable[[], _T]) -> _T:
        with self._changed:
            self._wait(which)
        try:
            return work()
        finally:
            with self._changed:
                self._over[which] = True
                self._changed.notify_all()

    def _wait(self, which: int) -> None:
        def may_go_on() -> bool:
            return self.is_stuck or self._holder == which or self._over[1 - which]

        if not self._changed.wait_for(may_go_on, _LONGEST_WAIT):
            self.is_stuck = True
            self._changed.notify_all()
