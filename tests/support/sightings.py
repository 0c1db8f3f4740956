"""Proposals of one call, judged by where their values were seen."""

from collections.abc import Sequence
from typing import Final

from critic import Refused, digest, verify_proposal
from evals.plan import Proposal
from evals.plan_verdicts import Verified
from tests.support.model.facts import Json
from tests.support.model.verify import is_approvable, verify_model

VALUE: Final = "zeta-9914"
TOOL: Final[Json] = {
    "adapter_id": "shop",
    "capability_id": "transmit",
    "approval_mode": "delegated",
    "arg_roles": {"x": "recipient"},
}
SCOPE: Final[list[Json]] = [{"adapter_id": "shop", "capability_id": "transmit"}]


def item(
    content: object, author: str = "public", standing: str = "ambient", **more: object
) -> Json:
    """Return a piece of evidence with a source; `web` goes to the source, the rest to the item."""
    web = {"web": more.pop("web")} if "web" in more else {}
    source = {"author": author, "standing": standing, **web}
    return {"id": "e", "classification": "r", "content": content, "source": source, **more}


def yes_to(value: object, role: str = "recipient", **more: object) -> Json:
    """Return what a yes to a value in a role of the tool is of."""
    tier = more.pop("approval_mode", "delegated")
    return {"value": value, "role": role, "tool": SCOPE[0], "approval_mode": tier, **more}


def request(text: str) -> Json:
    return item(text, "user", "named")


def proposal(
    *items: Json,
    args: Json | None = None,
    tool: Json | None = None,
    spec: Json | None = None,
    steps: Sequence[Json] | None = None,
    tools: Sequence[Json] = (),
    **ctx: object,
) -> Json:
    """Return a proposal in wire form: one call of the tool, in scope, on these items."""
    tool = {**TOOL, **(tool or {})}
    names = {"adapter_id": tool["adapter_id"], "capability_id": tool["capability_id"]}
    step = {"kind": "tool", **names, "args": {"x": VALUE} if args is None else args}
    manifests = {
        "tool_manifest": [tool, *tools],
        "evidence_manifest": [{**one, "id": f"e/{at}"} for at, one in enumerate(items, 1)],
        "classes": [{"class": "r", "fields": {"sender": "system", "payer": "party"}}],
    }
    fields = {"trace_id": "t", "safety_mode": "destructive", "scope": SCOPE, **ctx}
    return {
        "ctx": {name: value for name, value in fields.items() if value is not None},
        "compiled": {"manifests": manifests},
        "spec": {"id": "s", "required_outputs": [], "provenance": "closed", **(spec or {})},
        "plan": {"steps": list(steps or [step]), "declared_outputs": []},
    }


def judged(wire: Json) -> Verified | Refused:
    return verify_proposal(Proposal(**wire))


def answer(wire: Json) -> str:
    """Return the answer in one word: allow, ask or refuse. Fail where the second model differs."""
    stated = verify_model(Proposal(**wire).wire())
    assert kinds(wire) == [
        (one["check"], one["kind"], one["path"]) for one in stated.get("violations", [])
    ]
    verdict = judged(wire)
    if isinstance(verdict, Verified):
        return "allow"
    assert is_approvable(stated) == verdict.approvable
    return "ask" if verdict.approvable else "refuse"


def kinds(wire: Json) -> list[tuple[str, str, str | None]]:
    """Return check, kind and path of each violation."""
    verdict = judged(wire)
    found = verdict.violations if isinstance(verdict, Refused) else ()
    return [(one.check, one.kind, one.path) for one in found]


def reasons(wire: Json) -> list[str]:
    verdict = judged(wire)
    return [one.reason for one in verdict.violations] if isinstance(verdict, Refused) else []


def approved(wire: Json, **more: object) -> Json:
    """Return the proposal with an approval of its plan."""
    named = digest(Proposal(**wire).plan)
    approval = {"approval_id": "a", "plan_digest": named, "approver": "emma", **more}
    return {**wire, "ctx": {**wire["ctx"], "approvals": [approval]}}
