"""The decision log: append-only, chained by hashes, safe against crashes.

The database library is loaded when `SqlDecisionLog` is first used, not before.
"""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    if name != "SqlDecisionLog":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from harness.log.sql import SqlDecisionLog  # noqa: PLC0415 - loads the database library

    return SqlDecisionLog


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
