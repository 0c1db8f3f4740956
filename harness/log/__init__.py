"""The decision log: append-only, chained by hashes, safe against crashes."""

from harness.log.errors import (
    LogBusy,
    LogDamaged,
    LogError,
    LogFull,
    LogUnavailable,
    LogWriteFailed,
    NotALog,
    Unrecordable,
)
from harness.log.sql import SqlDecisionLog

__all__ = [
    "LogBusy",
    "LogDamaged",
    "LogError",
    "LogFull",
    "LogUnavailable",
    "LogWriteFailed",
    "NotALog",
    "SqlDecisionLog",
    "Unrecordable",
]
