"""`critic loop` as a process: what it protects, what it may not hide, and how signals end it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.harness.loops.code.scratch import DONE, WRITES, line, lines_of, python, repository, says
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "r", {".gitignore": ".critic.toml\n", "src/a": "a\n"})


def start(
    repo: Path,
    *flags: str,
    actor: tuple[str, ...] = WRITES,
    before: str = "",
    stderr: int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    agents = ("--actor", line(actor), "--critic", line(says(DONE)))
    code = f"{before}\nfrom harness.cli import main\nsys.exit(main(sys.argv[1:]))"
    folders = {"XDG_DATA_HOME": str(repo.parent / "data"), "XDG_CONFIG_HOME": "/nowhere"}
    return subprocess.Popen(
        [sys.executable, "-c", python(code)[-1], "loop", "x", *agents, "-n", "1", *flags],
        cwd=repo,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(repo.parent), **folders},
        stdout=subprocess.PIPE,
        stderr=stderr,
    )


def refused(repo: Path, *flags: str, actor: tuple[str, ...]) -> str:
    process = start(repo, *flags, actor=actor)
    _, err = process.communicate()
    assert process.returncode == 1
    return err.decode()


def test_its_own_settings_are_protected_though_ignored_and_though_others_are_named(
    repo: Path,
) -> None:
    actor = python("open('.critic.toml', 'w').write('agent = \"mine\"')")
    assert "protected_path_changed: .critic.toml" in refused(repo, actor=actor)
    (repo / "other.toml").write_text("max_iterations = 1\n")
    (repo / ".critic.toml").unlink()
    flags = ("--config", "other.toml", "--accept-unreviewed")
    assert "protected_path_changed: .critic.toml" in refused(repo, *flags, actor=actor)
    actor = python("open('other.toml', 'w').write('')")
    assert "protected_path_changed: " in refused(repo, *flags, actor=actor)


def test_sessions_among_the_files_hide_no_file_but_their_own(repo: Path) -> None:
    actor = python("open('src/new', 'w').write('n')")
    said = refused(repo, "--sessions", "src", "--max-files", "0", actor=actor)
    assert "diff_too_large: changed files: 1, allowed: 0" in said


def test_a_pattern_that_protects_nothing_is_reported_before_anything_runs(repo: Path) -> None:
    process = start(repo, "--protect", "./src")
    _, err = process.communicate()
    assert (process.returncode, err[:26]) == (2, b"critic: protected ./src: n")


def test_the_session_goes_on_when_nobody_reads_its_progress(repo: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    process = start(repo, stderr=write)
    os.close(write)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert out.startswith(b"success after 1 iteration")


def test_a_hangup_that_is_ignored_stays_so(repo: Path) -> None:
    actor = python("os.kill(os.getppid(), 1); import time; time.sleep(0.3)")
    process = start(repo, actor=actor, before="import signal; signal.signal(1, signal.SIG_IGN)")
    process.communicate()
    assert process.returncode == 0
    (place,) = (repo.parent / "data" / "critic" / "sessions").iterdir()
    assert lines_of(place)[-1]["outcome"] == "success"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_loop_leaves_nothing_behind(repo: Path, number: int) -> None:
    slow = (
        "import signal, time, harness.loops.code.workspace as workspace\n"
        "signal.signal(2, signal.default_int_handler)\n"
        "def wait(*_): pathlib.Path('../ready').touch(); time.sleep(60)\n"
        "workspace.Workspace._keep_rules = wait"
    )
    process = start(repo, before=slow)
    while not (repo.parent / "ready").exists():
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate()
    assert process.returncode == 130
    assert not list(repo.parent.glob("critic-*"))
