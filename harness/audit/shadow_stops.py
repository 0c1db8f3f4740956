"""Count what a shadow would have stopped: by tool, and by reason. Pure.

A turn counts once for each of its tools that a violation is about; one that is about the plan as a
whole is about all of them. Reasons are told without steps, values and names of results, so that the
same reason is one.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from evals.plan import Plan, ToolStep
from evals.plan_verdicts import Refused

_STEP: Final = re.compile(r"^step \d+ ")
_VALUE: Final = re.compile(r" ?\[[^\]]*\]")
_RESULT: Final = re.compile(r"\bcall/\d+")


class StoppedTurn(NamedTuple):
    """What a shadow would have stopped in one turn: each tool, with the reasons.

    `asked` says that a person would have been asked.
    """

    trace: str
    asked: bool
    reasons: Mapping[str, frozenset[str]]


class ToolStops(NamedTuple):
    """A tool: how many sessions called it, and what of that would have been stopped, by turns."""

    tool: str
    sessions: int
    stopped: int
    refused: int
    asked: int
    reasons: tuple[tuple[str, int], ...]

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**self._asdict(), "reasons": dict(self.reasons)}


def stopped_turn(trace: str, verdict: Refused, plan: Plan) -> StoppedTurn:
    """Return what a shadow would have stopped of a plan."""
    tools = [
        f"{step.adapter_id}/{step.capability_id}" if isinstance(step, ToolStep) else None
        for step in plan.steps
    ]
    reasons: dict[str, set[str]] = {}
    for violation in verdict.violations:
        at = violation.offending_step
        named = tools if at is None or at >= len(tools) else [tools[at]]
        for tool in filter(None, named):
            reasons.setdefault(tool, set()).add(general_reason(violation.reason))
    kept = {tool: frozenset(said) for tool, said in reasons.items()}
    return StoppedTurn(trace, verdict.approvable, kept)


def general_reason(reason: str) -> str:
    """Return a reason without the step, the values and the results that it is about."""
    return _RESULT.sub("a result", _VALUE.sub("", _STEP.sub("", reason)))


def tool_stops(
    turns: Iterable[StoppedTurn], sessions: Mapping[str, frozenset[str] | set[str]]
) -> list[ToolStops]:
    """Return the tools that would have been stopped, those of most sessions first.

    Args:
        turns: what would have been stopped.
        sessions: the traces in which each tool was called.
    """
    found: dict[str, list[StoppedTurn]] = {}
    for turn in turns:
        for tool in turn.reasons:
            found.setdefault(tool, []).append(turn)
    stops = [_stops_of(tool, of, len(sessions.get(tool, ()))) for tool, of in found.items()]
    return sorted(stops, key=lambda one: (-one.stopped, one.tool))


def _stops_of(tool: str, turns: list[StoppedTurn], sessions: int) -> ToolStops:
    reasons = Counter(reason for turn in turns for reason in turn.reasons[tool])
    stopped, asked = len({turn.trace for turn in turns}), sum(turn.asked for turn in turns)
    return ToolStops(
        tool=tool,
        sessions=max(sessions, stopped),
        stopped=stopped,
        refused=len(turns) - asked,
        asked=asked,
        reasons=tuple(sorted(reasons.items(), key=lambda one: (-one[1], one[0]))),
    )
