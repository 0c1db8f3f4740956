"""The decision log in an SQL database: append-only, chained by hashes, safe against crashes.

Rule 1: nothing is acknowledged before it was read back and the commit has returned.
Rule 2: the head is read inside the transaction that appends to it, so the chain cannot fork.
Rule 3: a reader holds no lock between pages, so a slow reader cannot stop a writer.
Rule 4: nothing is appended to tables that differ from those that this version makes.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from sqlalchemy import Connection, Engine, Select, select

from harness.errors import escape_text
from harness.log.errors import (
    LogBusy,
    LogDamaged,
    LogError,
    LogUnavailable,
    LogWriteFailed,
    NotALog,
    Unrecordable,
)
from harness.log.sqlite import WRITES, SqliteStore
from harness.log.statements import (
    SELECT_NUMBERS,
    SELECT_RECORDS,
    head,
    insert_inputs,
    insert_records,
    ordered_after,
    stored_inputs,
)
from harness.log.store import KEEP_EVIDENCE, Store, changed_tables, check_tables, initialise
from harness.log.tables import INPUTS
from harness.record import (
    Decision,
    DecisionRecord,
    Gap,
    Head,
    RawRecord,
    RecordDraft,
    Sealed,
    draft,
    sealed,
)
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput, parse

DEFAULT_TIMEOUT: Final = 60.0
"""Seconds to wait for other writers: some 10,000 appends at a few milliseconds each."""

_PAGE: Final = 64  # records read at once
_NUMBERS: Final = 10_000  # numbers of records read at once


class SqlDecisionLog:
    """A decision log. Threads and processes may share one, through one object or several.

    Every method raises a `LogError` if the database fails. After a write or a commit whose outcome
    is unknown, the object appends no more: reopen the log to see what the disk holds.
    """

    def __init__(
        self,
        store: Store,
        engine: Engine,
        *,
        read_only: bool = False,
        problems: tuple[str, ...] = (),
    ) -> None:
        """Take an opened and checked database; use `open` or `open_for_reading` instead."""
        self._store = store
        self._engine = engine
        self._writer = engine.execution_options(**{WRITES: True})
        self._shut = "it was opened for reading: open it for appending" if read_only else ""
        self._problems = problems

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

        Raises:
            NotALog: the path is a folder, link, pipe or device, or the file is something else.
            LogDamaged: the file is a log that is cut short or damaged, or its tables, triggers or
                indexes are not exactly those that this version makes.
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
            check_tables(connection, store.where)
            problems = store.schema_problems(connection)
        if problems and not read_only:
            raise changed_tables(store.where, "open", problems)
        return cls(store, engine, read_only=read_only, problems=problems)

    def append(self, decision: Decision) -> DecisionRecord:
        """Record one decision. When this returns, the record has reached the disk.

        Raises:
            Unrecordable: the decision cannot be kept.
            LogError: nothing was acknowledged; the message says what to do.
        """
        return self.append_all((decision,))[0]

    def append_all(self, decisions: Iterable[Decision]) -> tuple[DecisionRecord, ...]:
        """Record decisions in their order, next to each other: all of them or none.

        Raises:
            Unrecordable: one of the decisions cannot be kept.
            LogError: nothing was acknowledged; the message says what to do.
        """
        drafts = [self._drafted(decision) for decision in decisions]
        if self._shut:
            raise LogUnavailable(f"{self._store.where}: cannot append: {self._shut}")
        if not drafts:
            return ()
        with self._transaction() as connection:
            if problems := self._store.schema_problems(connection):
                raise changed_tables(self._store.where, "append", problems)
            entries = self._chained(drafts, head(connection))
            bodies = {digest: body for draft in drafts for digest, body in draft.bodies.items()}
            insert_inputs(connection, bodies)
            insert_records(connection, entries)
            return self._read_back(connection, entries, bodies)

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

    def _read_back(
        self, connection: Connection, entries: Sequence[Sealed], bodies: dict[str, bytes]
    ) -> tuple[DecisionRecord, ...]:
        """Return the records as they are stored now, or raise if anything is not as appended."""
        rows = connection.execute(ordered_after(SELECT_RECORDS, entries[0].seq - 1))
        stored = [Sealed(*row) for row in rows]
        if stored != entries or stored_inputs(connection, bodies) != bodies:
            raise LogDamaged(
                f"{self._store.where}: cannot append: the log does not hold what was appended to "
                f"it, so nothing was recorded: {KEEP_EVIDENCE}"
            )
        return tuple(entry.record for entry in stored)

    def head(self) -> Head:
        """Return the number and hash of the last record; `(0, GENESIS)` for an empty log."""
        with self._store.errors("read"), self._engine.begin() as connection:
            return head(connection)

    def gaps(self) -> Iterator[Gap]:
        """Yield the gaps in the numbers of the records, as far as the last record."""
        last = 0
        for (seq,) in self._rows(SELECT_NUMBERS, 0, _NUMBERS):
            if seq > last + 1:
                yield Gap(last + 1, seq - 1)
            last = seq

    def records(self, start: int = 1) -> Iterator[DecisionRecord]:
        """Yield the records from number `start` on, unchecked: replay shows if they are right.

        Raises:
            LogDamaged: a record cannot be read.
        """
        for raw in self.raw(start):
            try:
                yield parse(DecisionRecord, raw.body)
            except InvalidInput as error:
                raise LogDamaged(
                    f"{self._store.where}: record {raw.seq} cannot be read "
                    f"({escape_text(str(error))}): replay the log to see what else is wrong"
                ) from error

    def raw(self, start: int | None = None) -> Iterator[RawRecord]:
        """Yield the stored rows in the order of their numbers, all of them or from `start` on.

        Raises:
            LogDamaged: the database itself cannot be read here.
        """
        after = None if start is None else start - 1
        for seq, own_hash, body in self._rows(SELECT_RECORDS, after, _PAGE):
            yield RawRecord(seq, str(own_hash), bytes(body or b""))

    def input(self, digest: str) -> bytes | None:
        """Return the bytes that are stored as the input of that digest, or None."""
        return self.inputs((digest,)).get(digest)

    def inputs(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes that are stored under those digests; leave out what is not stored."""
        with self._store.errors("read"), self._engine.begin() as connection:
            return stored_inputs(connection, digests)

    def digests(self) -> frozenset[str]:
        """Return the digests under which inputs are stored, unchecked: they may be any text."""
        with self._store.errors("read"), self._engine.begin() as connection:
            return frozenset(map(str, connection.execute(select(INPUTS.c.digest)).scalars()))

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

    def _drafted(self, decision: Decision) -> RecordDraft:
        try:
            drafted = draft(decision)
        except (ValueError, RecursionError) as error:
            reason = str(error) if isinstance(error, InvalidInput) else "not JSON"
            raise Unrecordable(
                f"{self._store.where}: cannot append: the decision was built of parts that had "
                f"been changed in place ({reason}): build the parts again"
            ) from error
        self._check_size(max(map(len, drafted.bodies.values())))
        return drafted

    def _chained(self, drafts: Sequence[RecordDraft], before: Head) -> list[Sealed]:
        entries = []
        for drafted in drafts:
            entry = sealed(drafted, before)
            self._check_size(len(entry.body))
            entries.append(entry)
            before = Head(entry.seq, entry.hash)
        return entries

    def _check_size(self, size: int) -> None:
        # A document that no reader would parse must not be written.
        if size > MAX_DOCUMENT_BYTES:
            raise Unrecordable(
                f"{self._store.where}: cannot append: a document of {size} bytes is over the "
                f"limit of {MAX_DOCUMENT_BYTES} bytes: keep large values elsewhere, by reference"
            )

    def _rows(self, query: Select[Any], after: int | None, most: int) -> Iterator[Any]:
        """Yield the rows of a query on records, in pages of at most `most` rows."""
        while page := self._page(query, after, most):
            yield from page
            after = page[-1][0]

    def _page(self, query: Select[Any], after: int | None, most: int) -> Sequence[Any]:
        with self._store.errors("read"), self._engine.begin() as connection:
            rows = connection.execute(ordered_after(query, after).limit(most)).all()
        numbers = [row[0] for row in rows]
        if any(type(number) is not int for number in numbers):
            raise LogDamaged(f"{self._store.where}: a record has no number: {KEEP_EVIDENCE}")
        # A damaged index gives rows out of order. Paging by the last one would never end.
        before = [after, *numbers] if after is not None else numbers
        if any(number >= following for number, following in pairwise(before)):
            raise LogDamaged(f"{self._store.where}: the records are out of order: {KEEP_EVIDENCE}")
        return rows
