"""`critic loop` and `critic sessions` as a person meets them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from harness.loops.code.code_events import CodeLoopEvent
from tests.harness.console import Critic, Said
from tests.harness.loops.code.scratch import (
    DONE,
    MORE,
    WRITES,
    ends,
    git,
    line,
    lines_of,
    python,
    repository,
    says,
)
from tests.support.effort import sampled
from tests.support.examples import HOSTILE, is_safe
from tests.support.paths import ROOT

Loop = Callable[..., Said]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return repository(tmp_path / "r")


@pytest.fixture
def loop(critic: Critic, repo: Path) -> Loop:
    """`critic loop` in the repository, with agents that are given as words."""

    def run(*flags: str, actor: tuple[str, ...] = WRITES, replies: tuple[str, ...] = ()) -> Said:
        agents = ("--actor", line(actor), "--critic", line(says(*replies)))
        return critic("loop", "make it so", "--dir", repo, *(agents if replies else ()), *flags)

    return run


def session_file(repo: Path) -> Path:
    (place,) = (repo.parent / "data" / "critic" / "sessions").iterdir()
    return place


# --- a session from its start to its end ------------------------------------------------------


def test_a_success_names_the_nested_repositories_that_nobody_reviewed(
    loop: Loop, repo: Path
) -> None:
    repository(repo / "old\x1b")
    said = loop(replies=(DONE,))
    assert said.status == 0
    assert "not seen: nested repository old\\u001b/" in said.lines or (
        "not seen: nested repository old\\u001b" in said.lines
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("form", sampled(["json", "text"], one_in=2))
def test_a_session_whose_output_cannot_be_written_goes_on_and_is_not_a_pass(
    repo: Path, form: str
) -> None:
    agents = ("--actor", line(WRITES), "--critic", line(says(DONE)))
    command = [sys.executable, "-m", "harness.cli", "loop", "do", *agents, "--format", form]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command, cwd=repo, env=environment, stdout=full, stderr=subprocess.PIPE, check=False
        )
    *progress, last = done.stderr.decode().splitlines()
    assert done.returncode == 2
    assert last == "critic: the disk is full: free some space and run the command again"
    assert progress[-1].endswith("DONE (0.9): all is there")
    assert lines_of(session_file(repo))[-1]["outcome"] == "success"


def test_a_session_that_succeeds_exits_with_zero(loop: Loop, critic: Critic, repo: Path) -> None:
    said = loop(replies=(MORE, DONE))
    assert said.status == 0
    assert said.lines[0].startswith("success after 2 iterations, ")
    assert said.lines[1] == "confidence 0.9: all is there"
    session = session_file(repo).stem
    assert said.lines[2] == f"see: critic sessions show {session}"
    progress = said.err.splitlines()
    assert progress[0] == f"session {session}"
    assert [entry[:12].rstrip() for entry in progress[1:]] == [
        *("[1/3] actor", "[1/3] diff", "[1/3] critic", "[2/3] actor", "[2/3] diff", "[2/3] critic")
    ]
    assert progress[3].endswith(" s CONTINUE: go on")
    kinds = [entry["type"] for entry in lines_of(session_file(repo))]
    assert kinds == ["session_start", "iteration", "iteration", "session_end"]
    assert git(repo, "status", "--short") == "?? made.txt\n"


@pytest.mark.slow
def test_the_limit_and_a_failure_have_their_own_status(loop: Loop) -> None:
    said = loop("-n", "1", replies=(MORE,))
    assert (said.status, said.lines[0][:38]) == (1, "max_iterations_reached after 1 iterati")
    said = loop("--accept-unreviewed", replies=("No issues remain.",))
    assert (said.status, said.lines[0][:24]) == (2, "failed after 1 iteration")
    assert said.lines[1] == "the critic gave no decision when asked twice: no decision in the reply"


@pytest.mark.slow
def test_everything_an_agent_says_is_escaped(loop: Loop, critic: Critic, repo: Path) -> None:
    hostile = HOSTILE.replace("\r\n", " ")
    actor = python(f"print({HOSTILE!r}); open({chr(27)!r} + '.txt', 'w').write({HOSTILE!r})")
    done = DONE.replace("all is there", hostile)
    check = line(python(f"print({HOSTILE!r}); sys.exit(os.path.exists('second') - 1)"))
    said = loop("--gate", check, actor=actor, replies=(done,))
    spoken = [*said.lines, *said.err.splitlines()]
    said = loop(actor=actor, replies=(f"{MORE}{hostile}", done))
    spoken += [*said.lines, *said.err.splitlines()]
    for session in critic("sessions", "list").lines:
        spoken += critic("sessions", "show", session.split()[0]).lines
    assert len(spoken) > 30
    assert all(map(is_safe, spoken))


@pytest.mark.parametrize(
    ("flags", "status", "why"),
    [
        (("--actor", "x"), 2, "no critic: name one with --critic"),
        (("-n", "0"), 2, "max_iterations: input should be greater than or equal to 1"),
        (("-n", "-1"), 2, "max_iterations: input should be greater than or equal to 1"),
        (("--timeout", "0"), 2, "timeout: "),
        (("--actor", "no-such-agent", "--critic", "true"), 2, "command not found: no-such-agent"),
        (("--actor", "true", "--critic", "true", "--gate", "no-such"), 2, "not found: no-such"),
        (("--actor", "a 'b", "--critic", "true"), 2, "No closing quotation"),
        (("--config", "/gone.toml"), 2, "/gone.toml: no such file"),
    ],
)
def test_what_cannot_be_run_is_reported_before_anything_runs(
    loop: Loop, repo: Path, flags: tuple[str, ...], status: int, why: str
) -> None:
    said = loop(*flags)
    assert (said.status, said.out) == (status, "")
    assert why in said.err
    assert said.err.startswith("critic: ")
    assert not (repo.parent / "data").exists()


def test_a_folder_outside_a_repository_and_an_empty_task_are_refused(
    critic: Critic, repo: Path, tmp_path: Path
) -> None:
    said = critic("loop", "x", "--dir", tmp_path, "--actor", "true", "--critic", "true")
    assert said.status == 2
    assert "is not inside a git work tree" in said.err
    flags = ("--dir", repo, "--actor", "true", "--critic", "true")
    assert "the task is empty" in critic("loop", " ", *flags).err
    assert "the task is empty" in critic("loop", "-", *flags, stdin=b"\n").err


def test_a_dry_run_says_what_would_run_and_runs_nothing(
    loop: Loop, critic: Critic, repo: Path
) -> None:
    (repo / ".critic.toml").write_text(
        'agent = "claude"\nmodel = "sonnet"\n[actor]\nagent = "opencode"\n'
        '[critic]\nmodel = "opus"\n[gate]\ncommands = ["make -k \'a b\'"]\nmax_lines = 9\n'
    )
    said = loop("--dry-run", "--protect", "tests/", "-n", "5")
    assert (said.status, said.err) == (0, "")
    project = f"[project {repo}/.critic.toml"
    for entry in (
        "dry run: nothing is run",
        "task    make it so",
        f"watched {repo}",
        "actor   opencode run --model sonnet",
        "critic  claude -p --safe-mode --setting-sources user --strict-mcp-config --model opus",
        f"  actor.model     sonnet  {project} (model)]",
        f"  critic.agent    claude  {project} (agent)]",
        "  max_iterations  5  [command line]",
        f"  gate.commands   make -k 'a b'  {project}]",
        "  gate.protected  tests/  [command line]",
        "  gate.protected  /.critic.toml  [always]",
        "  gate.max_files  -  [not set]",
        "  gate.timeout    600 s  [default]",
    ):
        assert entry in said.lines
    assert not (repo.parent / "data").exists()


def test_settings_that_an_actor_writes_change_nothing(loop: Loop, repo: Path) -> None:
    (repo / ".critic.toml").write_text("max_iterations = 2\n")
    actor = python("open('.critic.toml', 'w').write('max_iterations = 9\\n')")
    said = loop(actor=actor, replies=(DONE,))
    assert said.status == 1
    assert said.lines[0].startswith("max_iterations_reached after 2 iterations")
    assert "protected_path_changed: .critic.toml must not change" in said.err


@pytest.mark.slow
def test_the_presets_are_run_as_they_are_documented(
    critic: Critic, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name in ("claude", "codex", "opencode"):
        script = bin_folder / name
        script.write_text(
            f"#!{sys.executable} -S\nimport pathlib, sys\n"
            f"log = pathlib.Path({str(tmp_path / 'log')!r}).open('a')\n"
            "prompt = sys.stdin.read()\n"
            "name = pathlib.Path(sys.argv[0]).name\n"
            "print(name, *sys.argv[1:], 'make it so' in prompt, file=log)\n"
            f"print({DONE!r} if 'You review' in prompt else 'done')\n"
        )
        script.chmod(0o700)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    for actor, reviewer in (("claude", "codex"), ("codex", "opencode"), ("opencode", "claude")):
        flags = ("--actor", actor, "--critic", reviewer, "--critic-model", "big", "--dir", repo)
        assert critic("loop", "make it so", *flags).status == 0
    assert (tmp_path / "log").read_text().splitlines() == [
        "claude -p --permission-mode acceptEdits True",
        "codex exec --sandbox read-only --ignore-user-config --ignore-rules "
        "-c project_doc_max_bytes=0 --model big - True",
        "codex exec --sandbox workspace-write - True",
        "opencode run --agent plan --model big True",
        "opencode run True",
        "claude -p --safe-mode --setting-sources user --strict-mcp-config --model big True",
    ]


# --- resuming, limits and formats ---------------------------------------------------------------


@pytest.mark.slow
def test_the_same_command_again_is_refused_and_names_both_ways_on(
    loop: Loop, critic: Critic, repo: Path
) -> None:
    flags = ("-n", "1", "--protect", "made.txt")
    said = loop(*flags, replies=(DONE,))
    session = session_file(repo).stem
    assert said.status == 1
    assert said.lines[-1] == f"to continue: critic loop --resume {session}"
    said = loop(*flags, replies=(DONE,))
    assert (said.status, said.out) == (2, "")
    assert said.err == (
        f"critic: session {session} is unfinished and its changes are not reviewed: go on with "
        f"`critic loop --resume {session}`, or look at the changes yourself and then add "
        "--accept-unreviewed to this command\n"
    )
    said = critic("loop", "--resume", session[:12])
    assert "used up its limit of iterations (1 of 1): allow more" in said.err
    said = critic("loop", "--resume", session, "-n", "2")
    assert (said.status, said.err.splitlines()[0]) == (
        1,
        f"session {session} continues after 1 iteration",
    )
    assert "protected_path_changed: made.txt" in said.err
    said = loop("--accept-unreviewed", replies=(DONE,))
    assert said.status == 0
    assert f"accepted unreviewed changes of session {session}" in (
        critic("sessions", "show", critic("sessions", "list").lines[0].split()[0]).lines
    )


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (("make it so",), "TASK"),
        (("--actor", "x", "--protect", "y"), "--actor, --protect"),
        (("--accept-unreviewed", "--max-minutes", "1"), "--max-minutes, --accept-unreviewed"),
    ],
)
def test_a_resumed_session_takes_no_other_settings(
    critic: Critic, repo: Path, flags: tuple[str, ...], named: str
) -> None:
    said = critic("loop", "--resume", "2026", *flags)
    expected = f"--resume continues with the recorded settings: leave out {named}"
    assert (said.status, said.err) == (2, f"critic: {expected}\n")


def test_neither_a_task_nor_a_session_is_an_error(critic: Critic, repo: Path) -> None:
    said = critic("loop", "--dir", repo, "--actor", "true", "--critic", "true")
    assert "no task: name one, or continue a session with --resume ID" in said.err
    assert "no such session: 2026" in critic("loop", "--resume", "2026").err


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--retries", "-1"), "--retries -1: must be 0 or more"),
        (("--max-minutes", "0"), "--max-minutes 0: must be more than 0"),
        (("--max-minutes", "nan"), "--max-minutes nan: must be more than 0"),
    ],
)
def test_a_limit_that_is_none_is_refused(loop: Loop, flags: tuple[str, ...], why: str) -> None:
    said = loop(*flags, replies=(DONE,))
    assert (said.status, said.err) == (2, f"critic: {why}\n")


@pytest.mark.slow
def test_the_time_limit_ends_with_status_1(loop: Loop) -> None:
    slow = python("import time; print('so far', flush=True); time.sleep(60)")
    said = loop("--max-minutes", "0.02", actor=slow, replies=(DONE,))
    assert said.status == 1
    assert said.lines[0].startswith("time_limit_reached after 1 iteration, ")
    assert said.lines[1] == "the time limit of 1.2 s is over"


def test_json_prints_one_event_a_line_and_nothing_else(loop: Loop, repo: Path) -> None:
    said = loop("--format", "json", replies=(MORE, DONE))
    assert said.status == 0
    events = [json.loads(entry) for entry in said.lines]
    assert [event["seq"] for event in events] == [*range(1, len(events) + 1)]
    assert {"time", "kind"} <= {*events[0]}
    assert (events[0]["kind"], events[-1]["kind"]) == ("session_started", "session_ended")
    assert events[0]["session"] == events[-1]["session"] == session_file(repo).stem
    assert (events[-1]["exit_code"], events[-1]["end"]["outcome"]) == (0, "success")
    assert "made it\n" in "".join(event.get("text", "") for event in events)


def test_every_kind_of_event_is_in_the_help(critic: Critic) -> None:
    text = " ".join(critic("loop", "--help").out.split())
    (union, _) = get_args(CodeLoopEvent)
    kinds = [event.model_fields["kind"].default for event in get_args(union)]
    assert len(kinds) == 10
    assert all(kind in text for kind in kinds)


@pytest.mark.slow
def test_what_agents_print_stays_out_of_a_pipe_unless_asked_for(loop: Loop) -> None:
    assert "made it" not in loop(replies=(MORE, DONE)).err
    said = loop("--verbose", replies=(DONE,))
    assert " actor| made it" in said.err.splitlines()


def test_an_agent_that_is_not_logged_in_says_so(loop: Loop, critic: Critic, repo: Path) -> None:
    broken = python("print('Invalid API key: run /login', file=sys.stderr); sys.exit(1)")
    said = critic(*("loop", "x", "--dir", repo, "--actor", line(broken), "--critic", line(broken)))
    assert said.status == 2
    assert said.lines[1] == (
        "the critic gave no decision when asked twice: the critic exited with 1: "
        "Invalid API key: run /login"
    )
    assert "actor  " in said.err
    shown = critic("sessions", "show", session_file(repo).stem).out
    assert "actor exited with 1: Invalid API key: run /login" in shown


# --- signals ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("phase", ["actor", "gate", "critic"])
def test_an_interrupt_ends_the_children_and_the_session(
    repo: Path, number: signal.Signals, phase: str
) -> None:
    waits = line(("sh", "-c", "sleep 60 & echo $! $$ > ../pids; wait"))
    agents = {name: waits if phase == name else "true" for name in ("actor", "gate", "critic")}
    flags = [word for name, words in agents.items() for word in (f"--{name}", words)]
    with subprocess.Popen(
        [sys.executable, "-m", "harness.cli", "loop", "x", *flags],
        cwd=repo,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        pids = repo.parent / "pids"
        while not (pids.exists() and pids.read_text()):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert out.startswith(b"user_interrupted after ")
    assert b"Traceback" not in err
    assert all(ends(int(pid)) for pid in pids.read_text().split())
    lines = lines_of(session_file(repo))
    assert lines[-1]["outcome"] == "user_interrupted"
    assert lines[-1]["iterations"] == len(lines) - 2 == 1
    assert lines[1]["interrupted"] is True
    assert lines[1]["actor"]["interrupted"] is (phase == "actor")
    assert "diff" in lines[1]


# --- looking at sessions ----------------------------------------------------------------------


def test_sessions_are_listed_shown_and_counted(loop: Loop, critic: Critic, repo: Path) -> None:
    assert critic("sessions", "list") == (0, "", "")
    loop(replies=(DONE,))
    first = session_file(repo).stem
    loop("-n", "1", "--protect", "made.txt", replies=(DONE,))
    listed = critic("sessions", "list").lines
    assert [entry.split()[1] for entry in listed] == ["max_iterations_reached", "success"]
    assert listed[1].startswith(f"{first}  success")
    assert listed[1].endswith("  make it so")
    rows = [json.loads(row) for row in critic("sessions", "list", "--format", "json").lines]
    assert (rows[1]["session"], rows[1]["iterations"], rows[1]["task"]) == (first, 1, "make it so")
    shown = critic("sessions", "show", first).lines
    assert "  changed since the session began: 1 file, 1 line" in shown
    assert "    added        made.txt" in shown
    assert "summary (confidence 0.9):" in shown
    refused = critic("sessions", "show", listed[0].split()[0]).lines
    reason = "protected_path_changed: made.txt must not change: put it back as it was"
    assert f"  refused: {reason}" in refused
    whole = json.loads(critic("sessions", "show", first, "--format", "json").out)
    assert (whole["start"]["session"], whole["end"]["outcome"]) == (first, "success")
    counted = json.loads(critic("sessions", "stats", "--format", "json").out)
    assert (counted["sessions"], counted["success_rate"]) == (2, 0.5)
    assert "success rate    50.0%" in critic("sessions", "stats").lines


@pytest.mark.slow
def test_a_diff_is_exact_in_a_pipe_and_escaped_on_a_terminal(
    loop: Loop, critic: Critic, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    actor = python("open('c', 'ab').write(b'\\x1b[31m\\t\\xff<b>\\n')")
    loop(actor=actor, replies=(MORE, DONE))
    session = session_file(repo).stem
    command = [sys.executable, "-m", "harness.cli", "sessions", "diff", session]
    piped = subprocess.run(
        command, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert piped.stdout.endswith(b"@@ -0,0 +1,2 @@\n" + b"+\x1b[31m\t\xff<b>\n" * 2)
    wire = json.loads(critic("sessions", "diff", session, "--format", "json").out)
    assert wire["files"] == [{"path": "c", "status": "added", "nested": False}]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown = critic("sessions", "diff", session, "--iteration", "1").out
    assert shown.endswith("@@ -0,0 +1 @@\n+\\u001b[31m\t\\ufffd\\u003cb>\n")


def test_a_missing_item_is_reported_with_those_that_exist(
    loop: Loop, critic: Critic, repo: Path
) -> None:
    loop(replies=(DONE,))
    session = session_file(repo).stem
    said = critic("sessions", "show", "../../etc")
    assert (said.status, said.out) == (2, "")
    assert f"no such session: ../../etc: the newest are {session}" in said.err
    said = critic("sessions", "diff", session[:8], "--iteration", "7")
    assert said.err == "critic: this session has no diff of iteration 7: there are 1\n"
    first, *_ = session_file(repo).read_bytes().splitlines(keepends=True)
    session_file(repo).write_bytes(first)
    assert "the session is still running, or it crashed" in critic("sessions", "show", session).out
    assert "no iteration got that far" in critic("sessions", "diff", session).err
    session_file(repo).write_bytes(first + b"{}\n")
    said = critic("sessions", "list")
    assert said.status == 2
    assert said.lines == [
        f"{session}  damaged: session {session} is damaged: line 2: /type: "
        "must be one of session_start, iteration, session_resumed, session_end"
    ]
    assert critic("sessions", "list", "--format", "json").status == 2
    said = critic("sessions", "stats")
    assert (said.status, said.lines[0]) == (2, "sessions        0, of which 0 incomplete")
    assert said.err.startswith("not counted: session ")


def test_a_diff_that_was_not_kept(
    loop: Loop, critic: Critic, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.loops.code.workspace.KEPT_DIFF_BYTES", 10)
    loop(replies=(DONE,))
    said = critic("sessions", "diff", session_file(repo).stem)
    assert said.status == 2
    assert "and was not kept; its SHA-256 is " in said.err
