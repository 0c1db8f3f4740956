"""Where sessions are between hooks: private, held by one process at a time, and checked."""

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.guard import DiskWorld, Guard
from harness.guard.session_folder import SessionFolder, StateUnusable
from harness.integrations.hooks.dialects import DIALECTS
from harness.integrations.hooks.hook_answer import HookSettings, answer_event
from harness.integrations.hooks.install import shipped_policy
from harness.integrations.hooks.kept_sessions import KeptSessions
from harness.policy import parse_policy
from harness.record.drafts import session_key
from tests.harness.console import Critic
from tests.harness.integrations.hooks.agents import CLAUDE_CODE, CODEX, GEMINI
from tests.support.paths import ROOT

AGENT = CLAUDE_CODE
READ = AGENT.call(AGENT.read, "c1")
AGAIN = AGENT.call(AGENT.read, "c2")


def the_file(folder: Path) -> Path:
    (found,) = (folder / "state").glob("*.jsonl")
    return found


def test_the_folder_and_its_files_are_of_this_user_alone(critic: Critic, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        AGENT.decided(critic, tmp_path, READ)
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "state").iterdir()}
    assert modes == {0o600}
    assert (tmp_path / "state" / ".gitignore").read_text() == "*\n"
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


def kept_rows(folder: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "audit.db")) as db:
        return db.execute("SELECT * FROM session_journal").fetchall()


def keep_rows(folder: Path, rows: list[tuple[object, ...]]) -> None:
    with closing(sqlite3.connect(folder / "audit.db")) as db, db:
        db.execute("DELETE FROM session_journal")
        db.executemany("INSERT INTO session_journal VALUES (?, ?, ?, ?, ?)", rows)


def test_a_session_stays_one_and_others_are_apart(critic: Critic, tmp_path: Path) -> None:
    AGENT.decided(critic, tmp_path, READ)
    AGENT.decided(critic, tmp_path, AGENT.call(AGENT.read, "c2"))
    assert len(list((tmp_path / "state").glob("*.jsonl"))) == 1
    AGENT.decided(critic, tmp_path, {**READ, "session_id": "../../../etc/passwd\n"})
    CODEX.decided(critic, tmp_path / "codex", CODEX.call(CODEX.read, "c1"))
    assert len(list((tmp_path / "state").glob("*.jsonl"))) == 2


def test_a_result_and_what_the_hook_knows_after_it_are_one_step(
    critic: Critic, tmp_path: Path
) -> None:
    """A hook that is killed leaves both or neither."""

    def steps() -> list[dict[str, Any]]:
        lines = the_file(tmp_path).read_bytes().splitlines()
        return [json.loads(line.split(b" ", 2)[2]) for line in lines]

    AGENT.decided(critic, tmp_path, READ)
    AGENT.decided(critic, tmp_path, AGAIN)
    before = steps()
    AGENT.decided(critic, tmp_path, AGENT.result(AGENT.read, "c1", "x"))
    *same, last = steps()
    assert same == before
    assert last["event"]["event"] == "result"
    assert [call["id"] for call in json.loads(last["note"])["calls"]] == ["c2"]


@pytest.mark.parametrize("damage", [b"", b"{}", b"{}\n{}\n", b"\n\n", b"\xff", b"[]\n[]\n"])
def test_a_state_that_is_damaged_refuses(critic: Critic, tmp_path: Path, damage: bytes) -> None:
    AGENT.decided(critic, tmp_path, READ)
    the_file(tmp_path).write_bytes(damage)
    for event in (READ, AGENT.prompt("hello"), AGENT.result(AGENT.read, "c1", "x")):
        assert AGENT.decided(critic, tmp_path, event) == "deny"
    assert the_file(tmp_path).read_bytes() == damage


def test_half_a_state_refuses(critic: Critic, tmp_path: Path) -> None:
    AGENT.decided(critic, tmp_path, READ)
    whole = the_file(tmp_path).read_bytes()
    first = whole.index(b"\n") + 1
    for size in range(0, first, 97):  # from there on, a step was cut short, and never answered
        the_file(tmp_path).write_bytes(whole[:size])
        assert AGENT.decided(critic, tmp_path, READ) == "deny", size


def test_a_state_that_others_could_have_written_refuses(critic: Critic, tmp_path: Path) -> None:
    AGENT.decided(critic, tmp_path, READ)
    file, folder = the_file(tmp_path), tmp_path / "state"
    for path, mode in ((file, 0o644), (file, 0o660), (folder, 0o755), (folder, 0o770)):
        before = stat.S_IMODE(path.stat().st_mode)
        path.chmod(mode)
        assert AGENT.decided(critic, tmp_path, READ) == "deny"
        path.chmod(before)
    assert AGENT.decided(critic, tmp_path, AGAIN) == "allow"
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert AGENT.decided(critic, tmp_path, READ) == "deny"


def test_the_state_of_another_session_refuses(critic: Critic, tmp_path: Path) -> None:
    other = {**READ, "session_id": "other"}
    AGENT.decided(critic, tmp_path, READ)
    file = the_file(tmp_path)
    data = file.read_bytes()
    AGENT.decided(critic, tmp_path, other)
    for path in (tmp_path / "state").glob("*.jsonl"):
        path.write_bytes(data)
    assert AGENT.decided(critic, tmp_path, other) == "deny"
    assert AGENT.decided(critic, tmp_path, AGAIN) == "allow"


def test_a_session_does_not_go_on_under_another_policy(critic: Critic, tmp_path: Path) -> None:
    AGENT.decided(critic, tmp_path, READ)
    policy = tmp_path / "policy.toml"
    policy.write_text(policy.read_text().replace('"local_write"', '"read_only"'))
    said = critic(*AGENT.options(tmp_path), stdin=json.dumps(READ).encode())
    assert AGENT.reads(said) == "deny"
    assert "begin a new session" in said.out
    assert AGENT.decided(critic, tmp_path, {**READ, "session_id": "new"}) == "allow"


def test_an_older_state_is_refused_by_the_log(critic: Critic, tmp_path: Path) -> None:
    log = ("--log", str(tmp_path / "audit.db"))
    AGENT.decided(critic, tmp_path, READ, *log)
    older = kept_rows(tmp_path)
    AGENT.decided(critic, tmp_path, AGENT.call(AGENT.read, "c2"), *log)
    keep_rows(tmp_path, older)
    assert AGENT.decided(critic, tmp_path, AGENT.call(AGENT.read, "c3"), *log) == "deny"


def test_a_state_that_was_removed_is_missed_where_the_log_knows_the_session(
    critic: Critic, tmp_path: Path
) -> None:
    log = ("--log", str(tmp_path / "audit.db"))
    AGENT.decided(critic, tmp_path, READ, *log)
    keep_rows(tmp_path, [])
    for event in (AGAIN, AGENT.prompt("go on"), AGAIN):
        said = critic(*AGENT.options(tmp_path), *log, stdin=json.dumps(event).encode())
        assert AGENT.reads(said) == "deny"
        assert "begin a new session of the agent" in said.out + said.err
        assert not kept_rows(tmp_path)
    assert AGENT.decided(critic, tmp_path, {**READ, "session_id": "new"}, *log) == "allow"
    assert not list((tmp_path / "state").glob("*.jsonl"))
    assert AGENT.decided(critic, tmp_path, AGAIN) == "allow"  # without a log, nobody knows


def test_a_state_that_cannot_be_written_refuses(
    critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    AGENT.decided(critic, tmp_path, READ)
    before = the_file(tmp_path).read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("harness.whole_files.LineFile.append", full)
    assert AGENT.decided(critic, tmp_path, READ) == "deny"
    assert the_file(tmp_path).read_bytes() == before


def test_a_session_that_another_process_holds_is_waited_for_and_not_for_ever(
    tmp_path: Path,
) -> None:
    one, other = (SessionFolder(tmp_path / "state", wait_s=0.05) for _ in range(2))
    with one.hold("s"), pytest.raises(StateUnusable), other.hold("s"):
        pass
    with one.hold("s"), other.hold("t"):
        pass


def started(folder: Path, number: int) -> subprocess.Popen[bytes]:
    event = folder / f"{number}.json"
    event.write_text(json.dumps(AGENT.call(AGENT.read, f"c{number}")))
    command = [sys.executable, "-m", "harness.cli", *AGENT.options(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with event.open("rb") as stdin:
        return subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, env=environment, cwd=os.sep
        )


@pytest.mark.slow
def test_hooks_at_once_come_one_after_the_other(tmp_path: Path) -> None:
    processes = [started(tmp_path, number) for number in range(4)]
    for process in processes:
        out, _ = process.communicate(timeout=120)
        assert b'"allow"' in out
    rows = SessionFolder(tmp_path / "state").journal(session_key(READ["session_id"]))
    notes = [body["note"] for row in rows if "note" in (body := json.loads(row.body))]
    memory = json.loads(notes[-1])
    assert sorted(call["id"] for call in memory["calls"]) == ["c0", "c1", "c2", "c3"]


def test_a_hook_that_is_killed_leaves_the_state_before_it(critic: Critic, tmp_path: Path) -> None:
    AGENT.decided(critic, tmp_path, READ)
    before = the_file(tmp_path).read_bytes()
    for pause in (0.05, 0.3):
        process = started(tmp_path, 7)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate(timeout=60)
        if the_file(tmp_path).read_bytes() == before:
            assert b"allow" not in out
    assert AGENT.decided(critic, tmp_path, AGENT.call(AGENT.read, "c9")) == "allow"


def test_sessions_are_kept_beside_the_policy_unless_said_otherwise(
    critic: Critic, tmp_path: Path
) -> None:
    options = GEMINI.options(tmp_path)[:-2]
    event = json.dumps(GEMINI.call(GEMINI.read, "")).encode()
    assert GEMINI.reads(critic(*options, stdin=event)) == "allow"
    assert list((tmp_path / ".critic" / "sessions").glob("*.jsonl"))


def test_a_command_without_a_folder_is_not_read_by_that_of_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[Any] = []
    dialect, policy = DIALECTS["claude-code"], parse_policy(shipped_policy("claude-code")).policy
    settings = HookSettings(policy=policy, state=tmp_path / "state", sessions=KeptSessions(2))
    monkeypatch.setattr(Guard, "use_world", lambda _guard, world: used.append(world))
    for number, folder in enumerate((str(tmp_path), "")):
        call = {**CLAUDE_CODE.call(CLAUDE_CODE.shell, f"c{number}"), "cwd": folder}
        answer_event(dialect, dialect.event(call), (), lambda: settings)
    assert isinstance(used[-2], DiskWorld)
    assert used[-1] is None
