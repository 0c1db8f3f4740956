"""One decision as it is opened: plan, tiers, evidence, verdict, and the run against the plan. Pure.

What many decisions share is put into a pool, and stands here as a number.
"""

from collections.abc import Callable, Sequence
from typing import Any

from critic.reports import ScoreVerdict
from evals.context import RunContext
from evals.manifest import CompiledContext, EvidenceItem
from evals.plan import Plan, ToolStep
from evals.plan_verdicts import Refused, Verified, Violation
from evals.run import ToolCall
from evals.timestamps import format_time, is_unexpired
from harness.audit.report.late_details import place_late_facts
from harness.audit.report.parsed_inputs import ShownInputs
from harness.audit.report.record_rows import Checked, record_line, tool_name
from harness.audit.report.told_words import ToldWords, ToolsOfPage, told_words
from harness.audit.report.visible_text import make_visible, visible_json
from harness.canonical import canonical_json
from harness.record import BegunRecord, DecisionRecord, RunFacts, SettledRecord, TurnRecord

Sharing = Callable[[Any], int]
"""Puts a value into the pool, and returns its number there."""


def opened_record(
    record: TurnRecord,
    inputs: ShownInputs | None,
    checked: Checked | None,
    share: Sharing,
    tools: ToolsOfPage,
) -> dict[str, Any]:
    """Return all that the page shows of a record. `tools` are those of the records before it."""
    detail: dict[str, Any] = {
        "hash": record.hash,
        "prev": record.prev_hash,
        "rules": make_visible(record.ruleset_version),
        "code": record.rules_digest,
        "said": record_line(record),
    }
    if checked is not None:
        detail["check"] = [checked.status, *(make_visible(one) for one in checked.reasons)]
    if inputs is not None:
        detail |= _of_inputs(inputs, share)
    if isinstance(record, DecisionRecord):
        detail |= _of_decision(record, inputs, tools)
        _place_calls(detail, record, inputs)
        if inputs is not None and inputs.plan is not None:
            place_late_facts(detail, record, inputs.plan.steps)
    elif isinstance(record, BegunRecord):
        detail["permit"] = record.permit
        detail["used"] = [make_visible(one.approval_id) for one in record.approvals or ()]
    elif isinstance(record, SettledRecord):
        detail["begun"] = record.begun
    else:
        detail["asked"] = visible_json(record.asked)
        return detail
    return detail | {"inputs": record.inputs.wire()}


def _of_inputs(inputs: ShownInputs, share: Sharing) -> dict[str, Any]:
    shown: dict[str, Any] = {"faults": list(inputs.faults)}
    if inputs.ctx is not None:
        shown["ctx"] = _context_detail(inputs.ctx)
    if inputs.spec is not None:
        outputs = [make_visible(name) for name in inputs.spec.required_outputs or ()]
        shown["spec"] = {"id": make_visible(inputs.spec.id), "outputs": outputs}
    if inputs.plan is not None:
        shown["plan"] = _plan_detail(inputs.plan, inputs, share)
    if inputs.compiled is not None:
        pinned = {
            ref
            for step in (inputs.plan.steps if inputs.plan else ())
            for ref in step.evidence_refs or ()
        }
        others = [
            one for one in inputs.compiled.manifests.evidence_manifest if one.id not in pinned
        ]
        shown["others"] = [share(_item_detail(one)) for one in others]
    return shown


def _context_detail(ctx: RunContext) -> dict[str, Any]:
    shown: dict[str, Any] = {"mode": ctx.safety_mode}
    if ctx.as_of is not None:
        shown["as_of"] = format_time(ctx.as_of)
    if ctx.run_budget is not None:
        shown["budget"] = ctx.run_budget.wire()
    if ctx.spent is not None:
        shown["spent"] = {"steps": ctx.spent.steps, "tokens": ctx.spent.tokens}
    shown["approvals"] = [
        {"id": make_visible(one.approval_id), "by": make_visible(one.approver)}
        for one in ctx.approvals or ()
    ]
    return shown


def _plan_detail(plan: Plan, inputs: ShownInputs, share: Sharing) -> dict[str, Any]:
    outputs = [make_visible(name) for name in plan.declared_outputs]
    steps = [_step_detail(step, inputs, share) for step in plan.steps]
    named = {} if plan.plan_id is None else {"id": make_visible(plan.plan_id)}
    return {**named, "outputs": outputs, "steps": steps}


def _step_detail(step: Any, inputs: ShownInputs, share: Sharing) -> dict[str, Any]:
    refs = dict.fromkeys(step.evidence_refs or ())
    shown: dict[str, Any] = {"pins": [_pin(ref, inputs, share) for ref in refs]}
    if step.id is not None:
        shown["id"] = make_visible(step.id)
    if step.requires_evidence:
        shown["needs"] = [make_visible(name) for name in step.requires_evidence]
    if not isinstance(step, ToolStep):
        return {**shown, "summary": make_visible(step.summary or "", 2_000)}
    shown |= {"tool": make_visible(tool_name(step)), "args": visible_json(step.args)}
    return shown | _tier(step, inputs.compiled)


def _tier(step: ToolStep, compiled: CompiledContext | None) -> dict[str, Any]:
    if compiled is None:
        return {}
    tool = compiled.manifests.tools.get((step.adapter_id, step.capability_id))
    if tool is None:
        return {"tier": None}
    demands = (one if isinstance(one, str) else one.class_ for one in tool.requires_evidence or ())
    return {"tier": tool.approval_mode, "demands": [*dict.fromkeys(map(make_visible, demands))]}


def _pin(ref: str, inputs: ShownInputs, share: Sharing) -> dict[str, Any]:
    item = None if inputs.compiled is None else inputs.compiled.manifests.evidence.get(ref)
    if item is None:
        return {"ref": make_visible(ref)}
    as_of = None if inputs.ctx is None else inputs.ctx.as_of
    expired = {} if is_unexpired(item.expires_at, as_of) else {"expired": True}
    return {"item": share(_item_detail(item)), **expired}


def _item_detail(item: EvidenceItem) -> dict[str, Any]:
    shown = {"id": make_visible(item.id), "class": make_visible(item.classification)}
    for name in ("snapshot", "subject"):
        if (text := getattr(item, name)) is not None:
            shown[name] = make_visible(text)
    if item.expires_at is not None:
        shown["expires"] = format_time(item.expires_at)
    if item.source is not None:
        web = {"web": "a web page"} if item.source.web else {}
        shown |= {"author": item.source.author, "standing": item.source.standing, **web}
    return {**shown, "content": visible_json(item.content)}


def _of_decision(
    record: DecisionRecord, inputs: ShownInputs | None, tools: ToolsOfPage
) -> dict[str, Any]:
    words = told_words(record, inputs, tools)
    shown: dict[str, Any] = {"verdict": _verdict(record.report.verify, words)}
    if record.action == "shadow":
        shown["shadow"] = True
    if record.report.score is not None:
        shown["score"] = _score_detail(record.report.score)
    if record.run is not None:
        shown["run"] = _run(record.run)
    if record.error is not None:
        shown["error"] = make_visible(record.error)
    if record.begun is not None:
        shown["begun"] = record.begun
    shown["attempts"] = [
        {"verdict": _verdict(one.verdict, ToldWords()), "plan": visible_json(one.plan.wire())}
        for one in record.attempts or ()
    ]
    return shown


def _verdict(verdict: Verified | Refused, words: ToldWords) -> dict[str, Any]:
    if isinstance(verdict, Verified):
        reasons = [make_visible(one) for one in verdict.reasons]
        return {"ok": True, "reasons": reasons, "caveats": [*map(make_visible, verdict.caveats)]}
    shown = [_violation_detail(one, at, words) for at, one in enumerate(verdict.violations)]
    return {"ok": False, "violations": shown}


def _violation_detail(one: Violation, at: int, words: ToldWords) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "kind": one.kind,
        "check": one.check,
        "reason": make_visible(one.reason),
    }
    said = {"asked": words.asked.get(at), "told": words.told.get(at)}
    shown |= {name: make_visible(text, 2_000) for name, text in said.items() if text is not None}
    if one.offending_step is not None:
        shown["step"] = one.offending_step
    return shown | ({"approvable": True} if one.approvable else {})


def _score_detail(score: ScoreVerdict) -> list[dict[str, Any]]:
    return [
        {
            "by": name,
            "score": one.score,
            "status": one.status,
            "findings": [f"{it.severity}: {make_visible(it.message)}" for it in one.findings],
        }
        for name, one in score.scorecard.scores
    ]


def _run(run: RunFacts) -> dict[str, Any]:
    numbers = {name: getattr(run, name) for name in ("wall_ms", "tokens", "cost_micros")}
    shown: dict[str, Any] = {name: it for name, it in numbers.items() if it is not None}
    return {**shown, "id": make_visible(run.run_id), "outputs": visible_json(run.outputs)}


def _place_calls(
    detail: dict[str, Any], record: DecisionRecord, inputs: ShownInputs | None
) -> None:
    """Put every call beside its step; those of no step stay with the run."""
    if record.run is None:
        return
    plan = None if inputs is None else inputs.plan
    steps: Sequence[Any] = () if plan is None else plan.steps
    for call in record.run.calls:
        planned = steps[call.step] if call.step < len(steps) else None
        shown = _call_detail(call, planned)
        if planned is None:
            detail["run"].setdefault("calls", []).append(shown)
        else:
            detail["plan"]["steps"][call.step].setdefault("calls", []).append(shown)


def _call_detail(call: ToolCall, planned: Any) -> dict[str, Any]:
    names = ("duration_ms", "tokens", "cost_micros")
    shown: dict[str, Any] = {name: getattr(call, name) for name in names}
    shown = {name: number for name, number in shown.items() if number is not None}
    shown |= {"status": call.status, "attempt": call.attempt}
    if call.output is not None:
        shown["output"] = visible_json(call.output)
    if call.error is not None:
        shown["error"] = make_visible(call.error)
    sent, tool = visible_json(call.args), make_visible(tool_name(call))
    if not isinstance(planned, ToolStep) or tool_name(planned) != tool_name(call):
        return {**shown, "other_tool": tool, "other_args": sent}
    if planned.takes:
        return {**shown, "other_args": sent, "late": True}
    # Compared as bytes: to Python, `True` equals `1`.
    return shown if _is_same(planned.args, call.args) else {**shown, "other_args": sent}


def _is_same(left: Any, right: Any) -> bool:
    return canonical_json(left) == canonical_json(right)
