"""The laws of plans: what one more step or claim can do, and which plans pass.

Appending a step can take away only what no step is blamed for: an output that nothing could
produce, and evidence that the spec wants pinned by some step.
"""

from typing import Any

from hypothesis import strategies as st

from critic import Plan, digest
from evals.json_value import SAFE_INTEGER
from harness.testing._draw.primitives import ABSENT, Json
from harness.testing._laws.law_context import (
    LawContext,
    marks,
    with_manifest,
    with_part,
    with_step,
)
from harness.testing.strategies import hostile_plans
from harness.wire import build


def appended_steps_keep_the_violations_of_steps(context: LawContext) -> None:
    """Appending a step keeps every violation of a step, broken limit and undeclared output."""
    proposal = context.proposal
    drawn = context.draw(hostile_plans(proposal.compiled, proposal.spec, proposal.ctx))
    step = next(iter(drawn.wire()["steps"]), {"kind": "reason"})
    altered = _append_step(context.wire, step)
    before, after = context.judge(proposal), context.judge(altered)
    blamed = marks(before)
    for mark in list(blamed):
        if mark[2] is None and mark[0] != "loop":
            del blamed[mark]
    lost = blamed - marks(after)
    context.require(not lost, f"an appended step took a violation away: {list(lost)}", altered)
    undeclared = {*proposal.spec.required_outputs} - {*proposal.plan.declared_outputs}
    passes = bool(after) and bool(undeclared)
    context.require(not passes, f"an appended step declared {sorted(undeclared)}", altered)


def an_idle_step_cures_nothing(context: LawContext) -> None:
    """Appending a step that pins nothing and produces nothing keeps every violation."""
    idle = {"adapter_id": "idle", "capability_id": "idle"}
    tool = {**idle, "approval_mode": "read_only", "produces": []}
    tools = context.wire["compiled"]["manifests"]["tool_manifest"]
    surfaced = with_manifest(context.wire, "tool_manifest", [*tools, tool])
    altered = _append_step(surfaced, {"kind": "tool", **idle})
    context.require_kept(context.judge(surfaced), altered, "an idle step")


def _append_step(wire: Json, step: Json) -> Json:
    return with_part(wire, "plan", steps=[*wire["plan"]["steps"], step])


def claims_only_add(context: LawContext) -> None:
    """What a step demands of itself (evidence, order, tokens) never takes a violation away."""
    steps = context.wire["plan"]["steps"]
    if not steps:
        return
    index = context.pick(range(len(steps)))
    name, claim = context.pick(_claims(context, steps[index]))
    altered = with_step(context.wire, index, **{name: claim})
    if not _is_approved(altered):
        before = context.judge(context.proposal)
        context.require_kept(before, altered, f"a claim in {name} of step {index}")


def _claims(context: LawContext, step: Json) -> list[tuple[str, Any]]:
    """Draw more than the step demands of itself now, in each way."""
    items = context.wire["compiled"]["manifests"]["evidence_manifest"]
    evidence = context.pick(["zz", *(item["classification"] for item in items)])
    ids = [other["id"] for other in context.wire["plan"]["steps"] if "id" in other]
    tokens = step.get("estimated_tokens", 0) + context.draw(st.integers(0, 9000))
    return [
        ("requires_evidence", [*step.get("requires_evidence", []), evidence]),
        ("depends_on", [*step.get("depends_on", []), context.pick(["zz", *ids])]),
        ("estimated_tokens", min(tokens, SAFE_INTEGER)),
    ]


def a_named_trace_only_adds(context: LawContext) -> None:
    """Naming a trace in the plan never takes a violation away."""
    trace = context.pick((context.wire["ctx"]["trace_id"], "zz"))
    without = with_part(context.wire, "plan", trace_id=ABSENT)
    altered = with_part(context.wire, "plan", trace_id=trace)
    if not _is_approved(altered):
        context.require_kept(context.judge(without), altered, f"naming the trace {trace}")


def omitted_outputs_only_add(context: LawContext) -> None:
    """Declaring an output less never takes a violation away."""
    outputs = context.wire["plan"]["declared_outputs"]
    if not outputs:
        return
    omitted = context.pick(outputs)
    fewer = [output for output in outputs if output != omitted]
    altered = with_part(context.wire, "plan", declared_outputs=fewer)
    if not _is_approved(altered):
        before = context.judge(context.proposal)
        context.require_kept(before, altered, f"omitting the output {omitted}")


def _is_approved(wire: Json) -> bool:
    """Return whether an approval covers the altered plan, and so may lift other violations."""
    plan_digest = digest(build(Plan, wire["plan"]))
    approvals = wire["ctx"].get("approvals", [])
    return any(entry["plan_digest"].lower().endswith(plan_digest) for entry in approvals)


def valid_plans_pass(context: LawContext) -> None:
    """A plan that meets every demand passes."""
    context.require(bool(context.judge(context.proposal)), "it is refused")


def near_misses_are_refused(context: LawContext) -> None:
    """A plan with one violation is refused for that and for nothing else; repaired, it passes."""
    near_miss = context.near_miss
    if near_miss is None:
        return
    actual = [mark[:2] for mark in marks(context.judge(context.proposal)).elements()]
    expected = (near_miss.check, near_miss.kind)
    what = f"{near_miss.way} must be refused with {expected}, not {actual}"
    context.require(actual == [expected], what)
    if near_miss.repaired is not None:
        passes = bool(context.judge(near_miss.repaired))
        repaired = near_miss.repaired.wire()
        context.require(passes, f"{near_miss.way} is repaired and refused", repaired)
