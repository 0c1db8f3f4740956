"""What the loop needs of the world. Each port may be synchronous or asynchronous."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from critic import CompiledContext, DecisionSpec, Plan, Proposal, RunContext, ToolCall
from harness.record import Decision, DecisionRecord
from harness.runtime.permit import Permit

Recorder = Callable[[ToolCall], None]
"""Takes a call the moment it ended, so that it is on record whatever comes next."""


@dataclass(frozen=True, slots=True)
class Execution:
    """What an executor returns: named outputs, and what it measured (absent = not measured)."""

    outputs: dict[str, Any] = field(default_factory=dict)
    wall_ms: int | None = None
    tokens: int | None = None
    cost_micros: int | None = None


class Planner(Protocol):
    """Proposes a plan. Creative, and trusted with nothing."""

    def plan(
        self, ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec
    ) -> Plan | Awaitable[Plan]: ...


class Executor(Protocol):
    """Runs a permitted plan. Mechanical: redeems the permit, makes its calls, records each."""

    def execute(
        self, permit: Permit, proposal: Proposal, record: Recorder
    ) -> Execution | Awaitable[Execution]: ...


class Clock(Protocol):
    """Tells the time, with a zone."""

    def now(self) -> datetime: ...


class DecisionLog(Protocol):
    """Keeps decisions. Once `append` returns, the record is kept."""

    def append(self, decision: Decision) -> DecisionRecord | Awaitable[DecisionRecord]: ...
