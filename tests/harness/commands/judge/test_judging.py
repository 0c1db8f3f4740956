"""`critic verify` and `critic score`: documents in, one verdict for each out, in their order."""

import json
from pathlib import Path
from typing import Any

import pytest

from critic import score
from harness.testing.strategies import seeded_edge_proposal, seeded_edge_run
from tests.harness.commands.lines import GOOD, GOOD_SAID, REFUSED, REFUSED_SAID, origins, read
from tests.harness.console import Critic
from tests.support.examples import (
    PLAN_A,
    PLAN_B,
    PLAN_B_RUN,
    good_proposal,
    good_run,
    is_safe,
    proposal_of,
    refused_proposal,
    run_of,
)
from tests.support.guarding import bare
from tests.support.judging import judge_proposal, with_changes
from tests.support.late_refund import late_refund


def spelled(wire: Any) -> str:
    return json.dumps(wire, separators=(",", ":"))


# --- verify, for a person ---------------------------------------------------------------------


def test_a_plan_that_passes_is_ok_on_one_line(critic: Critic) -> None:
    said = critic("verify", PLAN_B)
    assert said == (0, f"{PLAN_B}: ok: 2 steps, 2 required outputs covered\n", "")


def test_a_plan_that_is_refused_with_everything_against_it(critic: Critic) -> None:
    first, *more = judge_proposal(proposal_of(refused_proposal())).wire()["violations"]
    said = critic("verify", PLAN_A)
    assert (said.status, said.err) == (1, "")
    assert said.lines == [
        f"{PLAN_A}: refused: missing_evidence: {first['reason']}",
        *(f"  also {one['kind']}: {one['reason']}" for one in more),
    ]
    assert more, "every violation is told, not the first alone"


@pytest.mark.parametrize(
    ("evidence", "head"),
    [
        ([], "refused, needs approval: approval_mode_mismatch: step 1 mode destructive needs"),
        (["nothing_such"], "refused: approval_mode_mismatch: step 1 mode destructive needs"),
    ],
)
def test_a_refusal_that_a_person_can_clear_says_so(
    critic: Critic, tmp_path: Path, evidence: list[str], head: str
) -> None:
    tiers = {"approval_required_from": "destructive", "required_evidence": evidence}
    wire = with_changes(good_proposal(), "spec", **tiers)
    (tmp_path / "p.json").write_text(json.dumps(wire))
    said = critic("verify", tmp_path / "p.json")
    assert said.status == 1
    assert said.lines[0].startswith(f"{tmp_path / 'p.json'}: {head} approval")


def test_caveats_stand_under_the_verdict(critic: Critic, tmp_path: Path) -> None:
    wire = good_proposal()
    del wire["compiled"]["manifests"]["tool_manifest"][0]["args_schema"]
    (tmp_path / "p.json").write_text(json.dumps(wire))
    said = critic("verify", tmp_path / "p.json")
    assert said.status == 0
    assert said.lines[1:] == ["  caveat: args not checked, no args_schema: step 0"]


def test_conditions_of_a_late_plan_stand_under_the_verdict(critic: Critic, tmp_path: Path) -> None:
    """Also who chooses the value: whoever adds an element before a place that counts them."""
    wire = late_refund().wire()
    wire["plan"]["steps"][2]["takes"][0]["at"] = "/0/amount_inr"
    (tmp_path / "p.json").write_text(json.dumps(wire))
    said = critic("verify", tmp_path / "p.json")
    assert said.status == 0
    told = [line for line in said.lines if line.startswith("  condition value at /takes/0: ")]
    assert len(told) == 1
    assert told[0].endswith("whoever adds one before it chooses the value")
    bound = [line for line in said.lines if line.startswith("  condition binding at /args/")]
    assert len({*bound}) == 2


def test_several_files_are_judged_in_their_order(critic: Critic) -> None:
    said = critic("verify", PLAN_B, PLAN_A, PLAN_B)
    assert said.status == 1
    heads = [line for line in said.lines if not line.startswith("  ")]
    assert [line.split(": ")[1] for line in heads] == ["ok", "refused", "ok"]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_invalid_input_outweighs_a_refusal(critic: Critic, order: tuple[int, ...]) -> None:
    files = [PLAN_A, PLAN_B, PLAN_B_RUN]  # a Run is not a Proposal
    said = critic("verify", *(files[at] for at in order))
    assert said.status == 2
    assert all(
        line.startswith(f"{PLAN_B_RUN}: invalid input at /") for line in said.err.splitlines()
    )
    assert [line for line in said.lines if "refused: " in line]
    assert [line for line in said.lines if ": ok: " in line]


def test_json_may_be_asked_for(critic: Critic) -> None:
    said = critic("verify", "--format", "json", PLAN_A, PLAN_B)
    assert (said.status, said.err) == (1, "")
    starts = [spelled(REFUSED_SAID)[:-1], spelled(GOOD_SAID)[:-1]]
    assert [line[: len(start)] for line, start in zip(said.lines, starts, strict=True)] == starts
    assert origins(said.lines) == [
        {"trace_id": "trace_refund_881", "file": str(path)} for path in (PLAN_A, PLAN_B)
    ]


def test_standard_input_is_judged(critic: Critic) -> None:
    said = critic("verify", "-", stdin=GOOD)
    assert said == (0, "standard input: ok: 2 steps, 2 required outputs covered\n", "")
    said = critic("verify", PLAN_B, "-", "--format", "json", stdin=REFUSED)
    assert (said.status, read(said.lines)) == (1, [GOOD_SAID, REFUSED_SAID])


# --- lines ------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_each_line_gets_one_verdict(critic: Critic, tmp_path: Path, end: bytes, last: bool) -> None:
    path = tmp_path / "plans.jsonl"
    path.write_bytes(end.join([GOOD, REFUSED, GOOD]) + (end if last else b""))
    said = critic("verify", path)
    assert (said.status, said.err) == (1, "")
    assert read(said.lines) == [GOOD_SAID, REFUSED_SAID, GOOD_SAID]
    place = {"trace_id": "trace_refund_881", "file": str(path)}
    assert origins(said.lines) == [{**place, "line": number} for number in (1, 2, 3)]


def test_a_bad_line_is_reported_in_its_place_and_the_rest_still_runs(critic: Critic) -> None:
    wire = good_proposal()
    wire["ctx"]["safety_mode"] = None
    lines = [
        *(GOOD, b"{", b"[1]", REFUSED, b"\xff", json.dumps(wire).encode(), b"[]", b'{"a":1,"a":1}'),
        *(b"\xef\xbb\xbf" + GOOD, GOOD + b" x", GOOD),
    ]
    said = critic("verify", "--lines", "-", stdin=b"\n".join(lines))
    assert (said.status, said.err) == (2, "")
    answers = read(said.lines)
    assert len(answers) == len(lines)
    assert [answers[at] for at in (0, 3, 10)] == [GOOD_SAID, REFUSED_SAID, GOOD_SAID]
    errors = [answers[at]["error"] for at in (1, 2, 4, 5, 6, 7, 8, 9)]
    assert all(set(answers[at]) == {"error"} for at in (1, 2, 4, 5, 6, 7, 8, 9))
    assert all(set(error) == {"path", "message"} for error in errors)
    assert [error["path"] for error in errors] == ["", "", "", "/ctx/safety_mode", "", "/a", "", ""]
    assert all(error["message"] and is_safe(error["message"]) for error in errors)


def test_lines_for_a_person_name_the_line(critic: Critic, tmp_path: Path) -> None:
    path = tmp_path / "plans.jsonl"
    path.write_bytes(b"\n".join([GOOD, b"{", REFUSED]))
    said = critic("verify", "--format", "text", path)
    assert said.status == 2
    assert said.lines[0] == f"{path} line 1: ok: 2 steps, 2 required outputs covered"
    assert said.lines[1].startswith(f"{path} line 3: refused: missing_evidence: ")
    assert said.err.startswith(f"{path} line 2: invalid input: not strict JSON: ")


def test_a_file_by_the_name_of_jsonl_is_read_by_lines_and_others_on_demand(
    critic: Critic, tmp_path: Path
) -> None:
    for name in ("plans.jsonl", "plans.json"):
        (tmp_path / name).write_bytes(GOOD + b"\n" + GOOD)
    assert len(critic("verify", tmp_path / "plans.jsonl").lines) == 2
    said = critic("verify", tmp_path / "plans.json")
    assert (said.status, said.out) == (2, "")
    assert "trailing" in said.err
    assert len(critic("verify", "--lines", tmp_path / "plans.json").lines) == 2


def test_an_empty_file_is_not_a_pass(critic: Critic, tmp_path: Path) -> None:
    for name in ("none.json", "none.jsonl"):
        (tmp_path / name).touch()
    said = critic("verify", tmp_path / "none.jsonl")
    empty = "empty: expected one JSON document"
    assert (said.status, read(said.lines)) == (2, [{"error": {"path": "", "message": empty}}])
    said = critic("verify", tmp_path / "none.json")
    assert (said.status, said.out) == (2, "")
    assert said.err == f"{tmp_path / 'none.json'}: invalid input: {empty}\n"
    assert critic("verify", "-").status == 2
    assert critic("verify", "--lines", "-").status == 2


@pytest.mark.parametrize("blank", [b"", b" ", b"\t \r", b"\x0b\x0c"])
def test_a_blank_line_is_skipped_and_counted(critic: Critic, blank: bytes) -> None:
    said = critic("verify", "--lines", "-", stdin=b"\n".join([GOOD, blank, blank, REFUSED, b""]))
    assert said.status == 1
    assert read(said.lines) == [GOOD_SAID, REFUSED_SAID]
    assert [origin["line"] for origin in origins(said.lines)] == [1, 4]


def test_blank_lines_alone_are_not_a_pass(critic: Critic) -> None:
    assert critic("verify", "--lines", "-", stdin=b"\n \n\n").status == 2


def test_every_problem_of_an_input_is_shown_with_its_path(critic: Critic) -> None:
    wire = good_proposal()
    wire["ctx"]["safety_mode"] = "admin"
    wire["spec"]["unknown"] = 1
    wire["plan"]["steps"][1]["evidence_refs"] = 5
    paths = ["/ctx/safety_mode", "/spec/unknown", "/plan/steps/1/evidence_refs"]
    said = critic("verify", "-", stdin=json.dumps(wire).encode())
    assert said.status == 2
    assert [line.split(": ")[1] for line in said.err.splitlines()] == [
        f"invalid input at {path}" for path in paths
    ]
    (answer,) = [
        json.loads(line)
        for line in critic("verify", "--lines", "-", stdin=json.dumps(wire).encode()).lines
    ]
    assert [problem["path"] for problem in answer["errors"]] == paths
    assert answer["error"]["path"] == paths[0]
    assert answer["error"]["message"].endswith(" (and 2 more)")


# --- parts and advice -------------------------------------------------------------------------


@pytest.fixture
def parts(tmp_path: Path) -> list[str | Path]:
    """Write the parts of the good proposal, and name them as options."""
    wire = good_proposal()
    options: list[str | Path] = []
    for option, part in (("context", "ctx"), ("compiled", "compiled"), ("spec", "spec")):
        path = tmp_path / f"{part}.json"
        path.write_text(json.dumps(wire[part]))
        options += [f"--{option}", path]
    return options


def test_plans_are_judged_against_parts_that_are_given_apart(
    critic: Critic, parts: list[str | Path]
) -> None:
    plans = [json.dumps(wire["plan"]).encode() for wire in (good_proposal(), refused_proposal())]
    said = critic("verify", *parts, "--lines", "-", stdin=b"\n".join([*plans, GOOD]))
    assert said.status == 2
    good, refused, proposal = read(said.lines)
    assert (good, refused) == (GOOD_SAID, REFUSED_SAID)
    assert "error" in proposal
    assert origins(said.lines)[0]["trace_id"] == "trace_refund_881"


def test_parts_must_be_complete_and_valid(
    critic: Critic, parts: list[str | Path], tmp_path: Path
) -> None:
    said = critic("verify", *parts[:2], "-", stdin=b"{}")
    assert (said.status, said.out) == (2, "")
    assert said.err.endswith("add --compiled and --spec\n")
    (tmp_path / "spec.json").write_text('{"id": "s"}')
    said = critic("verify", *parts, "-", stdin=b"{}")
    assert (said.status, said.out) == (2, "")
    assert "spec.json: not a DecisionSpec: /required_outputs: " in said.err
    assert critic("verify", "--spec", tmp_path / "gone", *parts[:4], "-").status == 2


def test_advice_says_how_to_fix_a_refused_plan(critic: Critic) -> None:
    said = critic("verify", "--advise", PLAN_A)
    fixes = [line for line in said.lines if line.startswith("  fix: ")]
    assert said.status == 1
    assert fixes[0].startswith("  fix: step 1: pin refund_window_evidence: ")
    (answer,) = critic("verify", "--advise", "--format", "json", PLAN_A).lines
    advice = json.loads(answer)["advice"]
    assert (advice["disposition"], len(advice["repairs"])) == ("replan", len(fixes))
    assert "advice" not in json.loads(
        critic("verify", "--advise", "--format", "json", PLAN_B).lines[0]
    )


def test_every_verdict_is_the_one_that_verify_gives(critic: Critic) -> None:
    proposals = [seeded_edge_proposal(seed) for seed in range(60)]
    said = critic(
        *("verify", "--lines", "-"),
        stdin="\n".join(json.dumps(one.wire()) for one in proposals).encode(),
    )
    verdicts = [judge_proposal(one) for one in proposals]
    assert [*map(bare, read(said.lines))] == [verdict.wire() for verdict in verdicts]
    assert said.status == 1
    assert len({verdict.ok for verdict in verdicts}) == 2


# --- score ------------------------------------------------------------------------------------


def test_a_run_that_is_ok_is_shown_with_every_score(critic: Critic) -> None:
    said = critic("score", PLAN_B_RUN)
    assert (said.status, said.err) == (0, "")
    assert said.lines == [
        f"{PLAN_B_RUN}: ok",
        "  policy  pass 1.00",
        "  utility pass 1.00",
        "  latency pass 1.00",
        "  safety  pass 1.00",
        "  cost    pass 1.00",
    ]


def test_a_run_that_is_refused_with_its_findings(critic: Critic, tmp_path: Path) -> None:
    wire = good_run()
    wire["calls"][1]["args"]["amount_inr"] = 24501
    del wire["wall_ms"]
    (tmp_path / "run.json").write_text(json.dumps(wire))
    said = critic("score", tmp_path / "run.json")
    assert (said.status, said.err) == (1, "")
    assert said.lines[:3] == [
        f"{tmp_path / 'run.json'}: refused",
        "  policy  fail 0.50",
        "    error: call 1 of step 1 has other args than its step",
    ]
    assert "    warn: wall_ms has a budget of 5000 but was not measured" in said.lines


def test_a_score_says_when_verify_refuses_the_plan_that_ran(critic: Critic, tmp_path: Path) -> None:
    wire = good_run()
    wire["proposal"]["ctx"]["run_budget"] = {"max_steps": 1, "wall_ms": 5000}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(wire))
    said = critic("score", path)
    assert (said.status, said.err) == (0, "")
    assert said.lines[0] == f"{path}: ok"
    refusal = "loop_guard: plan has 2 steps, exceeds max_steps"
    assert said.lines[-1] == f"  note: verify refuses the plan of this run: {refusal}"
    assert read(critic("score", "--format", "json", path).lines) == [score(run_of(wire)).wire()]


def test_each_line_is_scored(critic: Critic) -> None:
    runs = [run_of(good_run()), *(seeded_edge_run(seed) for seed in range(25))]
    lines = [json.dumps(run.wire()).encode() for run in runs]
    said = critic("score", "--lines", "-", stdin=b"\n".join([*lines, GOOD, b""]))
    assert (said.status, said.err) == (2, "")
    *verdicts, error = read(said.lines)
    assert verdicts == [score(run).wire() for run in runs]
    assert set(error) == {"error"}
    assert {verdict["ok"] for verdict in verdicts} == {True, False}
