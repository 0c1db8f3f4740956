"""Append to a log: prepared entries, in transactions that are shared, each read back.

The rules are those of `harness.log.sql`.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, TypeAlias

from harness.canonical import canonical_json
from harness.log.commits import Append, SharedCommits
from harness.log.journal_rows import JournalMoved, JournalRow, JournalStep, last_number
from harness.log.log_errors import (
    IN_DOUBT,
    LogBusy,
    LogDamaged,
    LogError,
    LogUnavailable,
    LogWriteFailed,
    Unrecordable,
)
from harness.log.log_opening import check_tables
from harness.log.log_reading import LogReader
from harness.log.log_settlements import end_settled
from harness.log.log_standing import LogStanding
from harness.log.log_writing import (
    Known,
    Prepared,
    Written,
    in_chain,
    prepare_entries,
    sample_after,
    write,
)
from harness.log.statements import stored_claims
from harness.log.store import KEEP_EVIDENCE, Connection, OpenMode, Store, changed_tables
from harness.record import (
    AlreadyClaimed,
    Begun,
    CarriedOn,
    CriticError,
    Decision,
    HandedOver,
    Head,
    RawRecord,
    RecordDraft,
    Redacted,
    Sealed,
    SessionClosed,
    SessionReopened,
    Settled,
    TakenOver,
)
from harness.record.drafts import HANDED_OVER, Parted
from harness.record.index_row import IndexRow, index_row, keep_turn
from harness.record.integrity import read_text_of
from harness.record.parts import pieces_of, whole_of
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput, parse_json

LogEntry: TypeAlias = (
    Decision
    | Begun
    | Settled
    | CriticError
    | SessionClosed
    | SessionReopened
    | HandedOver
    | TakenOver
    | CarriedOn
    | Redacted
)
"""An entry of any kind."""

_BEGUN: Final = canonical_json("begun")
"""The kind of a record that an execution begins."""

Fetch: TypeAlias = Callable[[Iterable[str]], dict[str, bytes]]
"""Returns the bodies stored under digests; what is not stored is left out."""

GOES_ON: Final = "it continues in another log: append there"
ROTATION: Final = "rotation"
"""What a step has in the place of a session while a log is handed over."""


def handed_over_at(connection: Connection) -> int | None:
    """Return the number of the record that handed a log over to another; None without one."""
    return stored_claims(connection, [HANDED_OVER]).get(HANDED_OVER)


def index_of_rows(records: Iterable[RawRecord], stored: Fetch) -> list[IndexRow]:
    """Return the rows of the index of stored records, which are believed. See `stored_inputs`."""

    @cache
    def read_input(digest: str) -> Any:
        body = stored([digest]).get(digest)
        data = None if body is None else whole_of(body, pieces_of([body], stored)).data
        return None if data is None else parse_json(data, len(data))

    def row_of(raw: RawRecord) -> IndexRow:
        document = read_text_of(raw, pieces_of([raw.body], stored), checked=False).value
        named = document.get("inputs") or {}
        ctx, plan = (read_input(named.get(name, "")) for name in ("ctx", "plan"))
        return index_row(document, ctx, plan, raw.seq)

    return [row_of(raw) for raw in records]


def _size_of(document: bytes | Parted) -> int:
    return document.size if isinstance(document, Parted) else len(document)


class LogAppender(LogReader):
    """The appending half of a log."""

    def __init__(self, store: Store, mode: OpenMode, head: Head) -> None:
        """Take an opened and checked database, with its head."""
        self._store = store
        self._mode = mode
        self._shut = "it was opened for reading: open it for appending" if mode == "ro" else ""
        self._is_handed_over = False
        self._known = Known()
        self._schema: Hashable = None
        self._standing = LogStanding(store.where, head)
        self._commits = SharedCommits(self._commit)

    def copy_stored(self, bodies: Mapping[str, bytes], claims: Mapping[str, int]) -> None:
        """Store bodies of inputs and parts as another log holds them, and claims.

        Raises:
            LogError: nothing was stored.
        """
        self._write_all(lambda _connection, _before: Written((), bodies, claims))

    def copy_rows(
        self, records: Sequence[RawRecord], index: Mapping[int, tuple[Any, ...]] | None = None
    ) -> None:
        """Store records as another log holds them: their bodies may have references to parts.

        Args:
            records: the records.
            index: the rows of the other log's index: see `keep_turn`.

        Raises:
            LogError: nothing was stored.
        """
        with self.fetching() as stored:
            rows = index_of_rows(records, stored)
        kept = [keep_turn(row, index.get(row.seq)) for row in rows] if index else rows
        written = Written(records, {}, {}, kept)
        self._write_all(lambda _connection, _before: written)

    def copy_journal(self, session: str, rows: Iterable[JournalRow]) -> None:
        """Store the steps of an open session as another log holds them.

        Raises:
            LogError: nothing was stored.
        """
        steps = [(JournalStep(session, row.number, row.body), row) for row in rows]
        self._write_all(lambda _connection, _before: Written((), {}, {}, steps=steps))

    def hand_over(self, handed_at: datetime) -> Head:
        """End the log, which goes on in another one. Return its head: nothing follows it.

        Until `end_hand_over`, it may be called again. Whoever has the log open can append no more.

        Raises:
            LogUnavailable: it was handed over before.
            LogError: it cannot be written.
        """
        if self._is_handed_over:
            if self.is_succeeded:
                raise LogUnavailable(f"{self._store.where}: it was handed over before: {GOES_ON}")
            return self.head()
        step = JournalStep(ROTATION, 1, b"")
        (sealed,) = self._commits.run(Append(self._prepare_entries([HandedOver(handed_at)]), step))
        self._shut, self._is_handed_over = GOES_ON, True
        return Head(sealed.seq, sealed.hash)

    @property
    def is_handed_over(self) -> bool:
        """Return whether the log continues in another log, as far as this object knows."""
        return self._is_handed_over

    @property
    def is_succeeded(self) -> bool:
        """Return whether the log was handed over, and the other log is there."""
        return self._is_handed_over and not self.last_step(ROTATION)

    def end_hand_over(self) -> None:
        """Note that the other log is there, so that there will not be a second one.

        Raises:
            LogError: it cannot be written.
        """
        step = JournalStep(ROTATION, 2, b"", is_end=True)
        ended = Written((), {}, {}, steps=[(step, step.to_row((), ()))])
        with self._store.errors("append"), self._store.transaction("rw", writes=True) as connection:
            self._write(connection, ended)

    def take_over(
        self,
        entries: Sequence[LogEntry],
        bodies: Mapping[str, bytes],
        steps: Sequence[tuple[JournalStep, JournalRow]],
    ) -> Head:
        """Begin this log, which goes on from another: everything or nothing. Return its head.

        Args:
            entries: what it begins with.
            bodies: the inputs and parts that they name, as the other log holds them.
            steps: the journals of open sessions.

        Raises:
            LogUnavailable: it holds records.
            LogError: nothing was stored.
        """
        append = Append(self._prepare_entries(entries))

        def begin(connection: Connection, before: Head) -> Written:
            if before.seq:
                raise LogUnavailable(f"{self._store.where}: it holds records: name an empty place")
            written = self._place_entries([append], connection, before)
            if append.refused is not None:
                raise append.refused
            return written._replace(inputs={**written.inputs, **bodies}, steps=steps)

        self._write_all(begin)
        return self.acknowledged

    async def _appended_async(self, entry: LogEntry) -> Sealed:
        import asyncio  # noqa: PLC0415 - slow to load, and loaded by whoever calls this

        append = Append(self._prepare_entries([entry]))
        (done,) = await asyncio.wrap_future(self._commits.start(append))
        return done

    def _append_entries(self, entries: Sequence[Prepared]) -> tuple[Sealed, ...]:
        if not entries:
            self._require_open()
            return ()
        return self._commits.run(Append(entries))

    def _prepare_entries(self, entries: Iterable[LogEntry]) -> Sequence[Prepared]:
        return prepare_entries(map(self._draft_entry, entries), self._known)

    def _draft_entry(self, entry: LogEntry) -> RecordDraft:
        try:
            drafted = entry.snapshot
        except (ValueError, RecursionError) as error:
            reason = str(error) if isinstance(error, InvalidInput) else "not JSON"
            raise Unrecordable(
                f"{self._store.where}: cannot append: the decision was built of parts that had "
                f"been changed in place ({reason}): build the parts again"
            ) from error
        self._check_size(max(map(_size_of, drafted.bodies.values()), default=0))
        return drafted

    def _require_open(self) -> None:
        if self._shut:
            raise LogUnavailable(f"{self._store.where}: cannot append: {self._shut}")

    def _commit(self, appends: Sequence[Append]) -> None:
        """Commit appends in one transaction. Called by one thread at a time."""
        written = self._write_all(lambda *place: self._place_entries(appends, *place))
        self._known.add(written.inputs)

    def _write_all(self, make: Callable[[Connection, Head], Written]) -> Written:
        """Write what is made for the log as it stands, and commit it.

        A commit that fails leaves its records in doubt: the next write looks for them.
        """
        self._require_open()
        sent: Sequence[RawRecord] | None = None
        try:
            transaction = self._store.transaction(self._mode, writes=True)
            with self._store.errors("append"), transaction as connection:
                written = make(connection, self._settle(connection))
                self._write(connection, written)
                sent = written.records
        except LogBusy:
            raise  # A commit that has to wait for a lock has not written anything.
        except BaseException as error:
            if sent is None:
                raise
            self._standing.doubt(sent)
            if isinstance(error, LogWriteFailed) or not isinstance(error, LogError):
                raise
            raise LogWriteFailed(f"{error}; the commit failed, {IN_DOUBT}") from error
        self._standing.acknowledge(written.records)
        return written

    @property
    def acknowledged(self) -> Head:
        """Return the last record that was acknowledged here; the head as it was opened before."""
        return self._standing.last

    def rehearse(self) -> Head:
        """Check that an append would be taken now, by one that is undone. Return the head.

        Raises:
            LogError: it would not; the error is that of an append.
        """
        self._require_open()
        with self._store.errors("append"), self._store.rehearsal() as connection:
            before = self._settle(connection)
            self._write(connection, sample_after(before))
        return before

    def _settle(self, connection: Connection) -> Head:
        """Return the head. A log in doubt is looked at as when it was opened."""
        if self._standing.is_doubted:
            self._store.check(connection)
            check_tables(self._store, connection)
            self._schema = None
        self._check_schema(connection)
        before, found = self._standing.last, self._standing.settle(connection)
        if found != before and handed_over_at(connection) is not None:
            raise LogUnavailable(f"{self._store.where}: cannot append: {GOES_ON}")
        return found

    def _write(self, connection: Connection, written: Written) -> None:
        if not write(connection, written):
            raise LogDamaged(
                f"{self._store.where}: cannot append: the log does not hold what was appended to "
                f"it, so nothing was recorded: {KEEP_EVIDENCE}"
            )

    def _check_schema(self, connection: Connection) -> None:
        schema = self._store.schema(connection)
        if schema == self._schema:
            return
        if problems := self._store.schema_problems(connection):
            raise changed_tables(self._store.where, "append", problems)
        self._schema = schema

    def _place_entries(
        self, appends: Sequence[Append], connection: Connection, before: Head
    ) -> Written:
        """Give the entries their places. An append that cannot have one is refused by itself."""
        records: list[RawRecord] = []
        index: list[IndexRow] = []
        inputs: dict[str, bytes] = {}
        claims: dict[str, int] = {}
        steps: list[tuple[JournalStep, JournalRow]] = []
        every = [entry for append in appends for entry in append.entries]
        wanted = [claim for entry in every for claim in entry.drafted.claims]
        made: Mapping[str, int] = stored_claims(connection, wanted) if wanted else {}
        for append in appends:
            try:
                _require_next(connection, append.step, steps)
                append.entries = end_settled(connection, append.entries, made)
                own = self._own_claims(append, {**made, **claims}, before)
                entries = self._chain_entries(append.entries, before)
            except (AlreadyClaimed, JournalMoved, Unrecordable) as refusal:
                append.refused = refusal
                continue
            claims |= own
            append.placed = tuple(whole for whole, _ in entries)
            records += [stored for _, stored in entries]
            rows = zip(append.entries, entries, strict=True)
            index += [IndexRow(stored.seq, *entry.drafted.row[1:]) for entry, (_, stored) in rows]
            before = Head(records[-1].seq, records[-1].hash) if entries else before
            steps += _placed_step(append)
            for entry in append.entries:
                inputs |= {d: body for d, body in entry.stored.items() if d not in self._known}
        return Written(records, inputs, claims, index, steps)

    def _own_claims(self, append: Append, made: Mapping[str, int], before: Head) -> dict[str, int]:
        """Return the claims of an append, with the numbers of its records."""
        own: dict[str, int] = {}
        for seq, entry in enumerate(append.entries, start=before.seq + 1):
            claims = entry.drafted.claims
            taken = [one for one in claims if one in made or one in own or claims.count(one) > 1]
            if taken:
                raise AlreadyClaimed(dict.fromkeys(taken), {**made, **own})
            own |= dict.fromkeys(claims, seq)
        return own

    def _chain_entries(
        self, entries: Sequence[Prepared], before: Head
    ) -> list[tuple[Sealed, RawRecord]]:
        chained = []
        for entry in entries:
            whole, stored = in_chain(entry, before)
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


def _require_next(
    connection: Connection,
    step: JournalStep | None,
    before: Sequence[tuple[JournalStep, JournalRow]],
) -> None:
    """Check that a step comes right after the last one of its session.

    Raises:
        JournalMoved: another process made that step.
    """
    if step is None:
        return
    here = [one for one, _ in before if one.session == step.session]
    if not here:
        last = last_number(connection, step.session)
    else:
        last = 0 if here[-1].is_end else here[-1].number
    is_next = not last if step.is_reopening else step.number == last + 1
    if not is_next:
        raise JournalMoved


def _placed_step(append: Append) -> list[tuple[JournalStep, JournalRow]]:
    """Return the step of an append with the row that is stored of it."""
    if append.step is None:
        return []
    kinds = [entry.drafted.members.get("kind") for entry in append.entries]
    placed = [*zip(append.placed, kinds, strict=True)]
    decided = [one.seq for one, kind in placed if kind is None]
    begun = [one.hash for one, kind in placed if kind == _BEGUN]
    return [(append.step, append.step.to_row(decided, begun))]
