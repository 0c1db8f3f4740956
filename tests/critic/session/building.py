"""Sessions to ask about: tools of each kind, a policy of them, and what happens in a session."""

from datetime import UTC, datetime
from typing import Any

from critic import EvidenceItem, RunBudget, ToolCapability, verify_proposal
from critic.session import Call, CallResult, Session, SessionRules, SessionTool
from evals.canonical_json import digest
from evals.spec import DecisionSpec

NOW = datetime(2026, 5, 9, 12, tzinfo=UTC)


def tool(name: str, mode: Any = "read_only", **fields: Any) -> SessionTool:
    made = {key: fields.pop(key) for key in ("result_class", "expires_after_s") if key in fields}
    fields = {"adapter_id": "a", "capability_id": name, "approval_mode": mode, **fields}
    return SessionTool.of(ToolCapability(**fields), **made)


WEB_PAGE = {"author": "public", "web": True}
MAKES = {"author": "member", "makes": {"name": "text"}}
TOOLS = {
    "read": tool("read", arg_roles={"name": "locator"}, result={"author": "public"}),
    "mail": tool("mail", result={"author": "public"}),
    "web": tool(
        "web", "network", arg_roles={"url": "locator"}, result={"author": "public", "web": True}
    ),
    "make": tool(
        "make",
        "local_write",
        arg_roles={"name": "attribute"},
        result=MAKES,
    ),
    "pay": tool("pay", "delegated", arg_roles={"to": "recipient", "note": "content"}),
    "book": tool(
        "book", "delegated", arg_roles={"to": "recipient", "day": "time", "note": "content"}
    ),
    "wipe": tool("wipe", "destructive", arg_roles={"what": "object"}),
    "order": tool("order", result_class="order", expires_after_s=60, min_tokens=5),
    "refund": tool(
        "refund", "destructive", requires_evidence=["order"], arg_roles={"of": "attribute"}
    ),
}


def rules(**more: Any) -> SessionRules:
    spec = {"id": "s", "required_outputs": (), "provenance": "closed", **more.pop("spec", {})}
    return SessionRules(
        digest="0" * 64,
        tools=more.pop("tools", TOOLS),
        spec=DecisionSpec(**spec),
        safety_mode="destructive",
        default_budget=more.pop("default_budget", RunBudget(max_steps=100, bucket_tokens=1000)),
        classes=more.pop("classes", None),
        record_fields=("id", "sender"),
        **more,
    )


def opened(request: str = "Pay x-100 after reading plan.md", **more: Any) -> Session:
    scope = more.pop("scope", ["pay", "wipe", "make"])
    return Session.opened(rules(**more), "s", request, scope=scope)


def allowed(session: Session, *calls: Call, as_of: datetime = NOW) -> Session:
    batch = session.propose(calls, as_of)
    verdict = verify_proposal(batch.proposal)
    return session.decided(batch, "allow", verdict, digest(batch.proposal.plan))


def after(session: Session, call: Call, output: Any = None, **more: Any) -> Session:
    result = CallResult(more.pop("status", "completed"), output, **more)
    return allowed(session, call).ran(call.id, result, NOW).session


def read(name: str, id: str = "r") -> Call:
    return Call(id, "read", {"name": name})


def last(session: Session) -> EvidenceItem:
    return session.trail.items[-1]
