"""The tables of a decision log, independent of any database's dialect."""

from typing import Final

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, String, Table

LOG_FORMAT: Final = 1
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
