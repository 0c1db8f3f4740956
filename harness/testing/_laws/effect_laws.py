"""The laws of effects: what leaves, what is done twice, and what a person approved."""

from hashlib import sha256
from typing import Final

from critic import Refused, digest
from harness.canonical import canonical_json
from harness.testing._draw.primitives import ABSENT, Json
from harness.testing._laws.called_steps import blamed_violations, pick_call, with_items, with_tool
from harness.testing._laws.law_context import LawContext, is_capped, with_part, with_step

_MOST_LISTED: Final = 1000
_SECRET: Final = "a confined text"  # noqa: S105 - not a password
_LEAVING: Final = ("network", "delegated", "destructive")
_STAYING: Final = ("read_only", "local_write")


def confined_content_is_not_sent(context: LawContext) -> None:
    """A call that leaves is refused before it is sent where its args hold confined content."""
    place = pick_call(context)
    if place is None:
        return
    index, position = place
    wire = with_items(context.wire, zz1={"note": _SECRET})
    wire = with_part(wire, "spec", confined_evidence=["zz"])
    wire = with_step(wire, index, args={"x": ["so:", f"it is {_SECRET}!"]})
    for mode in (context.pick(_LEAVING), context.pick(_STAYING)):
        altered = with_tool(wire, position, approval_mode=mode, args_schema=ABSENT)
        found = blamed_violations(context.judge(altered), index, "surface")
        sent = any(str(one.path).startswith(f"/steps/{index}/args") for one in found)
        must = mode in _LEAVING
        context.require(sent == must, f"confined content in a {mode} call", altered)


def a_repeat_over_turns_asks(context: LawContext) -> None:
    """A destructive call that an earlier plan made asks a person, and is never just repeated."""
    place = pick_call(context)
    if place is None:
        return
    index, position = place
    altered = _make_destructive(context, position)
    step = altered["plan"]["steps"][index]
    call = {
        "adapter_id": step["adapter_id"],
        "capability_id": step["capability_id"],
        "args_digest": sha256(canonical_json(step.get("args", {}))).hexdigest(),
    }
    altered = with_part(altered, "ctx", spent={"calls": [call]})
    verdict = context.judge(altered)
    if is_capped(verdict):
        return  # the repeat may be among those that are only counted
    again = [
        one for one in blamed_violations(verdict, index, "loop") if one.path == f"/steps/{index}"
    ]
    earlier = [_call(one) for one in altered["plan"]["steps"][:index]]
    within = _call(step) in earlier
    context.require(len(again) == 1, "a call of an earlier plan is repeated", altered)
    asks = again[0].approvable is True
    context.require(asks != within, "a repeat over turns asks, one in a plan never", altered)


def _make_destructive(context: LawContext, position: int) -> Json:
    wire = with_part(context.wire, "ctx", approvals=ABSENT, safety_mode="destructive")
    return with_tool(wire, position, approval_mode="destructive")


def _call(step: Json) -> tuple[object, ...]:
    named = step.get("adapter_id"), step.get("capability_id")
    return (*named, canonical_json(step.get("args", {})))


def an_approval_holds_in_its_context(context: LawContext) -> None:
    """An approval that names another context changes nothing."""
    foreign = {
        "approval_id": "elsewhere",
        "plan_digest": digest(context.proposal.plan),
        "approver": "someone",
        "context_digest": context.pick(("0", "f")) * 64,
    }
    approvals = context.wire["ctx"].get("approvals", [])
    altered = with_part(context.wire, "ctx", approvals=[*approvals, foreign])
    before = context.judge(context.proposal)
    context.require_same(before, altered, "an approval given elsewhere")


def a_long_refusal_is_capped(context: LawContext) -> None:
    """A refusal lists a thousand violations and says how many more; the first is what it was."""
    steps = context.wire["plan"]["steps"]
    if not steps:
        return
    last = len(steps) - 1
    before = context.judge(with_part(context.wire, "ctx", approvals=ABSENT))
    many = [f"zz{number}" for number in range(_MOST_LISTED + 1)]
    altered = with_step(context.wire, last, evidence_refs=many)
    after = context.judge(with_part(altered, "ctx", approvals=ABSENT))
    violations = after.violations if isinstance(after, Refused) else ()
    capped = len(violations) == _MOST_LISTED + 1
    context.require(capped, f"{len(violations)} violations are listed", altered)
    rest = violations[-1]
    says = rest.reason.startswith("and ") and rest.offending_step is None and rest.path == ""
    context.require(says, "the last entry does not speak for the rest", altered)
    if isinstance(before, Refused) and before.violations[0].check in ("coverage", "surface"):
        same = after.wire()["reasons"] == before.wire()["reasons"]
        context.require(same, "what is left out changed what leads", altered)
