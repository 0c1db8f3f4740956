"""The scribe of a session: all lines of the record, from its start through its turns to its end."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, assert_never

from evals.envelope import Envelope
from harness.codeloop.change import Change
from harness.codeloop.decision import Continue, Done, Error
from harness.codeloop.record import (
    GateRules,
    Iteration,
    Ran,
    Refusal,
    SessionEnd,
    SessionOutcome,
    SessionStart,
)
from harness.process import CommandResult
from harness.runtime.revise import StopReason


class Record(Protocol):
    """Where lines go, to stay there."""

    def write(self, line: Envelope) -> None:
        """Keep one line."""


class Clock(Protocol):
    """What time it is, for the record."""

    def now(self) -> datetime:
        """An aware time."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a session is to do."""

    session: str
    task: str
    folder: Path
    actor: tuple[str, ...]
    critic: tuple[str, ...]
    max_iterations: int
    timeout: float
    gate: GateRules


@dataclass(slots=True)
class Turn:
    """One iteration while it goes on; it fills as it comes to pass."""

    number: int
    actor: Ran | None = None
    change: Change | None = None
    refusals: tuple[Refusal, ...] = ()
    critic: list[Ran] = field(default_factory=list)
    decision: Done | Continue | Error | None = None
    feedback: str | None = None


class SessionRecorder:
    """Writes what happens when it has happened, and remembers the iterations."""

    def __init__(self, job: Job, record: Record, clock: Clock) -> None:
        self._job, self._record, self._clock = job, record, clock
        self.past: list[Iteration] = []

    def start(self, base_tree: str) -> None:
        """The first line."""
        job = self._job
        self._record.write(
            SessionStart(
                session=job.session,
                time=self._clock.now(),
                task=job.task,
                folder=str(job.folder).encode("utf-8", "backslashreplace").decode(),
                actor=job.actor,
                critic=job.critic,
                max_iterations=job.max_iterations,
                gate=job.gate,
                base_tree=base_tree,
            )
        )

    def keep(self, turn: Turn) -> None:
        """An iteration that is over, or as far as it came; nothing if its actor never ended."""
        if turn.actor is None:
            return
        facts = {
            "diff": turn.change.diff if turn.change else None,
            "decision": turn.decision,
            "feedback": turn.feedback,
        }
        iteration = Iteration(
            number=turn.number,
            time=self._clock.now(),
            actor=turn.actor,
            not_seen=turn.change.names(turn.change.nested) if turn.change else (),
            by_checks=turn.change.names(turn.change.by_checks) if turn.change else (),
            refusals=turn.refusals,
            critic=tuple(turn.critic),
            **_present(facts),
        )
        self._record.write(iteration)
        self.past.append(iteration)

    def end(
        self, outcome: SessionOutcome, duration_ms: int, done: Done | None, why: str
    ) -> SessionEnd:
        """The last line: with the `done` of a success, with the reason of a failure."""
        facts = {
            "summary": done.summary if done else None,
            "confidence": done.confidence if done else None,
            "reason": why if outcome == "failed" else None,
        }
        end = SessionEnd(
            time=self._clock.now(),
            outcome=outcome,
            iterations=len(self.past),
            duration_ms=duration_ms,
            **_present(facts),
        )
        self._record.write(end)
        return end


def outcome_of(reason: StopReason) -> SessionOutcome:
    """What a session that stopped for this reason came to."""
    match reason:
        case "approved":
            return "success"
        case "max_rounds":
            return "max_iterations_reached"
        case "cancelled":
            return "user_interrupted"
        case "no_progress" | "unrecoverable" | "budget" | "planner_error":
            return "failed"
        case _:
            assert_never(reason)


def ran_of(result: CommandResult) -> Ran:
    """The record of what came of running an agent."""
    return Ran(
        exit_code=result.exit_code,
        timed_out=result.timed_out,
        duration_ms=round(result.seconds * 1000),
        stdout=result.stdout,
        stderr=result.stderr,
    )


def _present(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}
