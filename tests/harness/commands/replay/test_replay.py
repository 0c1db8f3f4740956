"""`critic replay --jobs` and `--resume`: the same answers, faster, or after an interruption."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from harness.commands.replay import replay_command as command
from harness.log.sql import SqlDecisionLog
from harness.replay import stretches
from tests.harness.console import Critic
from tests.harness.log.decisions import LogPlace, filled, meddle
from tests.harness.replay.session_logs import SESSION_LOGS
from tests.support.effort import examples, rarely, sampled
from tests.support.paths import ROOT

MANY = 11
REWRITTEN = [kind for kind in SESSION_LOGS if "ran" in kind or "evidence" in kind][:3]


@pytest.fixture
def log(place: LogPlace, monkeypatch: pytest.MonkeyPatch) -> LogPlace:
    """Return a log with a record that is missing and one that was altered, in small stretches."""
    monkeypatch.setattr(stretches, "_SIZE", 2)
    filled(place, MANY).close()
    meddle(
        place,
        ("DELETE FROM records WHERE seq = 5", ()),
        ("UPDATE records SET hash = 'x' WHERE seq = 8", ()),
    )
    return place


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return the file that an interrupted replay keeps its state in."""
    return tmp_path / "state"


@pytest.mark.slow
@pytest.mark.parametrize("form", sampled(["json", "text"], one_in=2))
@pytest.mark.parametrize("head", sampled([("--head", f"99:{'1' * 64}"), ()], one_in=2))
def test_jobs_and_resume_change_no_answer(
    critic: Critic, log: LogPlace, kept: Path, form: str, head: tuple[str, ...]
) -> None:
    one = critic("replay", log, "--format", form, *head)
    assert one.status == 1
    assert critic("replay", log, "--format", form, *head, "--jobs", "3") == one
    resumable = "replay", log, "--format", form, *head, "--resume", kept
    assert critic(*resumable) == one
    assert critic(*resumable, "--jobs", "2") == one
    assert not kept.exists(), "it has come to its end"


def _interrupt(patch: pytest.MonkeyPatch, count: int) -> None:
    """Let Ctrl-C come after so many answers."""

    def interrupted(answers: Iterator[Any], *_: object) -> Iterator[Any]:
        yield from islice(answers, count)
        for _answer in islice(answers, 1):
            raise KeyboardInterrupt

    patch.setattr(command, "with_progress", interrupted)


@pytest.mark.parametrize("jobs", sampled(["1", "2"], one_in=2))
@pytest.mark.parametrize("count", sampled(range(MANY), one_in=5))
def test_an_interrupted_replay_goes_on_where_it_was(
    critic: Critic,
    log: LogPlace,
    kept: Path,
    jobs: str,
    count: int,
) -> None:
    whole = critic("replay", log)
    answers = critic("replay", log, "--format", "json").lines
    again = "replay", log, "--jobs", jobs, "--resume", kept
    with pytest.MonkeyPatch.context() as patch:
        _interrupt(patch, count)
        first = critic(*again, "--format", "json")
    assert (first.status, first.err) == (130, "")
    assert first.lines == answers[:count]
    if not kept.exists():
        assert count <= 2
        return
    state = kept.read_bytes()
    rest = critic(*again, "--format", "json")
    assert rest.lines == answers[len(answers) - len(rest.lines) :]
    repeated = len(first.lines) + len(rest.lines) - len(answers)
    assert 0 <= repeated <= 3, "no answer is lost, and few are given twice"
    kept.write_bytes(state)
    said = critic(*again)
    assert (said.status, said.lines[-1]) == (whole.status, whole.lines[-1])


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", rarely(["as it was", "without a turn", "of other rules", *REWRITTEN], one_in=3)
)
def test_sessions_are_checked_whole_after_every_interruption(
    critic: Critic, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "_SIZE", 2)
    SESSION_LOGS[kind](tmp_path / "log")
    whole = critic("replay", tmp_path / "log", "--format", "json")
    assert critic("replay", tmp_path / "log", "--format", "json", "--jobs", "2") == whole
    answers = [line for line in whole.lines if '"seq"' in line]
    pooled = len(answers) // 4 * 2  # once, for a pool starts processes
    for count in {*range(0, len(answers), 100 // examples(50)), pooled}:
        jobs = "2" if count == pooled else "1"
        again = "replay", tmp_path / "log", "--format", "json", "--resume", tmp_path / "state"
        with monkeypatch.context() as patch:
            _interrupt(patch, count)
            first = critic(*again, "--jobs", jobs)
        rest = critic(*again, "--jobs", jobs)
        assert (first.status, rest.status) == (130, whole.status)
        assert rest.lines == whole.lines[len(whole.lines) - len(rest.lines) :]
        assert first.lines == whole.lines[:count]
        assert len(first.lines) + len(rest.lines) >= len(whole.lines)


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("DELETE FROM records WHERE seq >= 3", ()),
        ("UPDATE records SET body = ? WHERE seq = 4", (b"{}",)),
    ],
)
def test_a_state_of_another_log_is_refused(
    critic: Critic, log: LogPlace, kept: Path, sql: str, values: tuple[bytes, ...]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        _interrupt(patch, 4)
        critic("replay", log, "--resume", kept)
    meddle(log, (sql, values))
    said = critic("replay", log, "--resume", kept)
    assert (said.status, said.out) == (2, "")
    assert "the log does not hold record 4 as it was replayed" in said.err
    assert said.err.endswith("remove the file to start again\n")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"seq":-1,"hashes":[],"counts":{}}'])
def test_a_file_that_is_no_state_is_refused_and_kept(
    critic: Critic, log: LogPlace, kept: Path, text: str
) -> None:
    kept.write_text(text)
    said = critic("replay", log, "--resume", kept)
    assert (said.status, said.out) == (2, "")
    assert "not the state of a replay" in said.err
    assert kept.read_text() == text


@pytest.mark.parametrize("change", [{"same": 0}, {"same": 99}, {"drift": 1}, {"open": 10**9}])
def test_counts_that_are_not_those_of_the_log_are_not_believed(
    critic: Critic, log: LogPlace, kept: Path, change: dict[str, int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        _interrupt(patch, 4)
        critic("replay", log, "--resume", kept)
    state = json.loads(kept.read_text())
    state["counts"] |= change
    kept.write_text(json.dumps(state))
    said = critic("replay", log, "--resume", kept)
    assert (said.status, said.out) == (2, "")
    assert f"it counts {sum(state['counts'].values())} answers, where a replay gives" in said.err
    state["counts"] = {"fine": state["seq"]}
    kept.write_text(json.dumps(state))
    assert "not the state of a replay" in critic("replay", log, "--resume", kept).err


def test_a_state_is_for_its_owner_alone(critic: Critic, log: LogPlace, kept: Path) -> None:
    kept.write_text(json.dumps({"seq": 0, "hashes": ["0" * 64], "counts": {}}))
    kept.chmod(0o666)
    with pytest.MonkeyPatch.context() as patch:
        _interrupt(patch, 4)
        critic("replay", log, "--resume", kept)
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_state_is_of_one_head(critic: Critic, log: LogPlace, kept: Path) -> None:
    kept.write_text(json.dumps({"seq": 0, "hashes": ["0" * 64], "counts": {}}))
    said = critic("replay", log, "--resume", kept, "--head", f"3:{'1' * 64}")
    assert (said.status, said.out) == (2, "")
    assert "it is of a replay with another --head" in said.err


@pytest.mark.parametrize("jobs", ["0", "-1", "two"])
def test_jobs_are_a_number_of_at_least_one(critic: Critic, log: LogPlace, jobs: str) -> None:
    said = critic("replay", log, "--jobs", jobs)
    assert (said.status, said.out) == (2, "")
    assert "--jobs" in said.err


@pytest.mark.slow
def test_ctrl_c_ends_all_processes_without_a_traceback(tmp_path: Path) -> None:
    filled(tmp_path / "audit.db", 400).close()
    command_line = [sys.executable, "-m", "harness.cli", "replay", str(tmp_path / "audit.db")]
    process = subprocess.Popen(
        [*command_line, "--jobs", "2", "--format", "json"],
        cwd=os.sep,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    _, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (130, b"")
    _gone(process.pid)


@pytest.mark.slow
def test_workers_end_when_the_command_is_killed(tmp_path: Path) -> None:
    filled(tmp_path / "audit.db", 400).close()
    command_line = [sys.executable, "-m", "harness.cli", "replay", str(tmp_path / "audit.db")]
    process = subprocess.Popen(
        [*command_line, "--jobs", "3", "--format", "json"],
        cwd=os.sep,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.communicate(timeout=60)
    _gone(process.pid)


def _gone(group: int) -> None:
    """Wait until no process of a group is left."""
    for _ in range(600):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("a process is left")


def test_the_log_may_be_named_in_any_way_a_path_is(tmp_path: Path, critic: Critic) -> None:
    filled(tmp_path / "audit.db", 3).close()
    with SqlDecisionLog.open_for_reading(tmp_path / "audit.db") as log:
        assert list(log.numbers()) == [1, 2, 3]
    said = critic("replay", os.path.relpath(tmp_path / "audit.db"), "--jobs", "2")
    assert (said.status, said.err) == (0, "")


@pytest.mark.parametrize("state", ["", "folder", "device", "log", "none/state"])
def test_a_state_is_a_file_of_its_own(
    critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    monkeypatch.chdir(tmp_path)
    filled(tmp_path / "log", 3).close()
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/zero")
    before = sorted(tmp_path.rglob("*"))
    said = critic("replay", "log", f"--resume={state}")
    assert (said.status, said.err.count("\n")) == (2, 1)
    assert "remove" not in said.err
    assert sorted(tmp_path.rglob("*")) == before
