"""Prepare entries outside the lock of a log, and write them inside one transaction.

Rule 1: what this process has seen stored is not asked for again. What it has not is compared with
        what is stored there.
Rule 2: what was written is read back before the commit.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from evals.joined_json import join_object
from harness.canonical import canonical_json
from harness.log.journal_rows import JournalRow, JournalStep, write_steps
from harness.log.search.query import insert_index, stored_index
from harness.log.statements import (
    RECORDS,
    insert_claims,
    insert_inputs,
    insert_records,
    rows_after,
    stored_claims,
    stored_inputs,
)
from harness.log.store import Connection
from harness.record import Head, RawRecord, RecordDraft, Sealed, seal_record, sha256
from harness.record.chain import place_members
from harness.record.drafts import Parted
from harness.record.index_row import IndexRow
from harness.record.parts import LARGE, new_pieces, part_document, pieces_of, whole_of

_PLAN: Final = 16_384  # bytes of what is a piece in a plan: another plan hardly ever has it too
_WITH_PARTS: Final = {"run": 4096, "asked": LARGE}
"""The members of a record that have parts, and the bytes of what is a piece there.

A long result in a run is evidence of the session too, and so is stored once.
"""
_SAMPLE: Final = 16 * 1024  # bytes: several pages of a file
_MOST_KNOWN: Final = 100_000  # digests: some 15 MB


class Prepared(NamedTuple):
    """An entry, ready to be written.

    Attributes:
        drafted: the entry in whole canonical bytes.
        stored: the bodies of its inputs and parts, by digest, without those known to be stored.
        members: the members of the record that are stored with references.
    """

    drafted: RecordDraft
    stored: Mapping[str, bytes]
    members: Mapping[str, bytes]


def prepare_entries(drafts: Iterable[RecordDraft], known: Container[str]) -> list[Prepared]:
    """Take entries apart that are stored together: what one stores is known to the next."""
    prepared: list[Prepared] = []
    earlier: dict[str, bytes] = {}
    for drafted in drafts:
        prepared.append(_prepare_entry(drafted, _Stored(known, earlier)))
        earlier.update(prepared[-1].stored)
    return prepared


@dataclass(frozen=True, slots=True)
class _Stored:
    """The digests that are known to be stored, or that an earlier entry stores."""

    known: Container[str]
    earlier: Container[str]

    def __contains__(self, digest: object) -> bool:
        return digest in self.known or digest in self.earlier


def _prepare_entry(drafted: RecordDraft, known: Container[str]) -> Prepared:
    """Take an entry apart: what is stored of it, in bodies with references."""
    stored: dict[str, bytes] = {}
    for digest, document in drafted.bodies.items():
        if digest not in known:
            large = _PLAN if digest == drafted.row.plan else LARGE
            apart = document if isinstance(document, Parted) else part_document(document, large)
            stored |= {**new_pieces(apart, known), digest: apart.body}
    members: dict[str, bytes] = {}
    for name, large in _WITH_PARTS.items():
        if name in drafted.members:
            apart = part_document(drafted.members[name], large)
            stored |= new_pieces(apart, known)
            members |= {name: apart.body} if apart.pieces else {}
    return Prepared(drafted, stored, members)


class Known:
    """The digests that are known to be stored. Forgets the oldest; the rest is asked for again."""

    def __init__(self) -> None:
        self._digests: dict[str, None] = {}

    def __contains__(self, digest: object) -> bool:
        return digest in self._digests

    def add(self, digests: Iterable[str]) -> None:
        """Remember digests, once the transaction that stored or found them was committed."""
        self._digests.update(dict.fromkeys(digests))
        while len(self._digests) > _MOST_KNOWN:
            del self._digests[next(iter(self._digests))]


class Written(NamedTuple):
    """The writes of a transaction that are not committed yet, and have to be read back."""

    records: Sequence[RawRecord]
    inputs: Mapping[str, bytes]
    claims: Mapping[str, int]
    columns: Sequence[IndexRow] = ()
    steps: Sequence[tuple[JournalStep, JournalRow]] = ()


def sample_after(before: Head) -> Written:
    """Return a row of each kind that may follow in a log, to be undone. It is not a record."""
    seq, name, body = before.seq + 1, "rehearsal", b"0" * _SAMPLE
    row, step = IndexRow(seq, None, None), JournalStep(name, 1, b"", is_whole=True)
    return Written(
        [RawRecord(seq, name, body)],
        {name: body},
        {name: seq},
        [row],
        [(step, step.to_row((), ()))],
    )


def in_chain(entry: Prepared, before: Head) -> tuple[Sealed, RawRecord]:
    """Return an entry in its place in the chain: as its hash is taken, and as it is stored."""
    whole = seal_record(entry.drafted, before)
    if not entry.members:
        return whole, RawRecord(*whole)
    members = {**entry.drafted.members, **entry.members, **place_members(before)}
    body = join_object({**members, "hash": canonical_json(whole.hash)})
    return whole, RawRecord(whole.seq, whole.hash, body)


def write(connection: Connection, written: Written) -> bool:
    """Write records, inputs, claims, the index and steps of sessions.

    Return whether the log holds exactly that now.

    Inputs that are stored already are left, after a look at what is stored.
    """
    stored = stored_inputs(connection, written.inputs)
    new = {digest: body for digest, body in written.inputs.items() if digest not in stored}
    insert_inputs(connection, new)
    insert_records(connection, written.records)
    insert_claims(connection, written.claims)
    insert_index(connection, written.columns)
    return (
        write_steps(connection, written.steps)
        and _records_from(connection, written.records) == list(written.records)
        and stored_inputs(connection, new) == new
        and stored_claims(connection, written.claims) == written.claims
        and _index_from(connection, written.columns) == list(written.columns)
        and all(_holds(connection, digest, stored[digest], written.inputs) for digest in stored)
    )


def _records_from(connection: Connection, written: Sequence[RawRecord]) -> list[RawRecord]:
    """Return what is stored from the number of the first record on."""
    if not written:
        return []
    # One more than there should be, so that what is there beside them shows.
    rows = rows_after(connection, RECORDS, written[0].seq - 1, len(written) + 1)
    return [RawRecord(*row) for row in rows]


def _index_from(connection: Connection, written: Sequence[IndexRow]) -> list[tuple[Any, ...]]:
    """Return what is stored in the index from the first number on."""
    if not written:
        return []
    return stored_index(connection, written[0].seq, written[-1].seq + 1)


def _holds(connection: Connection, digest: str, body: bytes, written: Mapping[str, bytes]) -> bool:
    """Return whether what is stored under a digest is that; however it was taken apart."""
    if body == written[digest]:
        return True
    pieces = pieces_of([body], partial(stored_inputs, connection))
    whole = whole_of(body, pieces).data
    return whole is not None and sha256(whole) == digest
