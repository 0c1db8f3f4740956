"""The statements that read and write the tables of a decision log, in no dialect of their own."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from sqlalchemy import Connection, LargeBinary, Select, cast, insert, select

from harness.log.tables import INPUTS, RECORDS
from harness.record import GENESIS, Head, Sealed

_MANY: Final = 500  # digests asked for at once; old SQLite allows 999 parameters

# Cast, because SQLite may hold anything in any column and replay must not trip over it.
SELECT_RECORDS: Final = select(RECORDS.c.seq, RECORDS.c.hash, cast(RECORDS.c.body, LargeBinary))
"""The stored records: (seq, hash, body)."""

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
    columns = select(INPUTS.c.digest, cast(INPUTS.c.body, LargeBinary))
    rows = (connection.execute(columns.where(chosen)) for chosen in _in_parts(digests))
    return {str(digest): bytes(body or b"") for part in rows for digest, body in part}


def insert_inputs(connection: Connection, bodies: dict[str, bytes]) -> None:
    """Insert the inputs that are not stored yet. No other writer can insert them meanwhile."""
    parts = (connection.execute(select(INPUTS.c.digest).where(part)) for part in _in_parts(bodies))
    stored = {digest for part in parts for digest in part.scalars()}
    rows = [{"digest": name, "body": bodies[name]} for name in bodies if name not in stored]
    if rows:
        connection.execute(insert(INPUTS), rows)


def insert_records(connection: Connection, entries: Iterable[Sealed]) -> None:
    """Insert records, in their order."""
    rows = [{"seq": entry.seq, "hash": entry.hash, "body": entry.body} for entry in entries]
    connection.execute(insert(RECORDS), rows)


def _in_parts(digests: Iterable[str]) -> Iterator[Any]:
    """Yield conditions that together select the inputs of those digests."""
    distinct = iter(dict.fromkeys(digests))
    while part := list(islice(distinct, _MANY)):
        yield INPUTS.c.digest.in_(part)
