"""A slow, obvious second statement of `verify` and `score`, over plain JSON values.

Written from the design alone, so that it can disagree with the engine: it shares no code with the
checks or the evaluators, builds no index, and says each rule once with a loop over everything.
Input is the wire form of a Proposal or a Run (`envelope.wire()`), which is taken to be valid.
"""

from collections.abc import Callable, Iterator

from tests.support.model.facts import (
    RANKS,
    Json,
    bad_refs,
    distinct,
    find_tool,
    has_class,
    same_args,
    same_pair,
    scalars,
    strings_and_keys,
    tier_faults,
    unbacked_args,
    wrong_places,
)

KINDS = {
    "coverage": "violates_decision_spec",
    "surface": "violates_decision_spec",
    "approval": "approval_mode_mismatch",
    "evidence": "missing_evidence",
    "loop": "loop_guard",
}


# --- the five checks: each yields the offending step (None: the whole) once per violation ------


def coverage(p: Json) -> Iterator[int | None]:
    for output in distinct(p["spec"]["required_outputs"]):
        if output not in p["plan"]["declared_outputs"]:
            yield None
        if not any(can_produce(p, step, output) for step in p["plan"]["steps"]):
            yield None
    if "trace_id" in p["plan"] and p["plan"]["trace_id"] != p["ctx"]["trace_id"]:
        yield None


def can_produce(p: Json, step: Json, output: str) -> bool:
    tool = find_tool(p, step)
    return tool is None or "produces" not in tool or output in tool["produces"]


def surface(p: Json) -> Iterator[int | None]:
    for index, step in enumerate(p["plan"]["steps"]):
        tool = find_tool(p, step)
        if step["kind"] == "tool" and tool is None:
            yield index
        if tool is not None and "args_schema" in tool:
            for _ in wrong_places(tool["args_schema"], step["args"]):
                yield index


def approval(p: Json) -> Iterator[int | None]:
    for index, step in enumerate(p["plan"]["steps"]):
        tool = find_tool(p, step)
        for _ in tier_faults(p, tool, index) if tool is not None else []:
            yield index


def evidence(p: Json) -> Iterator[int | None]:
    steps = p["plan"]["steps"]
    for index, step in enumerate(steps):
        tool = find_tool(p, step) or {}
        required = tool.get("requires_evidence", []) + step.get("requires_evidence", [])
        for name in distinct(required):
            if not has_class(p, step, name):
                yield index
        for _ in bad_refs(p, step):
            yield index
        for _ in unbacked_args(p, tool, step, step.get("args", {})):
            yield index
    for name in distinct(p["spec"].get("required_evidence", [])):
        if not any(has_class(p, step, name) for step in steps):
            yield None


def loop(p: Json) -> Iterator[int | None]:
    steps = p["plan"]["steps"]
    spent, budget = p["ctx"].get("spent", {}), p["ctx"].get("run_budget", {})
    if spent.get("steps", 0) + len(steps) > budget.get("max_steps", 12):
        yield None
    for index, step in enumerate(steps):
        earlier_ids = [earlier["id"] for earlier in steps[:index] if "id" in earlier]
        if step.get("id") in earlier_ids:
            yield index
        for name in distinct(step.get("depends_on", [])):
            if name not in earlier_ids:
                yield index
        tool = find_tool(p, step)
        if tool is None or tool["approval_mode"] != "destructive":
            continue
        same_tool = [earlier for earlier in steps[:index] if same_pair(earlier, step)]
        if any(same_args(earlier, step) for earlier in same_tool):
            yield index


def plan_tokens(p: Json) -> int:
    """Return the tokens of all steps: the larger of the estimate and the capability's minimum."""
    total = 0
    for step in p["plan"]["steps"]:
        tool = find_tool(p, step) or {}
        total += max(step.get("estimated_tokens", 0), tool.get("min_tokens", 0))
    return total


def over_token_budget(p: Json) -> bool:
    spent, budget = p["ctx"].get("spent", {}), p["ctx"].get("run_budget", {})
    return bool(spent.get("tokens", 0) + plan_tokens(p) > budget.get("bucket_tokens", 8000))


CHECKS: list[tuple[str, Callable[[Json], Iterator[int | None]]]] = [
    ("coverage", coverage),
    ("surface", surface),
    ("approval", approval),
    ("evidence", evidence),
    ("loop", loop),
]


def violation(check: str, kind: str, step: int | None) -> Json:
    where = {} if step is None else {"offending_step": step}
    return {"check": check, "kind": kind, **where}


def verify_model(proposal: Json) -> Json:
    """Return `{"ok": True, "reasons"}`, or the refusal with all violations in check order."""
    violations: list[Json] = []
    for name, check in CHECKS:
        violations += [violation(name, KINDS[name], step) for step in check(proposal)]
    if over_token_budget(proposal):
        violations.append(violation("loop", "budget_exceeded", None))
    if violations:
        first = {name: value for name, value in violations[0].items() if name != "check"}
        return {"ok": False, **first, "violations": violations}
    steps = len(proposal["plan"]["steps"])
    outputs = len(distinct(proposal["spec"]["required_outputs"]))
    return {"ok": True, "reasons": [f"{steps} steps, {outputs} required outputs covered"]}


# --- the five evaluators ----------------------------------------------------------------------

WORST = ["pass", "warn", "fail"]


def judged(status: str, score: float) -> Json:
    return {"status": status, "score": float(score)}


def share(good: int, of: int) -> float:
    return good / of if of else 1.0


def step_of(run: Json, call: Json) -> Json:
    """Return the tool step that the call names, or an empty step if it does not exist."""
    steps = run["proposal"]["plan"]["steps"]
    if call["step"] >= len(steps) or steps[call["step"]]["kind"] != "tool":
        return {}
    return dict(steps[call["step"]])


def earlier_calls(run: Json, position: int, step: int) -> list[Json]:
    return [call for call in run["calls"][:position] if call["step"] == step]


def policy(run: Json) -> Json:
    ctx, plan = run["proposal"]["ctx"], run["proposal"]["plan"]
    ids_match = (
        run["trace_id"] == ctx["trace_id"]
        and plan.get("trace_id", ctx["trace_id"]) == ctx["trace_id"]
        and ctx.get("run_id", run["run_id"]) == run["run_id"]
    )
    good = [n for n, call in enumerate(run["calls"]) if within_plan(run, n, call)]
    if not ids_match:
        return judged("fail", 0)
    clean = len(good) == len(run["calls"])
    return judged("pass" if clean else "fail", share(len(good), len(run["calls"])))


def within_plan(run: Json, position: int, call: Json) -> bool:
    proposal, step = run["proposal"], step_of(run, call)
    tool = find_tool(proposal, call)
    return (
        same_pair(step, call)
        and same_args(step, call)
        and tool is not None
        and not tier_faults(proposal, tool, call["step"])
        and all(already_done(run, position, name) for name in step.get("depends_on", []))
        and (not earlier_calls(run, position, call["step"]) or is_retry(run, position, call))
    )


def already_done(run: Json, position: int, name: str, above: tuple[int, ...] = ()) -> bool:
    """Return whether every step of that id completed; of a reason step, its dependencies."""
    steps = run["proposal"]["plan"]["steps"]
    named = [index for index, step in enumerate(steps) if step.get("id") == name]
    return bool(named) and all(settled(run, position, index, above) for index in named)


def settled(run: Json, position: int, index: int, above: tuple[int, ...]) -> bool:
    """Return whether a step is not in a cycle, and completed or only depends on such steps."""
    step = run["proposal"]["plan"]["steps"][index]
    if step["kind"] == "tool":
        return any(call["status"] == "completed" for call in earlier_calls(run, position, index))
    needed = step.get("depends_on", [])
    below = (*above, index)
    return index not in above and all(already_done(run, position, one, below) for one in needed)


def is_retry(run: Json, position: int, call: Json) -> bool:
    latest = earlier_calls(run, position, call["step"])[-1]
    return bool(latest["status"] != "completed" and call["attempt"] > latest["attempt"])


def utility(run: Json) -> Json:
    spec, calls = run["proposal"]["spec"], run["calls"]
    required = distinct(spec["required_outputs"])
    satisfied = [name for name in required if output_is_good(run, name)]
    worst = "pass" if len(satisfied) == len(required) else "fail"
    for position, call in enumerate(calls):
        later = [one for one in calls[position + 1 :] if one["step"] == call["step"]]
        saved = any(one["status"] == "completed" for one in later)
        if call["status"] != "completed" and not saved:
            worst = max(worst, "warn", key=WORST.index)
    for index, step in enumerate(run["proposal"]["plan"]["steps"]):
        if step["kind"] == "tool" and not earlier_calls(run, len(calls), index):
            worst = max(worst, "warn", key=WORST.index)
    return judged(worst, share(len(satisfied), len(required)))


def output_is_good(run: Json, name: str) -> bool:
    value = run["outputs"].get(name)
    schema = run["proposal"]["spec"].get("output_schemas", {}).get(name, True)
    return value is not None and not wrong_places(schema, value)


def against(budget: int, used: int | None) -> Json:
    """Within the budget, over it, over twice it, or not measured."""
    if used is None:
        return judged("warn", 0)
    if used <= budget:
        return judged("pass", 1)
    return judged("fail" if used > 2 * budget else "warn", budget / used)


def latency(run: Json) -> Json:
    budget = run["proposal"]["ctx"].get("run_budget", {})
    if "wall_ms" not in budget:
        return judged("pass", 1)
    return against(budget["wall_ms"], run.get("wall_ms"))


def cost(run: Json) -> Json:
    ctx = run["proposal"]["ctx"]
    if "run_budget" not in ctx:
        return judged("pass", 1)
    tokens = ctx["run_budget"]["bucket_tokens"]
    found = [against(tokens, used(run, "tokens", ctx.get("spent", {}).get("tokens", 0), tokens))]
    if "cost_micros" in ctx["run_budget"]:
        micros = ctx["run_budget"]["cost_micros"]
        found.append(against(micros, used(run, "cost_micros", 0, micros)))
    worst = max([one["status"] for one in found], key=WORST.index)
    return judged(worst, min(one["score"] for one in found))


def used(run: Json, measure: str, spent: int, budget: int) -> int | None:
    """Return what was spent before and in this run; None if that was not measured."""
    parts = [call[measure] for call in run["calls"] if measure in call]
    if measure in run:
        return int(spent + max(run[measure], sum(parts)))
    complete = len(parts) == len(run["calls"]) > 0
    return spent + sum(parts) if complete or spent + sum(parts) > budget else None


def safety(run: Json) -> Json:
    good = [n for n, call in enumerate(run["calls"]) if is_safe(run, n, call)]
    leaked = leaks(run, run["outputs"])
    if leaked or len(good) < len(run["calls"]):
        return judged("fail", 0 if leaked else share(len(good), len(run["calls"])))
    unknown = [item for item in confined(run) if "content" not in item]
    return judged("warn" if unknown else "pass", 1)


def is_safe(run: Json, position: int, call: Json) -> bool:
    proposal, step = run["proposal"], step_of(run, call)
    tool = find_tool(proposal, call)
    required = (tool or {}).get("requires_evidence", []) + step.get("requires_evidence", [])
    return (
        all(has_class(proposal, step, name) for name in required)
        and not bad_refs(proposal, step)
        and not unbacked_args(proposal, tool or {}, step, call["args"])
        and not any(
            repeats_effect(proposal, one, call)
            for one in earlier_calls(run, position, call["step"])
        )
        and not (reaches(proposal, call, "network") and leaks(run, call["args"]))
    )


def reaches(proposal: Json, call: Json, tier: str) -> bool:
    """Return whether the call may have effects of that tier; an undeclared tool may do anything."""
    tool = find_tool(proposal, call)
    return tool is None or RANKS.index(tool["approval_mode"]) >= RANKS.index(tier)


def repeats_effect(proposal: Json, earlier: Json, call: Json) -> bool:
    """Return whether the earlier call may have taken effect and has another key."""
    if earlier["status"] not in ("unknown", "timed_out"):
        return False
    if not reaches(proposal, earlier, "local_write"):
        return False
    key = earlier.get("idempotency_key")
    return key is None or call.get("idempotency_key") != key


def confined(run: Json) -> list[Json]:
    classes = run["proposal"]["spec"].get("confined_evidence", [])
    manifest = run["proposal"]["compiled"]["manifests"]["evidence_manifest"]
    return [item for item in manifest if item["classification"] in classes]


def leaks(run: Json, value: object) -> bool:
    for item in confined(run):
        for leaf in scalars(item.get("content")):
            if not isinstance(leaf, str) or len(leaf) < 6:
                continue
            if any(leaf in text for text in strings_and_keys(value)):
                return True
    return False


def score_model(run: Json) -> Json:
    """Return status and score of each evaluator."""
    return {
        "policy": policy(run),
        "utility": utility(run),
        "latency": latency(run),
        "safety": safety(run),
        "cost": cost(run),
    }
