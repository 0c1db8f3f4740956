"""`critic gate`: the table, the exit statuses, and what keeps a gate from passing."""

import json
from pathlib import Path

import pytest

from harness.log import SqlDecisionLog
from tests.harness.console import Critic
from tests.harness.log.decisions import judged, meddle, proposal, run_of


def log_of(path: Path, count: int = 5, wall_ms: int = 100, **over: object) -> Path:
    """Write a log of runs that all take as long."""
    with SqlDecisionLog.open(path) as log:
        for number in range(1, count + 1):
            proposed = proposal(number)
            measures = {"wall_ms": wall_ms, "cost_micros": 10}
            log.append(judged(proposed, run_of(proposed, number, **measures, **over)))
    return path


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    return log_of(tmp_path / "baseline.db")


def test_a_log_against_itself_passes(critic: Critic, baseline: Path) -> None:
    said = critic("gate", baseline, baseline, "--min-runs", "5")
    assert (said.status, said.err, said.lines[-1]) == (0, "", "pass")
    assert "candidate wall_ms: p50 100, p95 100, p99 100" in said.lines


def test_too_few_runs_exit_3(critic: Critic, baseline: Path) -> None:
    said = critic("gate", baseline, baseline)
    assert (said.status, said.lines[-1]) == (3, "inconclusive")
    assert said.lines[0] == "inconclusive  runs                  5 and 5 runs, and 30 are needed"


def test_a_slow_candidate_blocks_unless_that_is_allowed(
    critic: Critic, baseline: Path, tmp_path: Path
) -> None:
    slow = log_of(tmp_path / "slow.db", wall_ms=200)
    said = critic("gate", baseline, slow, "--min-runs", "5", "--format", "json")
    answer = json.loads(said.out)
    assert (said.status, answer["status"]) == (1, "block")
    assert [one["check"] for one in answer["checks"] if one["status"] == "block"] == ["latency"]
    assert critic("gate", baseline, slow, "--min-runs", "5", "--latency-rise", "1").status == 0


def test_a_call_that_was_not_planned_blocks(critic: Critic, baseline: Path, tmp_path: Path) -> None:
    call = {"step": 0, "adapter_id": "x", "capability_id": "y", "args": {}, "status": "completed"}
    other = log_of(tmp_path / "other.db", calls=[call])
    said = critic("gate", baseline, other)
    assert (said.status, said.lines[-1]) == (1, "block")
    failed = (
        "block         policy failures       0 failures before, 5 after: new in refund (trace_1)"
    )
    assert failed in said.lines


def test_plans_that_are_refused_more_often_block(
    critic: Critic, baseline: Path, tmp_path: Path
) -> None:
    refused = log_of(tmp_path / "refused.db")
    with SqlDecisionLog.open(refused) as log:
        for number in range(10, 60):
            log.append(judged(proposal(number, pinned=False)))
    said = critic("gate", baseline, refused, "--min-runs", "5")
    assert said.status == 1
    assert any(line.startswith("block         verified plans ") for line in said.lines)


def test_a_candidate_that_leaves_cases_out_does_not_pass(
    critic: Critic, baseline: Path, tmp_path: Path
) -> None:
    some = log_of(tmp_path / "some.db", count=3)
    said = critic("gate", baseline, some, "--min-runs", "3")
    assert (said.status, said.lines[-1]) == (3, "inconclusive")
    missing = "2 of 5 of the baseline are missing in the candidate, the first: refund (trace_4)"
    assert f"inconclusive  cases                 {missing}" in said.lines
    assert critic("gate", some, baseline, "--min-runs", "3").status == 0


def test_a_missing_or_altered_record_never_passes(
    critic: Critic, baseline: Path, tmp_path: Path
) -> None:
    for number, change in enumerate(
        ("DELETE FROM records WHERE seq = 2", "UPDATE records SET hash = 'x' WHERE seq = 5")
    ):
        damaged = log_of(tmp_path / f"{number}.db", count=9)
        meddle(damaged, (change, ()))
        said = critic("gate", baseline, damaged, "--min-runs", "5")
        assert (said.status, said.lines[-1]) == (3, "inconclusive")


@pytest.mark.parametrize("option", ["--latency-rise", "--utility-drop"])
@pytest.mark.parametrize("value", ["-1", "nan", "inf", "x"])
def test_a_bound_is_a_number(critic: Critic, baseline: Path, option: str, value: str) -> None:
    said = critic("gate", baseline, baseline, f"{option}={value}")
    assert said.status == 2
    assert "must be a number of at least 0" in said.err


def runs_of(path: Path, count: int = 5, wall_ms: int = 100, **over: object) -> list[str]:
    """Return runs as lines of JSON, and write them to a file."""
    measures = {"wall_ms": wall_ms, "cost_micros": 10}
    made = [run_of(proposal(number), number, **measures, **over) for number in range(1, count + 1)]
    lines = [json.dumps(one.wire()) for one in made]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lines


def test_runs_in_files_are_judged_as_those_of_a_log(
    critic: Critic, baseline: Path, tmp_path: Path
) -> None:
    lines = runs_of(tmp_path / "runs.jsonl")
    folder = tmp_path / "folder"
    folder.mkdir()
    runs_of(folder / "some.jsonl", 3)
    (folder / "a.json").write_text(lines[3], encoding="utf-8")
    (folder / "b.json").write_text(lines[4], encoding="utf-8")
    (folder / "notes.txt").write_text("not a run", encoding="utf-8")
    whole = critic("gate", baseline, baseline, "--min-runs", "5", "--format", "json")
    for candidate in (tmp_path / "runs.jsonl", folder):
        said = critic("gate", baseline, candidate, "--min-runs", "5", "--format", "json")
        found, expected = json.loads(said.out), json.loads(whole.out)
        assert expected.pop("heads")["baseline"] == found.pop("heads")["baseline"]
        assert (said.status, said.err, found) == (0, "", expected)
        assert critic("gate", candidate, baseline, "--min-runs", "5").status == 0


def test_worse_runs_in_a_file_block(critic: Critic, baseline: Path, tmp_path: Path) -> None:
    call = {"step": 0, "adapter_id": "x", "capability_id": "y", "args": {}, "status": "completed"}
    runs_of(tmp_path / "runs.jsonl", calls=[call])
    said = critic("gate", baseline, tmp_path / "runs.jsonl")
    assert (said.status, said.lines[-1]) == (1, "block")


@pytest.mark.parametrize(
    "wrong",
    [
        ("a.json", "{", "not a Run"),
        ("a.json", '{"run_id": "<b>"}', "not a Run"),
        ("a.jsonl", "\n[]\n", "a.jsonl line 2: not a Run"),
        ("folder", None, "the folder holds no runs"),
        ("none.json", None, "no such file"),
    ],
)
def test_what_is_no_run_is_refused_as_a_whole(
    critic: Critic, baseline: Path, tmp_path: Path, wrong: tuple[str, str | None, str]
) -> None:
    name, text, words = wrong
    (tmp_path / "folder").mkdir()
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    said = critic("gate", baseline, tmp_path / name)
    assert (said.status, said.out, said.err.count("\n")) == (2, "", 1)
    assert words in said.err


def test_a_file_without_runs_is_too_few(critic: Critic, baseline: Path, tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("", encoding="utf-8")
    said = critic("gate", baseline, tmp_path / "none.jsonl")
    assert (said.status, said.lines[-1]) == (3, "inconclusive")
