"""The service that hooks start: one for a user, found again, and gone when nobody needs it."""

import fcntl
import os
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from plan_critic_entry import hook_client

from harness.integrations.hooks.hook_service import start_service
from harness.serve.running import IdleLimit
from tests.harness.console import Critic, Said, spawn
from tests.harness.integrations.hooks.agents import CLAUDE_CODE, SHOP
from tests.harness.integrations.hooks.test_client import run_hook


def wait_for(is_true: object, seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not is_true():  # type: ignore[operator]
        assert time.monotonic() < ends
        time.sleep(0.05)


def is_held(lock: Path) -> bool:
    """Return whether some process lives that holds the lock of the service."""
    with lock.open("rb+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.fixture
def run(home: Path) -> Iterator[Path]:
    """Yield the folder of the service of a user. At the end, the service has ended."""
    folder = home / ".critic" / "run"
    yield folder
    (folder / "hooks.sock").unlink(missing_ok=True)
    if (lock := folder / "service.lock").exists():
        wait_for(lambda: not is_held(lock))


def hook(event: object) -> tuple[Said, bool]:
    """Run the installed hook: what it said, and whether a service answered."""
    return run_hook(["hook", "claude-code"], event)


@pytest.mark.slow
def test_the_first_hook_starts_the_service_that_answers_the_next(run: Path) -> None:
    agent = CLAUDE_CODE
    assert spawn("hook", "install", "claude-code").status == 0
    said, was_served = hook(agent.prompt(f"Fix the bug in {SHOP}/a.py"))
    assert (said.status, was_served) == (0, False)
    wait_for((run / "hooks.sock").exists)
    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    said, was_served = hook(agent.call(agent.foreign, "c1"))
    assert (agent.reads(said), was_served) == ("deny", True)
    said, was_served = hook(agent.call(agent.read, "c2"))
    assert (said.status, said.err, was_served) == (0, "", True)
    # A service whose socket is gone ends, and the next hook starts another.
    (run / "hooks.sock").unlink()
    wait_for(lambda: not is_held(run / "service.lock"))
    said, was_served = hook(agent.call(agent.foreign, "c3"))
    assert (agent.reads(said), was_served) == ("deny", False)
    wait_for((run / "hooks.sock").exists)
    assert (run / "service.log").read_text() == ""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Have no process started, and return what would have been."""
    found: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda words, **_options: found.append(words))
    monkeypatch.setattr("harness.integrations.hooks.hook_service.can_start_service", lambda: True)
    return found


def test_one_service_is_started_in_a_folder_of_its_user_alone(
    home: Path, started: list[list[str]]
) -> None:
    folder = home / ".critic" / "run"
    start_service(hook_client)
    assert [words[4:6] for words in started] == [["serve", "--socket"]]
    assert started[0][6] == str(folder / "hooks.sock")
    with (folder / "service.lock").open("rb+") as held:
        fcntl.flock(held, fcntl.LOCK_SH)  # what is shared keeps out only who wants it alone
        start_service(hook_client)
    assert len(started) == 1
    folder.chmod(0o750)
    start_service(hook_client)
    assert len(started) == 1
    folder.chmod(0o700)
    start_service(hook_client)
    assert len(started) == 2


def test_nothing_is_written_through_a_link(home: Path, started: list[list[str]]) -> None:
    elsewhere = home / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (home / ".critic").mkdir()
    (home / ".critic" / "run").symlink_to(elsewhere)
    start_service(hook_client)
    (home / ".critic" / "run").unlink()
    (home / ".critic" / "run").mkdir(mode=0o700)
    (home / ".critic" / "run" / "service.lock").symlink_to(elsewhere / "lock")
    with pytest.raises(OSError, match="service"):
        start_service(hook_client)
    assert (started, [*elsewhere.iterdir()]) == ([], [])


def test_the_socket_is_in_the_run_time_folder_of_the_user(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hook_client.find_socket("a/b.sock") == "a/b.sock"
    at_home = str(home / ".critic" / "run" / "hooks.sock")
    place = home / "run-time"
    for mode, expected in (
        (0o700, str(place / ".critic" / "hooks.sock")),
        (0o755, at_home),
        (None, at_home),
    ):
        if mode is None:
            place.rmdir()
        else:
            place.mkdir(exist_ok=True)
            place.chmod(mode)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
        assert hook_client.find_socket("auto") == expected
    monkeypatch.setenv("XDG_RUNTIME_DIR", "run-time")
    assert hook_client.find_socket("auto") == at_home


def test_install_names_it_where_a_service_can_run(
    critic: Critic, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filed = home / ".critic" / "hook.toml"
    critic("hook", "install", "codex")
    assert "socket" not in filed.read_text()
    monkeypatch.setattr("harness.integrations.hooks.install.can_start_service", lambda: True)
    assert "note: the first hook" not in critic("hook", "install", "codex").out
    assert "socket" not in filed.read_text()  # whoever took it out wants none
    said = critic("hook", "install", "gemini")
    assert "note: the first hook starts a service" in said.out
    assert filed.read_text().count('socket = "auto"') == 1
    critic("hook", "install", "codex", "--socket", "own.sock")
    assert 'own.sock"' in filed.read_text()
    critic("hook", "install", "codex", "--socket", "auto")
    assert filed.read_text().count('socket = "auto"') == 2


def test_a_service_ends_when_nobody_needs_it(tmp_path: Path) -> None:
    place, now, outdated = tmp_path / "a.sock", [0.0], list[int]()
    place.touch()
    limit = IdleLimit(10, str(place), lambda: bool(outdated), lambda: now[0])
    asked = []
    for at, requests in ((9.9, 0), (10.0, 1), (19.9, 1), (20.0, 1), (20.0, 2)):
        now[0] = at
        asked.append(limit.is_over(requests))
    assert asked == [False, False, False, True, False]
    outdated.append(1)
    assert limit.is_over(2)
    outdated.clear()
    place.unlink()
    assert limit.is_over(2)
    place.touch()
    os.utime(place, ns=(1, 1))
    assert limit.is_over(2)  # another one


def test_a_service_without_a_socket_has_no_end(critic: Critic) -> None:
    said = critic("serve", "--end-idle", "5")
    assert (said.status, said.err) == (
        2,
        "critic: --end-idle is for a service on a --socket: name one\n",
    )
