"""Bugs that take a near miss for the value that decides."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

NEAR_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "tool-in-another-case",
        "harness/guard/permits.py",
        "a permit is redeemed for a tool whose name differs in case",
        "if tool != self._tool or",
        "if tool.casefold() != self._tool.casefold() or",
    ),
    slip(
        "true-redeemed-for-1",
        "harness/guard/permits.py",
        "arguments are compared as Python does, to which true is 1",
        "or _bytes_or_none(args) != self._args:",
        'or parse_json(_bytes_or_none(args) or b"0") != parse_json(self._args):',
    ),
    slip(
        "denied-by-names-of-arguments",
        "harness/guard/course.py",
        "a no to one call is a no to every call with arguments of those names",
        "about = dict(call.args) if tool is None else tool.denied_by(call.args)",
        "about = sorted(call.args)",
    ),
    slip(
        "policy-by-a-prefix",
        "critic/session/session_state.py",
        "a state goes on under any policy whose digest begins like that of the state",
        "if state.policy_digest != rules.digest:",
        "if not rules.digest.startswith(state.policy_digest):",
    ),
    slip(
        "approval-in-another-case",
        "harness/record/drafts.py",
        "approvals whose ids differ in case use each other up",
        'return f"approval {approval_id} {plan_digest}"',
        'return f"approval {approval_id.lower()} {plan_digest}"',
    ),
    slip(
        "retry-of-a-tool-in-another-case",
        "harness/integrations/mcp/mcp_guarded.py",
        "a state is good for a call of a tool whose name differs in case",
        "return self.name == name and",
        "return str(self.name).lower() == str(name).lower() and",
    ),
    slip(
        "reply-by-a-prefix",
        "harness/integrations/seam/guarded.py",
        "a reply counts for a plan whose digest begins like the one that was shown",
        "if plan_digest not in (None, asked.plan_digest):",
        "if not asked.plan_digest.startswith(plan_digest or asked.plan_digest):",
    ),
    slip(
        "tick-by-truth",
        "harness/integrations/mcp/mcp_asking.py",
        "what is true to Python is a yes of a person",
        "return True if approved is True else None",
        "return True if approved else None",
    ),
    slip(
        "false-is-absent",
        "harness/integrations/mcp/mcp_pins.py",
        "a hint of a pinned tool that turns false is the same",
        "return {name: value for name, value in part.items() if value is not None}",
        "return {name: value for name, value in part.items() if value}",
    ),
    slip(
        "origin-in-another-case",
        "harness/audit/proofs/checkpoint.py",
        "a checkpoint of a log with nearly the same name is taken",
        "if checkpoint.origin != origin:",
        "if checkpoint.origin.lower() != origin.lower():",
    ),
    slip(
        "id-claimed-in-another-case",
        "harness/guard/log_claims.py",
        "two sessions whose ids differ in case are one to a log",
        "sha256(session.encode())",
        "sha256(session.casefold().encode())",
    ),
)
