"""The canonical loop, its ports and its permit."""

from harness.runtime.executors import CallableExecutor, TranscriptExecutor
from harness.runtime.loop import ExecutionFailed, NotRecorded, Outcome, run_canonical_loop
from harness.runtime.permit import Permit, PermitError, redeem
from harness.runtime.planners import FixedPlanner
from harness.runtime.ports import Clock, DecisionLog, Execution, Executor, Planner, Recorder

__all__ = [
    "CallableExecutor",
    "Clock",
    "DecisionLog",
    "Execution",
    "ExecutionFailed",
    "Executor",
    "FixedPlanner",
    "NotRecorded",
    "Outcome",
    "Permit",
    "PermitError",
    "Planner",
    "Recorder",
    "TranscriptExecutor",
    "redeem",
    "run_canonical_loop",
]
