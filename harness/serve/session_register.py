"""Who opened each session, and when it had its last event. Use it from one event loop.

Rule 1: a session belongs to the token that opened it, from before it is open until it has ended.
Rule 2: nobody speaks in a session while it is being opened: another service may have opened it, for
        somebody else. If it was not opened, it belongs to nobody here.
Rule 3: whoever may not speak in a session is told what is told of one that does not exist.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from harness.serve.bearer_tokens import Asker
from harness.serve.service_log import Monotonic


class SessionRegister:
    """The sessions of a service. Those that have ended are remembered for a while."""

    def __init__(
        self, seconds: float, most: int, monotonic: Monotonic, *, are_kept: bool = False
    ) -> None:
        """End sessions after so many seconds, and remember at most so many that have ended.

        Sessions that are kept do not end: they are let go of, and recalled with their next event.
        """
        self._seconds, self._most, self._monotonic = seconds, most, monotonic
        self._are_kept: Final = are_kept
        self._since: Final[OrderedDict[str, float]] = OrderedDict()
        self._in_use: Final[Counter[str]] = Counter()
        self._owners: Final[dict[str, bytes | None]] = {}
        self._opening: Final[set[str]] = set()
        self._ended: Final[OrderedDict[str, bytes | None]] = OrderedDict()

    def claim(self, name: str, asker: Asker) -> bool:
        """Give a session that is about to be opened to who asks, unless it is somebody else's."""
        if name not in self._owners:
            self._opening.add(name)
        return self._owners.setdefault(name, asker.token) == asker.token

    def settle(self, name: str, *, is_opened: bool) -> None:
        """Take in whether the session was opened that was claimed while nobody had it."""
        self._opening.discard(name)
        if not is_opened:
            self._owners.pop(name, None)
            self._since.pop(name, None)

    def may_speak(self, name: str, asker: Asker) -> bool:
        """Return whether who asks may send events of a session, or answer in it."""
        if name in self._opening:
            return False
        return name in self._owners and _may_speak(self._owners[name], asker)

    def knows(self, name: str) -> bool:
        """Return whether it is known who opened a session."""
        return name in self._owners

    def recall(self, name: str, owner: bytes | None) -> None:
        """Take in who opened a session that another process held, or this one let go of."""
        self._owners.setdefault(name, owner)
        if name not in self._in_use:
            self._since.setdefault(name, self._monotonic())

    def has_ended(self, name: str, asker: Asker) -> bool:
        """Return whether a session was ended in which who asks might speak. Old ones are forgotten.

        One that was opened again has not ended.
        """
        return name in self._ended and _may_speak(self._ended[name], asker)

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
                self._note_use(name, is_open())

    def _note_use(self, name: str, is_open: bool) -> None:
        if is_open:
            self._since[name] = self._monotonic()
            self._ended.pop(name, None)
        else:
            self._owners.pop(name, None)

    def overdue(self) -> list[str]:
        """Return the sessions that are to be ended now, and then forgotten. They are given once."""
        latest = self._monotonic() - self._seconds
        found: list[str] = []
        while self._since and next(iter(self._since.values())) <= latest:
            found.append(self._since.popitem(last=False)[0])
        for name in () if self._are_kept else found:
            self._ended[name] = self._owners.get(name)
        while len(self._ended) > self._most:
            self._ended.popitem(last=False)
        return found

    def forget(self, name: str) -> None:
        """Take a session from its owner once it was ended, unless it was opened again since."""
        if name not in self._in_use and name not in self._since:
            self._owners.pop(name, None)


def _may_speak(owner: bytes | None, asker: Asker) -> bool:
    """Return whether who asks may speak: the owner, and for answers who does nothing else."""
    return not asker.is_agent or owner == asker.token
