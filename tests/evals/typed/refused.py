"""One call a line that mypy and pyright refuse, and that raises at run time."""

from critic import (
    Approval,
    DecisionSpec,
    EvidenceItem,
    Plan,
    ReasonStep,
    RunBudget,
    RunContext,
    Spent,
    ToolCapability,
    ToolStep,
)

# fmt: off
Approval(approval_id="a", plan_digest="d", approver="p", expires_at=None)
Approval(approval_id="a", plan_digest="d", approver="p", steps=None)
DecisionSpec(id="d", required_outputs=[], required_evidence=None)
DecisionSpec(id="d", required_outputs=[], approval_mode=None)
DecisionSpec(id="d", required_outputs=[], approval_required_from=None)
DecisionSpec(id="d", required_outputs=[], output_schemas=None)
DecisionSpec(id="d", required_outputs=[], confined_evidence=None)
ToolCapability(adapter_id="a", capability_id="b", approval_mode="network", requires_evidence=None)
ToolCapability(adapter_id="a", capability_id="b", approval_mode="network", bound_args=None)
ToolCapability(adapter_id="a", capability_id="b", approval_mode="network", args_schema=None)
ToolCapability(adapter_id="a", capability_id="b", approval_mode="network", produces=None)
ToolCapability(adapter_id="a", capability_id="b", approval_mode="network", min_tokens=None)
EvidenceItem(id="e", classification="k", expires_at=None)
RunContext(trace_id="t", safety_mode="network", run_budget=None)
RunContext(trace_id="t", safety_mode="network", spent=None)
RunBudget(wall_ms=None)
RunBudget(cost_micros=None)
RunBudget(max_steps=None)
RunBudget(bucket_tokens=None)
Spent(steps=None)
Spent(tokens=None)
Plan(steps=[], declared_outputs=[], trace_id=None)
ToolStep(adapter_id="a", capability_id="b", depends_on=None)
ToolStep(adapter_id="a", capability_id="b", requires_evidence=None)
ToolStep(adapter_id="a", capability_id="b", estimated_tokens=None)
ToolStep(adapter_id="a", capability_id="b", args=None)
ReasonStep(depends_on=None)
ReasonStep(requires_evidence=None)
ReasonStep(estimated_tokens=None)
RunContext(trace_id=None, safety_mode="network")
RunContext(trace_id="t", safety_mode="admin")
RunContext(trace_id="t", safety_mode="network", as_of=0)
RunContext(trace_id="t")
RunContext(trace_id="t", safety_mode="network", other=1)
Plan(steps="ab", declared_outputs=[])
Plan(steps=[], declared_outputs={"a"})
Plan(steps=[], declared_outputs="a")
EvidenceItem(id=1, classification="k")
