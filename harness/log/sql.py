"""The decision log in an SQL database: append-only, chained by hashes, safe against crashes.

Rule 1: nothing is acknowledged before the commit has returned.
Rule 2: the head is read inside the transaction that appends to it, so the chain cannot fork.
Rule 3: a reader holds no lock between pages, so no reader however slow can stop a writer.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice, pairwise
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Protocol, Self

from sqlalchemy import Connection, Engine, LargeBinary, cast, insert, inspect, select

from evals.escaping import escape_name
from harness.log.errors import LogDamaged, LogUnavailable, LogWriteFailed, NotALog, Unrecordable
from harness.log.sqlite import WRITES, SqliteStore
from harness.log.tables import LOG_FORMAT, inputs, log_format, metadata, records
from harness.record import (
    GENESIS,
    Decision,
    DecisionRecord,
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
_MANY: Final = 500  # digests asked for at once; old SQLite allows 999 parameters
_REBUILT: Final = "keep the file as evidence and restore the log from a copy"


class Store(Protocol):
    """What each kind of database brings: see `harness.log.sqlite`."""

    where: str

    def protect(self, connection: Connection) -> None: ...
    def check(self, connection: Connection) -> None: ...
    def faults(self, doing: Literal["open", "read", "append"]) -> AbstractContextManager[None]: ...


class SqlDecisionLog:
    """A decision log. Threads and processes may share one, each through its own object or not.

    Every method raises a `LogError` where the database fails. After a failed write the object
    appends no more: what the disk holds then is known only after reopening.
    """

    def __init__(self, store: Store, engine: Engine, *, read_only: bool = False) -> None:
        """Of an opened and checked database; use `open` or `open_for_reading`."""
        self._store = store
        self._engine = engine
        self._writer = engine.execution_options(**{WRITES: True})
        self._shut = "it was opened for reading: open it for appending" if read_only else ""

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], create: bool = True, *, timeout: float = DEFAULT_TIMEOUT
    ) -> Self:
        """The log in the SQLite file `path`, for appending and reading.

        A missing or empty file becomes a new log if `create`. `timeout` is in seconds.

        Raises:
            NotALog: the path is a folder, link, pipe or device, or the file is something else.
            LogDamaged: the file is a log that is cut short or damaged.
            LogUnavailable: missing, not permitted, or locked for longer than `timeout`.
        """
        store = SqliteStore(Path(path), timeout)
        try:
            return cls._made(store, create)
        except NotALog:
            # The first look at the file of a writer killed while it made the log undoes its work;
            # only then is it seen to be empty.
            if not (create and store.absent(create)):
                raise
        return cls._made(store, create)

    @classmethod
    def _made(cls, store: SqliteStore, create: bool) -> Self:
        if store.absent(create):
            with store.faults("open"):
                _initialise(store, store.engine("rwc").execution_options(**{WRITES: True}))
        return cls._checked(store, store.engine("rw"), read_only=False)

    @classmethod
    def open_for_reading(
        cls, path: str | os.PathLike[str], *, timeout: float = DEFAULT_TIMEOUT
    ) -> Self:
        """The existing log in the SQLite file `path`, which is neither made nor changed.

        Raises:
            NotALog, LogDamaged, LogUnavailable: as for `open`; also unavailable while the
                unfinished write of a killed writer waits to be undone.
        """
        store = SqliteStore(Path(path), timeout)
        store.absent(create=False)
        return cls._checked(store, store.engine("ro"), read_only=True)

    @classmethod
    def _checked(cls, store: SqliteStore, engine: Engine, *, read_only: bool) -> Self:
        with store.faults("open"), engine.begin() as connection:
            store.check(connection)
            _check_tables(connection, store.where)
        return cls(store, engine, read_only=read_only)

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
        try:
            with self._store.faults("append"), self._writer.begin() as connection:
                entries = self._chained(drafts, _head(connection))
                _keep_inputs(connection, drafts)
                _keep_records(connection, entries)
        except LogWriteFailed:
            self._shut = "an earlier write failed: reopen the log and look at its head"
            raise
        return tuple(entry.record for entry in entries)

    def head(self) -> Head:
        """The number and hash of the last record; `(0, GENESIS)` of an empty log."""
        with self._store.faults("read"), self._engine.begin() as connection:
            return _head(connection)

    def records(self, start: int = 1) -> Iterator[DecisionRecord]:
        """The records from number `start` on, as they stand: whether they are right, replay says.

        Raises:
            LogDamaged: a record cannot be read.
        """
        for raw in self.raw(start):
            try:
                yield parse(DecisionRecord, raw.body)
            except InvalidInput as error:
                raise LogDamaged(
                    f"{self._store.where}: record {raw.seq} cannot be read "
                    f"({escape_name(str(error))}): replay the log to see what else is wrong"
                ) from error

    def raw(self, start: int | None = None) -> Iterator[RawRecord]:
        """The stored rows in the order of their numbers, all of them unless from `start` on.

        Raises:
            LogDamaged: the database itself cannot be read here.
        """
        after = None if start is None else start - 1
        while page := self._page(after):
            yield from page
            after = page[-1].seq

    def input(self, digest: str) -> bytes | None:
        """The bytes that are stored as the input of that digest, or None."""
        return self.inputs((digest,)).get(digest)

    def inputs(self, digests: Iterable[str]) -> dict[str, bytes]:
        """The bytes that are stored under those digests; what is not there is left out."""
        asked = iter(dict.fromkeys(digests))
        found: dict[str, bytes] = {}
        body = cast(inputs.c.body, LargeBinary)
        with self._store.faults("read"), self._engine.begin() as connection:
            while some := list(islice(asked, _MANY)):
                rows = connection.execute(
                    select(inputs.c.digest, body).where(inputs.c.digest.in_(some))
                )
                found |= {str(digest): bytes(data or b"") for digest, data in rows}
        return found

    def close(self) -> None:
        """Let go of the database. The object appends no more."""
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

    def _chained(self, drafts: Sequence[RecordDraft], head: Head) -> list[Sealed]:
        entries = []
        for drafted in drafts:
            entry = sealed(drafted, head)
            self._check_size(len(entry.body))
            entries.append(entry)
            head = Head(entry.record.seq, entry.record.hash)
        return entries

    def _check_size(self, size: int) -> None:
        # What no reader would parse is not written.
        if size > MAX_DOCUMENT_BYTES:
            raise Unrecordable(
                f"{self._store.where}: cannot append: a document of {size} bytes is over the "
                f"limit of {MAX_DOCUMENT_BYTES} bytes: keep large values elsewhere, by reference"
            )

    def _page(self, after: int | None) -> list[RawRecord]:
        # Cast, because SQLite may hold anything in any column and replay must not trip over it.
        query = select(records.c.seq, records.c.hash, cast(records.c.body, LargeBinary))
        if after is not None:
            query = query.where(records.c.seq > after)
        with self._store.faults("read"), self._engine.begin() as connection:
            rows = connection.execute(query.order_by(records.c.seq).limit(_PAGE)).all()
        numbers = [row[0] for row in rows]
        if any(type(number) is not int for number in numbers):
            raise LogDamaged(f"{self._store.where}: a record has no number: {_REBUILT}")
        # A rotten index gives rows out of order; paging by the last one would never end.
        before = [after, *numbers] if after is not None else numbers
        if any(one >= other for one, other in pairwise(before)):
            raise LogDamaged(f"{self._store.where}: the records are out of order: {_REBUILT}")
        return [RawRecord(seq, str(own), bytes(body or b"")) for seq, own, body in rows]


def _initialise(store: Store, engine: Engine) -> None:
    """Make the tables, unless someone else just has."""
    with engine.begin() as connection:
        if inspect(connection).get_table_names():
            return
        metadata.create_all(connection)
        connection.execute(insert(log_format), {"format": LOG_FORMAT})
        store.protect(connection)


def _check_tables(connection: Connection, where: str) -> None:
    found = inspect(connection)
    if not set(metadata.tables) <= set(found.get_table_names()):
        raise NotALog(f"{where}: it lacks the tables of a decision log: name another file")
    for table in metadata.tables.values():
        keys = [column.name for column in table.primary_key]
        if found.get_pk_constraint(table.name)["constrained_columns"] != keys:
            raise LogDamaged(
                f"{where}: table {table.name} was made anew without its key: {_REBUILT}"
            )
    formats = connection.execute(select(log_format.c.format)).scalars().all()
    if formats != [LOG_FORMAT]:
        raise NotALog(
            f"{where}: it is in a format that this version cannot read (it reads {LOG_FORMAT}): "
            "install the version of plan-critic that wrote it"
        )


def _head(connection: Connection) -> Head:
    last = select(records.c.seq, records.c.hash).order_by(records.c.seq.desc()).limit(1)
    row = connection.execute(last).one_or_none()
    return Head(0, GENESIS) if row is None else Head(int(row[0]), str(row[1]))


def _keep_inputs(connection: Connection, drafts: Iterable[RecordDraft]) -> None:
    """Insert what is not there yet. No one else can insert it meanwhile."""
    bodies = {digest: body for drafted in drafts for digest, body in drafted.bodies.items()}
    asked = iter(list(bodies))
    while some := list(islice(asked, _MANY)):
        known = select(inputs.c.digest).where(inputs.c.digest.in_(some))
        for digest in connection.execute(known).scalars():
            del bodies[digest]
    if bodies:
        rows = [{"digest": digest, "body": body} for digest, body in bodies.items()]
        connection.execute(insert(inputs), rows)


def _keep_records(connection: Connection, entries: Iterable[Sealed]) -> None:
    rows = [
        {"seq": entry.record.seq, "hash": entry.record.hash, "body": entry.body}
        for entry in entries
    ]
    connection.execute(insert(records), rows)
