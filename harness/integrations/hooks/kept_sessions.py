"""Sessions of hooks that a service goes on with, and does not read again at each event.

Rule 1: a session is kept as its file has it. A guard looks whether other processes went on with it,
        and then reads what they did.
Rule 2: what failed is not gone on with: the next event reads the file.
Rule 3: the last sessions are kept, and only those of one policy, folder and log.
"""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from harness.guard.guard import Guard
from harness.guard.session_folder import SessionFolder
from harness.policy import Policy
from harness.record.drafts import session_key


class SessionPlace(NamedTuple):
    """Where the session of a hook is: in a folder, or in a log at a path or URL."""

    session: str
    folder: Path
    log: str | None


class _Kept(NamedTuple):
    policy: Policy
    guard: Guard


class KeptSessions:
    """The guards of some sessions, one each. Thread-safe. Of 0 sessions, none is kept."""

    def __init__(self, most: int = 0) -> None:
        """Keep at most so many."""
        self._most: Final = most
        self._lock: Final = Lock()
        self._kept: Final[OrderedDict[SessionPlace, _Kept]] = OrderedDict()

    @contextmanager
    def hold(self, policy: Policy, place: SessionPlace) -> Iterator[Guard]:
        """Keep others from a session, and go on with it under a policy: this very object.

        Raises:
            StateUnusable, OSError: the folder is not private, or cannot be used.
            LogError: the log cannot be opened.
        """
        folder = SessionFolder(place.folder)
        with folder.hold(session_key(place.session)):
            kept = self._take(policy, place)
            if kept is None:
                sessions = None if place.log else folder
                kept = _Kept(policy, Guard(policy, log=place.log, sessions=sessions))
            try:
                yield kept.guard
            except BaseException:
                kept.guard.shutdown()
                raise
            self._put(place, kept)

    def _take(self, policy: Policy, place: SessionPlace) -> _Kept | None:
        with self._lock:
            kept = self._kept.pop(place, None)
        if kept is None or kept.policy is policy:
            return kept
        kept.guard.shutdown()
        return None

    def _put(self, place: SessionPlace, kept: _Kept) -> None:
        gone = [kept]
        with self._lock:
            if kept.guard.open_sessions and self._most:
                self._kept[place] = kept
                gone = [self._kept.popitem(last=False)[1]] if len(self._kept) > self._most else []
        for one in gone:
            one.guard.shutdown()
