"""Take from one record what it says of the session of a guard. Pure.

It loads how a session reads values, which only records of one need.
"""

import re
from typing import Final

from critic.session.session_values import (
    asked_values,
    call_hosts,
    doubts_about,
    roles_of,
    values_made,
)
from evals.capability import ToolName
from evals.context import ApprovedValue, SessionFacts
from evals.plan import Proposal, ToolStep
from harness.canonical import canonical_json, digest
from harness.record import BegunRecord, DecisionRecord, LogRecord, sha256, without_approvals
from harness.replay.session_entries import (
    BatchCall,
    BeginningEntry,
    EndEntry,
    RulingEntry,
    Said,
    SessionEntry,
)

_SHA256: Final = re.compile("[0-9a-f]{64}")


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
        said = _end_entry(record) or _ruling_entry(record, facts, proposal)
    else:
        return None
    inputs = record.inputs
    named = (inputs.ctx, inputs.compiled, inputs.spec, inputs.plan)
    return SessionEntry(trace, facts.turn, named, said)


def is_of_a_guard(proposal: Proposal) -> bool:
    """Return whether a guard made the proposal of a session's batch."""
    ids = (proposal.plan.plan_id, proposal.compiled.pack_version)
    return all(one is not None and _SHA256.fullmatch(one) for one in ids)


def _end_entry(record: DecisionRecord) -> EndEntry | None:
    if record.run is None:
        return None
    return EndEntry(record.begun, tuple((call.step, call.status) for call in record.run.calls))


def _ruling_entry(record: DecisionRecord, facts: SessionFacts, proposal: Proposal) -> RulingEntry:
    calls, hosts, made = list[BatchCall](), list[str](), list[str]()
    tools = proposal.compiled.manifests.tools
    for step in proposal.plan.steps:
        if not isinstance(step, ToolStep):
            continue
        name = ToolName(adapter_id=step.adapter_id, capability_id=step.capability_id)
        tool = tools.get((step.adapter_id, step.capability_id))
        destructive = tool is not None and tool.approval_mode == "destructive"
        calls.append(BatchCall(name, sha256(canonical_json(step.args)) if destructive else None))
        if tool is not None:
            hosts += call_hosts(roles_of(tool), step.args)
            makes = tool.result is not None and tool.result.makes is True
            made += values_made(roles_of(tool), step.args) if makes else ()
    verified = record.report.verify.ok
    return RulingEntry(
        facts=facts,
        spent=proposal.ctx.spent,
        evidence=tuple(map(digest, proposal.compiled.manifests.evidence_manifest)),
        calls=tuple(calls),
        hosts=tuple(hosts),
        made=tuple(made),
        verified=verified,
        runs=not verified and _is_shadow(record),
    )


def _is_shadow(record: DecisionRecord) -> bool:
    return record.error is not None and record.error.startswith("shadow: ")


def _approved_in(proposal: Proposal) -> tuple[tuple[ApprovedValue, ...], bool]:
    """Return the values that an approval of a batch gave to its session, and whether of a tool."""
    given = proposal.ctx.approvals
    if not given:
        return (), False
    case, doubts = doubts_about(without_approvals(proposal, None))
    expiry = {} if given[0].expires_at is None else {"expires_at": given[0].expires_at}
    values = tuple(ApprovedValue(value=one, **expiry) for one in asked_values(case, doubts))
    return values, any(doubt.path == f"/steps/{doubt.step}" for doubt in doubts.asks)
