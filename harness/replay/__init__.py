"""Replay: derive the recorded verdicts again, with code that cannot execute a tool."""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from harness.replay.document_reading import RecordedLog
    from harness.replay.engine import replay
    from harness.replay.log_check import LogCheck, StoredLog, check_log
    from harness.replay.result import Difference, ReplayResult, ReplayStatus

__all__ = [
    "Difference",
    "LogCheck",
    "RecordedLog",
    "ReplayResult",
    "ReplayStatus",
    "StoredLog",
    "check_log",
    "replay",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "harness.replay.document_reading": "RecordedLog",
            "harness.replay.engine": "replay",
            "harness.replay.log_check": "LogCheck StoredLog check_log",
            "harness.replay.result": "Difference ReplayResult ReplayStatus",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
