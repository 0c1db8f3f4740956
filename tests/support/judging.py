"""Judging proposals in their wire form, with some of it changed, and comparing the verdicts.

Laws compare verdicts by their marks: check, kind, step and path of each violation. Reasons are
left out where a law changes what they quote (a mode, a count).
"""

from collections import Counter

from hypothesis import settings

from critic import Plan, Proposal, Refused, Verified, digest, verify_proposal
from harness.testing._draw.primitives import ABSENT
from tests.support.effort import examples
from tests.support.model.facts import Json
from tests.support.patience import PATIENT

Verdict = Verified | Refused
Mark = tuple[str, str, int | None, str | None]

LAW = settings(PATIENT, max_examples=examples(200))


def judge(wire: Json) -> Verdict:
    return judge_proposal(Proposal(**wire))


def judge_proposal(proposal: Proposal) -> Verdict:
    return verify_proposal(proposal)


def marks(verdict: Verdict) -> Counter[Mark]:
    if isinstance(verdict, Verified):
        return Counter()
    return Counter(
        (one.check, one.kind, one.offending_step, one.path) for one in verdict.violations
    )


def with_changes(wire: Json, part: str, **changes: object) -> Json:
    """Return the wire form with some fields of one part set; `ABSENT` removes a field."""
    fields = {**wire[part], **changes}
    kept = {name: value for name, value in fields.items() if value is not ABSENT}
    return {**wire, part: kept}


def with_manifest(wire: Json, name: str, entries: list[Json]) -> Json:
    manifests = {**wire["compiled"]["manifests"], name: entries}
    return with_changes(wire, "compiled", manifests=manifests)


def with_step(wire: Json, index: int, **changes: object) -> Json:
    changed = list(wire["plan"]["steps"])
    changed[index] = {**changed[index], **changes}
    return with_changes(wire, "plan", steps=changed)


def approves_its_plan(wire: Json) -> bool:
    """Return whether an approval names the plan in its present form."""
    named = digest(Plan(**wire["plan"]))
    return any(one["plan_digest"].endswith(named) for one in wire["ctx"].get("approvals", []))
