"""The decision log in an SQL database: append-only, chained by hashes, safe against crashes.

Rule 1: nothing is acknowledged before it was read back and the commit has returned.
Rule 2: the head is read inside the transaction that appends to it, so the chain cannot fork.
Rule 3: a claim is made inside that transaction too, so that of two records one is refused.
Rule 4: nothing is appended to tables that differ from those that this version makes.
"""

import asyncio
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from sqlalchemy import Connection, Engine

from harness.log.commits import Append, SharedCommits
from harness.log.errors import (
    LogBusy,
    LogDamaged,
    LogError,
    LogUnavailable,
    LogWriteFailed,
    NotALog,
    Unrecordable,
)
from harness.log.reading import LogReader
from harness.log.sqlite import WRITES, SqliteStore
from harness.log.statements import head, stored_claims
from harness.log.store import KEEP_EVIDENCE, Store, changed_tables, check_tables, initialise
from harness.log.tables import LOG_FORMAT, OLD_FORMAT
from harness.log.writing import Known, Prepared, Written, placed, prepared, write
from harness.record import (
    AlreadyClaimed,
    Begun,
    BegunRecord,
    CriticError,
    CriticErrorRecord,
    Decision,
    DecisionRecord,
    Head,
    RawRecord,
    RecordDraft,
    Sealed,
)
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput, parse

DEFAULT_TIMEOUT: Final = 60.0
"""Seconds to wait for other writers: some 10,000 appends at a few milliseconds each."""


class SqlDecisionLog(LogReader):
    """A decision log. Threads and processes may share one, through one object or several.

    Every method raises a `LogError` if the database fails. After a write or a commit whose outcome
    is unknown, the object appends no more: reopen the log to see what the disk holds.

    Appends that wait for each other share a commit. The methods that end in `_async` work in a
    thread, and so do not block an event loop; an append goes on when its task is cancelled.
    """

    def __init__(
        self,
        store: Store,
        engine: Engine,
        *,
        read_only: bool = False,
        problems: tuple[str, ...] = (),
        log_format: int = LOG_FORMAT,
    ) -> None:
        """Take an opened and checked database; use `open` or `open_for_reading` instead."""
        self._store = store
        self._engine = engine
        self._format = log_format
        self._writer = engine.execution_options(**{WRITES: True})
        self._shut = "it was opened for reading: open it for appending" if read_only else ""
        if log_format == OLD_FORMAT:
            self._shut = self._shut or (
                f"it is of format {OLD_FORMAT}: copy it with `critic log upgrade OLD NEW` and "
                "append to the copy"
            )
        self._problems = problems
        self._known = Known()
        self._schema: Hashable = None
        self._commits = SharedCommits(self._commit)

    @property
    def problems(self) -> tuple[str, ...]:
        """Return how the tables differed from those of their format when the log was opened.

        Empty for a sound log. Only a log that was opened for reading may have problems.
        """
        return self._problems

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], create: bool = True, *, timeout: float = DEFAULT_TIMEOUT
    ) -> Self:
        """Open the log in the SQLite file `path` for appending and reading.

        A missing or empty file becomes a new log if `create`. `timeout` is in seconds. A log of an
        older format can be read; an append to it says how to copy it into the present one.

        Raises:
            NotALog: the path is a folder, link, pipe or device, or the file is something else.
            LogDamaged: the file is a log that is cut short or damaged, or its tables, triggers or
                indexes are not exactly those that its format has.
            LogUnavailable: missing, not permitted, or locked for longer than `timeout`.
        """
        store = SqliteStore(Path(path), timeout)
        try:
            return cls._made(store, create)
        except NotALog:
            # A writer may have been killed while it made the log. The first look at its file undoes
            # its work, and only then the file is seen to be empty.
            if not (create and store.absent(create)):
                raise
        return cls._made(store, create)

    @classmethod
    def _made(cls, store: SqliteStore, create: bool) -> Self:
        if store.absent(create):
            with store.errors("open"):
                initialise(store, store.engine("rwc").execution_options(**{WRITES: True}))
        return cls._checked(store, store.engine("rw"), read_only=False)

    @classmethod
    def open_for_reading(
        cls, path: str | os.PathLike[str], *, timeout: float = DEFAULT_TIMEOUT
    ) -> Self:
        """Open the existing log in the SQLite file `path`, which is neither made nor changed.

        A log whose tables were changed can be read: see `problems`.

        Raises:
            NotALog, LogDamaged: as for `open`.
            LogUnavailable: as for `open`, or a writer was killed and its unfinished write has to
                be undone first.
        """
        store = SqliteStore(Path(path), timeout)
        store.absent(create=False)
        return cls._checked(store, store.engine("ro"), read_only=True)

    @classmethod
    def _checked(cls, store: SqliteStore, engine: Engine, *, read_only: bool) -> Self:
        with store.errors("open"), engine.begin() as connection:
            store.check(connection)
            log_format = check_tables(connection, store.where)
            problems = store.schema_problems(connection, log_format)
        if problems and not read_only:
            raise changed_tables(store.where, "open", problems)
        return cls(store, engine, read_only=read_only, problems=problems, log_format=log_format)

    def append(self, decision: Decision) -> DecisionRecord:
        """Record one decision. When this returns, the record has reached the disk.

        Raises:
            AlreadyClaimed: a record has one of its claims, or ends the same execution.
            Unrecordable: the decision cannot be kept.
            LogError: nothing was acknowledged; the message says what to do.
        """
        return self.append_all((decision,))[0]

    def append_all(self, decisions: Iterable[Decision]) -> tuple[DecisionRecord, ...]:
        """Record decisions in their order, next to each other: all of them or none.

        Raises:
            AlreadyClaimed, Unrecordable, LogError: as for `append`.
        """
        entries = [self._prepared(decision) for decision in decisions]
        return tuple(entry.record for entry in self._appended(entries))

    def begin(self, begun: Begun) -> BegunRecord:
        """Record an execution that is about to begin: when this returns, it may.

        Raises:
            AlreadyClaimed: an approval that it relies on was used before; nothing was recorded.
            Unrecordable, LogError: as for `append`.
        """
        (entry,) = self._appended([self._prepared(begun)])
        return parse(BegunRecord, entry.body)

    def append_error(self, error: CriticError) -> CriticErrorRecord:
        """Record a failure of the critic.

        Raises:
            Unrecordable, LogError: as for `append`.
        """
        (entry,) = self._appended([self._prepared(error)])
        return parse(CriticErrorRecord, entry.body)

    async def append_async(self, decision: Decision) -> DecisionRecord:
        """Do what `append` does, without blocking the event loop."""
        return (await self._appended_async(decision)).record

    async def begin_async(self, begun: Begun) -> BegunRecord:
        """Do what `begin` does, without blocking the event loop."""
        return parse(BegunRecord, (await self._appended_async(begun)).body)

    async def append_error_async(self, error: CriticError) -> CriticErrorRecord:
        """Do what `append_error` does, without blocking the event loop."""
        return parse(CriticErrorRecord, (await self._appended_async(error)).body)

    def close(self) -> None:
        """Close the database. The object appends no more."""
        self._shut = "it was closed: open it again"
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def _appended_async(self, entry: Decision | Begun | CriticError) -> Sealed:
        append = Append([self._prepared(entry)])
        (done,) = await asyncio.wrap_future(self._commits.start(append))
        return done

    def _appended(self, entries: Sequence[Prepared]) -> tuple[Sealed, ...]:
        if not entries:
            self._require_open()
            return ()
        return self._commits.run(Append(entries))

    def _prepared(self, entry: Decision | Begun | CriticError) -> Prepared:
        try:
            drafted = entry.snapshot
        except (ValueError, RecursionError) as error:
            reason = str(error) if isinstance(error, InvalidInput) else "not JSON"
            raise Unrecordable(
                f"{self._store.where}: cannot append: the decision was built of parts that had "
                f"been changed in place ({reason}): build the parts again"
            ) from error
        self._check_size(max(map(len, drafted.bodies.values()), default=0))
        return prepared(drafted, self._known)

    def _require_open(self) -> None:
        if self._shut:
            raise LogUnavailable(f"{self._store.where}: cannot append: {self._shut}")

    def _commit(self, appends: Sequence[Append]) -> None:
        """Commit appends in one transaction. Called by one thread at a time."""
        self._require_open()
        with self._transaction() as connection:
            self._check_schema(connection)
            written = self._place(connection, appends)
            if written.records and not write(connection, written):
                raise LogDamaged(
                    f"{self._store.where}: cannot append: the log does not hold what was appended "
                    f"to it, so nothing was recorded: {KEEP_EVIDENCE}"
                )
        self._known.add(written.inputs)

    def _check_schema(self, connection: Connection) -> None:
        schema = self._store.schema(connection)
        if schema == self._schema:
            return
        if problems := self._store.schema_problems(connection, self._format):
            raise changed_tables(self._store.where, "append", problems)
        self._schema = schema

    def _place(self, connection: Connection, appends: Sequence[Append]) -> Written:
        """Give the entries their places. An append that cannot have one is refused by itself."""
        before = head(connection)
        records: list[RawRecord] = []
        inputs: dict[str, bytes] = {}
        claims: dict[str, int] = {}
        wanted = [one for append in appends for entry in append.entries for one in _claims(entry)]
        made: Mapping[str, int] = stored_claims(connection, wanted) if wanted else {}
        for append in appends:
            try:
                own = self._own_claims(append, {**made, **claims}, before)
                entries = self._chained(append.entries, before)
            except (AlreadyClaimed, Unrecordable) as refusal:
                append.refused = refusal
                continue
            claims |= own
            append.placed = tuple(whole for whole, _ in entries)
            records += [stored for _, stored in entries]
            before = Head(records[-1].seq, records[-1].hash)
            for entry in append.entries:
                inputs |= {d: body for d, body in entry.stored.items() if d not in self._known}
        return Written(records, inputs, claims)

    def _own_claims(self, append: Append, made: Mapping[str, int], before: Head) -> dict[str, int]:
        """Return the claims of an append, with the numbers of its records."""
        own: dict[str, int] = {}
        for seq, entry in enumerate(append.entries, start=before.seq + 1):
            claims = _claims(entry)
            if taken := [one for one in claims if one in made or one in own]:
                raise AlreadyClaimed(taken)
            own |= dict.fromkeys(claims, seq)
        return own

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """Begin a write and commit it. A failure whose outcome is unknown shuts the object."""
        committing = False
        try:
            with self._store.errors("append"), self._writer.begin() as connection:
                yield connection
                committing = True
        except LogBusy:
            raise  # At a commit, SQLite takes its last lock before it writes anything.
        except BaseException as error:
            if not committing and not isinstance(error, LogWriteFailed):
                raise
            self._shut = "an earlier write failed: reopen the log and look at its head"
            if isinstance(error, LogWriteFailed) or not isinstance(error, LogError):
                raise
            raise LogWriteFailed(
                f"{error}; the commit failed, nothing was acknowledged: reopen the log and look "
                "at its head before appending again"
            ) from error

    def _chained(self, entries: Sequence[Prepared], before: Head) -> list[tuple[Sealed, RawRecord]]:
        chained = []
        for entry in entries:
            whole, stored = placed(entry, before)
            self._check_size(len(whole.body))
            chained.append((whole, stored))
            before = Head(whole.seq, whole.hash)
        return chained

    def _check_size(self, size: int) -> None:
        # A document that no reader would parse must not be written.
        if size > MAX_DOCUMENT_BYTES:
            raise Unrecordable(
                f"{self._store.where}: cannot append: a document of {size} bytes is over the "
                f"limit of {MAX_DOCUMENT_BYTES} bytes: keep large values elsewhere, by reference"
            )


def _claims(entry: Prepared) -> tuple[str, ...]:
    drafted: RecordDraft = entry.drafted
    return drafted.claims
