"""What a verdict must not say, and in which words that is refused."""

from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from critic import (
    Check,
    CriticReport,
    RefusalKind,
    Refused,
    ScoreVerdict,
    Verified,
    VerifyVerdict,
    Violation,
    score,
)
from tests.support.examples import good_run, run_of
from tests.support.model.facts import Json

KINDS = {
    "coverage": {"violates_decision_spec"},
    "surface": {"violates_decision_spec"},
    "approval": {"approval_mode_mismatch"},
    "evidence": {"missing_evidence"},
    "loop": {"loop_guard", "budget_exceeded"},
}
REPORT: Json = {
    "trace_id": "t",
    "decision_key": "d",
    "verify": {"ok": True, "reasons": ["r"]},
    "status": "partial",
    "rationale": "r",
    "decided_at": "2026-05-09T12:00:00Z",
}


def refused(model: Any, value: Any) -> tuple[str, str]:
    """Return the type and the message of the only error."""
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(model).validate_python(value)
    (error,) = caught.value.errors()
    return error["type"], error["msg"]


@pytest.mark.parametrize("check", get_args(Check))
@pytest.mark.parametrize("kind", get_args(RefusalKind))
def test_a_check_refuses_with_its_own_kinds_only(check: Check, kind: RefusalKind) -> None:
    wire: Json = {"check": check, "kind": kind, "reason": "r"}
    if kind in KINDS[check]:
        assert Violation(**wire).kind == kind
    else:
        said = f"check {check} never refuses with {kind}"
        assert refused(Violation, wire) == ("contradiction", said)


@pytest.mark.parametrize("ok", [1, 0, "true", None, 1.0])
def test_ok_is_a_boolean_in_so_many_words(ok: Any) -> None:
    for model in (Verified, Refused):
        wire = {"ok": ok, "reasons": ["r"]}
        assert refused(model, wire) == ("bool_type", "ok must be true or false")


@pytest.mark.parametrize("value", ["x", 1, None, [], ()])
def test_what_is_not_an_object_is_not_a_verdict(value: Any) -> None:
    models: tuple[Any, ...] = (Verified, Refused, VerifyVerdict)
    for model in models:
        with pytest.raises(ValidationError):
            TypeAdapter(model).validate_python(value)


def test_a_pass_is_true() -> None:
    assert bool(Verified(reasons=("r",))) is True
    assert Verified(reasons=("r", "s")).wire() == {"ok": True, "reasons": ["r", "s"], "caveats": []}


@pytest.mark.parametrize("name", ["policy", "utility", "latency", "safety", "cost"])
@pytest.mark.parametrize("share", [0, 0.0])
def test_an_evaluator_does_not_pass_with_score_0(name: str, share: float) -> None:
    wire = score(run_of(good_run())).wire()
    judged = wire["scorecard"]["scores"][name]
    assert judged["status"] == "pass"
    judged["score"] = share
    message = f"{name} has status pass and score 0"
    assert refused(ScoreVerdict, wire) == ("contradiction", message)
    judged["score"] = 0.005
    assert TypeAdapter(ScoreVerdict).validate_python(wire).ok


@pytest.mark.parametrize(
    "change",
    [
        {"status": "completed"},
        {"status": "refused_by_critic"},
        {"refused_at": "verify"},
        {"status": "refused_by_critic", "refused_at": "score"},
    ],
)
def test_a_report_says_what_follows_from_its_verdicts(change: Json) -> None:
    assert TypeAdapter(CriticReport).validate_python(REPORT).status == "partial"
    assert refused(CriticReport, {**REPORT, **change}) == (
        "contradiction",
        "status and refused_at do not follow from verify and score",
    )
