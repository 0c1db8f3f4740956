"""The refund as one late plan: look up the order and its window, then refund what was found."""

from typing import Any

from critic import Proposal
from harness.policy import Policy, read_policy
from harness.policy.partial_documents import completed_proposal
from harness.wire import build
from tests.support.model.facts import Json
from tests.support.paths import ROOT

ORDER: Json = {"payment": {"id": "pay_8861", "amount_inr": 24500}}
WINDOW: Json = {"payment_id": "pay_8861", "window_open": True}
SENT: Json = {"id": "pay_8861", "amount_inr": 24500}
REFUNDED: Json = {"refund_amount_inr": 24500, "refund_reason_class": "item_defective"}


def pay_step(**changes: Any) -> Json:
    """Return the refund. What it sends is what the lookup returns."""
    step: Json = {
        "kind": "tool",
        "id": "pay",
        "adapter_id": "adp_payments",
        "capability_id": "issue_refund",
        "args": {"id": "pay_8861"},
        "takes": [{"arg": "/amount_inr", "step": "look", "at": "/payment/amount_inr"}],
        "evidence_steps": ["look", "window"],
    }
    return {**step, **changes}


def late_policy(spec: Json | None = None) -> Policy:
    """Return the policy of the refund example, which late plans are allowed by."""
    wire = read_policy(ROOT / "fixtures" / "refund" / "critic.toml").wire()
    return build(Policy, {**wire, "spec": {**wire["spec"], "late": "sources", **(spec or {})}})


def late_refund(*more: Json, spec: Json | None = None, ctx: Json | None = None) -> Proposal:
    """Return the plan, with further steps, judged by the policy of the refund example."""
    read: Json = {"kind": "tool", "adapter_id": "adp_orders", "args": {"id": "ord_881"}}
    steps = [
        {**read, "id": "look", "capability_id": "lookup"},
        {**read, "id": "window", "capability_id": "refund_window"},
        pay_step(),
        *more,
    ]
    declared = ["refund_amount_inr", "refund_reason_class"]
    policy = late_policy(spec)
    plan = {"steps": steps, "declared_outputs": declared}
    wire = completed_proposal(policy, {"ctx": {"trace_id": "t_881"}, "plan": plan})
    wire["ctx"] = {**wire["ctx"], **(ctx or {})}
    return build(Proposal, wire)
