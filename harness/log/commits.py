"""Appends that wait for each other share a commit.

Rule 1: an append is acknowledged after the commit that holds it has returned, never before.
Rule 2: whoever comes first commits for all that wait. Nobody waits for others to come.
Rule 3: an append that is refused by itself leaves the others in its commit alone.
"""

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from threading import Condition, Thread
from typing import Final

from harness.log.journal_rows import JournalStep
from harness.log.log_errors import IN_DOUBT, LogError, LogWriteFailed
from harness.log.log_writing import Prepared
from harness.record import Sealed

_MOST: Final = 256  # appends in one commit


class Append:
    """Entries that are appended next to each other: all of them or none.

    `step` is the step of a session that caused them, if one did.
    """

    def __init__(self, entries: Sequence[Prepared], step: JournalStep | None = None) -> None:
        self.entries = tuple(entries)
        self.step = step
        self.placed: tuple[Sealed, ...] = ()
        self.refused: Exception | None = None
        self.is_over = False
        self._problem: BaseException | None = None
        self._future: Future[tuple[Sealed, ...]] | None = None

    def end(self, error: BaseException | None = None) -> None:
        """Tell who waits for it: it is committed, or it is not recorded."""
        self._problem = self.refused or error
        self.is_over = True
        if self._future is None:
            return
        if self._problem is not None:
            self._future.set_exception(self._problem)
        else:
            self._future.set_result(self.placed)

    def result(self) -> tuple[Sealed, ...]:
        """Return the records of an append that is over, or raise why there are none."""
        if self._problem is not None:
            raise self._problem
        return self.placed

    def future(self) -> Future[tuple[Sealed, ...]]:
        """Return what another thread is told by. To be asked before the append is in a queue."""
        self._future = Future()
        self._future.set_running_or_notify_cancel()  # who waits may leave, the append goes on
        return self._future


class SharedCommits:
    """A queue of appends to one log. Threads may share it; a forked process has its own."""

    def __init__(self, commit: Callable[[Sequence[Append]], None]) -> None:
        """Take what commits appends: it refuses some by setting `refused`, or raises for all."""
        self._commit: Final = commit
        self._reset()

    def _reset(self) -> None:
        self._process = os.getpid()
        self._waiting: deque[Append] = deque()
        self._turn = Condition()
        self._committing = False
        self._working = False

    def run(self, append: Append) -> tuple[Sealed, ...]:
        """Append in this thread, together with what waits. Raises what the append raises."""
        self._enqueue(append)
        while not append.is_over:
            self._commit_next(lambda: append.is_over)
        return append.result()

    def start(self, append: Append) -> Future[tuple[Sealed, ...]]:
        """Append in another thread, which lives as long as something waits."""
        future = append.future()
        self._enqueue(append)
        with self._turn:
            idle, self._working = not self._working, True
        if idle:
            Thread(target=self._work, name="decision-log").start()
        return future

    def _enqueue(self, append: Append) -> None:
        if self._process != os.getpid():  # forked: threads and locks stayed behind
            self._reset()
        self._waiting.append(append)

    def _work(self) -> None:
        while True:
            with suppress(BaseException):  # it was told to those who wait
                self._commit_next(lambda: not self._waiting)
            with self._turn:
                if not self._waiting:
                    self._working = False
                    return

    def _commit_next(self, ended: Callable[[], bool]) -> None:
        """Commit what waits, once nobody else does; or return as soon as that is not needed."""
        with self._turn:
            self._turn.wait_for(lambda: ended() or not self._committing)
            if ended():
                return
            self._committing = True
            appends = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MOST))]
        try:
            self._commit_all(appends)
        finally:
            with self._turn:
                self._committing = False
                self._turn.notify_all()

    def _commit_all(self, appends: Sequence[Append]) -> None:
        try:
            self._commit(appends)
        except BaseException as error:
            for append in appends:
                append.end(_for_another(error) if len(appends) > 1 else error)
            if not isinstance(error, Exception) and len(appends) > 1:
                raise  # an interrupt is for this thread
        else:
            for append in appends:
                append.end()


def _for_another(error: BaseException) -> Exception:
    """Return the error for one of several appends: an exception is not shared by threads."""
    if isinstance(error, LogError):
        copied = type(error)(str(error))
        copied.__cause__ = error.__cause__
        return copied
    return LogWriteFailed(
        f"a commit was shared with an append that ended in {type(error).__name__}, {IN_DOUBT}"
    )
