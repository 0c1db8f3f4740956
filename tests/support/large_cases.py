"""Cases that say the same very often, made instead of written out.

What is meant and what is answered stands here in full: `expect` is not taken from the engine.
"""

from typing import Any, Final

from harness.cases import Case, Command, Expectation, Must, case_files, read_case
from tests.support.paths import CASES

Json = dict[str, Any]

_MANY: Final = 40
_PASSED: Final = {
    "ok": True,
    "reasons": ["1 steps, 1 required outputs covered"],
    "caveats": [
        "args not checked, no args_schema: step 0",
        "tokens not estimated by the plan: step 0",
        "outputs not traced to a step that lists them: order_status",
    ],
}


def every_case() -> dict[str, Case]:
    """Return the cases on file and the large ones, each by the name of its file."""
    on_file = {str(path.relative_to(CASES)): read_case(path) for path in case_files(CASES)}
    return dict(sorted((on_file | large_cases()).items()))


def large_cases() -> dict[str, Case]:
    """Return the cases by the names that their files would have."""
    return {
        "consolidate/h17-many-findings.json": _many_findings(),
        "consolidate/h17-many-findings-of-both.json": _many_findings_of_both(),
        "verify/capped-at-1001.json": _capped(),
        "verify/loop-sixty-steps.json": _sixty_steps(),
    }


def _case(title: str, command: Command, given: Json, must: Json, verdict: Json) -> Case:
    return Case(
        title=title,
        command=command,
        input=given,
        must=Must(**must),
        expect=Expectation(verdict=verdict),
    )


def _capped() -> Case:
    def violation(step: int) -> Json:
        reason = f"plan step {step} calls adp_orders.gone which is not in the surface"
        at = {"offending_step": step, "path": f"/steps/{step}"}
        return {**kind, "reason": reason, **at}

    kind = {"check": "surface", "kind": "violates_decision_spec"}
    call = {"kind": "tool", "adapter_id": "adp_orders", "capability_id": "gone", "args": {}}
    listed = [violation(step) for step in range(1000)]
    must = {"ok": False, "kind": "violates_decision_spec", "offending_step": 0}
    rest = {**kind, "reason": "and 1 more violation", "path": ""}
    verdict = {**must, "reasons": [listed[0]["reason"]], "violations": [*listed, rest]}
    context = {
        "trace_id": "trace_1",
        "safety_mode": "destructive",
        "run_budget": {"max_steps": 5000, "bucket_tokens": 8000},
    }
    given = {
        "ctx": context,
        "compiled": {"manifests": {"tool_manifest": [], "evidence_manifest": []}},
        "spec": {"id": "support.orders", "required_outputs": []},
        "plan": {"steps": [call] * 1001, "declared_outputs": []},
    }
    return _case("one violation is left out", "verify", given, must, verdict)


def _sixty_steps() -> Case:
    name = {"adapter_id": "adp_orders", "capability_id": "lookup"}
    tools = [{**name, "approval_mode": "read_only"}]
    step = {"kind": "tool", **name, "args": {"id": "ord_881"}}
    must = {"ok": False, "kind": "loop_guard"}
    reason = "plan has 60 steps, exceeds max_steps"
    violation = {"check": "loop", "kind": "loop_guard", "reason": reason, "path": "/steps"}
    given = {
        "ctx": {"trace_id": "trace_1", "safety_mode": "destructive"},
        "compiled": {"manifests": {"tool_manifest": tools, "evidence_manifest": []}},
        "spec": {"id": "support.lookup", "required_outputs": ["order_status"]},
        "plan": {"steps": [step] * 60, "declared_outputs": ["order_status"]},
    }
    verdict = {**must, "reasons": [reason], "violations": [violation]}
    return _case("the published example of 60 steps", "verify", given, must, verdict)


def _many_findings() -> Case:
    policy = [f"call {at} of step 9 belongs to no tool step of the plan" for at in range(_MANY)]
    return _refused_by_score(
        "many findings: as many as fit in 500 characters, and the number of the rest",
        policy=_fails(0.0, policy),
        utility=_warns("step 0 was planned but not called"),
        safety=_passes(),
        rationale=f"policy fail: {', '.join(policy[:8])}, and 32 more",
    )


def _many_findings_of_both() -> Case:
    policy = [f"call {at} of step 0 has other args than its step" for at in range(_MANY)]
    key = "without its idempotency key"
    safety = [
        f"call {at} of step 0 retries a call of unknown effect {key}" for at in range(1, _MANY)
    ]
    said = (
        f"policy fail: {', '.join(policy[:4])}, and 36 more",
        f"safety fail: {', '.join(safety[:2])}, and 37 more",
    )
    return _refused_by_score(
        "many findings of both: each gets its share of 500 characters",
        policy=_fails(0.0, policy),
        utility=_warns(*(f"call {at} of step 0 ended unknown" for at in range(_MANY))),
        safety=_fails(0.025000000000000022, safety),
        rationale="; ".join(said),
    )


def _fails(score: float, messages: list[str]) -> Json:
    return {"score": score, "status": "fail", "findings": _findings("error", *messages)}


def _warns(*messages: str) -> Json:
    return {"score": 1.0, "status": "warn", "findings": _findings("warn", *messages)}


def _passes(*messages: str) -> Json:
    return {"score": 1.0, "status": "pass", "findings": _findings("info", *messages)}


def _findings(severity: str, *messages: str) -> list[Json]:
    return [{"severity": severity, "message": message} for message in messages]


def _refused_by_score(
    title: str, *, policy: Json, utility: Json, safety: Json, rationale: str
) -> Case:
    judged = {
        "policy": policy,
        "utility": utility,
        "latency": _passes("no budget declared for wall_ms"),
        "safety": safety,
        "cost": _passes("no budget declared for tokens", "no budget declared for cost_micros"),
    }
    scores = {
        name: {"evaluator_id": name, "evaluator_version": "1", **found, "trace_id": "trace_1"}
        for name, found in judged.items()
    }
    card = {"run_id": "run_1", "trace_id": "trace_1", "scores": scores}
    given = {
        "trace_id": "trace_1",
        "decision_key": "support.lookup",
        "verify": _PASSED,
        "score": {"ok": False, "scorecard": card},
        "decided_at": "2026-05-09T10:00:02Z",
    }
    must = {"status": "refused_by_critic", "refused_at": "score"}
    return _case(title, "consolidate", given, must, {**given, **must, "rationale": rationale})
