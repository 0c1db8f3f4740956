"""Verdicts as `consolidate` is given them, with messages around the length limit of a rationale."""

from typing import Final

from harness.testing._draw.edge_alphabet import HOSTILE
from harness.testing._draw.primitives import ABSENT, Json, Pick, optional

_: Final = ABSENT

KINDS_OF: Final = {
    "coverage": ("violates_decision_spec",),
    "surface": ("violates_decision_spec",),
    "approval": ("approval_mode_mismatch",),
    "evidence": ("missing_evidence",),
    "loop": ("loop_guard", "budget_exceeded"),
}
EVALUATORS: Final = ("policy", "utility", "latency", "safety", "cost")
WORDS: Final = (
    *("x", "", HOSTILE, "a > b", "\u2014", "e\u0301", "\U0001f600", "&amp;", "\x7f", "o'k \\"),
)
LENGTHS: Final = (
    *(0, 1, 40, 100, 180, 205, 210, 214, 215, 220, 225, 230, 234, 236, 240, 245, 460, 500),
)
SHARES: Final = (0, 0.0, 0.005, 0.015, 0.125, 1 / 3, 0.5, 0.675, 0.994999, 0.995, 1, 1.0)
TIMES: Final = (
    "2026-05-09T10:00:00Z",
    "2026-05-09T15:30:00+05:30",
    "2026-05-09t09:59:59.100z",
    "2026-12-31T23:59:59.999999-00:01",
)


def make_verdicts(pick: Pick) -> Json:
    """Return arguments of `consolidate`, which now and then contradict one another."""
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
