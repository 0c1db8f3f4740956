"""Runs and verdicts in their wire form, by the hundred thousand: on the edges of the evaluators."""

from typing import Any, Final

from tests.support.generate import alphabet
from tests.support.generate.alphabet import ABSENT, HOSTILE, PAIRS
from tests.support.generate.drawing import Pick, optional, record
from tests.support.generate.proposals import make_proposal
from tests.support.generate.wild import redraw, retyped
from tests.support.model.confinement import confined, secrets
from tests.support.model.facts import Json

_ = ABSENT

STYLES: Final = ("sound",) * 9 + ("violation",) * 2 + ("near",) * 2 + ("wild",)


def make_run(pick: Pick) -> Json:
    """Return a run of a proposal: faithful, retried, disturbed, measured at every limit."""
    proposal = make_proposal(pick, STYLES)
    required = proposal["spec"]["required_outputs"]
    if pick((False, False, True)):
        confine_the_unknown(proposal)
    calls = faithful_calls(proposal)
    if pick((False, False, True)):
        calls = [one for call in calls for one in retried(pick, call)]
    if calls and pick((*(False,) * 24, True)):
        calls = [*insisted(pick, calls[0]), *calls[1:]]
    for _time in range(pick((0, 0, 0, 0, 1, 1, 2))):
        calls = disturbed(pick, proposal, calls)
    if pick((False,) * 15 + (True,)):
        calls = []
    if pick((*(False,) * 5, True)):
        leak_by_key(pick, proposal, calls)
    for call in calls:
        call.setdefault("attempt", 1)
    budget = proposal["ctx"].get("run_budget")
    if budget is None and pick((True, True, False)):
        budget = proposal["ctx"]["run_budget"] = {"max_steps": 12, "bucket_tokens": 8000}
    if budget is not None and pick((True, False)):
        budget["wall_ms"] = pick((0, 1, 100, 2**52))
    trace = proposal["ctx"]["trace_id"]
    return {
        "run_id": pick((*("r",) * 19, "R")),
        "trace_id": pick((*(trace,) * 19, "T")),
        "proposal": proposal,
        "calls": calls,
        "outputs": outputs(pick, required),
        **measures(pick, proposal, budget or {}),
    }


def faithful_calls(proposal: Json) -> list[Json]:
    """Return one completed call for each tool step, in order."""
    return [
        {
            "step": index,
            "adapter_id": step["adapter_id"],
            "capability_id": step["capability_id"],
            "args": step["args"],
            "status": "completed",
            "tokens": 1,
        }
        for index, step in enumerate(proposal["plan"]["steps"])
        if step["kind"] == "tool"
    ]


def a_call(pick: Pick, proposal: Json) -> Json:
    pair = pick(PAIRS)
    named = {"adapter_id": pair[0], "capability_id": pair[1]}
    args = record(pick, alphabet.ARGS)
    return {"step": pick((0, 1, 2, 5)), **named, "args": args, **record(pick, alphabet.CALL)}


def disturbed(pick: Pick, proposal: Json, calls: list[Json]) -> list[Json]:
    """Return the calls with one of them added, dropped, repeated, moved or changed."""
    how = pick(("retry", "redraw", "again", "retype", "drop", "swap", "args", "pair", "add"))
    if not calls or how == "add":
        return [*calls, a_call(pick, proposal)]
    place = pick(tuple(range(len(calls))))
    before, call, after = calls[:place], dict(calls[place]), calls[place + 1 :]
    if how == "drop":
        return before + after
    if how == "swap":
        return [call, *before, *after]
    if how in ("retry", "again"):
        first = {**call, "status": pick(("failed", "timed_out", "unknown"))}
        second = {**call, "attempt": pick((2, 2, 3, 1))}
        keyed = {"idempotency_key": "i1"} if pick((True, False)) else {}
        return [*before, {**first, **keyed}, *pick(([], after)), {**second, **keyed}]
    if how == "retype":
        call["args"] = {name: retyped(value) for name, value in call["args"].items()}
    if how == "args":
        call["args"] = dict(call["args"])
        redraw(pick, call["args"], alphabet.ARGS)
    if how == "pair":
        call["adapter_id"], call["capability_id"] = pick(PAIRS)
    if how == "redraw":
        redraw(pick, call, alphabet.CALL)
    return [*before, call, *after]


def confine_the_unknown(proposal: Json) -> None:
    """Confined evidence that has no content, so that no one can look for it."""
    items = proposal["compiled"]["manifests"]["evidence_manifest"]
    if all(item["id"] != "e9" for item in items):
        items.append({"id": "e9", "classification": "secret"})
    spec = proposal["spec"]
    spec["confined_evidence"] = [*spec.get("confined_evidence", []), "secret"]


def retried(pick: Pick, call: Json) -> list[Json]:
    """Return the call after one that failed, timed out, or ended with unknown status."""
    first = {**call, "status": pick(("failed", "timed_out", "unknown", "completed"))}
    keys = pick((("i1", "i1"), ("i1", "i1"), ("i1", "i2"), (_, _), ("", "")))
    second = {**call, "attempt": pick((2, 2, 2, 1))}
    return [
        {**one, **optional("idempotency_key", key)}
        for one, key in zip((first, second), keys, strict=True)
    ]


def leak_by_key(pick: Pick, proposal: Json, calls: list[Json]) -> None:
    """Put confined content into the idempotency key of a call, if there is any."""
    found = [text for item in confined(proposal) for text in secrets(item)]
    if calls and found:
        pick(calls)["idempotency_key"] = f"pay-{pick(found)}"


def insisted(pick: Pick, call: Json) -> list[Json]:
    """Return about as many attempts of the call as are allowed, often each with other args."""
    last = pick((10, 11, 11, 12, 12, 13))
    differing = pick((False, True, True))
    tries = [
        {**call, "status": "failed", "attempt": attempt, "idempotency_key": "i1"}
        for attempt in range(1, last + 1)
    ]
    for attempt in range(last if differing else 0):
        tries[attempt]["args"] = {**call["args"], "v": min(attempt, pick((4, 10, 11, 12)))}
    return [*tries[:-1], {**tries[-1], "status": pick(("completed", "failed"))}]


def outputs(pick: Pick, required: list[str]) -> Json:
    delivered: Json = {name: pick((1, 1, 1, 1, "xxabcdefghxx")) for name in required}
    if required and pick((False, False, False, True)):
        name, value = pick(required), pick((_, None, "1", 1.0, [], {"refund 24500 for pay_1.": 0}))
        delivered.pop(name, None)
        delivered.update(optional(name, value))
    delivered.update(
        optional("o9", pick((_, _, _, ["a refund 24500 for pay_1. b"], "24,500 and 1,2")))
    )
    return delivered


def around(pick: Pick, budget: int) -> Any:
    """Return zero, within, at, just over, twice, and just over twice the budget."""
    edges = (_, 0, budget, budget, budget + 1, 2 * budget, 2 * budget + 1)
    value = pick(edges)
    return value if value is ABSENT or value < 2**53 else budget


def measures(pick: Pick, proposal: Json, budget: Json) -> Json:
    spent = proposal["ctx"].get("spent", {}).get("tokens", 0)
    tokens = around(pick, budget.get("bucket_tokens", 8000))
    if tokens is not ABSENT and pick((True, False)):
        tokens = max(tokens - spent, 0)
    return {
        **optional("tokens", pick((_, tokens))),
        **optional("wall_ms", around(pick, budget.get("wall_ms", 100))),
        **optional("cost_micros", around(pick, budget.get("cost_micros", 100))),
    }


# --- verdicts, as `consolidate` is given them -------------------------------------------------

KINDS_OF: Final = {
    "coverage": ("violates_decision_spec",),
    "surface": ("violates_decision_spec",),
    "approval": ("approval_mode_mismatch",),
    "evidence": ("missing_evidence",),
    "loop": ("loop_guard", "budget_exceeded"),
}
EVALUATORS: Final = ("policy", "utility", "latency", "safety", "cost")
WORDS: Final = (
    "x",
    "",
    HOSTILE,
    "a > b",
    "\u2014",
    "e\u0301",
    "\U0001f600",
    "&amp;",
    "\x7f",
    "o'k \\",
)
LENGTHS: Final = (
    0,
    1,
    40,
    100,
    180,
    205,
    210,
    214,
    215,
    220,
    225,
    230,
    234,
    236,
    240,
    245,
    460,
    500,
)
SHARES: Final = (0, 0.0, 0.005, 0.015, 0.125, 1 / 3, 0.5, 0.675, 0.994999, 0.995, 1, 1.0)
TIMES: Final = (
    "2026-05-09T10:00:00Z",
    "2026-05-09T15:30:00+05:30",
    "2026-05-09t09:59:59.100z",
    "2026-12-31T23:59:59.999999-00:01",
)


def make_verdicts(pick: Pick) -> Json:
    """Return arguments of `consolidate`, with messages around the length limit of a rationale."""
    verify, scored = a_refusal(pick), None
    if pick((True, True, True, False)):
        verify = {"ok": True, "reasons": [text(pick)], "caveats": pick(([], [text(pick)]))}
        scored = pick((None, *(True,) * 5)) and a_score(pick)
    return {
        "trace_id": "t",
        "decision_key": "d",
        "verify": verify,
        **({} if scored is None else {"score": scored}),
        "decided_at": pick(TIMES),
    }


def text(pick: Pick) -> str:
    """Return words, or plain letters up to a length near the limit."""
    longer: int = pick(LENGTHS) + pick((-1, 0, 1, 2))
    return str(pick(WORDS)) + "y" * longer


def a_refusal(pick: Pick) -> Json:
    check = pick(tuple(KINDS_OF))
    first = {"check": check, "kind": pick(KINDS_OF[check]), "reason": text(pick)}
    first.update(optional("offending_step", pick((_, 0, 7))))
    lead = {name: value for name, value in first.items() if name not in ("check", "reason")}
    second = {"check": "loop", "kind": "loop_guard", "reason": "more"}
    violations = [first, *pick(([], [second], [second, second]))]
    return {"ok": False, **lead, "reasons": [first["reason"]], "violations": violations}


def a_score(pick: Pick) -> Json:
    """Return a score, now and then of another trace."""
    trace = pick((*("t",) * 9, "T"))
    scores = {name: {**an_evaluator(pick, name), "trace_id": trace} for name in EVALUATORS}
    ok = "fail" not in (scores["policy"]["status"], scores["safety"]["status"])
    return {"ok": ok, "scorecard": {"run_id": "r", "trace_id": trace, "scores": scores}}


def an_evaluator(pick: Pick, name: str) -> Json:
    worst = pick(("pass", "pass", "pass", "pass", "warn", "fail"))
    severity = {"pass": "info", "warn": "warn", "fail": "error"}[worst]
    findings = [
        {"severity": pick((severity, severity, "info")), "message": text(pick)}
        for _time in range(pick((0, 1, 2, 3, 11)) if worst != "pass" else pick((0, 0, 1)))
    ]
    if worst != "pass":
        findings.append({"severity": severity, "message": text(pick)})
    return {
        "evaluator_id": name,
        "evaluator_version": "1",
        "score": pick([share for share in SHARES if share or worst != "pass"]),
        "status": worst,
        "findings": findings,
    }
