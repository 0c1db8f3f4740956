"""The tables of a decision log, in no database's own dialect."""

from typing import Final

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, String, Table

LOG_FORMAT: Final = 1
"""The format that `log_format` names. Raised when tables or records change incompatibly."""

metadata: Final = MetaData()

log_format: Final = Table(
    "log_format",
    metadata,
    Column("format", Integer, primary_key=True, autoincrement=False),
)

inputs: Final = Table(
    "inputs",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

# SQLite keeps the key of a table in order only where its type is spelled INTEGER.
records: Final = Table(
    "records",
    metadata,
    Column(
        "seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False
    ),
    Column("hash", String(64), nullable=False, unique=True),
    Column("body", LargeBinary, nullable=False),
)
