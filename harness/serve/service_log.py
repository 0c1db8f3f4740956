"""The log of a service: opened as soon as it can be, watched, and never named to who asks.

Rule 1: who asks is told what became of the log in the words of `harness.serve.log_faults`. Where it
        is, and what its database said, is for those who run the service.
Rule 2: a log that cannot be opened yet is opened by the next who needs it: one at a time, and at
        most once a second. All others are told at once that it cannot be used.
Rule 3: nothing is answered in its place: what it does not take is an error.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Final, TypeVar

from harness.guard.session_journal import StepEntry
from harness.log import LogError, LogUnavailable, SqlDecisionLog, Unrecordable
from harness.log.journal_rows import JournalRow, JournalStep
from harness.record import (
    Begun,
    BegunRecord,
    CriticError,
    CriticErrorRecord,
    Decision,
    DecisionRecord,
    Head,
    RawRecord,
    Sealed,
)
from harness.serve.log_faults import log_fault
from harness.serve.request_limits import WorkPool
from harness.serve.telemetry import LogMetrics

_T = TypeVar("_T")

Monotonic = Callable[[], float]
"""Tells the seconds since some time."""
LogOpener = Callable[[], SqlDecisionLog]
"""Opens a log, or raises a `LogError`."""

_PAUSE_S: Final = 1.0
"""The seconds until a log that failed is opened again, or one is looked at again."""


class ServiceLog:
    """A decision log as a service uses it. Thread-safe."""

    def __init__(
        self,
        source: SqlDecisionLog | LogOpener,
        metrics: LogMetrics,
        monotonic: Monotonic = time.monotonic,
    ) -> None:
        """Take a log, or what opens it, and count what becomes of appends."""
        self._log = source if isinstance(source, SqlDecisionLog) else None
        self._open: Final = None if isinstance(source, SqlDecisionLog) else source
        self._metrics: Final = metrics
        self._monotonic: Final = monotonic
        self._opening: Final = Lock()
        self._next_try = float("-inf")
        self._problems: Final[set[str]] = set()
        self._seen = 0
        metrics.head.set_function(self._last_known)

    def _last_known(self) -> int:
        return max(self._seen, 0 if self._log is None else self._log.acknowledged.seq)

    def append(self, decision: Decision) -> DecisionRecord:
        """Do what `SqlDecisionLog.append` does."""
        return self._append(lambda log: log.append(decision))

    def append_all(self, entries: Iterable[Decision | Begun | CriticError]) -> tuple[Sealed, ...]:
        """Do what `SqlDecisionLog.append_all` does."""
        return self._append(lambda log: log.append_all(entries))

    def append_step(self, entries: Iterable[StepEntry], step: JournalStep) -> tuple[Sealed, ...]:
        """Do what `SqlDecisionLog.append_step` does."""
        return self._append(lambda log: log.append_step(entries, step))

    def begin(self, begun: Begun) -> BegunRecord:
        """Do what `SqlDecisionLog.begin` does."""
        return self._append(lambda log: log.begin(begun))

    def append_error(self, error: CriticError) -> CriticErrorRecord:
        """Do what `SqlDecisionLog.append_error` does."""
        return self._append(lambda log: log.append_error(error))

    def claims(self, claims: Iterable[str]) -> Mapping[str, int]:
        """Do what `SqlDecisionLog.claims` does."""
        return self._call(lambda log: log.claims(claims))

    def journal(self, session: str, after: int = 0) -> Sequence[JournalRow]:
        """Do what `SqlDecisionLog.journal` does."""
        return self._call(lambda log: log.journal(session, after))

    def last_step(self, session: str) -> int:
        """Do what `SqlDecisionLog.last_step` does."""
        return self._call(lambda log: log.last_step(session))

    def last_claim(self, prefix: str) -> str | None:
        """Do what `SqlDecisionLog.last_claim` does."""
        return self._call(lambda log: log.last_claim(prefix))

    def raw_at(self, numbers: Iterable[int]) -> Sequence[RawRecord]:
        """Do what `SqlDecisionLog.raw_at` does."""
        return self._call(lambda log: log.raw_at(numbers))

    def head(self) -> Head:
        """Do what `SqlDecisionLog.head` does."""
        return self._call(lambda log: log.head())

    def rehearse(self) -> Head:
        """Do what `SqlDecisionLog.rehearse` does."""
        head = self._call(lambda log: log.rehearse())
        self._seen = max(self._seen, head.seq)
        self._tell_well()
        return head

    def close(self) -> None:
        """Close the log, if it was opened here."""
        if self._open is not None and self._log is not None:
            self._log.close()

    def _append(self, append: Callable[[SqlDecisionLog], _T]) -> _T:
        began = time.perf_counter()
        done = self._call(append)
        self._metrics.append_seconds.observe(time.perf_counter() - began)
        self._tell_well()
        return done

    def _call(self, call: Callable[[SqlDecisionLog], _T]) -> _T:
        """Use the log.

        Raises:
            LogError: it failed. The message is for who asks.
        """
        try:
            return call(self._require_log())
        except LogError as error:
            fault = log_fault(error)
            if isinstance(error, Unrecordable):  # the log is well
                _print_line(str(error))
            elif str(error) != fault.told:  # a log that was not even asked has no news
                self._tell_problem(fault.kind, str(error))
            raise type(error)(fault.told) from None

    def _require_log(self) -> SqlDecisionLog:
        if self._log is None and self._open is not None:
            self._try_open(self._open)
        if self._log is None:
            raise LogUnavailable(log_fault(LogUnavailable()).told)
        return self._log

    def _try_open(self, open_log: LogOpener) -> None:
        """Open the log, unless somebody does, or has tried to a moment ago."""
        if not self._opening.acquire(blocking=False):
            return
        try:
            if self._log is None and self._monotonic() >= self._next_try:
                self._next_try = self._monotonic() + _PAUSE_S
                self._log = open_log()
        finally:
            self._opening.release()

    def _tell_well(self) -> None:
        if self._problems:
            self._problems.clear()
            _print_line("it takes appends again")

    def _tell_problem(self, kind: str, problem: str) -> None:
        """Tell those who run the service what is wrong: each kind once, while it lasts.

        The words of a database differ from one request to the next, and there may be many.
        """
        if kind not in self._problems:
            self._problems.add(kind)
            _print_line(problem)


def _print_line(line: str) -> None:
    with suppress(OSError, ValueError, AttributeError):  # standard error may be closed
        sys.stderr.write(f"critic: log: {line}\n")
        sys.stderr.flush()


class Readiness:
    """Whether a log would take an append now. Use it from one event loop.

    It is looked at once a second at most, however many ask: they share what was found.
    """

    def __init__(self, log: ServiceLog, pool: WorkPool, monotonic: Monotonic) -> None:
        """Look at a log with the threads of a pool."""
        self._log, self._pool, self._monotonic = log, pool, monotonic
        self._look: asyncio.Future[Head] | None = None
        self._at = 0.0

    async def require(self) -> None:
        """Return if an append would be taken.

        Raises:
            LogError: it would not. The message is for who asks.
            RequestRefused: that could not be found out in time.
        """
        if self._look is None or (self._look.done() and self._monotonic() - self._at >= _PAUSE_S):
            self._at = self._monotonic()
            self._look = asyncio.ensure_future(self._pool.run(self._log.rehearse))
        await asyncio.shield(self._look)
