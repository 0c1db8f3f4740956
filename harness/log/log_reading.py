"""Read a decision log: its records, what they name, and the log as a whole.

Rule 1: a reader holds no lock between pages, so a slow reader cannot stop a writer.
Rule 2: a page is bounded in rows and in bytes, whatever the file holds.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any, Final, Literal

from harness.errors import escape_text
from harness.log.journal_rows import JournalRow, journal_rows, journaled_sessions, last_number
from harness.log.log_errors import LogDamaged
from harness.log.log_settlements import settled_among
from harness.log.remainder import Remainder
from harness.log.search.query import index_of, unrecorded_numbers
from harness.log.statements import (
    CLAIM_ROWS,
    DIGESTS,
    HASHES,
    INPUTS,
    NUMBERS,
    RECORDS,
    Rows,
    head,
    last_claim,
    records_named,
    records_numbered,
    rows_after,
    stored_claims,
    stored_inputs,
)
from harness.log.store import KEEP_EVIDENCE, Connection, OpenMode, Store
from harness.record import DecisionRecord, Gap, Head, LogRecord, RawRecord, read_record
from harness.record.parts import Whole, pieces_of, whole_of
from harness.wire import InvalidInput

_PAGE: Final = 64  # records read at once
_NUMBERS: Final = 10_000  # numbers of records read at once
_BYTES: Final = 8 * 1024 * 1024  # of a page; one row may have more


class LogReader:
    """The reading half of a log. Every method raises a `LogError` if the database fails."""

    _store: Store
    _mode: OpenMode

    def head(self) -> Head:
        """Return the number and hash of the last record; `(0, GENESIS)` for an empty log."""
        with self.begin_reading() as connection:
            return head(connection)

    def gaps(self) -> Iterator[Gap]:
        """Yield the gaps in the numbers of the records, as far as the last record."""
        last = 0
        for (seq,) in self._rows(NUMBERS, 0, _NUMBERS):
            if seq > last + 1:
                yield Gap(last + 1, seq - 1)
            last = seq

    def numbers(self) -> Iterator[int]:
        """Yield the numbers of the stored records, in their order, unchecked."""
        for (seq,) in self._rows(NUMBERS, None, _NUMBERS):
            yield seq

    def hashes(self) -> Iterator[tuple[int, str]]:
        """Yield the numbers of the stored records and their hashes, in their order, unchecked."""
        for seq, own_hash in self._rows(HASHES, None, _NUMBERS):
            yield seq, str(own_hash)

    def records(self, start: int = 1) -> Iterator[DecisionRecord]:
        """Yield the decisions from number `start` on, unchecked: replay shows if they are right.

        Raises:
            LogDamaged: a record cannot be read.
        """
        for record in self.entries(start):
            if isinstance(record, DecisionRecord):
                yield record

    def entries(self, start: int = 1) -> Iterator[LogRecord]:
        """Yield the records of every kind from number `start` on, unchecked.

        Raises:
            LogDamaged: a record cannot be read.
        """
        for raw in self.raw(start):
            try:
                yield read_record(raw.body)
            except InvalidInput as error:
                reason = self._why_gone(raw.body) or escape_text(str(error))
                raise LogDamaged(
                    f"{self._store.where}: record {raw.seq} cannot be read ({reason}): replay the "
                    "log to see what else is wrong"
                ) from error

    def _why_gone(self, body: bytes) -> str:
        """Return why a body cannot be put together, or an empty text."""
        whole = self._whole_body(body)
        for what, digests in (("missing", whole.missing), ("redacted", whole.redacted)):
            if digests:
                return f"part {digests[0]} is {what}"
        return whole.broken

    def raw(self, start: int | None = None) -> Iterator[RawRecord]:
        """Yield the records in the order of their numbers, all or from `start` on, unchecked.

        A body has its parts in their places; if one is missing or redacted, it is as stored.

        Raises:
            LogDamaged: the database itself cannot be read here.
        """
        for page in self._pages(RECORDS, _number_before(start), _PAGE):
            rows = [RawRecord(seq, str(own), bytes(body or b"")) for seq, own, body in page]
            yield from self._whole_rows(rows)

    def raw_at(self, numbers: Iterable[int]) -> list[RawRecord]:
        """Return the records with these numbers, unchecked, in order; leave out what is missing.

        No other record is read. Bodies are as `raw` yields them.
        """
        with self.begin_reading() as connection:
            rows = records_numbered(connection, numbers)
        return list(self._whole_rows(sorted(rows)))

    def _whole_rows(self, rows: Sequence[RawRecord]) -> Iterator[RawRecord]:
        pieces = pieces_of([raw.body for raw in rows], self.stored)
        return (raw._replace(body=whole_of(raw.body, pieces).data or raw.body) for raw in rows)

    def stored_records(self, start: int | None = None) -> Iterator[RawRecord]:
        """Yield the stored rows as they are: a body may have references to parts.

        Raises:
            LogDamaged: the database itself cannot be read here.
        """
        for seq, own_hash, body in self._rows(RECORDS, _number_before(start), _PAGE):
            yield RawRecord(seq, str(own_hash), bytes(body or b""))

    def input(self, digest: str) -> bytes | None:
        """Return the input of that digest as it was recorded, or None if it cannot be had."""
        return self.whole_input(digest).data

    def whole_input(self, digest: str) -> Whole:
        """Return the input of that digest, put together, or why it cannot be."""
        body = self.stored((digest,)).get(digest)
        return Whole(None, missing=(digest,)) if body is None else self._whole_body(body)

    def _whole_body(self, body: bytes) -> Whole:
        return whole_of(body, pieces_of([body], self.stored))

    def inputs(
        self, digests: Iterable[str], form: Literal["whole", "stored"] = "whole"
    ) -> dict[str, bytes]:
        """Return the inputs of those digests; leave out what is not stored.

        A whole input has its parts in their places; if one is missing or redacted, it is as stored.
        A stored body may have references to parts, which are stored in the same way.
        """
        with self.begin_reading() as connection:
            bodies = stored_inputs(connection, digests)
        if form == "stored":
            return bodies
        return {digest: self._whole_body(body).data or body for digest, body in bodies.items()}

    def stored(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Return the bodies stored under those digests; leave out what is not stored."""
        return self.inputs(digests, "stored")

    @contextmanager
    def fetching(self) -> Iterator[Callable[[Iterable[str]], dict[str, bytes]]]:
        """Yield what `stored` does, in one transaction: use it for a page of records."""
        with self.begin_reading() as connection:
            yield partial(stored_inputs, connection)

    def digests(self) -> frozenset[str]:
        """Return the digests of all inputs and parts, unchecked: they may be any text."""
        return frozenset(self._digests())

    def _digests(self) -> Iterator[str]:
        return (str(digest) for (digest,) in self._in_order(DIGESTS))

    def unnamed(self) -> Remainder:
        """Return the digests of all inputs and parts, to take out those that something names."""
        return Remainder(self._digests())

    def unmade(self) -> Remainder:
        """Return all claims, to take out those that a record made."""
        return Remainder(claim for claim, _ in self.all_claims())

    def bodies(self) -> Iterator[tuple[str, bytes]]:
        """Yield the stored inputs and parts with their digests, unchecked."""
        for digest, body in self._in_order(INPUTS):
            yield str(digest), bytes(body or b"")

    def claims(self, claims: Iterable[str]) -> dict[str, int]:
        """Return the number of the record that made each claim; leave out what none made."""
        with self.begin_reading() as connection:
            return stored_claims(connection, claims)

    def find_settled(self, begun: Iterable[str]) -> frozenset[str]:
        """Return those of some beginnings, by their hashes, that a person settled.

        Those that a decision has ended since are left out.
        """
        with self.begin_reading() as connection:
            return settled_among(connection, begun)

    def last_claim(self, prefix: str) -> str | None:
        """Return the last claim that begins with a text, by the order of its bytes."""
        with self.begin_reading() as connection:
            return last_claim(connection, prefix)

    def journal(self, session: str, after: int = 0) -> Sequence[JournalRow]:
        """Return the steps of an open session after one, in their order, unchecked.

        `session` is what stands for its id: see `harness.guard.session_journal`.
        """
        with self.begin_reading() as connection:
            return journal_rows(connection, session, after)

    def journaled_sessions(self) -> Iterator[str]:
        """Yield what stands for the ids of open sessions, in order."""
        after = ""
        while page := self._some_sessions(after):
            yield from page
            after = page[-1]

    def _some_sessions(self, after: str) -> list[str]:
        with self.begin_reading() as connection:
            return journaled_sessions(connection, after, _NUMBERS)

    def last_step(self, session: str) -> int:
        """Return the number of the last step of a session; 0 if it is not open."""
        with self.begin_reading() as connection:
            return last_number(connection, session)

    def all_claims(self) -> Iterator[tuple[str, int]]:
        """Yield every claim with the number of its record, unchecked."""
        after = ""
        while True:
            page = self._read_some(CLAIM_ROWS, after)
            yield from ((str(claim), seq) for claim, seq in page)
            if not page or str(page[-1][0]) <= after:
                return
            after = str(page[-1][0])

    def index(self, numbers: Iterable[int]) -> dict[int, tuple[Any, ...]]:
        """Return the rows of the index for these records, unchecked."""
        with self.begin_reading() as connection:
            return index_of(connection, numbers)

    def unrecorded(self, most: int) -> list[Any]:
        """Return the numbers of rows of the index without a record: at most so many."""
        with self.begin_reading() as connection:
            return unrecorded_numbers(connection, most)

    def named(self, hashes: Iterable[str]) -> Mapping[str, RawRecord]:
        """Return the records that are stored under those hashes, unchecked."""
        with self.begin_reading() as connection:
            return {raw.hash: raw for raw in records_named(connection, hashes)}

    @contextmanager
    def begin_reading(self) -> Iterator[Connection]:
        """Begin to read. No lock is held after it: read little at a time."""
        with self._store.errors("read"), self._store.transaction(self._mode) as connection:
            yield connection

    def _read_some(
        self, rows: Rows, after: int | str | None, most: int = _NUMBERS
    ) -> Sequence[Any]:
        with self.begin_reading() as connection:
            return _bound_page(rows_after(connection, rows, after, most))

    def _in_order(self, rows: Rows) -> Iterator[Any]:
        """Yield rows on inputs, read in pages."""
        after = ""
        while page := self._read_some(rows, after):
            yield from page
            if str(page[-1][0]) <= after:
                raise LogDamaged(f"{self._store.where}: inputs are out of order: {KEEP_EVIDENCE}")
            after = str(page[-1][0])

    def _rows(self, rows: Rows, after: int | None, most: int) -> Iterator[Any]:
        """Yield rows on records, read in pages of at most `most`."""
        for page in self._pages(rows, after, most):
            yield from page

    def _pages(self, rows: Rows, after: int | None, most: int) -> Iterator[Sequence[Any]]:
        while page := self._page(rows, after, most):
            yield page
            after = page[-1][0]

    def _page(self, rows: Rows, after: int | None, most: int) -> Sequence[Any]:
        page = self._read_some(rows, after, most)
        numbers = [row[0] for row in page]
        if any(type(number) is not int for number in numbers):
            raise LogDamaged(f"{self._store.where}: a record has no number: {KEEP_EVIDENCE}")
        # A damaged index gives rows out of order. Paging by the last one would never end.
        before = [after, *numbers] if after is not None else numbers
        if any(number >= following for number, following in pairwise(before)):
            raise LogDamaged(f"{self._store.where}: the records are out of order: {KEEP_EVIDENCE}")
        return page


def _number_before(start: int | None) -> int | None:
    return None if start is None else start - 1


def _bound_page(rows: Iterable[Any]) -> list[Any]:
    """Return rows until they have `_BYTES` together."""
    page: list[Any] = []
    size = 0
    for row in rows:
        page.append(row)
        size += len(row[-1]) if isinstance(row[-1], bytes) else 0
        if size > _BYTES:
            break
    return page
