"""Calls that the type checkers accept. The test runs this file: what they accept must run."""

from datetime import UTC, datetime

from critic import (
    Approval,
    CompiledContext,
    DecisionSpec,
    EvidenceItem,
    Finding,
    Manifests,
    Plan,
    Proposal,
    ReasonStep,
    Run,
    RunBudget,
    RunContext,
    Spent,
    ToolCall,
    ToolCapability,
    ToolStep,
)

NOW = datetime(2026, 5, 9, 9, 30, tzinfo=UTC)

# None stands for "absent" where absence grants nothing.
ctx = RunContext(
    trace_id="t",
    safety_mode="network",
    run_id=None,
    tenant_id=None,
    user_id=None,
    approvals=None,
    as_of=None,
)
item = EvidenceItem(id="e", classification="k", content=None, snapshot=None, subject=None)
step = ToolStep(adapter_id="a", capability_id="b", id=None, evidence_refs=None)
reason = ReasonStep(summary=None, id=None, evidence_refs=None)
compiled = CompiledContext(
    manifests=Manifests(tool_manifest=[], evidence_manifest=()), pack_version=None
)
plan = Plan(steps=[step, reason], declared_outputs=[], plan_id=None)
call = ToolCall(
    step=0,
    adapter_id="a",
    capability_id="b",
    args={},
    status="completed",
    output=None,
    error=None,
    started_ms=None,
    duration_ms=None,
    tokens=None,
    cost_micros=None,
    idempotency_key=None,
)
spec = DecisionSpec(id="d", required_outputs=[])
run = Run(
    run_id="r",
    trace_id="t",
    proposal=Proposal(ctx=ctx, compiled=compiled, spec=spec, plan=plan),
    calls=[call],
    outputs={"o": None},
    wall_ms=None,
    tokens=None,
    cost_micros=None,
    pack_version=None,
    intent=None,
)
Finding(severity="info", message="m", evidence_ref=None)

# Lists where tuples are kept, RFC 3339 text or a datetime where an instant is kept.
RunContext(
    trace_id="t",
    safety_mode="network",
    as_of="2026-05-09T09:30:00Z",
    run_budget=RunBudget(max_steps=3, bucket_tokens=5, wall_ms=1, cost_micros=1),
    spent=Spent(steps=1, tokens=2),
    approvals=[Approval(approval_id="a", plan_digest="d", approver="p", steps=[0], expires_at=NOW)],
)
Approval(approval_id="a", plan_digest="d", approver="p", expires_at="2026-05-09T09:30:00Z")
ToolCapability(
    adapter_id="a",
    capability_id="b",
    approval_mode="read_only",
    requires_evidence=["k"],
    bound_args={"x": ["k"]},
    args_schema={"type": "object"},
    produces=("o",),
    min_tokens=0,
)
DecisionSpec(
    id="d",
    required_outputs=("o",),
    required_evidence=["k"],
    approval_mode="network",
    approval_required_from="destructive",
    output_schemas={"o": True},
    confined_evidence=["k"],
)
