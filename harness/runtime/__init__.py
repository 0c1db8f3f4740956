"""The canonical loop, its ports, its permit and its events."""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from harness.failures import ToolNotRun
    from harness.runtime.approving import approve
    from harness.runtime.canonical_loop import (
        ExecutionFailed,
        NotRecorded,
        Outcome,
        run_canonical_loop,
    )
    from harness.runtime.executors import CallableExecutor, TranscriptExecutor
    from harness.runtime.loop_events import (
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
        StepOpened,
    )
    from harness.runtime.permit import Permit, redeem
    from harness.runtime.planners import FixedPlanner
    from harness.runtime.ports import (
        Clock,
        DecisionLog,
        Execution,
        Executor,
        OpensSteps,
        Planner,
        PlaysBack,
        Recorder,
        RecordsAttempts,
        RecordsBegun,
        RecordsInThread,
        ShellWorld,
    )
    from harness.runtime.recorder import ExecutionEnded
    from harness.runtime.step_permits import Approver, StepPermit, StepRefused
    from harness.single_use import PermitError

__all__ = [
    "Approver",
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
    "OpensSteps",
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
    "ShellWorld",
    "StepOpened",
    "StepPermit",
    "StepRefused",
    "ToolNotRun",
    "TranscriptExecutor",
    "approve",
    "redeem",
    "run_canonical_loop",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "harness.failures": "ToolNotRun",
            "harness.runtime.approving": "approve",
            "harness.runtime.canonical_loop": (
                "ExecutionFailed NotRecorded Outcome run_canonical_loop"
            ),
            "harness.runtime.executors": "CallableExecutor TranscriptExecutor",
            "harness.runtime.loop_events": (
                "CallEnded CallStarted DecisionRecorded Listener LoopEvent PermitIssued "
                "PlanRefused PlanVerified Planned RunScored StepOpened"
            ),
            "harness.runtime.permit": "Permit redeem",
            "harness.single_use": "PermitError",
            "harness.runtime.planners": "FixedPlanner",
            "harness.runtime.ports": (
                "Clock DecisionLog Execution Executor OpensSteps Planner PlaysBack Recorder "
                "RecordsAttempts RecordsBegun RecordsInThread ShellWorld"
            ),
            "harness.runtime.recorder": "ExecutionEnded",
            "harness.runtime.step_permits": "Approver StepPermit StepRefused",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
