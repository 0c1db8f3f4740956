"""The decision log: append-only, chained by hashes, safe against crashes."""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from harness.log.log_errors import (
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

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "harness.log.log_errors": (
                "LogBusy LogDamaged LogError LogFull LogUnavailable LogWriteFailed NotALog "
                "Unrecordable"
            ),
            "harness.log.sql": "SqlDecisionLog",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
