"""Records a session: its first line, one line for each iteration, and its end."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol, assert_never

from evals.envelope import Envelope
from evals.json_value import SAFE_INTEGER
from harness.loops.code.agent_commands import AgentRole
from harness.loops.code.critic_decision import Continue, Done, Error
from harness.loops.code.session_change import Change
from harness.loops.code.session_lines import (
    AgentRun,
    GateRules,
    Iteration,
    Refusal,
    RetriedRun,
    SessionEnd,
    SessionOutcome,
    SessionResumed,
    SessionStart,
)
from harness.loops.revise import StopReason
from harness.runtime.ports import Clock


class LineWriter(Protocol):
    """Keeps the lines of a session."""

    def write(self, line: Envelope) -> None:
        """Keep one line. When this returns, the line is safe."""


@dataclass(frozen=True, slots=True)
class CodeLoopJob:
    """The task of a session, and its limits.

    Attributes:
        task: the task, in words.
        folder: the folder that the agents and the gate run in.
        actor: the command line of the agent that works.
        critic: the command line of the agent that reviews.
        max_iterations: the maximum number of reviewed iterations.
        timeout: seconds for each run of an agent.
        gate: the rules that a change must pass.
        allow_agent_settings: the settings, hooks and unfinished operations of the repository may
            change.
        retries: how many more times to run an agent that could not be started or timed out.
        time_limit: seconds for the whole run, or None for no limit.
    """

    task: str
    folder: Path
    actor: tuple[str, ...]
    critic: tuple[str, ...]
    max_iterations: int
    timeout: float
    gate: GateRules
    allow_agent_settings: bool = False
    retries: int = 0
    time_limit: float | None = None


@dataclass(slots=True)
class Turn:
    """One iteration while it runs. Fields are filled in as things happen."""

    number: int
    actor: AgentRun | None = None
    change: Change | None = None
    refusals: tuple[Refusal, ...] = ()
    critic: list[AgentRun] = field(default_factory=list)
    retried: list[RetriedRun] = field(default_factory=list)
    decision: Done | Continue | Error | None = None
    feedback: str | None = None
    interrupted: bool = False

    def add_run(self, role: AgentRole, run: AgentRun) -> None:
        """Keep a run of an agent: the one of the actor, the next one of the critic."""
        if role == "actor":
            self.actor = run
        else:
            self.critic.append(run)


class SessionRecorder:
    """Writes each line when its part is over, and remembers the iterations.

    Attributes:
        session: the id of the session.
        past: all iterations on record, those before a resumption too.
    """

    def __init__(
        self,
        first_line: SessionStart | SessionResumed,
        session: str,
        writer: LineWriter,
        clock: Clock,
        past: tuple[Iteration, ...] = (),
    ) -> None:
        """Record a session that begins with `first_line` and has the iterations `past`."""
        self._first_line, self._writer, self._clock = first_line, writer, clock
        self.session: Final = session
        self.past: Final = [*past]

    def begin(self) -> None:
        """Write the first line."""
        self._writer.write(self._first_line)

    def keep(self, turn: Turn) -> None:
        """Write an iteration, whole or as far as it came; nothing if its actor never ran."""
        if turn.actor is None:
            return
        optional = {
            "diff": turn.change.diff if turn.change else None,
            "decision": turn.decision,
            "feedback": turn.feedback,
        }
        iteration = Iteration(
            number=turn.number,
            time=self._clock.now(),
            actor=turn.actor,
            interrupted=turn.interrupted,
            not_seen=turn.change.names(turn.change.nested) if turn.change else (),
            by_checks=turn.change.names(turn.change.by_checks) if turn.change else (),
            refusals=turn.refusals,
            critic=tuple(turn.critic),
            retried=tuple(turn.retried),
            **_present_fields(optional),
        )
        self._writer.write(iteration)
        self.past.append(iteration)

    def end(
        self, outcome: SessionOutcome, duration_ms: int, done: Done | None, reason: str
    ) -> SessionEnd:
        """Write the last line: with the `done` of a success, with the reason of a failure."""
        optional = {
            "summary": done.summary if done else None,
            "confidence": done.confidence if done else None,
            "reason": reason if outcome in ("failed", "time_limit_reached") else None,
            **_totals(self.past),
        }
        end = SessionEnd(
            time=self._clock.now(),
            outcome=outcome,
            iterations=len(self.past),
            duration_ms=duration_ms,
            **_present_fields(optional),
        )
        self._writer.write(end)
        return end


def judged_iterations(past: tuple[Iteration, ...] | list[Iteration]) -> int:
    """Return how many iterations came to a judgement: these count towards the limit."""
    return sum(
        not iteration.interrupted
        and (iteration.feedback is not None or isinstance(iteration.decision, Done))
        for iteration in past
    )


def outcome_of(reason: StopReason) -> SessionOutcome:
    """Return the outcome of a session whose loop stopped for this reason."""
    match reason:
        case "approved":
            return "success"
        case "max_rounds":
            return "max_iterations_reached"
        case "budget":
            return "time_limit_reached"
        case "cancelled":
            return "user_interrupted"
        case "no_progress" | "unrecoverable" | "planner_error":
            return "failed"
        case _:
            assert_never(reason)


def _totals(past: list[Iteration]) -> dict[str, int | None]:
    """Return tokens and cost of all runs; None if a run did not report them."""
    runs = [run for iteration in past for run in (iteration.actor, *iteration.critic)]
    runs += [retried.run for iteration in past for retried in iteration.retried]
    return {
        "tokens": _sum(run.tokens for run in runs),
        "cost_micros": _sum(run.cost_micros for run in runs),
    }


def _sum(values: Iterable[int | None]) -> int | None:
    total = None
    for value in values:
        if value is None:
            return None
        total = min((total or 0) + value, SAFE_INTEGER)
    return total


def _present_fields(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
