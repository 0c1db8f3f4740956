"""Replay: the recorded verdicts derived once more, by code that cannot execute a tool."""

from harness.replay.engine import RecordedLog, replay
from harness.replay.result import Difference, ReplayResult, ReplayStatus

__all__ = ["Difference", "RecordedLog", "ReplayResult", "ReplayStatus", "replay"]
