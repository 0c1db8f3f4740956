"""Take from one record what it says of the session of a guard. Pure.

It loads how a session reads values, which only records of one need.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from critic.session.call_batch import CallResult, acting_commands
from critic.session.call_results import record_of
from critic.session.session_rules import SessionTool
from critic.session.session_values import (
    FieldTables,
    doubts_about,
    things_made,
    values_sent,
    yes_about,
)
from evals.capability import ToolCapability, ToolName
from evals.context import ApprovedValue, OwnValue, SentValues, SessionFacts, WaivedCall
from evals.manifest import EvidenceItem
from evals.plan import Proposal, ToolStep, is_command_part, is_late_plan
from evals.run import ToolCall
from evals.side_table import Beside
from harness.canonical import canonical_json, digest
from harness.record import BegunRecord, DecisionRecord, LogRecord, sha256, without_approvals
from harness.replay.other_calls import read_other_calls
from harness.replay.session_entries import (
    BatchCall,
    BeginningEntry,
    EndEntry,
    RulingEntry,
    Said,
    SessionEntry,
)

_SHA256: Final = re.compile("[0-9a-f]{64}")
_DIGESTS: Final = Beside[str]()


def entry_of(record: LogRecord, proposal: Proposal) -> SessionEntry | None:
    """Return what a record says of the session of a guard, or None if it is not of one."""
    facts = proposal.ctx.session
    if facts is None or not is_of_a_guard(proposal):
        return None
    if isinstance(record, BegunRecord):
        trace = record.trace_id
        said: Said = BeginningEntry(record.hash, *_approved_in(proposal))
    elif isinstance(record, DecisionRecord):
        trace = record.report.trace_id
        said = _end_entry(record, proposal) or _ruling_entry(record, facts, proposal)
    else:
        return None
    inputs = record.inputs
    named = (inputs.ctx, inputs.compiled, inputs.spec, inputs.plan)
    return SessionEntry(trace, facts.turn, named, said)


def is_of_a_guard(proposal: Proposal) -> bool:
    """Return whether a guard made the proposal of a session's batch."""
    ids = (proposal.plan.plan_id, proposal.compiled.pack_version)
    return all(one is not None and _SHA256.fullmatch(one) for one in ids)


def _end_entry(record: DecisionRecord, proposal: Proposal) -> EndEntry | None:
    if record.run is None:
        return None
    statuses = tuple((call.step, call.status) for call in record.run.calls)
    tools = proposal.compiled.manifests.tools
    tables = FieldTables(proposal.compiled.manifests)
    made, possible = list[OwnValue](), list[OwnValue]()
    for tool, call in _completed_calls(record.run.calls, tools):
        result = CallResult("completed", call.output)
        value = record_of(SessionTool.of(tool), result, FieldTables())
        possible += things_made(tool, call.args, value)
        made += things_made(tool, call.args, value if tables.is_of_every_class(value) else None)
    if is_late_plan(proposal.plan):
        from harness.replay.late_acts import LateRun  # noqa: PLC0415 - for late plans only

        late = LateRun(record.run.run_of(proposal))
        return EndEntry(
            *(record.begun, statuses, tuple(made), tuple(possible)),
            **late.list_acts(),
        )
    other = read_other_calls(record.run.calls, proposal)
    return EndEntry(
        *(record.begun, statuses, tuple(made), tuple(possible)),
        sent=other.sent,
        spent=other.spent,
        possible_spent=other.possible_spent,
    )


def _completed_calls(
    calls: Iterable[ToolCall], tools: Mapping[tuple[str, str], ToolCapability]
) -> Iterator[tuple[ToolCapability, ToolCall]]:
    for call in calls:
        tool = tools.get((call.adapter_id, call.capability_id))
        if tool is not None and call.status == "completed":
            yield tool, call


def _ruling_entry(record: DecisionRecord, facts: SessionFacts, proposal: Proposal) -> RulingEntry:
    calls, sent = list[BatchCall](), list[SentValues]()
    tools = proposal.compiled.manifests.tools
    seen = len(proposal.compiled.manifests.evidence_manifest)
    is_late = is_late_plan(proposal.plan)
    acting = acting_commands(proposal.plan, proposal.compiled)
    for at, step in enumerate(proposal.plan.steps):
        if not isinstance(step, ToolStep) or is_command_part(step):
            continue
        name = ToolName(adapter_id=step.adapter_id, capability_id=step.capability_id)
        tool = tools.get((step.adapter_id, step.capability_id))
        destructive = tool is not None and tool.approval_mode == "destructive" and not is_late
        calls.append(BatchCall(name, sha256(canonical_json(step.args)) if destructive else None))
        values = values_sent(step.args)
        acts = tool is None or tool.approval_mode != "read_only" or at in acting
        if acts and values and not is_late:
            sent.append(SentValues(seq=seen, values=values))
    verified = record.report.verify.ok
    return RulingEntry(
        facts=facts,
        spent=proposal.ctx.spent,
        evidence=tuple(map(_digest_of, proposal.compiled.manifests.evidence_manifest)),
        calls=tuple(calls),
        sent=tuple(sent),
        verified=verified,
        runs=record.action == "shadow",
        late=is_late,
    )


def _digest_of(item: EvidenceItem) -> str:
    """Return the digest of an item. The records of a session share those that they have."""
    return _DIGESTS.get(item) or _DIGESTS.keep(item, digest(item))


def _approved_in(
    proposal: Proposal,
) -> tuple[tuple[ApprovedValue, ...], tuple[WaivedCall, ...]]:
    """Return the values that an approval of a batch gave to its session, and the calls."""
    given = proposal.ctx.approvals
    if not given:
        return (), ()
    case, doubts = doubts_about(without_approvals(proposal, None))
    return yes_about(case, doubts).until(given[0].expires_at)
