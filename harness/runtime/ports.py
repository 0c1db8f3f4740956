"""The ports of the canonical loop: what it needs from the world.

Planner, executor and log may be synchronous or asynchronous: an awaitable that they return is
awaited. The clock and the recorder are synchronous. The loop calls each port from the task that
runs it, and starts no thread. A synchronous port blocks the event loop until it returns. One
object may serve several loops at once only if it is safe for that itself: the loop does not lock.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from critic import (
    CompiledContext,
    DecisionSpec,
    Plan,
    Proposal,
    Refused,
    Run,
    RunContext,
    ToolCall,
)
from harness.record import Begun, BegunRecord, Decision, DecisionRecord

if TYPE_CHECKING:
    from harness.runtime.permit import Permit

if TYPE_CHECKING:
    from critic.command.command_table import CommandTable

Recorder = Callable[[ToolCall], None]
"""Keeps a call. Report each call when it ends, so that it is recorded even if the next one fails.

It keeps a copy, may be called from any thread, and raises ExecutionEnded once the execution is
over. The recorder of the canonical loop also has `begin(step)`, for an executor to report that a
call is about to be made.
"""


@dataclass(frozen=True, slots=True)
class Execution:
    """The results of an executor: named outputs, and what it measured (absent = not measured).

    Attributes:
        outputs: JSON values by output name.
        wall_ms: milliseconds. If absent, the loop measures them with its own clock.
        tokens: tokens of all calls.
        cost_micros: millionths of a unit of currency.
        played_back: the calls were not made now but read from a transcript. The loop then measures
            nothing: how long the playback took says nothing about the run.
    """

    outputs: dict[str, Any] = field(default_factory=dict)
    wall_ms: int | None = None
    tokens: int | None = None
    cost_micros: int | None = None
    played_back: bool = False


class Planner(Protocol):
    """Proposes a plan. Creative, and not trusted."""

    def plan(
        self, ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec
    ) -> Plan | Awaitable[Plan]:
        """Return a plan for this context. Called once for each turn of the loop.

        The arguments are copies: changing them changes nothing. It may raise anything: the loop
        raises the same, having executed and recorded nothing.
        """
        ...


@runtime_checkable
class RecordsAttempts(Protocol):
    """A planner that had plans verified before the one that it proposes.

    The loop records them with the decision, and derives their verdicts itself.
    """

    def refused_attempts(self) -> Sequence[tuple[Plan, Refused]]:
        """Return every plan of the last call of `plan` that was refused, in order.

        The proposed plan is among them if it was refused. Synchronous, and called once after `plan`
        has returned. If it raises, nothing is executed and the loop raises the same.
        """
        ...


class Executor(Protocol):
    """Runs a permitted plan. Mechanical: redeems the permit, makes its calls, records each."""

    def execute(
        self, permit: "Permit", proposal: Proposal, record: Recorder
    ) -> Execution | Awaitable[Execution]:
        """Redeem the permit, then make the calls of the plan that it returns.

        Called at most once for each turn of the loop. It may start threads, but is over when it
        returns: later calls of `record` raise, and the permit can no longer be redeemed. It may
        raise anything: the loop records the calls made so far and raises ExecutionFailed. An
        executor that returns without having redeemed the permit has failed too.
        """
        ...


@runtime_checkable
class OpensSteps(Protocol):
    """An executor that knows of late plans: its `opens_steps` is True.

    It does not redeem the permit of a late plan, which is refused. It asks `permit.step(k)` for a
    permit of each step when its turn has come, redeems that, makes the call that it returns, and
    reports it. When StepRefused is raised it sends nothing more, awaits what runs, and ends.
    """

    @property
    def opens_steps(self) -> bool:
        """Return True."""
        ...


@runtime_checkable
class PlaysBack(Protocol):
    """An executor that reads calls from a transcript and makes none.

    Nothing happens, so no beginning is recorded and no approval is used. Where the plan is refused,
    its calls are recorded with the refusal: they were made elsewhere.
    """

    @property
    def transcript(self) -> Run:
        """Return the recorded run."""
        ...


class ShellWorld(Protocol):
    """The world in which shell commands run. It looks, and runs nothing."""

    def facts_for(
        self, command: str, args: Mapping[str, Any], table: "CommandTable"
    ) -> dict[str, Any] | None:
        """Return the facts that a command needs, `ShellFacts` as JSON; None if they are unknown.

        Args:
            args: all arguments of the call, which may name a folder.
            table: what programs do with their arguments.
        """
        ...


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the time, with a zone. Synchronous, and called from any thread that records.

        If it raises before the execution, nothing is executed and the loop raises the same; later
        the time of the last reading is used, and the wall time counts as not measured.
        """
        ...


class DecisionLog(Protocol):
    """Keeps decisions.

    With a log that is not RecordsBegun, an execution whose process dies leaves no trace, and an
    approval is not used up: the same plan may run again with it.
    """

    def append(self, decision: Decision) -> DecisionRecord | Awaitable[DecisionRecord]:
        """Keep the decision, and return its record once it is safely stored.

        Called once for each turn. It is awaited to its end even while the loop is being cancelled.
        If it raises, the loop raises NotRecorded with the decision in it.
        """
        ...


@runtime_checkable
class RecordsBegun(Protocol):
    """A log that also keeps executions that begin. Each approval can be used by one of them."""

    def begin(self, begun: Begun) -> BegunRecord | Awaitable[BegunRecord]:
        """Keep the beginning, and return its record once it is safely stored.

        Called before the executor. If it raises AlreadyClaimed, the plan is judged without the
        approvals that were used before. If it raises anything else, nothing is executed, and the
        loop raises NotRecorded. It is awaited to its end even while the loop is being cancelled.
        """
        ...


@runtime_checkable
class RecordsInThread(Protocol):
    """A log whose methods block, with twins that do not. The loop prefers these."""

    def append_async(self, decision: Decision) -> Awaitable[DecisionRecord]:
        """Do what `append` does, without blocking the event loop."""
        ...

    def begin_async(self, begun: Begun) -> Awaitable[BegunRecord]:
        """Do what `begin` does, without blocking the event loop."""
        ...
