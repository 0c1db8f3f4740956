"""Parse the replies of planners and advisors into JSON: a plan or findings, or why neither.

The reply becomes JSON, so that a journal can keep it, and is read back from it, so that the value
that the loop uses is in no other hands.
"""

from typing import Any

from critic import Finding, Plan
from harness.canonical import canonical_bytes, canonical_json
from harness.loops.agents.usage import Usage
from harness.loops.plan_types import PlannerReply
from harness.wire import InvalidInput, build, detached_copy, parse

_NO_FINDINGS = "the advisor's reply is not a list of findings"


def parse_plan_reply(answer: object) -> dict[str, Any]:
    """Return a planner's answer as JSON: `plan` or `malformed`, and `usage`."""
    content, usage = _unwrap_reply(answer)
    try:
        return {"plan": _plan_in(content).wire(), "usage": usage}
    except InvalidInput as error:
        return {"malformed": str(error), "usage": usage}


def parse_review(answer: object) -> dict[str, Any]:
    """Return an advisor's answer as JSON: `findings` or `malformed`, and `usage`."""
    content, usage = _unwrap_reply(answer)
    if not isinstance(content, list | tuple):
        return {"malformed": _NO_FINDINGS, "usage": usage}
    try:
        findings = [detached_copy(item) for item in content if type(item) is Finding]
    except Exception:  # it was changed into something that is not a finding
        return {"malformed": _NO_FINDINGS, "usage": usage}
    if len(findings) < len(content):
        return {"malformed": _NO_FINDINGS, "usage": usage}
    return {"findings": [finding.wire() for finding in findings], "usage": usage}


def plan_of(reply: dict[str, Any]) -> Plan:
    """Return the plan of a reply that has one."""
    data = canonical_json(reply["plan"])  # longer than it was where defaults were left out
    return parse(Plan, data, max_bytes=len(data))


def findings_of(reply: dict[str, Any]) -> tuple[Finding, ...]:
    """Return the findings of a reply that has them."""
    return tuple(build(Finding, finding) for finding in reply["findings"])


def usage_of(reply: dict[str, Any]) -> Usage:
    """Return what a reply cost, as far as it was measured."""
    return build(Usage, reply["usage"])


def _unwrap_reply(answer: object) -> tuple[object, dict[str, Any]]:
    if isinstance(answer, PlannerReply):
        return answer.content, answer.usage.wire()
    return answer, {}


def _plan_in(content: object) -> Plan:
    if type(content) is Plan:
        try:
            content = canonical_bytes(content)
        except Exception:
            raise InvalidInput("", "the plan was changed into something that is not JSON") from None
    if isinstance(content, str):
        content = content.encode(errors="surrogatepass")  # a lone surrogate is refused when parsed
    if not isinstance(content, bytes):
        raise InvalidInput("", f"expected a plan, not {type(content).__name__}")
    return parse(Plan, content)
