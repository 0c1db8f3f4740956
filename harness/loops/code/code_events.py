"""The events of a code loop, as a listener receives them while a session runs.

Every event has `seq` (1, 2, 3 ... within one run), `time` and `kind`. Their order:

    session_started
      agent_started, agent_output*, agent_ended     of the actor; again for each retry
      gate_command_ended*                           one for each command of the gate
      diff_captured
      change_refused                                if the gate refuses; then the next iteration
      agent_started, agent_output*, agent_ended     of the critic
      critic_replied                                with `problem` if it is malformed
      decision                                      of the critic
      change_refused                                if facts overrule a `done`
    session_ended

Texts are what agents wrote: escape them before you print them.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field

from evals.envelope import ARRAY, OPTIONAL, Count, Envelope
from evals.json_value import Text
from evals.timestamps import Time
from harness.loops.code.agent_commands import AgentRole
from harness.loops.code.critic_decision import CodeDecision
from harness.loops.code.session_lines import (
    CodeSessionId,
    GateLimit,
    Refusal,
    SessionEnd,
    Words,
)
from harness.record import Digest
from harness.runtime.ports import Clock


class _Event(Envelope):
    seq: Count
    time: Time


class SessionStarted(_Event):
    """A session begins or, if iterations are already on record, goes on.

    `last_iteration` is the highest number that an iteration can have.
    """

    kind: Literal["session_started"] = "session_started"
    session: CodeSessionId
    task: Text
    recorded_iterations: Count
    last_iteration: GateLimit


class AgentStarted(_Event):
    """An agent is being started, for the first time (attempt 1) or again."""

    kind: Literal["agent_started"] = "agent_started"
    iteration: GateLimit
    role: AgentRole
    attempt: GateLimit


class AgentOutput(_Event):
    """A piece of what an agent prints; it may begin and end within a line."""

    kind: Literal["agent_output"] = "agent_output"
    iteration: GateLimit
    role: AgentRole
    stream: Literal["stdout", "stderr"]
    text: Text


class AgentEnded(_Event):
    """An agent ended, was stopped, or could not be started.

    `summary` is one safe line: how it ended and, unless it exited with 0, its last words.
    """

    kind: Literal["agent_ended"] = "agent_ended"
    iteration: GateLimit
    role: AgentRole
    exit_code: int
    timed_out: bool
    interrupted: bool
    not_started: bool
    duration_ms: Count
    tokens: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None
    summary: Text


class GateCommandEnded(_Event):
    """A command of the gate ended; it passed unless there are refusals."""

    kind: Literal["gate_command_ended"] = "gate_command_ended"
    iteration: GateLimit
    command: Words
    passed: bool
    duration_ms: Count
    refusals: Annotated[tuple[Refusal, ...], ARRAY] = ()


class DiffCaptured(_Event):
    """The whole change since the session began, in numbers."""

    kind: Literal["diff_captured"] = "diff_captured"
    iteration: GateLimit
    files: Count
    lines: Count
    size: Count
    sha256: Digest


class ChangeRefused(_Event):
    """The change is refused for these reasons, before or after the critic's reply."""

    kind: Literal["change_refused"] = "change_refused"
    iteration: GateLimit
    refusals: Annotated[tuple[Refusal, ...], ARRAY]


class CriticReplied(_Event):
    """The reply of the critic; `problem` says why it is not a decision, if it is not."""

    kind: Literal["critic_replied"] = "critic_replied"
    iteration: GateLimit
    reply: Text
    problem: Annotated[Text | None, OPTIONAL] = None


class DecisionMade(_Event):
    """The decision of the critic."""

    kind: Literal["decision"] = "decision"
    iteration: GateLimit
    decision: CodeDecision


class SessionEnded(_Event):
    """The session ended; `end` is the last line of its record."""

    kind: Literal["session_ended"] = "session_ended"
    session: CodeSessionId
    exit_code: int
    end: SessionEnd


CodeLoopEvent = Annotated[
    SessionStarted
    | AgentStarted
    | AgentOutput
    | AgentEnded
    | GateCommandEnded
    | DiffCaptured
    | ChangeRefused
    | CriticReplied
    | DecisionMade
    | SessionEnded,
    Field(discriminator="kind"),
]
"""An event of a code loop. `kind` tells which one it is."""


class ProgressListener(Protocol):
    """Receives the events of a session, one at a time, in order, from the event loop's thread."""

    def on_event(self, event: CodeLoopEvent) -> None:
        """Take one event. An exception raised here ends the notifications, not the session."""


class IgnoreEvents:
    """A listener that does nothing."""

    def on_event(self, event: CodeLoopEvent) -> None:
        """Ignore the event."""


class ProgressEmitter:
    """Numbers and dates the events of a session and hands them to its listener."""

    def __init__(self, listener: ProgressListener, clock: Clock) -> None:
        """Send events to `listener`, with the time that `clock` tells."""
        self._listener: ProgressListener | None = listener
        self._clock = clock
        self._last = 0

    def emit(self, event: Callable[..., CodeLoopEvent], **fields: Any) -> None:
        """Make an event from the fields that are not None, and send it."""
        if self._listener is None:
            return
        self._last += 1
        present = {name: value for name, value in fields.items() if value is not None}
        made = event(seq=self._last, time=self._clock.now(), **present)
        try:
            self._listener.on_event(made)
        except Exception:  # a broken display must not end the work
            self._listener = None
