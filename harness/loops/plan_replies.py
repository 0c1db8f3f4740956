"""What a planner or an advisor replied, read into JSON: a plan or findings, or why it is neither.

JSON, so that a journal can keep it; and read back from JSON, so that nobody else holds it.
"""

from collections.abc import Awaitable
from typing import Any, TypeVar

from critic import Finding, Plan
from evals.envelope import Envelope
from harness.agents.usage import Usage
from harness.canonical import canonical_bytes, canonical_json
from harness.loops.plan_types import PlannerReply
from harness.wire import InvalidInput, build, parse

E = TypeVar("E", bound=Envelope)
Json = dict[str, Any]

NO_FINDINGS = "the advisor's reply is no list of findings"


async def settled(value: Any) -> Any:
    """What was answered, whether at once or in time."""
    return await value if isinstance(value, Awaitable) else value


def planned(answer: object) -> Json:
    """A planner's answer as JSON: `plan` or `malformed`, and `usage`."""
    content, usage = _unwrapped(answer)
    try:
        return {"plan": _plan_in(content).wire(), "usage": usage}
    except InvalidInput as error:
        return {"malformed": str(error), "usage": usage}


def reviewed(answer: object) -> Json:
    """An advisor's answer as JSON: `findings` or `malformed`, and `usage`."""
    content, usage = _unwrapped(answer)
    if isinstance(content, list | tuple) and all(type(one) is Finding for one in content):
        return {"findings": [one.wire() for one in content], "usage": usage}
    return {"malformed": NO_FINDINGS, "usage": usage}


def plan_of(reply: Json) -> Plan:
    """The plan of a reply that has one."""
    data = canonical_json(reply["plan"])  # longer than it was where defaults were left out
    return parse(Plan, data, max_bytes=len(data))


def findings_of(reply: Json) -> tuple[Finding, ...]:
    """The findings of a reply that has them."""
    return tuple(build(Finding, one) for one in reply["findings"])


def usage_of(reply: Json) -> Usage:
    """What a reply cost, as far as it was measured."""
    return build(Usage, reply["usage"])


def _unwrapped(answer: object) -> tuple[object, Json]:
    if isinstance(answer, PlannerReply):
        return answer.content, answer.usage.wire()
    return answer, {}


def _plan_in(content: object) -> Plan:
    if type(content) is Plan:
        try:
            content = canonical_bytes(content)
        except Exception:
            raise InvalidInput("", "this plan was changed into what is no JSON") from None
    if isinstance(content, str):
        content = content.encode(errors="surrogatepass")  # refused when parsed: it is no UTF-8
    if not isinstance(content, bytes):
        raise InvalidInput("", f"expected a plan, not {type(content).__name__}")
    return parse(Plan, content)
