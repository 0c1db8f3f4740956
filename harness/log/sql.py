"""The decision log in an SQL database: append-only, chained by hashes, safe against crashes.

Rule 1: nothing is acknowledged before it was read back and the commit has returned.
Rule 2: the head is read inside the transaction that appends to it, so the chain cannot fork.
Rule 3: a claim is made inside that transaction too, so that of two records one is refused.
Rule 4: nothing is appended to tables that differ from those that this version makes.
"""

import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Final, Self, TypeVar

from harness.log.appending import GOES_ON, LogAppender, LogEntry, handed_over_at
from harness.log.commits import Append
from harness.log.journal_rows import JournalStep
from harness.log.log_errors import NotALog
from harness.log.log_opening import check_tables, initialise
from harness.log.log_places import store_at
from harness.log.statements import head
from harness.log.store import OpenMode, Store, changed_tables
from harness.record import (
    GENESIS,
    Begun,
    BegunRecord,
    CriticError,
    CriticErrorRecord,
    Decision,
    DecisionRecord,
    Head,
    Sealed,
)
from harness.wire import parse

_E = TypeVar("_E")
_R = TypeVar("_R")

DEFAULT_TIMEOUT: Final = 60.0
"""Seconds to wait for other writers: some 10,000 appends at a few milliseconds each."""


class SqlDecisionLog(LogAppender):
    """A decision log. Threads and processes may share one, through one object or several.

    Every method raises a `LogError` if the database fails. After a commit whose outcome is unknown,
    the next append looks first whether the log holds the records, and checks it as `open` does.
    Each append checks that the log still holds the record that this object acknowledged last.

    Appends that wait for each other share a commit. The methods that end in `_async` work in a
    thread, and so do not block an event loop; an append goes on when its task is cancelled.
    """

    def __init__(
        self, store: Store, mode: OpenMode, head: Head, *, problems: tuple[str, ...] = ()
    ) -> None:
        """Take an opened and checked database; use `open` or `open_for_reading` instead."""
        super().__init__(store, mode, head)
        self._problems = problems

    @property
    def where(self) -> str:
        """Return where the log is, safe to print."""
        return self._store.where

    @property
    def problems(self) -> tuple[str, ...]:
        """Return how the tables differed from those of this version when the log was opened.

        Empty for a sound log. Only a log that was opened for reading may have problems.
        """
        return self._problems

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], create: bool = True, *, timeout: float = DEFAULT_TIMEOUT
    ) -> Self:
        """Open the log in the SQLite file `path` for appending and reading.

        A missing or empty file becomes a new log if `create`. `timeout` is in seconds.

        `path` may be a text such as `postgresql://USER@HOST:PORT/DATABASE`: then the log is in the
        first schema of the search path, which is empty or holds a log.

        Raises:
            NotALog: the path is a folder, link, pipe or device, or the file or schema is something
                else, or a log of another format than this version makes.
            LogDamaged: the file is a log that is cut short or damaged, or its tables, triggers or
                indexes are not exactly those that this version makes.
            LogUnavailable: missing, not permitted, or locked for longer than `timeout`.
        """
        store = store_at(path, timeout)
        try:
            return cls._make_log(store, create)
        except NotALog:
            # A writer may have been killed while it made the log. The first look at its file undoes
            # its work, and only then the file is seen to be empty.
            if not (create and store.is_absent(create)):
                raise
        return cls._make_log(store, create)

    @classmethod
    def _make_log(cls, store: Store, create: bool) -> Self:
        if store.is_absent(create):
            with store.errors("open"):
                initialise(store)
        return cls._check_store(store, "rw")

    @classmethod
    def open_for_reading(
        cls, path: str | os.PathLike[str], *, timeout: float = DEFAULT_TIMEOUT
    ) -> Self:
        """Open the existing log in the SQLite file `path`, which is neither made nor changed.

        `path` may be a URL as for `open`. A log whose tables were changed can be read: see
        `problems`.

        Raises:
            NotALog, LogDamaged: as for `open`.
            LogUnavailable: as for `open`, or a writer was killed and its unfinished write has to
                be undone first.
        """
        store = store_at(path, timeout)
        store.is_absent(create=False)
        return cls._check_store(store, "ro")

    @classmethod
    def _check_store(cls, store: Store, mode: OpenMode) -> Self:
        with store.errors("open"), store.transaction(mode) as connection:
            store.check(connection)
            check_tables(store, connection)
            problems = store.schema_problems(connection)
            # A reader has nothing to compare it with, and may have been given a damaged log.
            last = Head(0, GENESIS) if mode == "ro" else head(connection)
            is_over = mode != "ro" and handed_over_at(connection) is not None
        if problems and mode != "ro":
            raise changed_tables(store.where, "open", problems)
        log = cls(store, mode, last, problems=problems)
        if is_over:
            log._shut, log._is_handed_over = GOES_ON, True
        return log

    def append(self, decision: Decision) -> DecisionRecord:
        """Record one decision. When this returns, the record has reached the disk.

        Raises:
            AlreadyClaimed: a record has one of its claims, or ends the same execution.
            Unrecordable: the decision cannot be kept.
            LogError: nothing was acknowledged; the message says what to do.
        """
        return self.append_all((decision,))[0].record

    def append_all(self, entries: Iterable[LogEntry]) -> tuple[Sealed, ...]:
        """Record entries of any kind in their order, next to each other: all of them or none.

        A ruling and the beginning of what it lets run belong together, for example. Returns the
        number, the hash and the bytes of each record.

        Raises:
            AlreadyClaimed, Unrecordable, LogError: as for `append` and `begin`.
        """
        return self._append_entries(self._prepare_entries(entries))

    def append_step(self, entries: Iterable[LogEntry], step: JournalStep) -> tuple[Sealed, ...]:
        """Keep a step of a session, with the records that it caused: all or nothing.

        Raises:
            JournalMoved: another process has made that step.
            AlreadyClaimed, Unrecordable, LogError: as for `append`.
        """
        return self._commits.run(Append(self._prepare_entries(entries), step))

    def begin(self, begun: Begun) -> BegunRecord:
        """Record an execution that is about to begin: when this returns, it may.

        Raises:
            AlreadyClaimed: an approval that it relies on was used before; nothing was recorded.
            Unrecordable, LogError: as for `append`.
        """
        return parse(BegunRecord, self.append_all((begun,))[0].body)

    def append_error(self, error: CriticError) -> CriticErrorRecord:
        """Record a failure of the critic.

        Raises:
            Unrecordable, LogError: as for `append`.
        """
        return parse(CriticErrorRecord, self.append_all((error,))[0].body)

    async def append_async(self, decision: Decision) -> DecisionRecord:
        """Do what `append` does, without blocking the event loop."""
        if type(self).append is not _APPEND:  # of a subclass, which may do more
            return await _in_thread(self.append, decision)
        return (await self._appended_async(decision)).record

    async def begin_async(self, begun: Begun) -> BegunRecord:
        """Do what `begin` does, without blocking the event loop."""
        if type(self).begin is not _BEGIN:
            return await _in_thread(self.begin, begun)
        return parse(BegunRecord, (await self._appended_async(begun)).body)

    async def append_error_async(self, error: CriticError) -> CriticErrorRecord:
        """Do what `append_error` does, without blocking the event loop."""
        return parse(CriticErrorRecord, (await self._appended_async(error)).body)

    def close(self) -> None:
        """Close the log. The object appends no more."""
        self._shut = "it was closed: open it again"
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


async def _in_thread(call: Callable[[_E], _R], entry: _E) -> _R:
    import asyncio  # noqa: PLC0415 - slow to load, and loaded by whoever calls this

    return await asyncio.to_thread(call, entry)


_APPEND: Final = SqlDecisionLog.append
_BEGIN: Final = SqlDecisionLog.begin
