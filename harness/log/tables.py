"""The tables of a decision log, independent of any database's dialect.

Format 1 has no claims, and its bodies are whole. Format 2 is what this version writes.
"""

from typing import Final

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, String, Table

OLD_FORMAT: Final = 1
"""The number in table `log_format` of a log that is read, and not appended to."""

LOG_FORMAT: Final = 2
"""The number in table `log_format`. Raised when tables or records change incompatibly."""

METADATA: Final = MetaData()

FORMATS: Final = Table(
    "log_format",
    METADATA,
    Column("format", Integer, primary_key=True, autoincrement=False),
)

INPUTS: Final = Table(
    "inputs",
    METADATA,
    Column("digest", String(64), primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

# SQLite keeps the key of a table in order only if its type is spelled INTEGER.
RECORDS: Final = Table(
    "records",
    METADATA,
    Column(
        "seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False
    ),
    Column("hash", String(64), nullable=False, unique=True),
    Column("body", LargeBinary, nullable=False),
)

CLAIMS: Final = Table(
    "claims",
    METADATA,
    Column("claim", String(1000), primary_key=True),
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), nullable=False),
    sqlite_with_rowid=False,
)


def tables_of(log_format: int) -> tuple[Table, ...]:
    """Return the tables of a log of this format."""
    old = (FORMATS, INPUTS, RECORDS)
    return old if log_format == OLD_FORMAT else (*old, CLAIMS)
