"""What a whole session was worth: the worst of its batches, and one line about it."""

import re
from types import ModuleType
from typing import Any

import pytest

from critic.session.session_report import (
    SessionReport,
    TurnReport,
    Worst,
    report_of,
    session_scores,
)
from evals import cost, latency, safety, utility
from evals.run import Run
from evals.verdict import EvaluatorVerdict, Finding, Severity, make_verdict
from harness.wire import InvalidInput, build
from tests.support.examples import good_run

DIGEST = "0" * 64


def whole(*, required: list[str], measured: dict[str, int], outputs: Any = None) -> Run:
    wire = good_run()
    proposal = wire["proposal"]
    budget = {"max_steps": 9, "bucket_tokens": 10, "wall_ms": 10, "cost_micros": 10}
    return build(
        Run,
        {
            "run_id": "session",
            "trace_id": proposal["ctx"]["trace_id"],
            "proposal": {
                **proposal,
                "ctx": {**proposal["ctx"], "run_budget": budget},
                "spec": {"id": "s", "required_outputs": required},
                "plan": {"steps": [], "declared_outputs": required},
            },
            "calls": [],
            "outputs": outputs or {},
            **measured,
        },
    )


WITHIN = {"wall_ms": 1, "tokens": 1, "cost_micros": 1}


def reported(
    *actions: Any,
    policy: Worst | None = None,
    safety: Worst | None = None,
    required: list[str] | None = None,
    **measured: int,
) -> SessionReport:
    run = whole(required=required or [], measured=WITHIN | measured)
    turns = [TurnReport(turn=at, action=one, plan_digest=DIGEST) for at, one in enumerate(actions)]
    scores = session_scores(run, policy or Worst(), safety or Worst())
    return report_of(turns, scores, session="s", whole=run, closed_at=None)


@pytest.mark.parametrize(
    ("actions", "counted"),
    [
        ([], "0 turns"),
        (["allow"], "1 turn"),
        (["refuse"], "1 turn, 1 not allowed"),
        (["allow", "ask", "refuse"], "3 turns, 2 not allowed"),
    ],
)
def test_the_line_counts_the_turns_and_those_that_were_not_allowed(
    actions: list[str], counted: str
) -> None:
    assert reported(*actions).rationale == f"all scores passed; {counted}"


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        ({"wall_ms": 20}, "latency"),
        ({"cost_micros": 20}, "cost"),
        ({"tokens": 20}, "cost"),
    ],
)
def test_the_line_says_what_was_over_a_limit(measured: Any, said: str) -> None:
    report = reported("allow", **measured)
    (part, counted) = report.rationale.split("; ")
    assert re.fullmatch(rf"{said} warn 0\.[0-9]{{2}}", part)
    assert (counted, report.status) == ("1 turn", "completed")


@pytest.mark.parametrize("said", ["utility", "latency", "cost"])
def test_the_line_says_what_warns(said: Any) -> None:
    warned = Finding(severity="warn", message="so so")
    line = report_with(**{said: make_verdict(said, "t", 0.5, [warned])}).rationale
    assert line == f"{said} warn 0.50; 0 turns"


@pytest.mark.parametrize("failed", ["policy", "safety", "utility"])
def test_the_line_shows_an_error_and_no_warning_before_it(failed: Any) -> None:
    kinds: tuple[Severity, ...] = ("warn", "error", "info", "error")
    found = [Finding(severity=kind, message=f"{kind} {at}") for at, kind in enumerate(kinds)]
    line = report_with(**{failed: make_verdict(failed, "t", 0.5, found)}).rationale
    assert line == f"{failed} fail: error 1 (and 1 more); 0 turns"


def report_with(**verdicts: EvaluatorVerdict) -> SessionReport:
    run = whole(required=[], measured=WITHIN)
    scores = session_scores(run, Worst(), Worst()).model_copy(update=verdicts)
    return report_of([], scores, session="s", whole=run, closed_at=None)


def failing(*messages: str) -> EvaluatorVerdict:
    errors = tuple(Finding(severity="error", message=one) for one in messages)
    return make_verdict("policy", "t", 0.0, errors)


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (["one"], "policy fail: turn 3: one"),
        (["one", "two"], "policy fail: turn 3: one (and 1 more)"),
        (["one", "two", "three"], "policy fail: turn 3: one (and 2 more)"),
        (["x" * 192, "y"], f"policy fail: turn 3: {'x' * 192} (and 1 more)"),
        (["x" * 193, "y"], f"policy fail: turn 3: {'x' * 192} (and 1 more)"),
        (["a\nb"], "policy fail: turn 3: a\\u000ab"),
    ],
)
def test_the_line_shows_the_first_error(messages: list[str], said: str) -> None:
    report = reported("allow", policy=Worst().add_verdict(3, failing(*messages)))
    assert report.rationale == f"{said}; 1 turn"
    assert report.status == "refused_by_critic"


def test_what_failed_comes_before_what_is_missing() -> None:
    worst = Worst().add_verdict(1, failing("bad"))
    report = reported("allow", policy=worst, safety=worst, required=["x"], wall_ms=20)
    parts = [part.partition(" ")[0] for part in report.rationale.split("; ")]
    assert parts == ["policy", "safety", "utility", "latency", "1"]
    assert reported(required=["x"]).status == "partial"


def test_a_line_is_at_most_five_hundred_characters() -> None:
    worst = Worst().add_verdict(1, failing("x" * 300, "y"))
    report = reported("allow", policy=worst, safety=worst, required=["z" * 100])
    assert len(report.rationale) == 500
    assert report.rationale.endswith("...")


def test_a_line_of_five_hundred_characters_is_not_cut() -> None:
    failed = [
        Worst().add_verdict(1, failing("x" * 300)),
        Worst().add_verdict(1, failing("y" * 150)),
    ]

    def line(length: int) -> str:
        policy, safety = failed
        name = "z" * length
        return reported("allow", policy=policy, safety=safety, required=[name]).rationale

    short = len(line(1)) - 1
    assert len(line(500 - short)) == 500
    assert line(500 - short).endswith("; 1 turn")
    assert len(line(501 - short)) == 500
    assert line(501 - short).endswith("...")


def test_the_worst_is_the_lowest_score_and_all_errors() -> None:
    warned = make_verdict("policy", "t", 0.7, (Finding(severity="warn", message="soft"),))
    worst = Worst().add_verdict(1, warned)
    assert (worst.score, worst.findings) == (0.7, ())
    assert worst.add_verdict(2, make_verdict("policy", "t", 1.0, ())).score == 0.7
    worst = (
        worst.add_verdict(2, failing("one", "two"))
        .add_verdict(3, warned)
        .add_verdict(4, failing("three"))
    )
    assert worst.score == 0.0
    messages = ["turn 2: one", "turn 2: two", "turn 4: three"]
    assert [one.message for one in worst.findings] == messages
    many = Worst(0.0, worst.findings * 333).add_verdict(5, failing("four", "five"))
    assert len(many.findings) == 1000
    assert many.findings[-1].message == "turn 5: four"


@pytest.mark.parametrize("name", ["kind", "policy", "safety"])
def test_what_a_turn_does_not_say_is_left_out(name: str) -> None:
    wire: dict[str, Any] = {"turn": 1, "action": "allow", "plan_digest": DIGEST}
    assert build(TurnReport, wire).wire() == wire
    with pytest.raises(InvalidInput):
        build(TurnReport, {**wire, name: None})


def test_a_report_is_read_as_it_was_written() -> None:
    wire = reported("allow", "refuse").wire()
    assert build(SessionReport, wire).wire() == wire
    for name in wire.keys() | {"closed_at"}:
        with pytest.raises(InvalidInput):
            build(SessionReport, {**wire, name: None})


@pytest.mark.parametrize("module", [cost, latency, safety, utility])
def test_an_evaluator_that_crashes_fails_by_its_name(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_run: Run) -> EvaluatorVerdict:
        raise ZeroDivisionError

    monkeypatch.setattr(module, "evaluate", crash)
    name = module.__name__.removeprefix("evals.")
    scores = reported("allow").scores.wire()
    assert scores[name]["evaluator_id"] == name
    assert {one for one in scores if scores[one]["status"] == "fail"} == {name}


@pytest.mark.parametrize("is_failing", [True, False])
def test_a_better_batch_makes_no_worse_one_better_in_whichever_order(is_failing: bool) -> None:
    scores = (0.5, 0.9, 0.2, 0.7)
    severity: Severity = "error" if is_failing else "warn"
    found = [(Finding(severity=severity, message=f"of {score}"),) for score in scores]
    verdicts = [make_verdict("policy", "t", *one) for one in zip(scores, found, strict=True)]
    worst = Worst()
    for turn, verdict in enumerate(verdicts):
        worst = worst.add_verdict(turn, verdict)
        assert worst.score == min(scores[: turn + 1])
    said = [f"turn {turn}: of {score}" for turn, score in enumerate(scores)]
    assert [one.message for one in worst.findings] == (said if is_failing else [])
