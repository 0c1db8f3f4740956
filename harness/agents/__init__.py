"""Agents: who is called, how often and at what cost, and a journal of the replies.

`harness.agents.pydantic_ai` is apart, because it needs the extra `agents`.
"""

from harness.agents.agent import (
    Agent,
    AgentFailed,
    AgentResult,
    AgentTool,
    Equippable,
    Event,
    EventStream,
    TransientFailure,
)
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
    UnrecordableReply,
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
from harness.agents.retry import CallPolicy, OutOfTime
from harness.agents.retrying import Retrying
from harness.agents.usage import NO_USAGE, UNLIMITED, Budget, Usage, add_usage

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
