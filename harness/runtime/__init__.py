"""The canonical loop, its ports, its permit and its events."""

from harness.runtime.events import (
    CallEnded,
    CallStarted,
    DecisionRecorded,
    Listener,
    LoopEvent,
    PermitIssued,
    Planned,
    PlanRefused,
    PlanVerified,
    RunScored,
)
from harness.runtime.executors import CallableExecutor, TranscriptExecutor
from harness.runtime.failures import ToolNotRun
from harness.runtime.loop import ExecutionFailed, NotRecorded, Outcome, run_canonical_loop
from harness.runtime.permit import Permit, PermitError, redeem
from harness.runtime.planners import FixedPlanner
from harness.runtime.ports import (
    Clock,
    DecisionLog,
    Execution,
    Executor,
    Planner,
    PlaysBack,
    Recorder,
    RecordsAttempts,
    RecordsBegun,
    RecordsInThread,
)
from harness.runtime.recorder import ExecutionEnded

__all__ = [
    "CallEnded",
    "CallStarted",
    "CallableExecutor",
    "Clock",
    "DecisionLog",
    "DecisionRecorded",
    "Execution",
    "ExecutionEnded",
    "ExecutionFailed",
    "Executor",
    "FixedPlanner",
    "Listener",
    "LoopEvent",
    "NotRecorded",
    "Outcome",
    "Permit",
    "PermitError",
    "PermitIssued",
    "PlanRefused",
    "PlanVerified",
    "Planned",
    "Planner",
    "PlaysBack",
    "Recorder",
    "RecordsAttempts",
    "RecordsBegun",
    "RecordsInThread",
    "RunScored",
    "ToolNotRun",
    "TranscriptExecutor",
    "redeem",
    "run_canonical_loop",
]
