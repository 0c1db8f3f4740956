"""A slow, obvious second statement of `score`, over the wire form of a Run."""

from typing import Any

from tests.support.model.confinement import confined, leaks
from tests.support.model.evidence import evidence_is_good
from tests.support.model.facts import (
    RANKS,
    Json,
    distinct,
    find_tool,
    is_called,
    same_args,
    same_pair,
    tier_faults,
    wrong_places,
)
from tests.support.model.late import source_named
from tests.support.model.openings import items, passed, settle

WORST = ["pass", "warn", "fail"]
MOST_ATTEMPTS = 11
DEFAULT_TOKENS = 8000
SESSION_TOKENS = 1_000_000


def judged(status: str, score: float) -> Json:
    return {"status": status, "score": float(score)}


def share(good: int, of: int) -> float:
    return good / of if of else 1.0


def clean_share(good: int, of: int) -> float:
    """Return 1 - violating / all, as it is defined: good / all may differ in the last bit."""
    return 1 - (of - good) / of if of else 1.0


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
    return judged("pass" if clean else "fail", clean_share(len(good), len(run["calls"])))


def within_plan(run: Json, position: int, call: Json) -> bool:
    proposal, step = run["proposal"], step_of(run, call)
    if is_late(run):
        step = opened_step(run, position, call) or {}
        proposal = without_tier(proposal)
    tool = find_tool(proposal, call)
    return (
        same_pair(step, call)
        and same_args(step, call)
        and tool is not None
        and not any(
            one is None or tier_faults(proposal, one, call["step"])
            for one in (tool, *done_by(proposal, call["step"]))
        )
        and all(already_done(run, position, name) for name in needed_by(step))
        and is_next_attempt(run, position, call)
    )


def done_by(proposal: Json, step: int) -> list[Json | None]:
    """Return the tools of what the command of a call does."""
    parts = [one for one in proposal["plan"]["steps"] if one.get("of") == step]
    return [find_tool(proposal, one) for one in parts]


def is_late(run: Json) -> bool:
    steps = run["proposal"]["plan"]["steps"]
    return any("takes" in step or "evidence_steps" in step for step in steps)


def without_tier(proposal: Json) -> Json:
    """Return the proposal for calls whose openings asked for an approval."""
    kept = {k: v for k, v in proposal["spec"].items() if k != "approval_required_from"}
    return {**proposal, "spec": kept}


def opening_of(run: Json, position: int, call: Json) -> tuple[int, int, str | None] | None:
    """Return the opening that a call was made by, if its step was opened before it."""
    found = [one for one in passed(run) if one[0] == call["step"] and one[1] <= position]
    return found[0] if is_late(run) and found else None


def opened_step(run: Json, position: int, call: Json) -> Json | None:
    """Return the step of a call with its values, if it was opened before."""
    opening = opening_of(run, position, call)
    if opening is None:
        return None
    args, _ = settle(run["proposal"], run["calls"][: opening[1]], call["step"])
    return {**step_of(run, call), "args": args}


def needed_by(step: Json) -> list[str]:
    taken = [take["step"] for take in step.get("takes", [])]
    return [*step.get("depends_on", []), *taken, *step.get("evidence_steps", [])]


def seen_at(run: Json, position: int, call: Json) -> tuple[Json, Json]:
    """Return the proposal and the step of a call, with what was known when it was opened."""
    p, step = run["proposal"], step_of(run, call)
    opening, there = opening_of(run, position, call), returned(run)
    if opening is None:
        return with_items(p, [item for _, item in there]), step
    known = returned({**run, "calls": run["calls"][: opening[1]]})
    q = with_items(p, [item for _, item in known])
    kept = {k: v for k, v in p["ctx"].items() if k != "as_of"}
    q["ctx"] = kept if opening[2] is None else {**kept, "as_of": opening[2]}
    pins = [source_named(p, call["step"], name) for name in step.get("evidence_steps", [])]
    refs = [item["id"] for pin in dict.fromkeys(pins) for of, item in known if of == pin]
    return q, {**step, "evidence_refs": [*step.get("evidence_refs", []), *refs]}


def returned(run: Json) -> list[tuple[int, Json]]:
    """Return what the opened calls returned, up to one that was not opened."""
    if not is_late(run):
        return []
    openings, calls = passed(run), list[Json]()
    at = {one[0]: one[1] for one in openings}
    for position, call in enumerate(run["calls"]):
        if at.get(call["step"], position + 1) > position or not same_pair(step_of(run, call), call):
            break
        calls.append(call)
    return items(run["proposal"], calls, openings)


def with_items(p: Json, more: list[Json]) -> Json:
    manifests = p["compiled"]["manifests"]
    evidence = [*manifests["evidence_manifest"], *more]
    return {**p, "compiled": {"manifests": {**manifests, "evidence_manifest": evidence}}}


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


def is_next_attempt(run: Json, position: int, call: Json) -> bool:
    """Return whether the step did not complete, and this is its next attempt of at most eleven."""
    earlier = earlier_calls(run, position, call["step"])
    if earlier and earlier[-1]["status"] == "completed":
        return False
    return bool(call["attempt"] == len(earlier) + 1 <= MOST_ATTEMPTS)


def utility(run: Json) -> Json:
    spec, calls = run["proposal"]["spec"], run["calls"]
    required = distinct(spec["required_outputs"])
    satisfied = [name for name in required if output_is_good(run, name)]
    steps = run["proposal"]["plan"]["steps"]
    calls_of = [step["kind"] == "tool" and is_called(run["proposal"], step) for step in steps]
    planned = [index for index, is_call in enumerate(calls_of) if is_call]
    called = [index for index in planned if earlier_calls(run, len(calls), index)]
    if planned and not called:
        return judged("fail", 0)
    complete = len(satisfied) == len(required) and called == planned
    worst = "pass" if complete else "fail"
    for position, call in enumerate(calls):
        later = [one for one in calls[position + 1 :] if one["step"] == call["step"]]
        saved = any(one["status"] == "completed" for one in later)
        if call["status"] != "completed" and not saved:
            worst = max(worst, "warn", key=WORST.index)
    if other_outputs(run, required):
        worst = max(worst, "warn", key=WORST.index)
    return judged(worst, share(len(satisfied), len(required)))


def output_is_good(run: Json, name: str) -> bool:
    value = run["outputs"].get(name)
    return value is not None and is_valid_output(run, name)


def is_valid_output(run: Json, name: str) -> bool:
    schema = run["proposal"]["spec"].get("output_schemas", {}).get(name, True)
    return not wrong_places(schema, run["outputs"][name])


def other_outputs(run: Json, required: list[str]) -> list[str]:
    """Return the outputs that the plan does not declare, or that are invalid and not required."""
    declared = run["proposal"]["plan"]["declared_outputs"]
    return [
        name
        for name in run["outputs"]
        if name not in declared or (name not in required and not is_valid_output(run, name))
    ]


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
    longest = max([call.get("duration_ms", 0) for call in run["calls"]], default=0)
    if "wall_ms" not in run or run["wall_ms"] >= longest:
        return against(budget["wall_ms"], run.get("wall_ms"))
    found = against(budget["wall_ms"], longest)
    return judged("warn" if found["status"] == "pass" else found["status"], found["score"])


def cost(run: Json) -> Json:
    ctx = run["proposal"]["ctx"]
    budget = ctx.get("run_budget", {})
    tokens = budget.get("bucket_tokens", DEFAULT_TOKENS)
    measured = used(run, "tokens", ctx.get("spent", {}).get("tokens", 0), tokens)
    defaults = (DEFAULT_TOKENS, SESSION_TOKENS) if "session" in ctx else (DEFAULT_TOKENS,)
    nobody_asks = tokens in defaults and measured is None
    found = [judged("pass", 1) if nobody_asks else against(tokens, measured)]
    if "cost_micros" in budget:
        micros = budget["cost_micros"]
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


def may_send(proposal: Json, call: Json) -> bool:
    """Return whether a call, or what its command does, gets to the network."""
    parts = [one for one in proposal["plan"]["steps"] if one.get("of") == call["step"]]
    return any(reaches(proposal, one, "network") for one in (call, *parts))


def safety(run: Json) -> Json:
    good = [n for n, call in enumerate(run["calls"]) if is_safe(run, n, call)]
    everything = with_items(run["proposal"], [item for _, item in returned(run)])
    leaked = leaks(everything, run["outputs"])
    if leaked or len(good) < len(run["calls"]):
        return judged("fail", 0 if leaked else clean_share(len(good), len(run["calls"])))
    unknown = [item for item in confined(everything) if "content" not in item]
    return judged("warn" if unknown else "pass", 1)


def is_safe(run: Json, position: int, call: Json) -> bool:
    proposal, step = seen_at(run, position, call)
    tool = find_tool(proposal, call)
    return (
        is_judged(run, position, call)
        and evidence_is_good(proposal, tool or {}, step, call["args"])
        and not any(
            repeats_effect(proposal, one, call)
            for one in earlier_calls(run, position, call["step"])
        )
        and not (may_send(proposal, call) and leaks(proposal, sent(call)))
    )


def sent(call: Json) -> list[Any]:
    """Return all that leaves with the call."""
    return [call["args"], call.get("idempotency_key", "")]


def is_judged(run: Json, position: int, call: Json) -> bool:
    """Return whether fewer than eleven other calls were made for the step before."""
    others: list[Json] = []
    for one in earlier_calls(run, position, call["step"]):
        if not any(same_pair(one, other) and same_args(one, other) for other in others):
            others.append(one)
    made_first = others[:MOST_ATTEMPTS]
    known = any(same_pair(one, call) and same_args(one, call) for one in made_first)
    return known or len(others) < MOST_ATTEMPTS


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


def score_model(run: Json) -> Json:
    """Return status and score of each evaluator."""
    return {
        "policy": policy(run),
        "utility": utility(run),
        "latency": latency(run),
        "safety": safety(run),
        "cost": cost(run),
    }
