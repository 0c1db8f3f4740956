"""Agents: who is asked, what it may cost, and a journal of what was answered."""

from harness.agents.agent import Agent, AgentFailed, AgentResult, Event, EventStream
from harness.agents.command import CommandAgent
from harness.agents.invocation import SubagentInvocation, run_agent
from harness.agents.journal import (
    Journal,
    JournalDamaged,
    JournalError,
    JournalStore,
    MemoryStore,
    RecordedFailure,
    ReplayDivergence,
)
from harness.agents.journal_file import FileStore, JournalUnavailable
from harness.agents.journaled import Journaled
from harness.agents.model import (
    Dependencies,
    Message,
    Model,
    ModelAgent,
    Reply,
    text_only_model_call,
)
from harness.agents.usage import NO_USAGE, UNLIMITED, Budget, Usage, add_usage

__all__ = [
    "NO_USAGE",
    "UNLIMITED",
    "Agent",
    "AgentFailed",
    "AgentResult",
    "Budget",
    "CommandAgent",
    "Dependencies",
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
    "RecordedFailure",
    "ReplayDivergence",
    "Reply",
    "SubagentInvocation",
    "Usage",
    "add_usage",
    "run_agent",
    "text_only_model_call",
]
