"""The statements that read and write the rows of a decision log.

Rule 1: values are named parameters, never a part of the text.
Rule 2: the texts are of no dialect of their own: any database of SQL takes them as they are.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from harness.log.store import Connection
from harness.record import GENESIS, Head, RawRecord

_MANY: Final = 500  # digests asked for at once; old SQLite allows 999 parameters


class Rows(NamedTuple):
    """Rows of a table: what selects them, and the column that gives their order."""

    select: str
    by: str


# Cast, because SQLite may hold anything in any column and replay must not trip over it.
RECORDS: Final = Rows("SELECT seq, hash, CAST(body AS BLOB) FROM records", "seq")
"""The stored records: (seq, hash, body)."""

NUMBERS: Final = Rows("SELECT seq FROM records", "seq")
"""The numbers of the stored records."""

HASHES: Final = Rows("SELECT seq, substr(CAST(hash AS TEXT), 1, 65) FROM records", "seq")
"""The hashes of the stored records: (seq, hash). One of more than 65 characters is cut."""

DIGESTS: Final = Rows("SELECT digest FROM inputs", "digest")
"""The digests of the stored inputs and parts."""

INPUTS: Final = Rows("SELECT digest, CAST(body AS BLOB) FROM inputs", "digest")
"""The stored inputs and parts: (digest, body)."""

CLAIM_ROWS: Final = Rows("SELECT claim, seq FROM claims", "claim")
"""The claims: (claim, number of the record)."""

_LAST: Final = "SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1"
_FORMATS: Final = "SELECT format FROM log_format LIMIT 2"
_INSERT_FORMAT: Final = "INSERT INTO log_format (format) VALUES (:format)"
_INSERT_INPUT: Final = "INSERT INTO inputs (digest, body) VALUES (:digest, :body)"
_INSERT_RECORD: Final = "INSERT INTO records (seq, hash, body) VALUES (:seq, :hash, :body)"
_LAST_CLAIM: Final = "SELECT max(claim) FROM claims WHERE claim > :first AND claim < :after"
_INSERT_CLAIM: Final = "INSERT INTO claims (claim, seq) VALUES (:claim, :seq)"


def rows_after(
    connection: Connection, rows: Rows, after: int | str | None, most: int
) -> Iterable[Any]:
    """Return rows in ascending order: at most so many, all or those after a number or a text."""
    later = "" if after is None else f" WHERE {rows.by} > :after"
    text = f"{rows.select}{later} ORDER BY {rows.by} LIMIT :most"
    return connection.execute(text, {"after": after, "most": most})


def head(connection: Connection) -> Head:
    """Return the number and hash of the last record; `(0, GENESIS)` for an empty log."""
    row = next(iter(connection.execute(_LAST)), None)
    return Head(0, GENESIS) if row is None else Head(int(row[0]), str(row[1]))


def stored_formats(connection: Connection) -> list[Any]:
    """Return the numbers of the format of a log: a sound log has one."""
    return [number for (number,) in connection.execute(_FORMATS)]


def stored_inputs(connection: Connection, digests: Iterable[str]) -> dict[str, bytes]:
    """Return the bytes that are stored under those digests; leave out what is not stored."""
    rows = rows_with(connection, INPUTS.select, INPUTS.by, digests)
    return {str(digest): bytes(body or b"") for digest, body in rows}


def stored_claims(connection: Connection, claims: Iterable[str]) -> dict[str, int]:
    """Return the number of the record that made each claim; leave out what no record claimed."""
    rows = rows_with(connection, CLAIM_ROWS.select, CLAIM_ROWS.by, claims)
    return {str(claim): seq for claim, seq in rows}


def last_claim(connection: Connection, prefix: str) -> str | None:
    """Return the last claim that begins with a text, by the order of its bytes."""
    given = {"first": prefix, "after": f"{prefix}~"}
    ((claim,),) = connection.execute(_LAST_CLAIM, given)
    return None if claim is None else str(claim)


def records_named(connection: Connection, hashes: Iterable[str]) -> list[RawRecord]:
    """Return the records that are stored under those hashes, unchecked."""
    rows = rows_with(connection, RECORDS.select, "hash", hashes)
    return [RawRecord(seq, str(own), bytes(body or b"")) for seq, own, body in rows]


def records_numbered(connection: Connection, numbers: Iterable[int]) -> list[RawRecord]:
    """Return the records that are stored under those numbers, unchecked."""
    rows = rows_with(connection, RECORDS.select, RECORDS.by, numbers)
    return [RawRecord(seq, str(own), bytes(body or b"")) for seq, own, body in rows]


def insert_format(connection: Connection, log_format: int) -> None:
    """Insert the number of the format."""
    connection.execute(_INSERT_FORMAT, {"format": log_format})


def insert_inputs(connection: Connection, bodies: Mapping[str, bytes]) -> None:
    """Insert inputs and parts. None of them is stored, and no other writer can insert one now."""
    rows = [{"digest": digest, "body": body} for digest, body in bodies.items()]
    connection.executemany(_INSERT_INPUT, rows)


def insert_records(connection: Connection, entries: Iterable[RawRecord]) -> None:
    """Insert records, in their order."""
    connection.executemany(_INSERT_RECORD, [entry._asdict() for entry in entries])


def insert_claims(connection: Connection, claims: Mapping[str, int]) -> None:
    """Insert what records claim, with the number of the record."""
    rows = [{"claim": claim, "seq": seq} for claim, seq in claims.items()]
    connection.executemany(_INSERT_CLAIM, rows)


def rows_with(
    connection: Connection, select: str, column: str, values: Iterable[str | int]
) -> Iterator[Any]:
    """Yield the rows that have one of those values in a column."""
    distinct = iter(dict.fromkeys(values))
    while part := list(islice(distinct, _MANY)):
        given = {f"v{place}": value for place, value in enumerate(part)}
        names = ", ".join(f":{name}" for name in given)
        yield from connection.execute(f"{select} WHERE {column} IN ({names})", given)
