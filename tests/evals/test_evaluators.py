"""Runs that small changes of the evaluators would score wrongly, and that are rarely drawn."""

from typing import Any

import pytest
from pydantic import ValidationError

from critic import EvaluatorVerdict, Run, Scores
from evals import score_run
from evals.escaping import escape_line, escape_name, pointer
from evals.json_schemas import compile_schema, schema_faults
from evals.scorecard import run_evaluator
from tests.support.examples import good_run
from tests.support.examples import run_of as example_run
from tests.support.model.facts import Json

CALL = {"step": 0, "adapter_id": "a", "capability_id": "b", "args": {}, "status": "completed"}


def run_of(
    calls: list[Json], outputs: Json, ctx: Json, spec: Json, evidence: tuple[Json, ...] = ()
) -> Run:
    tool = {"adapter_id": "a", "capability_id": "b", "approval_mode": "network"}
    manifests = {"tool_manifest": [tool], "evidence_manifest": list(evidence)}
    step = {"kind": "tool", "adapter_id": "a", "capability_id": "b", "args": {}}
    proposal = {
        "ctx": {"trace_id": "t", "safety_mode": "network", **ctx},
        "compiled": {"manifests": manifests},
        "spec": {"id": "d", "required_outputs": [], **spec},
        "plan": {"steps": [step, step], "declared_outputs": []},
    }
    wire: Json = {"run_id": "r", "trace_id": "t", "proposal": proposal}
    return Run(**{**wire, "calls": calls, "outputs": outputs})


def messages(verdict: EvaluatorVerdict) -> list[tuple[str, str]]:
    return [(one.severity, one.message) for one in verdict.findings]


@pytest.mark.parametrize(
    "outputs", [{"o": ["abcd", "efgh"]}, {"abcd": "efgh"}, {"o": {"abcd": "efgh"}}]
)
def test_a_secret_is_found_whole_and_not_pieced_together(outputs: Json) -> None:
    item = {"id": "e", "classification": "k", "content": "abcdefgh"}
    spec = {"confined_evidence": ["k"]}
    assert score_run(run_of([], outputs, {}, spec, (item,))).scores.safety.status == "pass"
    leaking = {"o": ["abc", "xabcdefghx"]}
    assert score_run(run_of([], leaking, {}, spec, (item,))).scores.safety.status == "fail"


@pytest.mark.parametrize(("mode", "status"), [("network", "fail"), ("local_write", "pass")])
def test_an_idempotency_key_is_sent_too(mode: str, status: str) -> None:
    item = {"id": "e", "classification": "k", "content": "abcdefgh"}
    calls = [{**CALL, "idempotency_key": "pay-abcdefgh-1"}]
    run = run_of(calls, {}, {}, {"confined_evidence": ["k"]}, (item,)).wire()
    run["proposal"]["compiled"]["manifests"]["tool_manifest"][0]["approval_mode"] = mode
    assert score_run(Run(**run)).scores.safety.status == status


@pytest.mark.parametrize(
    ("spent", "tokens", "score"),
    [(60, 39, 0.0), (60, 40, 0.0), (60, 41, 100 / 101), (100, 0, 0.0), (101, 0, 100 / 101)],
)
def test_what_is_known_to_be_over_is_over_though_not_all_was_measured(
    spent: int, tokens: int, score: float
) -> None:
    ctx = {"run_budget": {"bucket_tokens": 100}, "spent": {"tokens": spent}}
    calls = [{**CALL, "tokens": tokens}, {**CALL, "step": 1}]
    verdict = score_run(run_of(calls, {}, ctx, {})).scores.cost
    assert verdict.score == pytest.approx(score)


@pytest.mark.parametrize(
    ("statuses", "severities"),
    [
        (["failed"], ["warn"]),
        (["failed", "completed"], ["info"]),
        (["completed", "failed"], ["warn"]),
        (["failed", "unknown", "completed"], ["info", "info"]),
        (["failed", "completed", "timed_out"], ["info", "warn"]),
        (["failed", "failed"], ["warn", "warn"]),
    ],
)
def test_a_call_is_recovered_by_a_later_one_that_completed(
    statuses: list[str], severities: list[str]
) -> None:
    calls = [{**CALL, "status": status} for status in statuses]
    verdict = score_run(run_of([*calls, {**CALL, "step": 1}], {}, {}, {})).scores.utility
    assert [severity for severity, _ in messages(verdict)] == severities


def test_the_first_place_that_breaks_the_schema_of_an_output_is_named() -> None:
    schema = {"items": {"type": "integer"}}
    spec = {"required_outputs": ["o"], "output_schemas": {"o": schema}}
    verdict = score_run(run_of([], {"o": [1, "x", "y"]}, {}, spec)).scores.utility
    assert ("error", "required output o does not satisfy its schema at /1") in messages(verdict)


def test_places_come_in_a_fixed_order_numbers_before_names() -> None:
    number = {"type": "integer"}
    inner = {"items": number, "additionalProperties": number}
    validator = compile_schema({"items": number, "additionalProperties": inner})

    def places(value: Any) -> list[str]:
        return [pointer(*error.path) for error in schema_faults(validator, value)]

    assert places(["x"] * 12) == [f"/{at}" for at in range(12)]
    value = {"b": ["x", "y"], "a": {"z": "x", "c": "x"}}
    assert places(value) == ["/a/c", "/a/z", "/b/0", "/b/1"]
    value = {"a": {"b": "x", "10": "x", "a": "x", "9": "x", "0": "x"}}
    assert places(value) == ["/a/0", "/a/9", "/a/10", "/a/a", "/a/b"]


def test_every_keyword_that_fails_at_a_place_is_named_in_order() -> None:
    keywords = {"const": 1, "enum": [1], "maximum": 1, "multipleOf": 2, "not": True, "type": "null"}
    ((path, named),) = schema_faults(compile_schema(keywords), 5)
    assert (path, named) == ((), tuple(sorted(keywords)))
    assert schema_faults(compile_schema({"type": "integer"}), 5) == []


def test_an_evaluator_that_raises_has_failed_the_run() -> None:
    def broken(_run: Run) -> EvaluatorVerdict:
        raise RuntimeError("secret")

    verdict = run_evaluator("safety", broken, run_of([], {}, {}, {}))
    assert verdict.wire() == {
        "evaluator_id": "safety",
        "evaluator_version": "2",
        "score": 0.0,
        "status": "fail",
        "findings": [{"severity": "error", "message": "evaluator_error: RuntimeError"}],
        "trace_id": "t",
    }


def test_a_verdict_under_another_name_is_a_contradiction() -> None:
    scores = dict(score_run(run_of([], {}, {}, {})).scores)
    with pytest.raises(ValidationError, match="under policy stands the verdict of cost") as caught:
        Scores(**{**scores, "policy": scores["cost"]})
    assert [one["type"] for one in caught.value.errors()] == ["contradiction"]


@pytest.mark.parametrize(
    ("char", "shown"),
    [
        ("\x1f", "\\u001f"),
        (" ", " "),
        ("~", "~"),
        ("\x7f", "\\u007f"),
        ("\uffff", "\\uffff"),
        ("\U00010000", "\\U00010000"),
        ("\U0010ffff", "\\U0010ffff"),
        ("\ufffe", "\\ufffe"),
    ],
)
def test_what_is_escaped_to_the_edges(char: str, shown: str) -> None:
    assert escape_name(char) == shown
    assert escape_line(char) == shown


def test_our_own_dash_is_allowed_in_a_line_and_not_in_a_name() -> None:
    assert escape_line("a \u2014 b") == "a \u2014 b"
    assert escape_name("a \u2014 b") == "a \\u2014 b"
    assert pointer("a~b", 0, "c/d") == "/a~0b/0/c~1d"


def test_the_evidence_of_a_reason_step_is_not_that_of_a_call() -> None:
    wire = good_run()
    refund = wire["proposal"]["plan"]["steps"][1]
    reason = {"kind": "reason", "evidence_refs": refund["evidence_refs"]}
    wire["proposal"]["plan"]["steps"].append(reason)
    before = len(score_run(example_run(wire)).scores.safety.findings)
    wire["calls"][1]["step"] = 2
    findings = [each.message for each in score_run(example_run(wire)).scores.safety.findings]
    assert len(findings) > before
    assert any("required evidence class refund_window_evidence" in each for each in findings)
