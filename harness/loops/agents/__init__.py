"""Agents: who is called, how often and at what cost, and a journal of the replies.

`harness.loops.agents.pydantic_ai` is apart, because it needs the extra `agents`.
"""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from harness.loops.agents.agent import (
        Agent,
        AgentFailed,
        AgentResult,
        AgentTool,
        Equippable,
        Event,
        EventStream,
        TransientFailure,
    )
    from harness.loops.agents.command_agent import CommandAgent
    from harness.loops.agents.invocation import SubagentInvocation, run_agent
    from harness.loops.agents.journal import (
        Journal,
        JournalDamaged,
        JournalError,
        JournalStore,
        MemoryStore,
        RecordedFailure,
        ReplayDivergence,
        UnrecordableReply,
    )
    from harness.loops.agents.journal_file import FileStore, JournalUnavailable
    from harness.loops.agents.journaled import Journaled
    from harness.loops.agents.model import (
        Dependencies,
        Message,
        Model,
        ModelAgent,
        Reply,
        text_only_model_call,
    )
    from harness.loops.agents.retry import CallPolicy, OutOfTime
    from harness.loops.agents.retrying import Retrying
    from harness.loops.agents.usage import NO_USAGE, UNLIMITED, Budget, Usage, add_usage

__all__ = [
    "NO_USAGE",
    "UNLIMITED",
    "Agent",
    "AgentFailed",
    "AgentResult",
    "AgentTool",
    "Budget",
    "CallPolicy",
    "CommandAgent",
    "Dependencies",
    "Equippable",
    "Event",
    "EventStream",
    "FileStore",
    "Journal",
    "JournalDamaged",
    "JournalError",
    "JournalStore",
    "JournalUnavailable",
    "Journaled",
    "MemoryStore",
    "Message",
    "Model",
    "ModelAgent",
    "OutOfTime",
    "RecordedFailure",
    "ReplayDivergence",
    "Reply",
    "Retrying",
    "SubagentInvocation",
    "TransientFailure",
    "UnrecordableReply",
    "Usage",
    "add_usage",
    "run_agent",
    "text_only_model_call",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "harness.loops.agents.agent": (
                "Agent AgentFailed AgentResult AgentTool Equippable Event EventStream "
                "TransientFailure"
            ),
            "harness.loops.agents.command_agent": "CommandAgent",
            "harness.loops.agents.invocation": "SubagentInvocation run_agent",
            "harness.loops.agents.journal": (
                "Journal JournalDamaged JournalError JournalStore MemoryStore RecordedFailure "
                "ReplayDivergence UnrecordableReply"
            ),
            "harness.loops.agents.journal_file": "FileStore JournalUnavailable",
            "harness.loops.agents.journaled": "Journaled",
            "harness.loops.agents.model": (
                "Dependencies Message Model ModelAgent Reply text_only_model_call"
            ),
            "harness.loops.agents.retry": "CallPolicy OutOfTime",
            "harness.loops.agents.retrying": "Retrying",
            "harness.loops.agents.usage": "Budget NO_USAGE UNLIMITED Usage add_usage",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
