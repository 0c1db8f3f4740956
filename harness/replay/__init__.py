"""Replay: derive the recorded verdicts again, with code that cannot execute a tool."""

from harness.replay.engine import RecordedLog, replay
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
