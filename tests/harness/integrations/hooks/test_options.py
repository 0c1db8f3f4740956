"""Where the options of hooks are: one file, read the same by two readers, and refused if odd."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_critic_entry import hook_client
from plan_critic_entry.plain_options import read_plain

from harness.errors import UsageError
from harness.integrations.hooks.options_file import read_options, read_tables, write_tables
from tests.harness.console import Critic
from tests.harness.integrations.hooks.agents import CLAUDE_CODE, CODEX
from tests.support.paths import ROOT

texts = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12)
lists = st.lists(texts, max_size=3)
tables = st.fixed_dictionaries(
    {"policy": texts},
    optional={
        **dict.fromkeys(("state", "log", "socket", "user"), texts),
        "log": st.one_of(texts, st.just("postgresql://h/audit")),
        "socket": st.one_of(texts, st.just("auto")),
        **dict.fromkeys(("scope", "leave"), lists),
        "keep_prompts": st.booleans(),
    },
)
odd = st.text(alphabet='[]"=\\ #\n,.truepolicysate', max_size=40)


def words(path: Path, agent: str) -> list[tuple[str, str]]:
    """Return the options that are read of a file, as words of a command line; sorted."""
    found = read_options(path, agent)
    places = {
        "policy": found.policy,
        "state": found.state,
        "log": found.log,
        "socket": found.socket,
        "user": found.user,
    }
    named = [(f"--{name}", str(value)) for name, value in places.items() if value is not None]
    listed = [("--scope", one) for one in found.scope] + [("--leave", one) for one in found.leave]
    return sorted(named + listed + ([("--keep-prompts", "")] if found.keeps_prompts else []))


@given(table=tables, other=tables)
def test_what_is_written_is_read(
    table: dict[str, Any], other: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "written.toml"
    write_tables(path, {"codex": table, "claude-code": other})
    assert read_tables(path) == {"codex": table, "claude-code": other}
    assert path.stat().st_mode & 0o077 == 0


@given(table=tables, line=odd, at=st.integers(0, 4))
def test_the_short_reader_reads_what_the_whole_one_reads(
    table: dict[str, Any], line: str, at: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It may leave a file to the whole one, with odd lines in it or not."""
    path = tmp_path_factory.getbasetemp() / "hook.toml"
    write_tables(path, {"codex": table})
    lines = path.read_text().split("\n")
    for changed in (lines, [*lines[:at], line, *lines[at:]]):
        path.write_text("\n".join(changed))
        try:
            found = sorted(read_plain(str(path), "codex"))
        except ValueError:
            continue
        assert found == words(path, "codex")


def test_who_is_at_the_agent_is_installed_and_kept(critic: Critic, tmp_path: Path) -> None:
    where = ("hook", "install", "codex", "--project", tmp_path)
    assert critic(*where, "--user", "ada@shop.example").status == 0
    assert critic(*where, "--log", "other.db").status == 0
    assert ("--user", "ada@shop.example") in words(tmp_path / ".critic" / "hook.toml", "codex")
    refused = critic(*where, "--user", "Ada Ray")
    assert (refused.status, "must be an identifier" in refused.err) == (2, True)


def test_what_is_installed_is_plain(critic: Critic, tmp_path: Path) -> None:
    for agent in ("claude-code", "codex", "gemini", "cursor"):
        critic("hook", "install", agent, "--project", tmp_path, "--socket", tmp_path / "s")
        path = tmp_path / ".critic" / "hook.toml"
        assert sorted(read_plain(str(path), agent)) == words(path, agent)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[codex]\n",
        "[codex]\npolicy = 1\n",
        '[codex]\npolicy = ""\n',
        '[codex]\npolicy = "p"\nshadow = true\n',
        '[codex]\npolicy = "p"\nscope = "Bash"\n',
        '[codex]\npolicy = "p"\nkeep_prompts = "yes"\n',
        '[codex]\npolicy = "p\\u001b"\n',
        "[codex\n",
        "codex = 1\n",
    ],
)
def test_options_that_are_not_valid_refuse(critic: Critic, tmp_path: Path, text: str) -> None:
    path = tmp_path / "hook.toml"
    path.write_text(text)
    with pytest.raises(UsageError):
        read_options(path, "codex")
    event = json.dumps(CODEX.call(CODEX.read, "c1")).encode()
    assert CODEX.reads(critic("hook", "codex", "--options", path, stdin=event)) == "deny"


def test_no_file_of_options_refuses_and_says_what_to_do(
    critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    event = json.dumps(CODEX.call(CODEX.read, "c1")).encode()
    said = critic("hook", "codex", stdin=event)
    assert CODEX.reads(said) == "deny"
    assert "critic hook install codex" in said.out


def test_the_folder_of_the_agent_brings_no_options(
    critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", tmp_path / "shop"
    for folder in (home, project):
        folder.mkdir()
        critic("hook", "install", "codex", "--project", folder)
    policy = project / ".critic" / "codex.toml"
    policy.write_text(policy.read_text().replace("# shadow = true", "shadow = true"))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(project)
    event = {**CODEX.call(CODEX.foreign, "c1"), "cwd": str(project)}
    assert CODEX.reads(critic("hook", "codex", stdin=json.dumps(event).encode())) == "deny"


def test_options_are_in_one_place(critic: Critic, tmp_path: Path) -> None:
    event = json.dumps(CLAUDE_CODE.call(CLAUDE_CODE.read, "c1")).encode()
    for more in (
        ["--policy", "p.toml", "--options", "o.toml"],
        ["--options", "o.toml", "--log", "a.db"],
        ["--keep-prompts"],
    ):
        said = critic("hook", "claude-code", *more, stdin=event)
        assert CLAUDE_CODE.reads(said) == "deny"
        assert "name" in said.out


SLEEPS = """
import sys, time
from plan_critic_entry import hook_client
hook_client._MOST_SECONDS = 0.3
from harness.integrations.hooks import hook_answer
hook_answer.read_event = lambda *_: time.sleep(60)
sys.argv = ["critic", "hook", "codex", "--policy", "p"]
from {module} import main
sys.exit(main({args}))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "args"), [("plan_critic_entry.console", ""), ("harness.cli", "sys.argv[1:]")]
)
def test_a_hook_that_takes_too_long_is_ended_and_the_shell_refuses(module: str, args: str) -> None:
    began = time.monotonic()
    program = SLEEPS.format(module=module, args=args)
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$1" || exit 2', sys.executable, program],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'harness' / 'top-level'}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=50,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert time.monotonic() - began < 30


def test_the_limit_of_time_ends_with_the_answer(critic: Critic) -> None:
    critic("hook", "codex", "--policy", "none", stdin=b"{}")
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert hook_client._MOST_SECONDS > hook_client._SECONDS + 20  # the service, and other hooks
