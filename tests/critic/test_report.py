"""Scores and reports: derived if possible, and never contradictory."""

import math
from datetime import datetime

import pytest
from hypothesis import given, settings
from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from critic import (
    CriticReport,
    EvaluatorVerdict,
    Finding,
    Refused,
    Run,
    Scorecard,
    ScoreVerdict,
    Verified,
    Violation,
    consolidate,
    score,
)
from evals.envelope import Envelope
from evals.timestamps import parse_time
from harness.testing.strategies import edge_runs
from harness.wire import build
from tests.support.effort import examples
from tests.support.examples import good_run, proposal_of, refused_at, refused_proposal, run_of
from tests.support.judging import judge_proposal
from tests.support.model.facts import Json
from tests.support.patience import PATIENT

LAW = settings(PATIENT, max_examples=examples(60))
NOON = parse_time("2026-05-09T12:00:00Z")
VERIFIED = Verified(reasons=("r",))
FIRST = Violation(check="evidence", kind="missing_evidence", reason="first", offending_step=1)


def scored() -> ScoreVerdict:
    return score(run_of(good_run()))


def report(
    verdict: Verified | Refused, judged: ScoreVerdict | None = None, trace_id: str | None = None
) -> CriticReport:
    """Return the report of these verdicts, by default of the trace that was scored."""
    scored_trace = "t" if judged is None else judged.scorecard.trace_id
    return consolidate(
        trace_id=trace_id or scored_trace,
        decision_key="d",
        verify=verdict,
        score=judged,
        decided_at=NOON,
    )


def contradicts(model: type[Envelope], wire: Json) -> None:
    with pytest.raises(ValidationError):
        model(**wire)


ERROR = Finding(severity="error", message="m")


def with_scores(**verdicts: Json) -> Json:
    """Return the wire form of a scorecard in which some evaluators have other verdicts."""
    wire = scored().scorecard.wire()
    for name, change in verdicts.items():
        wire["scores"][name] = {**wire["scores"][name], **change}
    return wire


FAILS = {"status": "fail", "score": 0.0, "findings": [ERROR.wire()]}


@pytest.mark.parametrize("hard", ["policy", "safety"])
def test_a_hard_failure_cannot_be_ok(hard: str) -> None:
    failed = build(Scorecard, with_scores(**{hard: FAILS}))
    contradicts(ScoreVerdict, {"ok": True, "scorecard": failed})
    assert bool(ScoreVerdict(ok=False, scorecard=failed)) is False


@pytest.mark.parametrize("soft", ["utility", "latency", "cost"])
def test_a_soft_failure_is_ok(soft: str) -> None:
    failed = build(Scorecard, with_scores(**{soft: FAILS}))
    contradicts(ScoreVerdict, {"ok": False, "scorecard": failed})
    assert bool(ScoreVerdict(ok=True, scorecard=failed)) is True


@LAW
@given(edge_runs())
def test_a_run_is_ok_exactly_where_policy_and_safety_did_not_fail(run: Run) -> None:
    verdict = score(run)
    scores = verdict.scorecard.scores
    assert bool(verdict) is verdict.ok
    assert verdict.ok is ("fail" not in (scores.policy.status, scores.safety.status))
    assert build(ScoreVerdict, verdict.wire()) == verdict


@pytest.mark.parametrize("name", ["policy", "utility", "latency", "safety", "cost"])
def test_a_scorecard_holds_all_five_each_under_its_own_name(name: str) -> None:
    wire = scored().scorecard.wire()
    without = {key: value for key, value in wire["scores"].items() if key != name}
    assert refused_at(Scorecard, {**wire, "scores": without}).path == f"/scores/{name}"
    foreign = wire["scores"]["policy" if name != "policy" else "safety"]
    swapped = {**wire["scores"], name: foreign}
    assert "stands the verdict of" in refused_at(Scorecard, {**wire, "scores": swapped}).message
    sixth = {**wire["scores"], "style": wire["scores"][name]}
    assert refused_at(Scorecard, {**wire, "scores": sixth}).path == "/scores/style"


@pytest.mark.parametrize("status", ["error", "skipped", "FAIL", "Pass", "", "warn", "fail", None])
def test_a_status_that_its_findings_do_not_give_is_none(status: object) -> None:
    wire = scored().scorecard.scores.policy.wire()
    contradicts(EvaluatorVerdict, {**wire, "status": status})


@pytest.mark.parametrize(
    ("severities", "status"),
    [
        ([], "pass"),
        (["info"], "pass"),
        (["info", "warn"], "warn"),
        (["warn", "error", "info"], "fail"),
    ],
)
def test_the_status_follows_from_the_findings(severities: list[str], status: str) -> None:
    wire = scored().scorecard.scores.policy.wire()
    wire["findings"] = [{"severity": one, "message": "m"} for one in severities]
    for said in ("pass", "warn", "fail"):
        if said == status:
            assert EvaluatorVerdict(**{**wire, "status": said}).status == status
        else:
            contradicts(EvaluatorVerdict, {**wire, "status": said})


@pytest.mark.parametrize("share", [math.nan, math.inf, -math.inf, -0.1, 1.1, "1", None, -1, 2])
def test_a_score_is_from_0_to_1(share: object) -> None:
    wire = scored().scorecard.scores.policy.wire()
    contradicts(EvaluatorVerdict, {**wire, "score": share})


@pytest.mark.parametrize("share", [0, 1, 0.0, 0.5, 1.0, 5e-324])
def test_whole_scores_are_scores(share: float) -> None:
    wire = scored().scorecard.scores.policy.wire()
    assert EvaluatorVerdict(**{**wire, "score": share}).score == share


def test_a_refused_plan_has_no_score() -> None:
    refused = judge_proposal(proposal_of(refused_proposal()))
    with pytest.raises(PydanticCustomError, match="a plan that verify refused has no score"):
        report(refused, scored())
    wire = {**report(refused).wire(), "score": scored().wire()}
    assert "has no score" in refused_at(CriticReport, wire).message


@pytest.mark.parametrize("failed", [None, "utility", "safety"])
def test_a_score_of_another_trace_is_no_score_of_this_one(failed: str | None) -> None:
    card = build(Scorecard, with_scores(**({failed: FAILS} if failed else {})))
    judged = ScoreVerdict(ok=failed != "safety", scorecard=card)
    fine = report(VERIFIED, judged)
    with pytest.raises(PydanticCustomError, match="of trace trace_refund_881, not of"):
        report(VERIFIED, judged, "another")
    foreign = {**fine.wire(), "trace_id": "another"}
    assert "not of the report's" in refused_at(CriticReport, foreign).message


def test_a_run_of_another_trace_that_policy_failed_is_reported_as_refused() -> None:
    facts = good_run()
    judged = score(run_of({**facts, "trace_id": "another"}))
    said = report(VERIFIED, judged, facts["trace_id"])
    assert (said.status, said.refused_at) == ("refused_by_critic", "score")
    assert said.rationale.startswith("policy fail: run of trace another is scored under trace ")
    assert build(CriticReport, said.wire()) == said


@pytest.mark.parametrize("name", ["policy", "utility", "latency", "safety", "cost"])
def test_the_verdicts_of_a_scorecard_are_of_its_trace(name: str) -> None:
    wire = with_scores(**{name: {"trace_id": "another"}})
    found = refused_at(Scorecard, wire)
    assert found.message == f"the verdict of {name} is of trace another, not of the scorecard's"


def test_a_rationale_names_how_each_evaluator_ended_and_is_quiet_about_information() -> None:
    warned = {"status": "warn", "score": 0.4, "findings": [{"severity": "warn", "message": "m"}]}
    told = {"status": "pass", "score": 1.0, "findings": [{"severity": "info", "message": "m"}]}
    for changes, tail in (
        ({"utility": told, "safety": told}, ""),
        (
            {"utility": FAILS, "latency": told, "cost": warned},
            "; utility fail 0.00, cost warn 0.40",
        ),
        ({"safety": warned}, "; safety warn 0.40"),
    ):
        judged = ScoreVerdict(ok=True, scorecard=build(Scorecard, with_scores(**changes)))
        assert report(VERIFIED, judged).rationale == "verify and score passed" + tail


def test_a_run_that_called_nothing_is_not_reported_as_good_whatever_it_claims() -> None:
    facts = good_run()
    assert facts["outputs"]
    judged = score(run_of({**facts, "calls": []}))
    assert "; utility fail 0.00" in report(VERIFIED, judged).rationale
    raised = {**facts["calls"][-1], "status": "failed", "error": "refund service is down"}
    judged = score(run_of({**facts, "calls": [*facts["calls"][:-1], raised], "outputs": {}}))
    assert "; utility fail 0.00" in report(VERIFIED, judged).rationale


@pytest.mark.parametrize("status", ["completed", "refused_by_critic", "partial", "COMPLETED", ""])
@pytest.mark.parametrize("refused_at_phase", ["verify", "score", None])
def test_status_and_phase_follow_from_the_verdicts(
    status: str, refused_at_phase: str | None
) -> None:
    failed = build(Scorecard, with_scores(safety=FAILS))
    reports = [
        report(Verified(reasons=("r",)), scored()),
        report(Verified(reasons=("r",)), ScoreVerdict(ok=False, scorecard=failed)),
        report(Refused.because((FIRST,))),
        report(Verified(reasons=("r",))),
    ]
    expected = [
        ("completed", None),
        ("refused_by_critic", "score"),
        ("refused_by_critic", "verify"),
        ("partial", None),
    ]
    for one, right in zip(reports, expected, strict=True):
        assert (one.status, one.refused_at) == right
        wire = {key: value for key, value in one.wire().items() if key != "refused_at"}
        wire |= {"status": status}
        wire |= {"refused_at": refused_at_phase} if refused_at_phase else {}
        if (status, refused_at_phase) == right:
            assert build(CriticReport, wire) == one
        else:
            contradicts(CriticReport, wire)


def test_a_report_has_a_time_with_a_zone() -> None:
    with pytest.raises(ValidationError, match="RFC 3339 time with a zone"):
        consolidate(
            trace_id="t",
            decision_key="d",
            verify=Verified(reasons=("r",)),
            decided_at=datetime(2026, 5, 9, 12),
        )


@LAW
@given(edge_runs())
def test_the_rationale_is_one_safe_line_of_500_characters_at_most(run: Run) -> None:
    verdict = judge_proposal(run.proposal)
    said = report(verdict, score(run) if verdict else None, run.proposal.ctx.trace_id)
    assert 0 < len(said.rationale) <= 500
    assert said.rationale.isprintable()
    assert not set(said.rationale) & set("<&")
    assert said.rationale.startswith("verify failed" if not verdict else ("verify ", "p", "s"))
    assert build(CriticReport, said.wire()) == said
