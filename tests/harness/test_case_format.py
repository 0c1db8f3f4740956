"""The case format itself: what is a case, what is not, and what renewing may and may not do."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.cases import (
    Contradiction,
    case_files,
    contradiction,
    difference,
    judge_case,
    parse_case,
    problem,
    read_case,
    render_case,
    renewed,
    run_case,
    update_file,
)
from harness.wire import InvalidInput
from tests.support.paths import ROOT

PROPOSAL: dict[str, Any] = {
    "ctx": {"trace_id": "trace_1", "safety_mode": "read_only"},
    "compiled": {"manifests": {"tool_manifest": [], "evidence_manifest": []}},
    "spec": {"id": "nothing", "required_outputs": []},
    "plan": {"steps": [], "declared_outputs": []},
}
PASSED = {
    "verdict": {"ok": True, "reasons": ["0 steps, 0 required outputs covered"], "caveats": []}
}
CASE: dict[str, Any] = {"title": "nothing to do", "command": "verify", "input": PROPOSAL}


def spelled(**changes: Any) -> bytes:
    return json.dumps({**CASE, **changes}).encode()


def without_input(**changes: Any) -> bytes:
    kept = {name: part for name, part in CASE.items() if name != "input"}
    return json.dumps({**kept, **changes}).encode()


def test_a_new_case_gets_its_expectation() -> None:
    case = renewed(parse_case(spelled(must={"ok": True})))
    assert json.loads(render_case(case)) == {**CASE, "must": {"ok": True}, "expect": PASSED}
    assert problem(case) is None


def test_rendering_keeps_the_order_of_fields_and_of_the_input() -> None:
    case = renewed(parse_case(spelled(must={"ok": True})))
    names = [
        line[3:].split('"')[0]
        for line in render_case(case).decode().splitlines()
        if line[:3] == '  "'
    ]
    assert names == ["title", "command", "input", "must", "expect"]
    assert parse_case(render_case(case)) == case
    assert render_case(parse_case(render_case(case))) == render_case(case)


def test_rendering_shows_hidden_characters_and_spares_the_em_dash() -> None:
    title = "а\u202e\u007f\u00e9\U0001f600 — x"
    data = render_case(parse_case(spelled(title=title)))
    assert b'"\\u0430\\u202e\\u007f\\u00e9\\ud83d\\ude00 \xe2\x80\x94 x"' in data
    assert parse_case(data).title == title


@pytest.mark.parametrize(
    "data",
    [
        without_input(),
        without_input(input=None),
        spelled(input_text="{}"),
        without_input(input_text="{}", input_base64="e30="),
        without_input(input_base64="no base64!"),
        spelled(command="refuse"),
        spelled(note="unknown"),
        spelled(must=None),
        spelled(must={}),
        spelled(must={"invalid": False}),
        spelled(must={"invalid": True, "ok": False}),
        spelled(must={"ok": False}),
        spelled(must={"ok": True, "kind": "loop_guard"}),
        spelled(must={"kind": "loop_guard"}),
        spelled(must={"ok": False, "kind": "too_scary"}),
        spelled(must={"status": "completed"}),
        spelled(must={"ok": True, "evaluators": {}}),
        spelled(command="score", must={"ok": True, "evaluators": {"charm": "pass"}}),
        spelled(expect={}),
        spelled(expect={**PASSED, "error": {"path": "", "message": ""}}),
        without_input(input=[0]).replace(b"[0]", b"[1e400]"),
        b'{"title": "a", "title": "b", "command": "verify", "input_text": ""}',
        b"",
    ],
)
def test_what_is_not_a_case_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        parse_case(data)


def test_an_input_that_json_cannot_carry_is_kept_as_text_or_base64() -> None:
    for changes in ({"input_text": '{"a": 1, "a": 2}'}, {"input_base64": "//4="}):
        case = renewed(parse_case(without_input(must={"invalid": True}, **changes)))
        assert problem(case) is None
        assert parse_case(render_case(case)) == case


def test_large_numbers_of_an_input_reach_the_engine_as_they_are() -> None:
    case = parse_case(without_input(input=10**400))
    assert case.document() == str(10**400).encode()
    assert render_case(parse_case(render_case(case))) == render_case(case)


def test_an_error_of_the_input_is_an_outcome() -> None:
    found = judge_case("score", b"[]")
    assert found.verdict is None
    assert found.error is not None
    assert found.error.path == ""


def test_a_refused_plan_with_a_score_is_not_an_input_of_consolidate() -> None:
    case = read_case(ROOT / "fixtures/cases/consolidate/invalid-refused-and-scored.json")
    found = run_case(case)
    assert found.error is not None
    assert "has no score" in found.error.message


def test_a_difference_is_shown_line_by_line() -> None:
    wrong = {"verdict": {**PASSED["verdict"], "reasons": ["9 steps, 0 required outputs covered"]}}
    text = problem(parse_case(spelled(expect=wrong)))
    assert text is not None
    assert '-      "9 steps, 0 required outputs covered"' in text.splitlines()
    assert '+      "0 steps, 0 required outputs covered"' in text.splitlines()


def test_equal_numbers_are_no_difference() -> None:
    whole = parse_case(spelled(expect={"verdict": {"score": 1}}))
    real = parse_case(spelled(expect={"verdict": {"score": 1.0}}))
    assert whole.expect is not None
    assert real.expect is not None
    assert difference(whole.expect, real.expect) == ""


@pytest.mark.parametrize(
    ("must", "agrees"),
    [
        ({"ok": True}, True),
        ({"invalid": True}, False),
        ({"ok": False, "kind": "loop_guard"}, False),
    ],
)
def test_must_is_compared_with_the_outcome(must: dict[str, Any], agrees: bool) -> None:
    case = parse_case(spelled(must=must))
    assert (contradiction(case, run_case(case)) is None) is agrees


def test_a_refusal_is_pinned_with_the_step_it_names() -> None:
    plan = {
        "steps": [{"kind": "tool", "adapter_id": "a", "capability_id": "b"}],
        "declared_outputs": [],
    }
    refused = {"ok": False, "kind": "violates_decision_spec"}
    for must, agrees in (({**refused, "offending_step": 0}, True), (refused, False)):
        case = parse_case(spelled(input={**PROPOSAL, "plan": plan}, must=must))
        assert (contradiction(case, run_case(case)) is None) is agrees


def test_a_score_is_pinned_by_the_evaluators_that_are_named() -> None:
    run = {
        "run_id": "run_1",
        "trace_id": "trace_1",
        "proposal": PROPOSAL,
        "calls": [],
        "outputs": {},
    }
    for named, agrees in (({}, True), ({"cost": "pass"}, True), ({"cost": "warn"}, False)):
        case = parse_case(
            spelled(command="score", input=run, must={"ok": True, "evaluators": named})
        )
        assert (contradiction(case, run_case(case)) is None) is agrees


def test_renewing_never_hides_a_contradiction(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_bytes(spelled(must={"ok": False, "kind": "loop_guard"}))
    with pytest.raises(Contradiction, match="must be"):
        update_file(path)
    assert path.read_bytes() == spelled(must={"ok": False, "kind": "loop_guard"})


def test_updating_a_file_says_whether_it_changed(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_bytes(spelled())
    assert update_file(path)
    assert not update_file(path)
    assert problem(read_case(path)) is None


def test_files_are_found_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b/z.json", "a/y.json", "a/x.json", "a/readme.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found = [str(path.relative_to(tmp_path)) for path in case_files(tmp_path)]
    assert found == ["a/x.json", "a/y.json", "b/z.json"]
    assert case_files(tmp_path / "b" / "z.json") == [tmp_path / "b" / "z.json"]
