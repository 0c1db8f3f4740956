"""The statements that read and write the tables of a decision log, in no dialect of their own."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from sqlalchemy import Column, Connection, LargeBinary, Select, cast, insert, select

from harness.log.tables import CLAIMS, INPUTS, RECORDS
from harness.record import GENESIS, Head, RawRecord

_MANY: Final = 500  # digests asked for at once; old SQLite allows 999 parameters

# Cast, because SQLite may hold anything in any column and replay must not trip over it.
SELECT_RECORDS: Final = select(RECORDS.c.seq, RECORDS.c.hash, cast(RECORDS.c.body, LargeBinary))
"""The stored records: (seq, hash, body)."""

SELECT_INPUTS: Final = select(INPUTS.c.digest, cast(INPUTS.c.body, LargeBinary))
"""The stored inputs and parts: (digest, body)."""

SELECT_CLAIMS: Final = select(CLAIMS.c.claim, CLAIMS.c.seq)
"""The claims: (claim, number of the record)."""

SELECT_NUMBERS: Final = select(RECORDS.c.seq)
"""The numbers of the stored records."""


def ordered_after(query: Select[Any], after: int | None) -> Select[Any]:
    """Return a query on records that selects those after a number, in ascending order."""
    if after is not None:
        query = query.where(RECORDS.c.seq > after)
    return query.order_by(RECORDS.c.seq)


def head(connection: Connection) -> Head:
    """Return the number and hash of the last record; `(0, GENESIS)` for an empty log."""
    last = select(RECORDS.c.seq, RECORDS.c.hash).order_by(RECORDS.c.seq.desc()).limit(1)
    row = connection.execute(last).one_or_none()
    return Head(0, GENESIS) if row is None else Head(int(row[0]), str(row[1]))


def stored_inputs(connection: Connection, digests: Iterable[str]) -> dict[str, bytes]:
    """Return the bytes that are stored under those digests; leave out what is not stored."""
    chosen = _in_parts(INPUTS.c.digest, digests)
    rows = (connection.execute(SELECT_INPUTS.where(part)) for part in chosen)
    return {str(digest): bytes(body or b"") for part in rows for digest, body in part}


def stored_claims(connection: Connection, claims: Iterable[str]) -> dict[str, int]:
    """Return the number of the record that made each claim; leave out what no record claimed."""
    chosen = _in_parts(CLAIMS.c.claim, claims)
    rows = (connection.execute(SELECT_CLAIMS.where(part)) for part in chosen)
    return {str(claim): seq for part in rows for claim, seq in part}


def records_named(connection: Connection, hashes: Iterable[str]) -> list[RawRecord]:
    """Return the records that are stored under those hashes, unchecked."""
    chosen = _in_parts(RECORDS.c.hash, hashes)
    rows = (row for part in chosen for row in connection.execute(SELECT_RECORDS.where(part)))
    return [RawRecord(seq, str(own), bytes(body or b"")) for seq, own, body in rows]


def insert_inputs(connection: Connection, bodies: Mapping[str, bytes]) -> None:
    """Insert inputs and parts. None of them is stored, and no other writer can insert one now."""
    if bodies:
        rows = [{"digest": digest, "body": body} for digest, body in bodies.items()]
        connection.execute(insert(INPUTS), rows)


def insert_records(connection: Connection, entries: Iterable[RawRecord]) -> None:
    """Insert records, in their order."""
    rows = [{"seq": entry.seq, "hash": entry.hash, "body": entry.body} for entry in entries]
    if rows:
        connection.execute(insert(RECORDS), rows)


def insert_claims(connection: Connection, claims: Mapping[str, int]) -> None:
    """Insert what records claim, with the number of the record."""
    if claims:
        rows = [{"claim": claim, "seq": seq} for claim, seq in claims.items()]
        connection.execute(insert(CLAIMS), rows)


def _in_parts(column: Column[Any], values: Iterable[str]) -> Iterator[Any]:
    """Yield conditions that together select the rows with those values."""
    distinct = iter(dict.fromkeys(values))
    while part := list(islice(distinct, _MANY)):
        yield column.in_(part)
