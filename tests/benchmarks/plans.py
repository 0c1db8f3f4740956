"""The workload: a refund desk. Its tools, its evidence, and plans that all differ.

The steps are what a planner writes for one refund: look-ups, a score, a quote, the refund, a reply
and a record. A longer plan goes on with the next order. Every step pins separate evidence.
"""

from functools import cache
from typing import Any

import orjson

from critic import CompiledContext, DecisionSpec, Plan, Proposal, RunContext

Json = dict[str, Any]

TRACE = "trace_refund_881"
EVIDENCE_CLASS = "refund_window_evidence"
OUTPUTS = ("refund_decision", "customer_reply")

# adapter, capability, approval mode, what it produces
DESK = (
    ("adp_orders", "lookup_order", "read_only", ["order_record"]),
    ("adp_orders", "lookup_shipment", "read_only", ["shipment_record"]),
    ("adp_zendesk", "read_ticket", "read_only", ["ticket_record"]),
    ("adp_zendesk", "read_history", "read_only", ["customer_history"]),
    ("adp_policies", "read_refund_policy", "read_only", ["refund_policy"]),
    ("adp_payments", "lookup_charge", "read_only", ["charge_record"]),
    ("adp_risk", "score_refund", "delegated", ["risk_score"]),
    ("adp_payments", "quote_refund", "local_write", ["refund_quote"]),
    ("adp_zendesk", "draft_reply", "local_write", ["customer_reply"]),
    ("adp_payments", "issue_refund", "destructive", ["refund_decision"]),
    ("adp_zendesk", "send_reply", "network", ["customer_reply"]),
    ("adp_ledger", "record_decision", "local_write", ["ledger_entry"]),
)
REFUND_STEP = 9

NOTES = (
    "The lid arrived cracked, photos are on the ticket.",
    "Second contact, so name the amount in the reply.",
    "Delivered per courier, never seen by the customer.",
)

ARGS_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string", "pattern": "^ord_[0-9]{8}$"},
        "amount": {"type": "integer", "minimum": 1, "maximum": 5_000_000},
        "currency": {"enum": ["INR", "USD", "EUR"]},
        "note": {"type": "string", "maxLength": 500},
    },
    "required": ["order_id", "amount", "currency"],
    "additionalProperties": False,
}


def _order(item: int) -> Json:
    return {"order_id": f"ord_{88_100_000 + item}", "amount": 19_900 + item}


def _ref(item: int) -> str:
    return f"zendesk/acme/tickets/{88_000 + item}#refund_window"


def step(position: int, item: int) -> Json:
    """Return the step at `position`, which pins evidence item number `item`."""
    adapter, capability, _, _ = DESK[position % len(DESK)]
    written: Json = {
        "kind": "tool",
        "adapter_id": adapter,
        "capability_id": capability,
        "args": {**_order(item), "currency": "INR", "note": NOTES[item % len(NOTES)]},
        "id": f"step_{position}",
        "requires_evidence": [EVIDENCE_CLASS],
        "evidence_refs": [_ref(item)],
        "estimated_tokens": 120 + item % 200,
    }
    if position:
        written["depends_on"] = [f"step_{position - 1}"]
    return written


def plan_wire(steps: int, number: int, evidence: int = 1000) -> Json:
    """Return plan number `number`, with refs into an evidence manifest of `evidence` items."""
    first = number * steps
    written = [step(position, (first + position) % evidence) for position in range(steps)]
    outputs = OUTPUTS if steps >= len(DESK) else OUTPUTS[1:]
    return {"steps": written, "declared_outputs": list(outputs), "trace_id": TRACE}


def plan_bytes(steps: int, number: int, evidence: int = 1000) -> bytes:
    """Return the same plan as the bytes that a planner sends."""
    return orjson.dumps(plan_wire(steps, number, evidence))


UNEVEN = 2 ** len(DESK)


def uneven_plan(number: int) -> Plan:
    """Return a plan of 12 steps with some not estimated: others for each number under UNEVEN."""
    written = plan_wire(len(DESK), number)
    for position, one in enumerate(written["steps"]):
        if number >> position & 1:
            del one["estimated_tokens"]
    return Plan(**written)


def context(steps: int) -> RunContext:
    """Return a context that lets a plan of that many steps pass."""
    wire: Json = {"trace_id": TRACE, "safety_mode": "destructive", "as_of": "2026-05-09T09:45:00Z"}
    wire["run_budget"] = {"max_steps": max(12, steps), "bucket_tokens": 1000 * max(12, steps)}
    return RunContext(**wire)


def spec(steps: int = len(DESK)) -> DecisionSpec:
    """Return what the desk must answer; a plan cut before the refund need only reply."""
    outputs = OUTPUTS if steps >= len(DESK) else OUTPUTS[1:]
    return DecisionSpec(id="support.refund", required_outputs=outputs)


@cache
def compiled(size: int, *, schemas: bool = False, expiring: bool = False) -> CompiledContext:
    """Return manifests of `size` tools and `size` evidence items, the desk's own among them.

    The tools of the desk come spread over the manifest. With `schemas`, every tool has an
    args_schema, and the refund is bound to its evidence by order and amount. With `expiring`, all
    the evidence expires, later than the plan is judged.
    """
    tools = [_other_tool(number) for number in range(max(0, size - len(DESK)))]
    for position, (adapter, capability, mode, produces) in enumerate(DESK[:size]):
        known: Json = {"adapter_id": adapter, "capability_id": capability, "approval_mode": mode}
        known.update(produces=produces, requires_evidence=[EVIDENCE_CLASS])
        if schemas and position == REFUND_STEP:
            known["bound_args"] = {name: [EVIDENCE_CLASS] for name in ("order_id", "amount")}
        tools.insert(position * size // len(DESK), known)
    if schemas:
        tools = [{**tool, "args_schema": ARGS_SCHEMA} for tool in tools]
    items = [
        {"id": _ref(item), "classification": EVIDENCE_CLASS, "content": _order(item)}
        for item in range(size)
    ]
    if expiring:
        items = [{**item, "expires_at": "2026-05-10T00:00:00Z"} for item in items]
    wire: Json = {"manifests": {"tool_manifest": tools, "evidence_manifest": items}}
    return CompiledContext(**wire)


def _other_tool(number: int) -> Json:
    return {
        "adapter_id": f"adp_catalog_{number // 50}",
        "capability_id": f"read_shelf_{number % 50}",
        "approval_mode": "read_only",
        "requires_evidence": [EVIDENCE_CLASS],
        "produces": ["shelf_record"],
    }


def proposal(steps: int, size: int = 1000) -> Proposal:
    """Return all four inputs as one value."""
    plan = Plan(**plan_wire(steps, 0, size))
    return Proposal(ctx=context(steps), compiled=compiled(size), spec=spec(steps), plan=plan)
