"""Recorded runs of real agents, made by others: judged, recorded and replayed, with exact counts.

The data is beside the project, in `../shared/data`, and is read there. Where it is not
there these tests are skipped; on a build server (`CI` is set) that is a failure instead.
"""

import json
import lzma
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.harness.console import Critic, console
from tests.support.paths import ROOT

DATA = ROOT.parent / "shared" / "data" / "agentdojo"
MEMORY = Path("/dev/shm")  # noqa: S108 - where Linux keeps files in memory

PROPOSALS, RUNS = 3_870, 1_919
VERDICTS = {
    ("attacked", "ok"): 2642,
    ("attacked", "violates_decision_spec"): 681,
    ("attacked", "missing_evidence"): 116,
    ("attacked", "loop_guard"): 35,
    ("benign", "ok"): 370,
    ("benign", "violates_decision_spec"): 12,
    ("benign", "loop_guard"): 11,
    ("benign", "missing_evidence"): 3,
}
SCORES = {
    ("attacked", True): 1249,
    ("attacked", False): 464,
    ("benign", True): 197,
    ("benign", False): 9,
}
REPORTS = {
    1: {
        ("attacked", "completed"): 1224,
        ("attacked", "refused_by_critic"): 489,
        ("benign", "completed"): 191,
        ("benign", "refused_by_critic"): 15,
    },
    8: {
        ("attacked", "completed"): 161,
        ("attacked", "refused_by_critic"): 55,
        ("benign", "completed"): 23,
        ("benign", "refused_by_critic"): 1,
    },
}
"""What one run in so many comes to."""


@pytest.fixture
def critic(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Critic:
    """Run `critic` within this process."""
    return console(capsys, monkeypatch)


def recorded(name: str) -> list[bytes]:
    """Return the lines of a recorded file."""
    path = DATA / name
    if not path.is_file():
        told = f"the recorded runs are not here: {path} is missing"
        if os.environ.get("CI"):
            pytest.fail(told)
        pytest.skip(told)
    with lzma.open(path) as lines:
        return list(lines)


def as_lines(path: Path, wires: list[Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, wires)) + "\n")
    return path


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, list[str]]:
    """Return the runs as JSON Lines, and whether each is of a benign or an attacked agent."""
    records = [json.loads(line) for line in recorded("runs.jsonl.xz")]
    assert len(records) == RUNS
    path = as_lines(tmp_path / "runs.jsonl", [record["run"] for record in records])
    return path, [record["kind"] for record in records]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder in memory if possible: thousands of appends are synced one by one."""
    if not MEMORY.is_dir():
        yield tmp_path
        return
    with TemporaryDirectory(dir=MEMORY) as name:
        yield Path(name)


@pytest.mark.slow
def test_every_proposal_gets_its_verdict(critic: Critic, tmp_path: Path) -> None:
    records = [json.loads(line) for line in recorded("proposals.jsonl.xz")]
    assert len(records) == PROPOSALS
    path = as_lines(tmp_path / "plans.jsonl", [record["proposal"] for record in records])
    said = critic("verify", path)
    assert (said.status, said.err) == (1, "")
    verdicts = [json.loads(line) for line in said.lines]
    names = ["ok" if verdict["ok"] else verdict["kind"] for verdict in verdicts]
    kinds = [record["kind"] for record in records]
    assert Counter(zip(kinds, names, strict=True)) == VERDICTS


@pytest.mark.slow
def test_every_run_gets_its_score(critic: Critic, runs: tuple[Path, list[str]]) -> None:
    path, kinds = runs
    said = critic("score", path)
    assert (said.status, said.err) == (1, "")
    verdicts = [json.loads(line) for line in said.lines]
    assert all({"ok", "scorecard", "trace_id"} <= set(verdict) for verdict in verdicts)
    found = [verdict["ok"] for verdict in verdicts]
    assert Counter(zip(kinds, found, strict=True)) == SCORES


@pytest.mark.slow
@pytest.mark.parametrize("one_in", [pytest.param(1, marks=pytest.mark.slow), 8])
def test_every_run_is_recorded_and_replayed_the_same(
    critic: Critic, runs: tuple[Path, list[str]], folder: Path, one_in: int
) -> None:
    path, kinds = runs
    kinds = kinds[::one_in]
    path.write_text("\n".join([*path.read_text().splitlines()[::one_in], ""]))
    log = folder / "audit.db"
    said = critic("run", path, "--log", log, "--decided-at", "2026-05-09T12:00:00Z")
    assert (said.status, said.err) == (1, "")
    found = [line.split(": ")[2] for line in said.lines]
    assert Counter(zip(kinds, found, strict=True)) == REPORTS[one_in]
    answers = critic("replay", log)
    last = f"{len(kinds)} records: {len(kinds)} same, 0 drift, 0 tampered, 0 incomplete"
    assert (answers.status, answers.lines[-1]) == (1, last)  # refused plans were run
    notes = {line.strip() for line in answers.lines[:-1] if "note: " in line}
    assert notes == {"note: a plan that was not allowed has a run"}


def test_without_the_data_it_is_skipped_but_fails_on_a_build_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="the recorded runs are not here"):
        recorded("nothing.jsonl.xz")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="the recorded runs are not here"):
        recorded("nothing.jsonl.xz")
